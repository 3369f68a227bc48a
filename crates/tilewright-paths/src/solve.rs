//! How best paths are found, for each semiring that this is compiled for.

use crate::{
    closure, cycle,
    graph::Graph,
    length::Measure,
    options::check_cancelled,
    paths::{Paths, Weights},
    plan::{Method, Plan, plan},
    range::{self, Range},
    route::{Predecessors, Route, follow},
    scan::{self, largest_of},
    schedule,
    search::Prepared,
    semiring::{PathSemiring, is_rounded},
    share::share,
    sources::{Found, SOURCES, search_all},
    steps,
    tree::{NO_PREDECESSOR, Trees, tight_edges},
    weigh::Scales,
    wide,
};
use std::{cell::RefCell, sync::OnceLock};
use tilewright_core::{Element, Error, ErrorKind, Extremes, Layout, MatRef, Matrix, MaxPlus, MinPlus};
use tilewright_cpu::{Isa, Options};

impl<'a, S: PathSemiring> Paths<'a, S> {
    pub(crate) fn plan_generic(&self) -> Result<Plan, Error> {
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

    pub(crate) fn distances_generic(&self) -> Result<Matrix<S::Weight>, Error> {
        match self.steps {
            Some(most) => steps::distances::<S>(self.dense()?.as_ref(), most, self.device, &self.options),
            None if self.is_wide()? => self.in_64_bits(|wide| wide.distances(), |wide| wide.distances()),
            None => self.solve(false).map(|(distances, _)| distances),
        }
    }

    pub(crate) fn with_predecessors_generic(&self) -> Result<(Matrix<S::Weight>, Predecessors), Error> {
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
        match self.solve(true)? {
            (distances, Some(stops)) => Ok((distances, Predecessors::new(stops))),
            (distances, None) => self.find_predecessors(distances),
        }
    }

    pub(crate) fn with_last_stops_generic(&self) -> Result<(Matrix<S::Weight>, Matrix<u32>), Error> {
        match self.steps {
            Some(most) => steps::last_stops::<S>(self.dense()?.as_ref(), most, &self.options),
            None => self.with_predecessors().map(|(d, predecessors)| (d, predecessors.into_matrix())),
        }
    }

    pub(crate) fn route_generic(&self, from: usize, to: usize) -> Result<Option<Route>, Error> {
        let n = self.vertices();
        if let Some(vertex) = [from, to].into_iter().find(|&vertex| vertex >= n) {
            let (what, why) = (format!("vertex {vertex}"), format!("there are {n}, from 0 on"));
            return Err(ErrorKind::Unsupported { what, why, hint: "".into() }.into());
        }
        let graph = self.graph()?;
        let graph = graph.get();
        if let Some(most) = self.steps {
            return steps::route(graph, from, to, most);
        }
        if self.is_wide()? {
            return self.wide_route(from, to);
        }
        let before = Searches::new(graph, &self.options)?.stops_from(from, &mut vec![S::ZERO; n])?;
        Ok(follow(from, to, n, |stop| before[stop]))
    }

    pub(crate) fn check_cycles_generic(&self) -> Result<(), Error> {
        let Weights::Dense(w) = self.weights else {
            return Prepared::new(self.graph()?.get(), &self.options).map(|_| ());
        };
        let threads = self.options.threads;
        range::find::<S>(w, threads)?;
        cycle::check::<S>(w, largest_of::<S>(w, threads)?, &self.options)
    }

    /// Weights by the planned method, where sums stay in range, and stops before the last where they are found on the way.
    fn solve(&self, with_stops: bool) -> Result<Found<S>, Error> {
        let n = self.vertices();
        let mut options = self.options;
        if self.plan()?.method == Method::Dense {
            let mut d = Matrix::filled(n, n, S::ZERO)?;
            if closure::close_to::<S>(self.dense()?.as_ref(), d.as_mut(), self.device, &options)? {
                return Ok((d, None));
            }
            options = closure::in_silence(&options);
        }
        search_all(self.graph()?.get(), with_stops, &options)
    }

    /// The stop before the last of all best paths, whose weights are known. Where roundings keep these from being those of paths, they are found once more.
    fn find_predecessors(&self, d: Matrix<S::Weight>) -> Result<(Matrix<S::Weight>, Predecessors), Error> {
        let n = self.vertices();
        let mut found = Matrix::filled(n, n, NO_PREDECESSOR)?;
        let unsure = self.predecessors_on_device(&d, &mut found)?;
        let is_found = |source: usize| unsure.as_ref().is_some_and(|unsure| !unsure[source]);
        let candidates = match self.weights {
            _ if (0..n).all(is_found) => Graph::<S>::new(n, [])?,
            // A bottleneck may hide edges of its path that are worse than the best path between their ends.
            _ if !S::times_is_strict() => self.graph()?.get().clone(),
            Weights::Dense(w) => Graph::<S>::new(n, tight_edges::<S>(w, d.as_ref()))?,
            Weights::Sparse(graph) => {
                Graph::new(n, graph.all().filter(|&(from, to, weight)| weight == d[(from, to)]))?
            }
        };
        let measure = if is_rounded::<S>() { Measure::of::<S>(n, 0.0) } else { None };
        let (graph, searches) = (OnceLock::new(), OnceLock::new());
        let trees = Trees::new(candidates);
        let (mut distances, mut stops) = (d.into_vec(), found.into_vec());
        let size = (n * SOURCES).max(1);
        let parts = distances.chunks_mut(size).zip(stops.chunks_mut(size));
        share(self.options.threads, parts.enumerate(), |(i, (distances, stops))| {
            let (mut scratch, mut scales) = (trees.scratch(), Scales::new(n));
            let rows = distances.chunks_mut(n).zip(stops.chunks_mut(n));
            for (source, (d, before)) in (i * SOURCES..).zip(rows) {
                check_cancelled(&self.options)?;
                let is_whole = if is_found(source) {
                    self.last_edges(before, &mut scratch.last);
                    true
                } else {
                    trees.grow(source, d, before, &mut scratch)
                };
                let agrees = |measure| scales.agree::<S>(measure, source, d, before, &scratch.last);
                if !is_whole || !measure.as_ref().is_none_or(agrees) {
                    let graph = once(&graph, || self.graph())?;
                    let searches = once(&searches, || Searches::new(graph.get(), &self.options))?;
                    before.copy_from_slice(&searches.stops_from(source, d)?);
                }
            }
            Ok(())
        })?;
        let layout = Layout::row_major(n, n);
        let predecessors = Predecessors::new(Matrix::from_vec(stops, layout)?);
        Ok((Matrix::from_vec(distances, layout)?, predecessors))
    }

    /// The weights of the edges from the stops before to each vertex.
    fn last_edges(&self, before: &[u32], last: &mut [S::Weight]) {
        let Weights::Dense(w) = self.weights else { return };
        for (to, (&stop, last)) in before.iter().zip(last).enumerate() {
            *last = w.get(stop as usize, to).map_or(S::ZERO, S::clean);
        }
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

/// What `make` gives, the first time.
fn once<T>(known: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    match known.get() {
        Some(known) => Ok(known),
        None => {
            let made = make()?;
            Ok(known.get_or_init(|| made))
        }
    }
}

/// Searches from single vertices, and the stops that they tell.
struct Searches<'g, S: PathSemiring> {
    prepared: Prepared<'g, S>,
    /// Where searches leave no stops.
    trees: Option<Trees<S>>,
}

impl<'g, S: PathSemiring> Searches<'g, S> {
    fn new(graph: &'g Graph<S>, options: &Options<'_>) -> Result<Self, Error> {
        let prepared = Prepared::new(graph, options)?;
        let trees = (!prepared.finds_stops()).then(|| Trees::new(graph.clone()));
        Ok(Self { prepared, trees })
    }

    /// The stops before the last of the best paths from a vertex, whose weights become `best`.
    fn stops_from(&self, source: usize, best: &mut [S::Weight]) -> Result<Vec<u32>, Error> {
        let mut room = self.prepared.room();
        self.prepared.search(source, best, &mut room);
        let Some(trees) = &self.trees else { return Ok(room.before) };
        let mut before = vec![NO_PREDECESSOR; best.len()];
        if trees.grow(source, best, &mut before, &mut trees.scratch()) {
            return Ok(before);
        }
        let (what, why) =
            (format!("the routes from vertex {source}"), "roundings hide their last edges".into());
        Err(ErrorKind::Unsupported { what, why, hint: "choose f64, or whole numbers".into() }.into())
    }
}

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
