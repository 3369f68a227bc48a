//! The best paths of a graph: what users call.

use crate::{
    closure, cycle,
    device::Device,
    graph::Graph,
    options::{check_cancelled, tell},
    plan::{Method, Plan, plan},
    range::{self, Range},
    route::{Predecessors, Route, follow},
    scan::{self, largest_of},
    schedule,
    search::Prepared,
    semiring::{PathSemiring, Slack},
    share::share,
    steps,
    tree::{NO_PREDECESSOR, Trees, tight_edges},
    wide,
};
use core::fmt;
use std::{cell::RefCell, sync::OnceLock};
use tilewright_core::{Element, Error, ErrorKind, Extremes, MatRef, Matrix, MaxPlus, MinPlus};
use tilewright_cpu::{Isa, Options};

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
/// Weights of floats are rounded, and so depend on the order of ⊗. A search multiplies from left to right, and finds the best of all rounded weights:
/// those of SciPy's `dijkstra`, bit for bit, where no edge is negative. The closure joins two paths at a stop between, in the same order on every
/// instruction set and any number of threads. Its weights differ from those by at most `n eps` times the sum of magnitudes. Integers, and floats whose sums are
/// exact, agree bit for bit.
///
/// # Ties
/// Of several best paths the one with the fewest edges is the route, and of these the one whose stop before the last has the smallest number.
pub struct Paths<'a, S: PathSemiring> {
    weights: Weights<'a, S>,
    method: Method,
    steps: Option<u32>,
    options: Options<'a>,
    device: Option<&'a dyn Device>,
}

