//! Which stop comes before the last one: predecessors, found from weights of edges and of best paths.
//!
//! Of several best paths the one with the fewest edges counts, and of these the one whose stop before the last has the smallest number, and so on at that
//! stop. The choice depends on nothing but the weights, and routes end even where cycles weigh nothing.

use crate::{graph::Graph, semiring::PathSemiring};
use tilewright_core::{Element, MatRef};

/// No stop comes before: there is no path, or it has no edge.
pub const NO_PREDECESSOR: u32 = u32::MAX;

/// The edges that are best paths themselves. Where a worse part makes a path worse, those of every best path are among them.
pub(crate) fn tight_edges<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    d: MatRef<'_, S::Weight>,
) -> Vec<(usize, usize, S::Weight)> {
    assert!(w.rows() == d.rows() && w.cols() == d.cols(), "weights of the same pairs");
    let mut edges = Vec::new();
    for i in 0..w.rows() {
        for j in 0..w.cols() {
            // SAFETY: the indices run inside both, whose shapes are equal.
            let (weight, best) = unsafe { (S::clean(w.get_unchecked(i, j)), d.get_unchecked(i, j)) };
            if weight == best && i != j && !S::is_absent(weight) {
                edges.push((i, j, weight));
            }
        }
    }
    edges
}

/// What is needed to find predecessors.
pub(crate) struct Trees<S: PathSemiring> {
    /// Edges by the vertex that they leave, and by the vertex that they lead to.
    out: Graph<S>,
    into: Graph<S>,
}

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// Room that is used again for every source.
pub(crate) struct Scratch<W> {
    best: Vec<W>,
    /// The last edge of the path to each vertex.
    pub last: Vec<W>,
    /// Sets of vertices, a bit for each: their order comes without sorting.
    level: Vec<u64>,
    next: Vec<u64>,
}

impl<S: PathSemiring> Trees<S> {
    pub fn new(edges: Graph<S>) -> Self {
        Self { into: edges.reversed(), out: edges }
    }

    pub fn scratch(&self) -> Scratch<S::Weight> {
        let n = self.out.vertices();
        let words = n.div_ceil(BITS);
        Scratch {
            best: vec![S::ZERO; n],
            last: vec![S::ZERO; n],
            level: vec![0; words],
            next: vec![0; words],
        }
    }

    /// The predecessors of all vertices on the best paths from `source`, whose weights are `d`. False where roundings make these no paths at all.
    pub fn grow(
        &self,
        source: usize,
        d: &[S::Weight],
        predecessors: &mut [u32],
        scratch: &mut Scratch<S::Weight>,
    ) -> bool {
        if !S::Weight::DTYPE.is_float() {
            // Exact weights tell by themselves which edges are last, and are often equal.
            scratch.best.copy_from_slice(d);
            return self.grow_level_by_level(source, d, predecessors, scratch);
        }
        predecessors.fill(NO_PREDECESSOR);
        // One edge is fewer than any other path has.
        for &(to, edge) in self.out.list(source) {
            if edge == d[to as usize] && to as usize != source {
                (predecessors[to as usize], scratch.last[to as usize]) = (source as u32, edge);
            }
        }
        let (mut is_plain, best) = (true, &mut scratch.best);
        for to in 0..d.len() {
            if to == source || S::is_absent(d[to]) {
                continue;
            }
            if predecessors[to] == source as u32 {
                best[to] = d[to];
                continue;
            }
            // Without branches, which nothing could foretell.
            let (mut least, mut from, mut is_tie) = (S::ZERO, NO_PREDECESSOR, false);
            let mut last = S::ZERO;
            for &(stop, edge) in self.into.list(to) {
                let weight = S::times(d[stop as usize], edge);
                let better = S::improves(weight, least);
                is_tie = !better & (is_tie | (weight == least));
                least = if better { weight } else { least };
                from = if better { stop } else { from };
                last = if better { edge } else { last };
            }
            (best[to], predecessors[to], scratch.last[to]) = (least, from, last);
            // Where every stop before is strictly better, following them ends at the source.
            is_plain &= !is_tie && from != NO_PREDECESSOR && S::improves(d[from as usize], d[to]);
        }
        is_plain || self.grow_level_by_level(source, d, predecessors, scratch)
    }

    /// As [`Self::grow`], all paths of one edge first, then those of two. `best` holds the weight of the best path over each vertex's last edge.
    fn grow_level_by_level(
        &self,
        source: usize,
        d: &[S::Weight],
        predecessors: &mut [u32],
        Scratch { best, last, level, next }: &mut Scratch<S::Weight>,
    ) -> bool {
        let n = self.out.vertices();
        assert!(d.len() == n && best.len() == n && predecessors.len() == n, "as many as there are vertices");
        predecessors.fill(NO_PREDECESSOR);
        let mut missing = (0..d.len()).filter(|&to| to != source && !S::is_absent(d[to])).count();
        level.fill(0);
        level[source / BITS] = 1 << (source % BITS);
        let mut before = usize::MAX;
        while missing > 0 && missing < before {
            before = missing;
            next.fill(0);
            // In the order of vertices, so that the smallest one is found first.
            for (first, mut word) in (0..).step_by(BITS).zip(level.iter().copied()) {
                while word != 0 {
                    let from = first + word.trailing_zeros() as usize;
                    word &= word - 1;
                    let path = d[from];
                    for &(to, edge) in self.out.list(from) {
                        let at = to as usize;
                        // Most edges end here.
                        // SAFETY: edges lead to vertices of the graph, each of which has an element.
                        if S::times(path, edge) != *unsafe { best.get_unchecked(at) } {
                            continue;
                        }
                        if predecessors[at] == NO_PREDECESSOR && at != source && !S::is_absent(d[at]) {
                            (predecessors[at], last[at]) = (from as u32, edge);
                            next[at / BITS] |= 1 << (at % BITS);
                            missing -= 1;
                        }
                    }
                }
            }
            core::mem::swap(level, next);
        }
        missing == 0
    }
}
