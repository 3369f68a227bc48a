//! Naming a cycle whose every turn makes a path better.

use crate::semiring::{PathSemiring, Slack};
use tilewright_core::{Element, Error, ErrorKind, MatRef};

/// The error for a matrix in which a cycle through `vertex` gains: Bellman and Ford's relaxation from everywhere at once, until the edges that were
/// taken last form a cycle.
pub(crate) fn name<S: PathSemiring>(w: MatRef<'_, S::Weight>, vertex: usize, slack: Slack) -> Error {
    let otherwise = || error::<S>((vec![vertex], S::clean(w[(vertex, vertex)])));
    check::<S>(w, slack).err().unwrap_or_else(otherwise)
}

/// # Errors
/// `negative-cycle`: one that gains.
pub(crate) fn check<S: PathSemiring>(w: MatRef<'_, S::Weight>, slack: Slack) -> Result<(), Error> {
    let n = w.rows();
    let edges = (0..n).flat_map(|i| (0..n).map(move |j| (i, j, S::clean(w[(i, j)]))));
    let edges = edges.filter(|&(_, _, weight)| !S::is_absent(weight));
    find::<S, _>(n, || edges.clone(), slack).map_or(Ok(()), |cycle| Err(error::<S>(cycle)))
}

/// The error for a cycle of this weight.
pub(crate) fn error<S: PathSemiring>((cycle, weight): Cycle<S::Weight>) -> Error {
    ErrorKind::NegativeCycle { semiring: S::NAME, cycle, weight: weight.to_value() }.into()
}

/// A cycle in the order of a turn, beginning with its smallest vertex, and its weight.
pub(crate) type Cycle<W> = (Vec<usize>, W);

/// A cycle that gains; `None` if there is none.
fn find<S: PathSemiring, E: Iterator<Item = (usize, usize, S::Weight)>>(
    n: usize,
    edges: impl Fn() -> E,
    slack: Slack,
) -> Option<Cycle<S::Weight>> {
    relax::<S, E>(n, edges, slack).err()
}

/// The weights of the best paths from anywhere to each vertex.
///
/// # Errors
/// A cycle that gains.
pub(crate) fn relax<S: PathSemiring, E: Iterator<Item = (usize, usize, S::Weight)>>(
    n: usize,
    edges: impl Fn() -> E,
    slack: Slack,
) -> Result<Vec<S::Weight>, Cycle<S::Weight>> {
    let mut best = vec![S::ONE; n];
    // The edge by which each vertex was reached last.
    let mut last: Vec<Option<(usize, S::Weight)>> = vec![None; n];
    for _ in 0..=n {
        let mut relaxed = false;
        for (from, to, weight) in edges() {
            let path = S::times(best[from], weight);
            if S::improves(path, best[to]) {
                (best[to], last[to]) = (path, Some((from, weight)));
                relaxed = true;
            }
        }
        if !relaxed {
            break;
        }
        let gains = |cycle: &Vec<usize>| slack.is_gain::<S>(weight_of::<S>(cycle, &last));
        if let Some(cycle) = cycles(&last).into_iter().find(gains) {
            let weight = weight_of::<S>(&cycle, &last);
            return Err((cycle, weight));
        }
    }
    Ok(best)
}

/// The weight of a cycle, summed in the order of its vertices.
fn weight_of<S: PathSemiring>(cycle: &[usize], last: &[Option<(usize, S::Weight)>]) -> S::Weight {
    let edge = |to: &usize| last[*to].map_or(S::ZERO, |(_, weight)| weight);
    let sum = cycle[1..].iter().map(edge).fold(S::ONE, S::times);
    S::finish(S::times(sum, edge(&cycle[0])))
}

/// All cycles of a graph in which at most one edge leads to each vertex, in the order of a turn, from the smallest vertex of each.
fn cycles<W>(last: &[Option<(usize, W)>]) -> Vec<Vec<usize>> {
    let mut seen = vec![usize::MAX; last.len()];
    let mut cycles = Vec::new();
    for start in 0..last.len() {
        let (mut at, mut path) = (start, Vec::new());
        while seen[at] == usize::MAX {
            seen[at] = start;
            path.push(at);
            match &last[at] {
                Some((from, _)) => at = *from,
                None => break,
            }
        }
        // Back where this walk has been, and not just at its end.
        if let Some(first) =
            path.iter().position(|&vertex| vertex == at).filter(|_| seen[at] == start && last[at].is_some())
        {
            let closes = path.last().and_then(|&end| last[end].as_ref()).is_some_and(|(from, _)| *from == at);
            if closes {
                let mut cycle = path.split_off(first);
                cycle.reverse();
                let smallest = (0..cycle.len()).min_by_key(|&i| cycle[i]).unwrap_or(0);
                cycle.rotate_left(smallest);
                cycles.push(cycle);
            }
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::MinPlus;

    #[test]
    fn the_cycle_is_found_beside_others_that_gain_nothing() {
        let edges = [(0, 1, 1), (1, 0, 2), (3, 1, 1), (1, 2, -4), (2, 3, 2), (3, 4, -9), (4, 4, 0)];
        let slack = Slack::new::<MinPlus<i32>>(5, 9.0);
        let found = find::<MinPlus<i32>, _>(5, || edges.into_iter(), slack);
        assert_eq!(found, Some((vec![1, 2, 3], -1)));
        let harmless = &edges[..3];
        assert_eq!(find::<MinPlus<i32>, _>(5, || harmless.iter().copied(), slack), None);
        assert_eq!(find::<MinPlus<i32>, _>(1, || [(0, 0, -2)].into_iter(), slack), Some((vec![0], -2)));
    }
}
