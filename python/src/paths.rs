//! Best paths between all pairs of vertices; `tilewright.paths` makes Python's functions of these.

use crate::{
    array::Array,
    dtype::python_name,
    errors::{OrRaise, refuse},
    interrupt::{self, Takes},
    options::item,
    owned::Owned,
    semiring::{self, Over},
};
use pyo3::{prelude::*, types::PyTuple};
use tilewright::{
    DynMatrix, DynRef, Error, Matrix, Value,
    paths::{DynPaths, Method, Options, Solution},
};

/// So many vertices, or more, may take long.
const MANY: usize = 500;

/// What is asked for beside the graph.
struct Wishes<'py> {
    semiring: Bound<'py, PyAny>,
    predecessors: bool,
    method: String,
    max_edges: Option<u32>,
    threads: Option<usize>,
}

impl<'py> Wishes<'py> {
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self {
            semiring: given.get_item("semiring")?,
            predecessors: item(given, "predecessors")?,
            method: item(given, "method")?,
            max_edges: item(given, "max_edges")?,
            threads: item(given, "threads")?,
        })
    }
}

/// Distances, and for each pair the stop before the last, or -1.
type Found = (Owned, Option<Owned>);

/// The types of weights that best paths over a semiring take, as NumPy names them; none for a semiring of the caller's.
#[pyfunction]
pub fn path_types<'py>(semiring: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let names: Vec<_> = match semiring::of(Some(semiring))? {
        Over::BuiltIn(id) => DynPaths::dtypes(id).iter().map(|&dtype| python_name(dtype)).collect(),
        _ => Vec::new(),
    };
    PyTuple::new(semiring.py(), names)
}

/// Of the graph whose edge from row to column has the weight that stands there.
#[pyfunction]
pub fn paths_of_matrix(
    py: Python<'_>,
    weights: &Bound<'_, PyAny>,
    wishes: &Bound<'_, PyAny>,
) -> PyResult<Found> {
    let wishes = Wishes::of(wishes)?;
    let weights = Array::of("W", weights)?;
    weights.refuse_other_booleans(py, "W")?;
    if weights.shape.len() != 2 {
        let message = format!("W has {} dimensions, but a graph has rows and columns", weights.shape.len());
        return refuse(py, "dimensions", &message, "give a matrix with as many rows as columns");
    }
    // SAFETY: the array keeps its memory until the end of this function, and its elements are of this type.
    let view = unsafe { DynRef::from_raw_parts(weights.first, weights.dtype, weights.layout(false)) };
    let paths = DynPaths::new(semiring::built_in("best paths", &wishes.semiring)?, view).or_raise(py)?;
    solve(py, paths, &wishes, weights.shape[0])
}

/// Of a graph with few edges: where they begin, where they end, and what they weigh, as three vectors.
#[pyfunction]
pub fn paths_of_edges(
    py: Python<'_>,
    vertices: usize,
    edges: (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>),
    wishes: &Bound<'_, PyAny>,
) -> PyResult<Found> {
    let wishes = Wishes::of(wishes)?;
    let (from, to) = (ends(py, "the beginnings", &edges.0)?, ends(py, "the ends", &edges.1)?);
    let weights = Array::of("the weights", &edges.2)?;
    weights.refuse_other_booleans(py, "the weights")?;
    let dtype = weights.dtype;
    let weights: Vec<Value> = vector(py, "the weights", &weights)?;
    if from.len() != to.len() || to.len() != weights.len() {
        return refuse(
            py,
            "dimensions",
            "edges with other numbers of beginnings, ends and weights",
            "give one of each",
        );
    }
    let edges: Vec<_> =
        from.into_iter().zip(to).zip(weights).map(|((from, to), weight)| (from, to, weight)).collect();
    let semiring = semiring::built_in("best paths", &wishes.semiring)?;
    let paths = DynPaths::of_edges(semiring, dtype, vertices, &edges).or_raise(py)?;
    solve(py, paths, &wishes, vertices)
}

fn solve(py: Python<'_>, paths: DynPaths<'_>, wishes: &Wishes<'_>, vertices: usize) -> PyResult<Found> {
    let method: Method = wishes.method.parse().or_raise(py)?;
    let paths = wishes.max_edges.map_or(paths, |most| paths.steps(most)).method(method);
    let predecessors = wishes.predecessors;
    let threads = wishes.threads.unwrap_or(usize::from(interrupt::is_forked()));
    let takes = if vertices >= MANY { Takes::Long } else { Takes::Milliseconds };
    let solution = interrupt::run(py, takes, |cancel| -> Result<Solution, Error> {
        let paths = paths.options(Options { threads, cancel: Some(cancel), ..Options::default() });
        if predecessors { paths.with_predecessors() } else { paths.distances() }
    })?;
    let solution = solution.or_raise(py)?;
    let stops = solution.predecessors.map(|found| signed(found.matrix())).transpose().or_raise(py)?;
    Ok((Owned::new(solution.distances), stops.map(Owned::new)))
}

/// The largest number, which means none, becomes -1.
fn signed(stops: &Matrix<u32>) -> Result<DynMatrix, Error> {
    let layout = stops.layout();
    Ok(Matrix::from_vec(stops.as_slice().iter().map(|&stop| stop.cast_signed()).collect(), layout)?.into())
}

fn ends(py: Python<'_>, what: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let values = vector(py, what, &Array::of(what, object)?)?;
    let vertex = |value: Value| match value {
        Value::Int(vertex) => usize::try_from(vertex).ok(),
        _ => None,
    };
    match values.iter().map(|&value| vertex(value)).collect() {
        Some(vertices) => Ok(vertices),
        None => refuse(
            py,
            "unsupported",
            &format!("{what} that are no whole numbers from 0 on"),
            "number the vertices",
        ),
    }
}

fn vector(py: Python<'_>, what: &str, array: &Array) -> PyResult<Vec<Value>> {
    if array.shape.len() != 1 {
        return refuse(py, "dimensions", &format!("{what} have other than one dimension"), "give a vector");
    }
    // SAFETY: the array keeps its memory as long as the view is used, and its elements are of this type.
    let view = unsafe { DynRef::from_raw_parts(array.first, array.dtype, array.layout(false)) };
    Ok((0..array.shape[0]).filter_map(|i| view.get(i, 0)).collect())
}
