//! All best paths: in place where the weights are needed no more, and as often as asked for.

use super::{graph::Graph, memory, named, resolved::Resolved};
use crate::{args::Common, failure::Failure, interrupt, progress::Progress};
use std::time::Instant;
use tilewright::{
    ErrorKind, Matrix,
    paths::{DynPaths, Method, OnGpu, Options, Plan, Solution, Times, close_dyn},
};

/// All best paths, and how long they took.
pub struct Solved {
    pub solution: Solution,
    /// The stops before the last of paths of so many edges at most, where they were asked for: no path follows from them.
    pub last_stops: Option<Matrix<u32>>,
    pub seconds: f64,
    /// Of the fastest run, where a GPU closed or multiplied.
    pub times: Option<Times>,
}

/// What is to be solved.
pub struct Question<'a> {
    pub asked: &'a Resolved,
    pub common: &'a Common,
    pub plan: &'a Plan,
    pub gpu: Option<&'a OnGpu>,
}

impl Question<'_> {
    /// Solves it. Without `needs_weights` the graph's matrix becomes the result.
    pub fn solve(&self, graph: &mut Graph, needs_weights: bool) -> Result<Solved, Failure> {
        let in_place = !needs_weights
            && self.asked.outputs.predecessors.is_none()
            && self.asked.steps.is_none()
            && self.asked.repeat == 1
            && self.plan.method == Method::Dense
            && graph.is_matrix();
        let deferred = interrupt::Deferred::new();
        self.check_memory(graph, in_place)?;
        let progress = Progress::new((self.plan.work * f64::from(self.asked.repeat)) as u64);
        let count = |work| progress.add(work);
        let options = Options {
            threads: self.asked.threads,
            progress: (!self.common.quiet).then_some(&count as &(dyn Fn(u64) + Sync)),
            cancel: Some(deferred.asked()),
            ..Options::default()
        };
        let solved = if in_place { self.in_place(graph, &options) } else { self.beside(graph, &options) };
        progress.finish();
        if interrupt::was_asked() {
            return Err(Failure::Interrupted { what: "the search for best paths was cancelled".into() });
        }
        solved
    }

    fn check_memory(&self, graph: &Graph, in_place: bool) -> Result<(), Failure> {
        let square = (self.plan.vertices as u64).saturating_mul(self.plan.vertices as u64);
        let held = if in_place && graph.is_in_memory() { square * graph.dtype.size() as u64 } else { 0 };
        let stops = if self.asked.outputs.predecessors.is_some() { square.saturating_mul(4) } else { 0 };
        memory::check(self.common, self.plan.bytes.saturating_sub(held).saturating_add(stops))
    }

    fn in_place(&self, graph: &mut Graph, options: &Options<'_>) -> Result<Solved, Failure> {
        let mut d = graph.take_matrix()?;
        let start = Instant::now();
        let device = self.gpu.map(|gpu| gpu as _);
        let closed = close_dyn(self.asked.semiring, d.as_mut(), device, options);
        let seconds = start.elapsed().as_secs_f64();
        match closed {
            Ok(()) => {}
            // Weights of edges, to name a cycle with all its vertices, are in the file alone.
            Err(error) if matches!(error.kind(), ErrorKind::NegativeCycle { .. }) => {
                *graph = Graph::read(self.asked, self.common)?;
                let error = graph.paths(self.asked)?.check_cycles().err().unwrap_or(error);
                return Err(named(error, graph));
            }
            Err(error) => return Err(named(error, graph)),
        }
        let times = self.gpu.map(OnGpu::times);
        Ok(Solved { solution: Solution::of(d), last_stops: None, seconds, times })
    }

    fn beside(&self, graph: &Graph, options: &Options<'_>) -> Result<Solved, Failure> {
        let paths = super::on(self.gpu, graph.paths(self.asked)?).options(*options);
        let solve = |paths: DynPaths<'_>| match (&self.asked.outputs.predecessors, self.asked.steps) {
            (None, _) => paths.distances().map(|solution| (solution, None)),
            (Some(_), None) => paths.with_predecessors().map(|solution| (solution, None)),
            (Some(_), Some(_)) => paths.with_last_stops().map(|(d, stops)| (Solution::of(d), Some(stops))),
        };
        let mut best: Option<Solved> = None;
        for _ in 0..self.asked.repeat {
            let start = Instant::now();
            let (solution, last_stops) = solve(paths).map_err(|error| named(error, graph))?;
            let seconds = start.elapsed().as_secs_f64();
            if best.as_ref().is_none_or(|best| seconds < best.seconds) {
                let times = self.gpu.map(OnGpu::times);
                best = Some(Solved { solution, last_stops, seconds, times });
            }
        }
        best.ok_or_else(|| Failure::usage("--repeat 0", "compute once at least"))
    }
}
