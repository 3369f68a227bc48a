//! Best paths from one vertex: Dijkstra's search, and Johnson's potentials for edges that make paths better.
//!
//! Without such edges, and of integers, a vertex is looked at again whenever a better path reaches it: no rounding makes a path better that goes on, so that the search
//! ends. Otherwise roundings could turn in a cycle that weighs nothing for ever. There edges count as they lead up by the potentials, never less than nothing,
//! each vertex is settled once, and its weight is that of the path by which it was.

use crate::{
    cycle::Edge,
    graph::Graph,
    heap,
    length::Measure,
    potentials::potentials,
    queue::Queue,
    semiring::{PathSemiring, is_rounded, number, weight},
    tree::NO_PREDECESSOR,
};
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use tilewright_core::{Error, SemiringId};
use tilewright_cpu::Options;

/// What is known of a graph before a search.
pub(crate) struct Prepared<'g, S: PathSemiring> {
    graph: &'g Graph<S>,
    /// Subtracted from priorities, so that no edge leads to a smaller one; empty for zeros.
    heights: Vec<f64>,
    /// How far each edge leads up by exact potentials; empty where vertices are looked at again.
    climbs: Vec<f64>,
    /// -1 where larger weights are better.
    sign: f64,
    /// How much farther an edge leads at most, where weights are sums.
    longest: f64,
}

/// Room that is used again for every source.
pub(crate) struct Room<W> {
    queue: Queue,
    /// The vertices that wait: how far up, after how many edges.
    waiting: BinaryHeap<Reverse<(Key, u32)>>,
    found: Vec<Found<W>>,
    /// The stop before each vertex.
    pub before: Vec<u32>,
}

/// How far up, as the bits of a number that is not negative, and edges: what comes first is better.
type Key = (u64, u32);

/// The best way to a vertex so far: its last edge.
#[derive(Clone, Copy)]
struct Found<W> {
    key: Key,
    edge: W,
}

impl<'g, S: PathSemiring> Prepared<'g, S> {
    /// # Errors
    /// `negative-cycle`; `cancelled`.
    pub fn new(graph: &'g Graph<S>, options: &Options<'_>) -> Result<Self, Error> {
        let larger_is_better = S::improves(weight::<S>(1.0), weight::<S>(0.0));
        let sign = if larger_is_better { -1.0 } else { 1.0 };
        let mut prepared = Self { graph, heights: Vec::new(), climbs: Vec::new(), sign, longest: 0.0 };
        if graph.gains()
            && let Some(measure) = Measure::of::<S>(graph.vertices(), graph.largest())
        {
            let heights = potentials::<S, _>(graph.vertices(), || graph.all(), &measure, options)?;
            if is_rounded::<S>() {
                let climb = |(from, to, edge): Edge<S>| {
                    let way = measure.length::<S>(edge).plus(heights[from]).minus(heights[to]);
                    way.to_f64().max(0.0)
                };
                prepared.climbs = graph.all().map(climb).collect();
                return Ok(prepared);
            }
            prepared.heights = heights.into_iter().map(|height| height.to_f64()).collect();
        }
        let id = S::BUILT_IN.map(|built_in| built_in.id());
        if matches!(id, Some(SemiringId::MinPlus | SemiringId::MaxPlus)) {
            let steps = graph.all().map(|(from, to, weight)| {
                let height = |vertex: usize| prepared.heights.get(vertex).copied().unwrap_or(0.0);
                sign * number::<S>(weight) + height(from) - height(to)
            });
            prepared.longest = steps.fold(0.0, f64::max);
        }
        Ok(prepared)
    }

    /// Room for searches in this graph.
    pub fn room(&self) -> Room<S::Weight> {
        let n = if self.finds_stops() { self.graph.vertices() } else { 0 };
        Room {
            queue: Queue::new(self.longest as f32),
            waiting: BinaryHeap::new(),
            found: vec![Found { key: NOT_FOUND, edge: S::ZERO }; n],
            before: vec![NO_PREDECESSOR; n],
        }
    }