enum Weights<'a, S: PathSemiring> {
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
    /// `environment` and `unavailable`, as [`Isa::choose`].
    pub fn plan(&self) -> Result<Plan, Error> {
        let edges = match self.weights {
            Weights::Dense(w) => scan::edges::<S>(w, self.options.threads)?,
            Weights::Sparse(graph) => graph.edges(),
        };
        let threads =
            if self.options.threads == 0 { rayon::current_num_threads() } else { self.options.threads };
        let asked = if self.steps.is_some() { Method::Dense } else { self.method };
        let isa = Isa::choose(self.options.isa)?;
        let mut plan = plan::<S>(self.vertices(), edges, asked, threads, isa, self.device);
        if let Some(most) = self.steps {
            let products = schedule::products(most) as f64;
            plan.work *= products;
            plan.dense_seconds *= products;
            plan.bytes = plan.bytes.saturating_mul(3);
        }
        Ok(plan)
    }

    /// The weights of all best paths.
    ///
    /// # Errors
    /// `outside-domain` for an edge whose weight the semiring does not contain, and for integers whose sums leave 64 bits; `negative-cycle` names the vertices of one;
    /// `conversion` for a path whose weight the integer type cannot hold; `out-of-memory`; `cancelled`.
    pub fn distances(&self) -> Result<Matrix<S::Weight>, Error> {
        match self.steps {
            Some(most) => steps::distances::<S>(self.dense()?.as_ref(), most, self.device, &self.options),
            None if self.is_wide()? => self.in_64_bits(|wide| wide.distances(), |wide| wide.distances()),
            None => self.solve(),
        }
    }

    /// The weights of all best paths, and the stop before the last of each.
    ///
    /// # Errors
    /// As [`Paths::distances`]; `unsupported` where the number of edges is bounded: such paths do not form trees. [`Paths::route`] tells one.
    pub fn with_predecessors(&self) -> Result<(Matrix<S::Weight>, Predecessors), Error> {
        if self.steps.is_some() {
            let (what, why) =
                ("predecessors on paths of at most so many edges", "a part of such a path may have too many");
            let hint = "ask for a route, or for the last stops alone".into();
            return Err(ErrorKind::Unsupported { what: what.into(), why: why.into(), hint }.into());
        }
        if self.is_wide()? {
            let found = RefCell::new(None);
            let distances = self.in_64_bits(
                |wide| wide.with_predecessors().map(|(d, p)| (found.replace(Some(p)), d).1),
                |wide| wide.with_predecessors().map(|(d, p)| (found.replace(Some(p)), d).1),
            );
            // One of both was called.
            return distances
                .and_then(|d| found.into_inner().map(|p| (d, p)).ok_or_else(wide::unsupported::<S>));
        }
        let distances = self.solve()?;
        let predecessors = self.predecessors(&distances)?;
        Ok((distances, predecessors))
    }

    /// The weights of all best paths, and the stop before the last of each, or [`NO_PREDECESSOR`]: those of [`Paths::with_predecessors`], or where the number of edges is
    /// bounded, of a path of so many edges. Sums of floats are rounded from left to right then, edge after edge, in a product for each.
    ///
    /// # Errors
    /// As [`Paths::distances`].
    pub fn with_last_stops(&self) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error> {
        match self.steps {
            Some(most) => steps::last_stops::<S>(self.dense()?.as_ref(), most, &self.options),
            None => self.with_predecessors().map(|(d, predecessors)| (d, predecessors.into_matrix())),
        }
    }

    /// The stops of the best path between two vertices, both included; `None` if there is none. It is found by a search from `from` alone.
    ///
    /// # Errors
    /// As [`Paths::distances`]; `unsupported` for a vertex that is not there, and for so many steps that they cannot be remembered.
    pub fn route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        let n = self.vertices();
        if let Some(vertex) = [from, to].into_iter().find(|&vertex| vertex >= n) {
            let (what, why) = (format!("vertex {vertex}"), format!("there are {n}, from 0 on"));
            return Err(ErrorKind::Unsupported { what, why, hint: String::new() }.into());
        }
        let graph = self.graph()?;
        let graph = graph.get();
        if let Some(most) = self.steps {
            return steps::route(graph, from, to, most);
        }
        if self.is_wide()? {
            return self.wide_route(from, to);
        }
        let (mut best, mut before) = (vec![S::ZERO; n], vec![NO_PREDECESSOR; n]);
        let prepared = Prepared::new(graph)?;
        prepared.search(from, &mut best, &mut prepared.queue());
        let trees = Trees::new(graph.clone());
        trees.grow(from, &best, &mut before, &mut trees.scratch());
        Ok(follow(from, to, n, |stop| before[stop]))
    }

    /// Looks for a cycle that makes paths better, by relaxing every edge until nothing changes; all paths would be found in less time.
    ///
    /// # Errors
    /// `negative-cycle` names the vertices of one; as [`Paths::distances`] for weights.
    pub fn check_cycles(&self) -> Result<(), Error> {
        let Weights::Dense(w) = self.weights else {
            return Prepared::new(self.graph()?.get()).map(|_| ());
        };
        let threads = self.options.threads;
        range::find::<S>(w, threads)?;
        cycle::check::<S>(w, Slack::new::<S>(w.rows(), largest_of::<S>(w, threads)?))
    }

    /// Weights by the planned method, where sums stay in range.
    fn solve(&self) -> Result<Matrix<S::Weight>, Error> {
        let n = self.vertices();
        if self.plan()?.method == Method::Dense {
            let mut d = Matrix::filled(n, n, S::ZERO)?;
            closure::close_to::<S>(self.dense()?.as_ref(), d.as_mut(), self.device, &self.options)?;
            return Ok(d);
        }
        let graph = self.graph()?;
        let prepared = Prepared::new(graph.get())?;
        let work = (n + graph.get().edges()) as f64;
        let mut rows = reserve(n)?;
        // Searches work in a row that stays in the cache, and write what they found once.
        let unwritten = &mut rows.spare_capacity_mut()[..n * n];
        share(self.options.threads, unwritten.chunks_mut((n * SOURCES).max(1)).enumerate(), |(i, rows)| {
            let (mut queue, mut best) = (prepared.queue(), vec![S::ZERO; n]);
            for (source, row) in (i * SOURCES..).zip(rows.chunks_mut(n)) {
                check_cancelled(&self.options)?;
                prepared.search(source, &mut best, &mut queue);
                row.iter_mut().zip(&best).for_each(|(element, &weight)| {
                    element.write(weight);
                });
                tell(&self.options, work);
            }
            Ok(())
        })?;
        // SAFETY: there is room for them, and every row was written: parts are only left out where there is an error.
        unsafe { rows.set_len(n * n) };
        Matrix::from_vec(rows, tilewright_core::Layout::row_major(n, n))
    }

    /// The stop before the last of all best paths, whose weights are known.
    fn predecessors(&self, d: &Matrix<S::Weight>) -> Result<Predecessors, Error> {
        let n = self.vertices();
        let mut found = Matrix::filled(n, n, NO_PREDECESSOR)?;
        let unsure = self.predecessors_on_device(d, &mut found)?;
        let is_found = |source: usize| unsure.as_ref().is_some_and(|unsure| !unsure[source]);
        if (0..n).all(is_found) {
            return Ok(Predecessors::new(found));
        }
        let candidates = match self.weights {
            // A bottleneck may hide edges of its path that are worse than the best path between their ends.
            _ if !S::times_is_strict() => self.graph()?.get().clone(),
            Weights::Dense(w) => Graph::<S>::new(n, tight_edges::<S>(w, d.as_ref()))?,
            Weights::Sparse(graph) => {
                Graph::new(n, graph.all().filter(|&(from, to, weight)| weight == d[(from, to)]))?
            }
        };
        let (trees, searched) = (Trees::new(candidates), OnceLock::new());
        let mut predecessors = found.into_vec();
        let distances = d.as_slice();
        share(
            self.options.threads,
            predecessors.chunks_mut((n * SOURCES).max(1)).enumerate(),
            |(i, rows)| {
                let mut scratch = trees.scratch();
                for (source, row) in
                    (i * SOURCES..).zip(rows.chunks_mut(n)).filter(|(source, _)| !is_found(*source))
                {
                    check_cancelled(&self.options)?;
                    if !trees.grow(source, &distances[source * n..][..n], row, &mut scratch) {
                        self.grow_by_search(source, row, &searched)?;
                    }
                }
                Ok(())
            },
        )?;
        Ok(Predecessors::new(Matrix::from_vec(predecessors, tilewright_core::Layout::row_major(n, n))?))
    }

    /// Finds predecessors on the device, if there is one that does; for each source whether another look is needed.
    fn predecessors_on_device(
        &self,
        d: &Matrix<S::Weight>,
        found: &mut Matrix<u32>,
    ) -> Result<Option<Vec<bool>>, Error> {
        let (Some(device), Weights::Dense(w), Some(built_in)) = (self.device, self.weights, S::BUILT_IN)
        else {
            return Ok(None);
        };
        if !S::times_is_strict() || !S::Weight::DTYPE.is_float() || d.layout().is_empty() {
            return Ok(None);
        }
        let (w, d) = (built_in.operand(w), built_in.operand(d.as_ref()));
        device.last_stops(built_in.id(), w, d, found, &self.options)
    }

    /// The predecessors of one source by a search, whose weights are those of paths exactly. For weights that roundings keep from being so.
    fn grow_by_search(
        &self,
        source: usize,
        row: &mut [u32],
        graph: &OnceLock<Graph<S>>,
    ) -> Result<(), Error> {
        let graph = match graph.get() {
            Some(graph) => graph,
            None => {
                let made = self.graph()?.get().clone();
                graph.get_or_init(|| made)
            }
        };
        let mut best = vec![S::ZERO; row.len()];
        let prepared = Prepared::new(graph)?;
        prepared.search(source, &mut best, &mut prepared.queue());
        let trees = Trees::new(graph.clone());
        trees.grow(source, &best, row, &mut trees.scratch());
        Ok(())
    }

    fn dense(&self) -> Result<Dense<'_, S>, Error> {
        Ok(match self.weights {
            Weights::Dense(w) => Dense::View(w),
            Weights::Sparse(graph) => Dense::Made(graph.to_matrix()?),
        })
    }

    fn graph(&self) -> Result<Sparse<'_, S>, Error> {
        Ok(match self.weights {
            Weights::Dense(w) => Sparse::Made(Graph::of_matrix(w)?),
            Weights::Sparse(graph) => Sparse::Given(graph),
        })
    }

    /// Whether sums of integers may leave the range of their type.
    fn is_wide(&self) -> Result<bool, Error> {
        match self.weights {
            Weights::Dense(w) => Ok(range::find::<S>(w, self.options.threads)? == Range::Wide),
            Weights::Sparse(graph) => match range::of_largest::<S>(graph.largest(), graph.vertices()) {
                _ if !range::sums_integers::<S>() => Ok(false),
                Some(range) => Ok(range == Range::Wide),
                None => range::find::<S>(self.dense()?.as_ref(), self.options.threads).map(|_| true),
            },
        }
    }

    /// The same in 64 bits, by the first function under min-plus, by the second under max-plus.
    fn in_64_bits(
        &self,
        min: impl FnOnce(Paths<'_, MinPlus<i64>>) -> Result<Matrix<i64>, Error>,
        max: impl FnOnce(Paths<'_, MaxPlus<i64>>) -> Result<Matrix<i64>, Error>,
    ) -> Result<Matrix<S::Weight>, Error> {
        let found = if wide::is_max_plus::<S>() {
            max(self.wide(&self.widened()?))?
        } else {
            min(self.wide(&self.widened()?))?
        };
        wide::narrow::<S>(found)
    }

    fn wide_route(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        if wide::is_max_plus::<S>() {
            self.wide::<MaxPlus<i64>>(&self.widened()?).route(from, to)
        } else {
            self.wide::<MinPlus<i64>>(&self.widened()?).route(from, to)
        }
    }

    fn widened<T: PathSemiring<Weight = i64>>(&self) -> Result<Graph<T>, Error> {
        let graph = self.graph()?;
        let wide =
            |weight: S::Weight| i64::from_value(weight.to_value(), Extremes::Refuse).unwrap_or(T::ZERO);
        Graph::new(self.vertices(), graph.get().all().map(|(from, to, weight)| (from, to, wide(weight))))
    }

    fn wide<'b, T: PathSemiring>(&self, graph: &'b Graph<T>) -> Paths<'b, T>
    where
        'a: 'b,
    {
        Paths {
            weights: Weights::Sparse(graph),
            method: self.method,
            steps: self.steps,
            options: self.options,
            device: self.device,
        }
    }
}

