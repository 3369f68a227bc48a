//! The graph that was asked about, from its file.

use super::{
    random,
    resolved::{Resolved, Source},
};
use crate::{
    args::{Common, PathsInput},
    failure::Failure,
    labels,
    mul::inputs::say_empty,
    terminal,
};
use std::time::Instant;
use tilewright::{
    DType, DynMatrix, Error, ErrorKind, Extremes, SemiringId, Value,
    files::{self, EdgeList, Format, GraphForm, Input, Labels, ReadOptions, Spec},
    paths::DynPaths,
    visible,
};

/// Weights, names, and the type that paths are computed in.
pub struct Graph {
    weights: Weights,
    pub labels: Option<Labels>,
    pub dtype: DType,
    /// What the file was read as: `edges`, `table`, `matrix`, or `random`.
    pub form: &'static str,
    /// Seconds of reading.
    pub seconds: f64,
}

enum Weights {
    Matrix(Input),
    Edges { vertices: usize, edges: Vec<(usize, usize, Value)> },
}

impl Graph {
    pub fn read(asked: &Resolved, common: &Common) -> Result<Self, Failure> {
        let start = Instant::now();
        let (weights, dtype, mut labels, form) = match &asked.source {
            Source::Random(n) => {
                let w = random::graph(asked, common, *n)?;
                let dtype = w.dtype();
                (Weights::Matrix(w.into()), dtype, None, "random")
            }
            Source::File(spec) => from_file(asked, spec, common)?,
        };
        if let Some(names) = &asked.labels {
            labels = Some(labels::read(names)?);
        }
        if let Some(names) = labels.as_ref().filter(|names| names.len() != weights.vertices()) {
            let what = format!("there are {} names, but {} vertices", names.len(), weights.vertices());
            return Err(Failure::usage(what, "every vertex has a name, in the order of rows"));
        }
        Ok(Self { weights, labels, dtype, form, seconds: start.elapsed().as_secs_f64() })
    }

    pub fn vertices(&self) -> usize {
        self.weights.vertices()
    }

    pub fn paths(&self, asked: &Resolved) -> Result<DynPaths<'_>, Error> {
        let paths = match &self.weights {
            Weights::Matrix(w) => DynPaths::new(asked.semiring, w.as_ref())?,
            Weights::Edges { vertices, edges } => {
                DynPaths::of_edges(asked.semiring, self.dtype, *vertices, edges)?
            }
        };
        let paths = paths.method(asked.method);
        Ok(asked.steps.map_or(paths, |most| paths.steps(most)))
    }

    pub fn is_matrix(&self) -> bool {
        matches!(self.weights, Weights::Matrix(_))
    }

    /// Whether its matrix is not merely mapped from a file.
    pub fn is_in_memory(&self) -> bool {
        matches!(&self.weights, Weights::Matrix(w) if !w.is_mapped())
    }

    /// The matrix of weights; no edge is left.
    pub fn take_matrix(&mut self) -> Result<DynMatrix, Error> {
        let none = Weights::Edges { vertices: self.vertices(), edges: Vec::new() };
        match std::mem::replace(&mut self.weights, none) {
            Weights::Matrix(w) => w.into_matrix(),
            Weights::Edges { vertices, .. } => DynMatrix::zeros(self.dtype, vertices, vertices),
        }
    }

    /// The vertex that is meant: by name, or by number where there are no names.
    pub fn vertex(&self, option: &str, text: &str) -> Result<usize, Failure> {
        let n = self.vertices();
        match &self.labels {
            Some(labels) => labels.find(text).ok_or_else(|| {
                Failure::usage(
                    format!("{option}: there is no vertex '{}'", visible(text)),
                    labels::like(labels, text),
                )
            }),
            None => text.parse().ok().filter(|&vertex| vertex < n).ok_or_else(|| {
                let hint = format!(
                    "vertices are the numbers from 0 to {}; --labels gives them names",
                    n.saturating_sub(1)
                );
                Failure::usage(format!("{option}: there is no vertex '{}'", visible(text)), hint)
            }),
        }
    }

    /// What a vertex is called.
    pub fn name(&self, vertex: usize) -> String {
        let name = self.labels.as_ref().and_then(|labels| labels.name(vertex));
        name.map_or_else(|| vertex.to_string(), str::to_owned)
    }
}

fn from_file(
    asked: &Resolved,
    spec: &Spec,
    common: &Common,
) -> Result<(Weights, DType, Option<Labels>, &'static str), Failure> {
    let (weights, labels) = if is_list(asked, common, spec)? {
        edges(asked, common, spec)?
    } else {
        matrix(asked, common, spec)?
    };
    let form = match (&weights, &labels) {
        (Weights::Edges { .. }, _) => "edges",
        (Weights::Matrix(_), Some(_)) => "table",
        (Weights::Matrix(_), None) => "matrix",
    };
    let dtype = weights.dtype(asked)?;
    Ok((weights.converted(asked, spec, dtype)?, dtype, labels, form))
}

