//! Best paths from one vertex: Dijkstra's search, and Johnson's potentials for edges that make paths better.

use crate::{
    cycle,
    graph::Graph,
    heap,
    queue::Queue,
    semiring::{PathSemiring, Slack},
};
use tilewright_core::{Element, Error, Extremes, SemiringId, Value};

/// What is known of a graph before a search.
pub(crate) struct Prepared<'g, S: PathSemiring> {
    graph: &'g Graph<S>,
    /// Subtracted from priorities, so that no edge leads to a smaller one; empty for zeros.
    potentials: Vec<f64>,
    /// -1 where larger weights are better.
    sign: f64,
    /// How much farther an edge leads at most, where weights are sums.
    longest: f64,
}

impl<'g, S: PathSemiring> Prepared<'g, S> {
    /// # Errors
    /// `negative-cycle`; `outside-domain` for integers whose sums leave 64 bits.
    pub fn new(graph: &'g Graph<S>) -> Result<Self, Error> {
        let larger_is_better = S::improves(weight::<S>(1.0), weight::<S>(0.0));
        let sign = if larger_is_better { -1.0 } else { 1.0 };
        let potentials = if graph.gains() {
            potentials(graph)?.into_iter().map(|h| sign * h).collect()
        } else {
            Vec::new()
        };
        let mut prepared = Self { graph, potentials, sign, longest: 0.0 };
        let id = S::BUILT_IN.map(|built_in| built_in.id());
        if matches!(id, Some(SemiringId::MinPlus | SemiringId::MaxPlus)) {
            let steps = graph.all().map(|(from, to, weight)| {
                let height = |vertex: usize| prepared.potentials.get(vertex).copied().unwrap_or(0.0);
                sign * weight.to_value().to_f64() + height(from) - height(to)
            });
            prepared.longest = steps.fold(0.0, f64::max);
        }
        Ok(prepared)
    }

    /// A queue for searches in this graph.
    pub fn queue(&self) -> Queue {
        Queue::new(self.longest as f32)
    }

    /// A rough number: a vertex that comes too early is looked at again.
    #[inline(always)]
    fn priority(&self, weight: S::Weight, vertex: usize) -> f32 {
        let number = self.sign * weight.to_value().to_f64();
        self.potentials.get(vertex).map_or(number, |h| number - h) as f32
    }

    /// The weights of the best paths from `source` to every vertex: the best, over all paths, of the weights multiplied from left to right.
    pub fn search(&self, source: usize, best: &mut [S::Weight], queue: &mut Queue) {
        assert!(best.len() == self.graph.vertices(), "a weight for each vertex");
        best.fill(S::ZERO);
        best[source] = S::ONE;
        queue.begin(self.priority(S::ONE, source), source as u32);
        while let Some(entry) = queue.pop() {
            let from = heap::vertex(entry);
            let path = best[from];
            // Reached by a better path since.
            if heap::entry(self.priority(path, from), from as u32) != entry {
                continue;
            }
            for &(to, edge) in self.graph.list(from) {
                let weight = S::times(path, edge);
                // SAFETY: edges lead to vertices of the graph, each of which has an element.
                let known = unsafe { best.get_unchecked_mut(to as usize) };
                if S::improves(weight, *known) {
                    *known = weight;
                    queue.push(self.priority(weight, to as usize), to);
                }
            }
        }
        for weight in best {
            *weight = S::finish(*weight);
        }
    }
}

fn weight<S: PathSemiring>(number: f64) -> S::Weight {
    S::Weight::from_value(Value::Float(number), Extremes::Refuse).unwrap_or(S::ONE)
}

/// The weights of the best paths from anywhere to each vertex.
fn potentials<S: PathSemiring>(graph: &Graph<S>) -> Result<Vec<f64>, Error> {
    let slack = Slack::new::<S>(graph.vertices(), graph.largest());
    match cycle::relax::<S, _>(graph.vertices(), || graph.all(), slack) {
        Ok(best) => Ok(best.into_iter().map(|weight| weight.to_value().to_f64()).collect()),
        Err(cycle) => Err(cycle::error::<S>(cycle)),
    }
}
