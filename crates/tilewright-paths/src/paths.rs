//! The best paths of a graph: what users call.

use crate::{
    closure,
    device::Device,
    graph::Graph,
    plan::{Method, Plan},
    route::{Predecessors, Route},
    semiring::PathSemiring,
    solver::solver,
};
use core::fmt;
use tilewright_core::{Error, MatRef, Matrix};
use tilewright_cpu::Options;

/// The best paths between all pairs of vertices: `D[i,j] = ⊕` over all paths from `i` to `j` of the weights of their edges, joined by ⊗. Paths without an
/// edge count: `D[i,i]` is [`ONE`](tilewright_core::Semiring::ONE).
///
/// Nothing is computed until one of the finishing methods is called.
///
/// ```
/// use tilewright_paths::{Graph, Paths};
/// use tilewright_core::MinPlus;
/// let roads = Graph::<MinPlus<f64>>::new(4, [(0, 1, 2.0), (1, 2, 2.5), (0, 2, 5.0), (2, 0, 1.0)])?;
/// let paths = Paths::of_graph(&roads);
/// assert_eq!(paths.distances()?[(0, 2)], 4.5);
/// let route = paths.route(0, 2)?.map(|route| route.collect::<Vec<_>>());
/// assert_eq!(route.as_deref(), Some(&[0, 1, 2][..]));
/// assert!(paths.route(0, 3)?.is_none());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Sums
/// Weights of floats are rounded, and so depend on the order of ⊗. A search multiplies from left to right. Where no edge is negative it finds the best of all rounded weights,
/// those of SciPy's `dijkstra`, bit for bit; otherwise each weight is that of its route. The closure joins two paths at a stop between, in the same order on every
/// instruction set and any number of threads. Its weights differ from those by at most `n eps` times the sum of magnitudes. Integers, and floats whose sums are
/// exact, agree bit for bit.
///
/// # Cycles
/// A cycle of floats within `n eps max|w|` of zero counts as zero, of products one within `n eps` of 1. Roundings alone may make it negative. What is an error lies below that.
///
/// # Ties
/// Of several best paths the one with the fewest edges is the route, and of these the one whose stop before the last has the smallest number.
pub struct Paths<'a, S: PathSemiring> {
    pub(crate) weights: Weights<'a, S>,
    pub(crate) method: Method,
    pub(crate) steps: Option<u32>,
    pub(crate) options: Options<'a>,
    pub(crate) device: Option<&'a dyn Device>,
}

/// Where the weights of edges come from.
pub(crate) enum Weights<'a, S: PathSemiring> {
    Dense(MatRef<'a, S::Weight>),
    Sparse(&'a Graph<S>),
}

impl<S: PathSemiring> Clone for Paths<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: PathSemiring> Copy for Paths<'_, S> {}
impl<S: PathSemiring> Clone for Weights<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: PathSemiring> Copy for Weights<'_, S> {}

impl<'a, S: PathSemiring> Paths<'a, S> {
    /// Of the graph whose edge from row to column has the weight that stands there; [`ZERO`](tilewright_core::Semiring::ZERO) and NaN are no edges.
    ///
    /// # Errors
    /// `not-square`.
    pub fn new(w: impl Into<MatRef<'a, S::Weight>>) -> Result<Self, Error> {
        let w = w.into();
        closure::check_square("W", w.layout())?;
        Ok(Self::of(Weights::Dense(w)))
    }

    /// Of a graph with few edges.
    pub fn of_graph(graph: &'a Graph<S>) -> Self {
        Self::of(Weights::Sparse(graph))
    }

    fn of(weights: Weights<'a, S>) -> Self {
        Self { weights, method: Method::Auto, steps: None, options: Options::default(), device: None }
    }

    /// Computes in this way; [`Method::Auto`] unless called.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Allows paths of at most so many edges; any number unless called. Cycles harm nothing then.
    #[must_use]
    pub fn steps(self, most: u32) -> Self {
        Self { steps: Some(most), ..self }
    }

    /// Uses at most so many threads; 0 takes as many as there is work for.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Replaces the choices of threads, instruction set, progress and cancelling.
    #[must_use]
    pub fn options(self, options: Options<'a>) -> Self {
        Self { options, ..self }
    }

    /// Closes and multiplies matrices there, and not on this processor, which still searches and finds predecessors.
    #[must_use]
    pub fn device(self, device: &'a dyn Device) -> Self {
        Self { device: Some(device), ..self }
    }

    /// Vertices.
    pub fn vertices(&self) -> usize {
        match self.weights {
            Weights::Dense(w) => w.rows(),
            Weights::Sparse(graph) => graph.vertices(),
        }
    }

    /// What either way would take, and which one is taken.
    ///
    /// # Errors
    /// `environment` and `unavailable`, as [`Isa::choose`](tilewright_cpu::Isa::choose).
    pub fn plan(&self) -> Result<Plan, Error> {
        solver::<S>().plan(self)
    }

    /// The weights of all best paths.
    ///
    /// # Errors
    /// `outside-domain` for an edge whose weight the semiring does not contain, and for integers whose sums leave 64 bits; `negative-cycle` names the vertices of one;
    /// `conversion` for a path whose weight the integer type cannot hold; `out-of-memory`; `cancelled`.
    pub fn distances(&self) -> Result<Matrix<S::Weight>, Error> {
        solver::<S>().distances(self)
    }

    /// The weights of all best paths, and the stop before the last of each.
    ///
    /// # Errors
    /// As [`Paths::distances`]; `unsupported` where the number of edges is bounded: such paths do not form trees. [`Paths::route`] tells one.
    pub fn with_predecessors(&self) -> Result<(Matrix<S::Weight>, Predecessors), Error> {
        solver::<S>().with_predecessors(self)
    }

    /// The weights of all best paths, and the stop before the last of each, or [`NO_PREDECESSOR`](crate::NO_PREDECESSOR): those of [`Paths::with_predecessors`], or where the number of edges is
    /// bounded, of a path of so many edges. Sums of floats are rounded from left to right then, edge after edge, in a product for each.
    ///
    /// # Errors
    /// As [`Paths::distances`].
    pub fn with_last_stops(&self) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error> {
        solver::<S>().with_last_stops(self)
    }

    /// The stops of the best path between two vertices, both included; `None` if there is none. It is found by a search from `from` alone.
    ///
    /// # Errors
    /// As [`Paths::distances`]; `unsupported` for a vertex that is not there, and for so many steps that they cannot be remembered.
    pub fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        solver::<S>().route(self, from, to)
    }

    /// Looks for a cycle that makes paths better, by relaxing every edge until nothing changes; all paths would be found in less time.
    ///
    /// # Errors
    /// `negative-cycle` names the vertices of one; as [`Paths::distances`] for weights.
    pub fn check_cycles(&self) -> Result<(), Error> {
        solver::<S>().check_cycles(self)
    }
}

impl<S: PathSemiring> fmt::Debug for Paths<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paths")
            .field("semiring", &S::NAME)
            .field("vertices", &self.vertices())
            .field("method", &self.method)
            .field("steps", &self.steps)
            .field("options", &self.options)
            .finish()
    }
}
