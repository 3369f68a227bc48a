//! Best paths from one vertex: Dijkstra's search, and Johnson's potentials for edges that make paths better.

use crate::{
    cycle,
    graph::Graph,
    heap::{self, Heap},
    semiring::{PathSemiring, Slack},
};
use tilewright_core::{Element, Error, Extremes, Value};

/// What is known of a graph before a search.
pub(crate) struct Prepared<'g, S: PathSemiring> {
    graph: &'g Graph<S>,
    /// Subtracted from priorities, so that no edge leads to a smaller one; empty for zeros.
    potentials: Vec<f64>,
    /// -1 where larger weights are better.
    sign: f64,
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
        Ok(Self { graph, potentials, sign })
    }

    /// A rough number: a vertex that comes too early is looked at again.
    #[inline(always)]
    fn priority(&self, weight: S::Weight, vertex: usize) -> f32 {
        let number = self.sign * weight.to_value().to_f64();
        self.potentials.get(vertex).map_or(number, |h| number - h) as f32
    }

    /// The weights of the best paths from `source` to every vertex: the best, over all paths, of the weights multiplied from left to right.
    pub fn search(&self, source: usize, best: &mut [S::Weight], heap: &mut Heap) {
        best.fill(S::ZERO);
        best[source] = S::ONE;
        heap.push(heap::entry(self.priority(S::ONE, source), source as u32));
        while let Some(entry) = heap.pop() {
            let from = heap::vertex(entry);
            let path = best[from];
            // Reached by a better path since.
            if heap::entry(self.priority(path, from), from as u32) != entry {
                continue;
            }
            for &(to, edge) in self.graph.list(from) {
                let weight = S::times(path, edge);
                if S::improves(weight, best[to as usize]) {
                    best[to as usize] = weight;
                    heap.push(heap::entry(self.priority(weight, to as usize), to));
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
