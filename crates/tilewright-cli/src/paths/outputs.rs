//! Where results go.

use super::{graph::Graph, solve::Solved};
use crate::{
    args::{Common, Format, Paths},
    failure::Failure,
    mul::outputs::say_replaced,
    terminal,
};
use std::{
    ffi::OsStr,
    io::{self, BufWriter},
    path::Path,
    time::Instant,
};
use tilewright::{
    DType, DynMatrix, DynRef, Error, Extremes, Matrix, SemiringId, Value,
    files::{self, Format as File, Labels, Spec, WriteOptions},
    paths::{NO_PREDECESSOR, Predecessors},
};

/// The files to write.
pub struct Outputs {
    pub distances: Option<Target>,
    pub predecessors: Option<Spec>,
}

pub enum Target {
    File(Spec),
    /// CSV on stdout, asked for by `-`.
    Stdout,
}

impl Outputs {
    pub fn parse(args: &Paths, common: &Common) -> Result<Self, Failure> {
        let distances = match args.output.as_deref() {
            None => None,
            Some(name) if name == OsStr::new("-") => Some(Target::Stdout),
            Some(name) => Some(Target::File(Spec::parse(name)?)),
        };
        let predecessors = args.predecessors.as_ref().map(Spec::parse).transpose()?;
        if matches!(distances, Some(Target::Stdout)) && common.format == Format::Json {
            return Err(Failure::usage(
                "`-o -` and `--format json` both write to stdout",
                "write the matrix to a file",
            ));
        }
        if let (Some(Target::File(d)), Some(p)) = (&distances, &predecessors)
            && files::is_same_file(d.path(), p.path())
        {
            let what = format!("-o and --predecessors both write to {}", d.path().display());
            return Err(Failure::usage(what, "choose two files"));
        }
        Ok(Self { distances, predecessors })
    }

    /// True when nothing is written.
    pub fn is_empty(&self) -> bool {
        self.distances.is_none() && self.predecessors.is_none()
    }

    /// Refuses, before any work is done, what could not be written afterwards.
    pub fn check_writable(&self, dtype: DType) -> Result<(), Error> {
        if let Some(Target::File(spec)) = &self.distances {
            files::check_writable(spec, dtype)?;
        }
        self.predecessors.as_ref().map_or(Ok(()), |spec| files::check_writable(spec, DType::I64))
    }

    /// Says so where the graph's file is replaced.
    pub fn say_replaced(&self, common: &Common, graph: &OsStr) {
        let distances = match &self.distances {
            Some(Target::File(spec)) => Some(spec),
            _ => None,
        };
        let inputs = [Path::new(graph)];
        distances.into_iter().chain(&self.predecessors).for_each(|spec| say_replaced(common, spec, &inputs));
    }

    /// Says which integer stands for "no path" in a file that has no infinity, if one does.
    pub fn say_absent(&self, common: &Common, solved: &Solved, semiring: SemiringId) {
        let d = solved.solution.distances.as_ref();
        let Some(Target::File(spec)) = self.distances.as_ref().filter(|_| semiring.has_absent_integers())
        else {
            return;
        };
        if spec.format() == File::Csv || d.dtype().is_float() {
            return;
        }
        let all = (0..d.layout().rows).flat_map(|i| (0..d.layout().cols).filter_map(move |j| d.get(i, j)));
        let is_absent = |value: &Value| Extremes::Absent.meaning(d.dtype(), *value).to_f64().is_infinite();
        if let Some(value) = all.into_iter().find(is_absent) {
            let text =
                format!("no path is {value} in {spec}, an extreme value of {}; .csv has inf", d.dtype());
            terminal::note(common, "output", &text);
        }
    }

    /// Writes everything; gives the seconds it took.
    pub fn write(&self, solved: &Solved, graph: &Graph, semiring: SemiringId) -> Result<f64, Error> {
        let start = Instant::now();
        // Text shows "absent" as the infinity it stands for.
        let absent = matches!(
            semiring,
            SemiringId::MinPlus | SemiringId::MaxPlus | SemiringId::MaxMin | SemiringId::MinMax
        );
        let options = WriteOptions { extremes: if absent { Extremes::Absent } else { Extremes::Refuse } };
        let (names, d) = (graph.labels.as_ref(), solved.solution.distances.as_ref());
        match &self.distances {
            Some(Target::File(spec)) => write(spec, d, names, &options)?,
            Some(Target::Stdout) => {
                let out = BufWriter::new(io::stdout().lock());
                match names {
                    Some(names) => files::write_table_to(out, d, names, &options)?,
                    None => files::write_to(&Spec::new("stdout", File::Csv, None), out, d, &options)?,
                }
            }
            None => {}
        }
        let predecessors = solved.solution.predecessors.as_ref().map(Predecessors::matrix);
        if let (Some(spec), Some(matrix)) = (&self.predecessors, predecessors.or(solved.last_stops.as_ref()))
        {
            write(spec, stops(matrix)?.as_ref(), names, &WriteOptions::default())?;
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Text has names, if there are some; other formats have no place for them.
fn write(spec: &Spec, m: DynRef<'_>, names: Option<&Labels>, options: &WriteOptions) -> Result<(), Error> {
    match names {
        Some(names) if spec.format() == File::Csv => files::write_table(spec.path(), m, names, options),
        _ => files::write(spec, m, options),
    }
}

/// As signed numbers, -1 for none.
fn stops(matrix: &Matrix<u32>) -> Result<DynMatrix, Error> {
    let stop = |stop| if stop == NO_PREDECESSOR { -1 } else { i64::from(stop) };
    Ok(Matrix::from_fn(matrix.rows(), matrix.cols(), |i, j| stop(matrix[(i, j)]))?.into())
}
