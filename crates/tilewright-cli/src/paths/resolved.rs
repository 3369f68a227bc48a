//! What the words of `paths` ask for, found once: the steps behind it read no word again.

use super::outputs::Outputs;
use crate::{
    args::{Common, Paths, PathsInput},
    failure::Failure,
    mul::source::{self, STREAM},
    pipe,
};
use std::{ffi::OsString, path::Path};
use tilewright::{
    Backend, DType, SemiringId, Value,
    files::{Directions, EdgeOptions, Spec},
    paths::{DynPaths, Method},
};

/// A graph, what is asked about it, and how that is to be computed.
pub struct Resolved {
    pub graph: OsString,
    pub source: Source,
    pub input: PathsInput,
    /// How a list of edges is read; the text of a matrix is written in the same way.
    pub list: EdgeOptions,
    pub zero_means_absent: bool,
    /// A file of names.
    pub labels: Option<OsString>,
    pub semiring: SemiringId,
    /// The element type that weights are converted to.
    pub dtype: Option<DType>,
    pub steps: Option<u32>,
    pub method: Method,
    pub backend: Backend,
    pub threads: usize,
    pub repeat: u32,
    /// The vertices of routes, by name or number.
    pub from: Option<String>,
    pub to: Option<String>,
    /// A file of pairs of such vertices.
    pub pairs: Option<OsString>,
    pub outputs: Outputs,
}

pub enum Source {
    /// A complete graph of so many vertices.
    Random(usize),
    File(Spec),
}

impl Resolved {
    /// Refuses all that can be refused without reading a file.
    pub fn new(args: &Paths, common: &Common) -> Result<Self, Failure> {
        let outputs = Outputs::parse(args, common)?;
        let known = DynPaths::dtypes(args.semiring);
        if let Some(dtype) = args.dtype.filter(|dtype| !known.contains(dtype)) {
            let names = known.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(
                format!("{} has no best paths on {dtype}", args.semiring),
                format!("choose one of {names}"),
            ));
        }
        let on_processor = matches!(args.backend, Backend::Auto | Backend::Cpu);
        if args.method == Method::Dijkstra && !on_processor {
            return Err(Failure::usage(
                format!("--method dijkstra on the backend {}", args.backend),
                "searches are the processor's; leave out one of both",
            ));
        }
        let asked = Self {
            graph: args.graph.clone(),
            source: source(args)?,
            input: args.input,
            list: EdgeOptions {
                directions: if args.undirected { Directions::Both } else { Directions::One },
                vertices: args.vertices,
                unit: Value::Int(1),
                columns: args.columns.clone(),
                empty_is_absent: true,
                text: args.text.dialect(),
            },
            zero_means_absent: args.zero_means_absent,
            labels: args.labels.clone(),
            semiring: args.semiring,
            dtype: args.dtype,
            steps: args.steps,
            // A GPU computes by products alone.
            method: if on_processor { args.method } else { Method::Dense },
            backend: args.backend,
            threads: args.threads,
            repeat: args.repeat,
            from: args.from.clone(),
            to: args.to.clone(),
            pairs: args.pairs.clone(),
            outputs,
        };
        if let Source::Random(_) = asked.source {
            asked.check_is_no_list()?;
        }
        Ok(asked)
    }

    /// The options that are for lists of edges, and whether they are given.
    fn of_lists(&self) -> [(&'static str, bool); 3] {
        [
            ("--undirected", self.list.directions == Directions::Both),
            ("--vertices", self.list.vertices.is_some()),
            ("--columns", self.list.columns.is_some()),
        ]
    }

    /// Whether an option is for lists of edges.
    pub fn wants_list(&self) -> bool {
        self.of_lists().iter().any(|(_, is_given)| *is_given)
    }

    /// Refuses options that are for lists of edges.
    pub fn check_is_no_list(&self) -> Result<(), Failure> {
        let Some((option, _)) = self.of_lists().into_iter().find(|(_, is_given)| *is_given) else {
            return Ok(());
        };
        let hint = "leave it out, or say --input edges if the file is a list of edges";
        Err(Failure::usage(format!("{option} with a matrix"), hint))
    }
}

/// The graph: random, unless a file has that name.
fn source(args: &Paths) -> Result<Source, Failure> {
    let random = args.graph.to_str().and_then(|name| name.strip_prefix("random:"));
    if let Some(count) = random.filter(|_| !Path::new(&args.graph).exists()) {
        return count.parse().map(Source::Random).map_err(|_| {
            let hint = "random:N is a complete graph of N vertices, such as random:1000";
            Failure::usage(format!("random:{count}"), hint)
        });
    }
    let spec = source::spec(&args.graph, args.text.format_in, "--format-in")?;
    if args.graph == STREAM || pipe::is_pipe(spec.path()) {
        let path = spec.path().display();
        let what = format!("{path} gives its bytes once, and a graph is looked at before it is read");
        return Err(Failure::usage(what, "save it to a file first"));
    }
    Ok(Source::File(spec))
}
