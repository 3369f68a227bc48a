//! Graphs with few edges.

use crate::{
    semiring::{PathSemiring, largest},
    solver::{Edges, solver},
};
use core::ops::Range;
use tilewright_core::{Element, Error, ErrorKind, MatRef, Matrix};

/// A graph as lists of edges: for each vertex, those that leave it, by the number of the vertex that they lead to.
///
/// Of parallel edges the best counts. Edges whose weight is [`ZERO`](tilewright_core::Semiring::ZERO) or NaN are none, and loops are left out that make no
/// path better.
///
/// ```
/// use tilewright_paths::Graph;
/// use tilewright_core::MinPlus;
/// let graph = Graph::<MinPlus<f64>>::new(3, [(0, 1, 4.0), (0, 1, 3.0), (1, 2, 1.5), (2, 2, 0.5)])?;
/// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
/// assert_eq!(graph.from(0).collect::<Vec<_>>(), [(1, 3.0)]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph<S: PathSemiring> {
    starts: Vec<usize>,
    edges: Vec<(u32, S::Weight)>,
}

impl<S: PathSemiring> Graph<S> {
    /// A graph of `n` vertices with these edges: from, to, weight.
    ///
    /// # Errors
    /// `unsupported` for a vertex that is not below `n`, and for 2^32 - 1 or more vertices; `outside-domain` for a weight that the semiring does not contain; `out-of-memory`.
    pub fn new(n: usize, edges: impl IntoIterator<Item = (usize, usize, S::Weight)>) -> Result<Self, Error> {
        solver::<S>().graph(n, &mut edges.into_iter())
    }

    pub(crate) fn new_generic(n: usize, edges: &mut Edges<'_, S>) -> Result<Self, Error> {
        if n >= u32::MAX as usize {
            return Err(refuse(format!("a graph of {n} vertices"), "their numbers do not fit 32 bits"));
        }
        let mut list = Vec::new();
        for (from, to, weight) in edges {
            if from >= n || to >= n {
                return Err(refuse(
                    format!("an edge from {from} to {to}"),
                    &format!("there are {n} vertices, from 0 on"),
                ));
            }
            if !crate::range::sums_integers::<S>() && !S::admits(weight) {
                return Err(outside::<S>(from, to, weight));
            }
            let weight = S::clean(weight);
            let is_idle_loop = from == to && !S::improves(weight, S::ONE);
            if !S::is_absent(weight) && !is_idle_loop {
                list.push((from as u32, to as u32, weight));
            }
        }
        sort(&mut list);
        list.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.2 = S::add(first.2, next.2);
            }
            same
        });
        let mut starts = Vec::new();
        if starts.try_reserve_exact(n + 1).is_err() {
            let bytes = (n as u64 + 1) * size_of::<usize>() as u64;
            return Err(ErrorKind::OutOfMemory { what: "a graph", bytes }.into());
        }
        starts.resize(n + 1, 0);
        list.iter().for_each(|&(from, _, _)| starts[from as usize + 1] += 1);
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Ok(Self { starts, edges: list.into_iter().map(|(_, to, weight)| (to, weight)).collect() })
    }

    /// The graph whose edge from row to column has the weight that stands there.
    ///
    /// # Errors
    /// `not-square`; as [`Graph::new`].
    pub fn of_matrix(w: MatRef<'_, S::Weight>) -> Result<Self, Error> {
        crate::closure::check_square("W", w.layout())?;
        let n = w.rows();
        let present = |&(_, _, weight): &(usize, usize, S::Weight)| !S::is_absent(S::clean(weight));
        Self::new(n, (0..n).flat_map(|i| (0..n).map(move |j| (i, j, w[(i, j)]))).filter(present))
    }

    /// The dense matrix of weights, [`ZERO`](tilewright_core::Semiring::ZERO) where there is no edge.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn to_matrix(&self) -> Result<Matrix<S::Weight>, Error> {
        let n = self.vertices();
        let mut w = Matrix::filled(n, n, S::finish(S::ZERO))?;
        for (from, to, weight) in self.all() {
            w[(from, to)] = weight;
        }
        Ok(w)
    }

    /// Vertices.
    pub fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    /// Edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The edges that leave a vertex: where they lead, and their weights.
    ///
    /// # Panics
    /// For a vertex that is not there.
    pub fn from(&self, vertex: usize) -> impl ExactSizeIterator<Item = (usize, S::Weight)> + '_ {
        self.list(vertex).iter().map(|&(to, weight)| (to as usize, weight))
    }

    /// All edges: from, to, weight.
    pub fn all(&self) -> impl Iterator<Item = (usize, usize, S::Weight)> + '_ {
        (0..self.vertices()).flat_map(|from| self.from(from).map(move |(to, weight)| (from, to, weight)))
    }

    /// The same edges in the opposite direction.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let n = self.vertices();
        let mut starts = vec![0; n + 1];
        self.edges.iter().for_each(|&(to, _)| starts[to as usize + 1] += 1);
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut edges) = (starts.clone(), self.edges.clone());
        for (from, to, weight) in self.all() {
            edges[next[to]] = (from as u32, weight);
            next[to] += 1;
        }
        Self { starts, edges }
    }

    pub(crate) fn list(&self, vertex: usize) -> &[(u32, S::Weight)] {
        &self.edges[self.numbers(vertex)]
    }

    /// The places of these edges among all.
    pub(crate) fn numbers(&self, vertex: usize) -> Range<usize> {
        self.starts[vertex]..self.starts[vertex + 1]
    }

    /// The largest magnitude of a weight.
    pub(crate) fn largest(&self) -> f64 {
        largest::<S>(self.edges.iter().map(|&(_, weight)| weight))
    }

    /// Whether an edge makes a path better that it continues.
    pub(crate) fn gains(&self) -> bool {
        self.edges.iter().any(|&(_, weight)| S::improves(weight, S::ONE))
    }
}

/// Sorts edges by their vertices. The code is long, and the same for all semirings on a type.
fn sort<T>(edges: &mut [(u32, u32, T)]) {
    edges.sort_by_key(|&(from, to, _)| (from, to));
}

fn outside<S: PathSemiring>(row: usize, col: usize, weight: S::Weight) -> Error {
    let (value, accepts) = (weight.to_value().to_string(), S::ACCEPTS.unwrap_or("what it contains"));
    ErrorKind::OutsideDomain { operand: "W", row, col, value, semiring: S::NAME, accepts }.into()
}

fn refuse(what: String, why: &str) -> Error {
    ErrorKind::Unsupported { what, why: why.into(), hint: "".into() }.into()
}