/// Room for the elements of a matrix.
fn reserve<T>(n: usize) -> Result<Vec<T>, Error> {
    let mut elements = Vec::new();
    match n.checked_mul(n).map(|count| elements.try_reserve_exact(count)) {
        Some(Ok(())) => Ok(elements),
        _ => {
            let bytes = (n as u64).saturating_mul(n as u64).saturating_mul(size_of::<T>() as u64);
            Err(ErrorKind::OutOfMemory { what: "all best paths", bytes }.into())
        }
    }
}

/// Sources whose rows a thread takes at a time.
const SOURCES: usize = 32;

enum Dense<'a, S: PathSemiring> {
    View(MatRef<'a, S::Weight>),
    Made(Matrix<S::Weight>),
}

impl<S: PathSemiring> Dense<'_, S> {
    fn as_ref(&self) -> MatRef<'_, S::Weight> {
        match self {
            Self::View(w) => *w,
            Self::Made(w) => w.as_ref(),
        }
    }
}

enum Sparse<'a, S: PathSemiring> {
    Given(&'a Graph<S>),
    Made(Graph<S>),
}

impl<S: PathSemiring> Sparse<'_, S> {
    fn get(&self) -> &Graph<S> {
        match self {
            Self::Given(graph) => graph,
            Self::Made(graph) => graph,
        }
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