    /// Whether a search leaves the stop before each vertex in its room. Others follow from the weights alone.
    pub fn finds_stops(&self) -> bool {
        !self.climbs.is_empty()
    }

    /// The weights of the best paths from `source` to every vertex, multiplied from left to right.
    pub fn search(&self, source: usize, best: &mut [S::Weight], room: &mut Room<S::Weight>) {
        assert!(best.len() == self.graph.vertices(), "a weight for each vertex");
        best.fill(S::ZERO);
        if self.finds_stops() {
            self.settle(source, best, room);
        } else {
            self.improve(source, best, &mut room.queue);
        }
        for weight in best {
            *weight = S::finish(*weight);
        }
    }

    /// A rough number: a vertex that comes too early is looked at again.
    #[inline(always)]
    fn priority(&self, weight: S::Weight, vertex: usize) -> f32 {
        let number = self.sign * number::<S>(weight);
        self.heights.get(vertex).map_or(number, |h| number - h) as f32
    }

    /// Looks at a vertex again whenever a better path reaches it: finds the best of all weights as they are rounded.
    fn improve(&self, source: usize, best: &mut [S::Weight], queue: &mut Queue) {
        best[source] = S::ONE;
        queue.begin(self.priority(S::ONE, source), source as u32);
        let mut left = AGAIN * best.len();
        while let Some(entry) = queue.pop() {
            let from = heap::vertex(entry);
            // Rough priorities may put vertices in an order that looks at most of them again and again.
            if left == 0 {
                queue.clear();
                return self.rounds(best);
            }
            left -= 1;
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
    }

    /// As [`Self::improve`], from what is found already: all edges, one after another, as often as a path has edges at most.
    fn rounds(&self, best: &mut [S::Weight]) {
        for _ in 0..best.len() {
            let mut is_better = false;
            for (from, to, edge) in self.graph.all() {
                let weight = S::times(best[from], edge);
                if S::improves(weight, best[to]) {
                    (best[to], is_better) = (weight, true);
                }
            }
            if !is_better {
                break;
            }
        }
    }

    /// Settles each vertex once, the one that is least far up first; of equals the one after the fewest edges, behind the smallest stop.
    fn settle(&self, source: usize, best: &mut [S::Weight], room: &mut Room<S::Weight>) {
        let Room { waiting, found, before, .. } = room;
        found.fill(Found { key: NOT_FOUND, edge: S::ZERO });
        before.fill(NO_PREDECESSOR);
        found[source].key = (0, 0);
        waiting.push(Reverse(((0, 0), source as u32)));
        while let Some(Reverse((key, from))) = waiting.pop() {
            let at = from as usize;
            // Reached by a better way since.
            if found[at].key != key {
                continue;
            }
            best[at] = match before[at] {
                NO_PREDECESSOR => S::ONE,
                stop => S::times(best[stop as usize], found[at].edge),
            };
            // Beyond the range of the type.
            if S::is_absent(best[at]) {
                before[at] = NO_PREDECESSOR;
                continue;
            }
            let up = f64::from_bits(key.0);
            for (&(to, edge), climb) in self.graph.list(at).iter().zip(&self.climbs[self.graph.numbers(at)]) {
                let (key, to) = (((up + climb).to_bits(), key.1 + 1), to as usize);
                if key < found[to].key {
                    (found[to], before[to]) = (Found { key, edge }, from);
                    waiting.push(Reverse((key, to as u32)));
                } else if key == found[to].key && from < before[to] {
                    (found[to], before[to]) = (Found { key, edge }, from);
                }
            }
        }
    }
}

/// How often a vertex is looked at, on average, before the order of the queue is given up.
const AGAIN: usize = 64;

/// Behind all others.
const NOT_FOUND: Key = (u64::MAX, u32::MAX);