/// Whether the file is a list of edges. What could be both is one if options are for lists, or is refused; a diagonal of zeros makes a matrix, and that is said.
fn is_list(asked: &Resolved, common: &Common, spec: &Spec) -> Result<bool, Failure> {
    let form = match asked.input {
        PathsInput::Auto => files::graph_form(spec, &asked.list.text)?,
        PathsInput::Matrix => GraphForm::Matrix,
        PathsInput::Edges => GraphForm::Edges,
    };
    let GraphForm::Unclear { rows, has_zero_diagonal, .. } = form else {
        return Ok(
            form == GraphForm::Edges || (asked.list.columns.is_some() && asked.input == PathsInput::Auto)
        );
    };
    let path = spec.path().display();
    if asked.wants_list() || !(has_zero_diagonal || asked.zero_means_absent) {
        let what = format!("{path} could be a matrix of {rows} x {rows} numbers, or a list of {rows} edges");
        return if asked.wants_list() {
            Ok(true)
        } else {
            Err(Failure::usage(what, "say which with --input matrix or --input edges"))
        };
    }
    let text = format!(
        "{path} is read as a {rows} x {rows} matrix, as its diagonal is zero; --input edges reads {rows} edges"
    );
    terminal::note(common, "input", &text);
    Ok(false)
}

fn edges(asked: &Resolved, common: &Common, spec: &Spec) -> Result<(Weights, Option<Labels>), Failure> {
    if asked.zero_means_absent {
        return Err(Failure::usage(
            "--zero-means-absent with a list of edges",
            "leave out the edges that are none",
        ));
    }
    let EdgeList { vertices, edges, labels, empty } = files::read_edges(spec, &asked.list)?;
    say_empty(common, &asked.graph.to_string_lossy(), empty, asked.semiring.zero());
    Ok((Weights::Edges { vertices, edges }, labels))
}

fn matrix(asked: &Resolved, common: &Common, spec: &Spec) -> Result<(Weights, Option<Labels>), Failure> {
    asked.check_is_no_list()?;
    let options =
        ReadOptions { empty_is_absent: true, text: asked.list.text.clone(), ..options(asked.semiring, None) };
    let table = if spec.format() == Format::Csv { files::read_table(spec, &options)? } else { None };
    let (matrix, labels) = match table {
        Some((matrix, labels)) => (matrix, Some(labels)),
        None => (files::read(spec, &options)?, None),
    };
    say_empty(common, &asked.graph.to_string_lossy(), matrix.empty_cells(), options.fill);
    Ok((Weights::Matrix(matrix), labels))
}

fn options(semiring: SemiringId, dtype: Option<DType>) -> ReadOptions {
    // The extreme integers stand for infinities where these are the semiring's zero.
    let fill = semiring.zero();
    let extremes = if let Value::Float(_) = fill { Extremes::Absent } else { Extremes::Refuse };
    ReadOptions { dtype, extremes, fill, pattern: Value::Int(1), ..ReadOptions::default() }
}

impl Weights {
    fn vertices(&self) -> usize {
        match self {
            Self::Matrix(w) => w.layout().rows,
            Self::Edges { vertices, .. } => *vertices,
        }
    }

    /// The type that is asked for, or the one that the file has, or for text the narrowest that holds its numbers.
    fn dtype(&self, asked: &Resolved) -> Result<DType, Failure> {
        let known = DynPaths::dtypes(asked.semiring);
        let natural = match self {
            // Bytes have no paths.
            Self::Matrix(w) if w.dtype() == DType::U8 => DType::I16,
            Self::Matrix(w) => w.dtype(),
            Self::Edges { edges, .. } => {
                let whole = edges.iter().all(|(_, _, weight)| !matches!(weight, Value::Float(_)));
                if whole { DType::I64 } else { DType::F64 }
            }
        };
        if let Some(dtype) = asked.dtype {
            return Ok(dtype);
        }
        let wider = [natural, DType::F32, DType::F64, DType::Bool];
        let of = |dtype: &&DType| {
            known.contains(dtype) && (dtype.size() >= natural.size().min(8) || **dtype == DType::Bool)
        };
        wider.iter().find(of).copied().ok_or_else(|| {
            Failure::usage(format!("{} on {natural}", asked.semiring), "choose a type with --dtype")
        })
    }

    fn converted(self, asked: &Resolved, spec: &Spec, dtype: DType) -> Result<Self, Failure> {
        match self {
            Self::Edges { vertices, mut edges } => {
                if dtype == DType::Bool {
                    // An edge is an edge, whatever its weight.
                    edges.retain(|edge| edge.2.to_f64() != 0.0);
                    edges.iter_mut().for_each(|edge| edge.2 = Value::Bool(true));
                }
                Ok(Self::Edges { vertices, edges })
            }
            Self::Matrix(w) if asked.zero_means_absent => {
                let (w, n) = (w.as_ref(), w.layout().rows);
                if w.layout().cols != n {
                    return Err(Error::from(ErrorKind::NotSquare {
                        what: "W",
                        rows: n,
                        cols: w.layout().cols,
                    })
                    .into());
                }
                let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let edges = all.filter_map(|(i, j)| Some((i, j, w.get(i, j)?)));
                let edges: Vec<_> = edges.filter(|edge| edge.2.to_f64() != 0.0).collect();
                Self::Edges { vertices: n, edges }.converted(asked, spec, dtype)
            }
            Self::Matrix(w) if w.dtype() != dtype => {
                let convert = || w.as_ref().convert(dtype, options(asked.semiring, None).extremes);
                let bad = |error: Error| match error.kind() {
                    ErrorKind::Conversion { .. } => {
                        let path = spec.path().to_path_buf();
                        ErrorKind::BadFile { path, problem: error.to_string(), hint: error.kind().hint() }
                            .into()
                    }
                    _ => error,
                };
                Ok(Self::Matrix(convert().map_err(bad)?.into()))
            }
            same => Ok(same),
        }
    }
}
