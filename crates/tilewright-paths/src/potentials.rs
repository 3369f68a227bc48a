//! Heights of vertices, by which no edge leads down: Bellman and Ford's relaxation. It ends after a bounded number of rounds, whatever the weights.

use crate::{
    cycle::{self, Edge},
    length::{Length, Measure},
    options::check_cancelled,
    semiring::PathSemiring,
};
use tilewright_core::Error;
use tilewright_cpu::Options;

/// A height `h` for each vertex, so that the length of an edge is no less than `h(to) - h(from)`, or so little less that its cycles count as zero.
///
/// The lengths are tried as they are. Where they have a cycle below zero, but within the tolerance, all edges are made longer, a little at first and at last by the tolerance of a
/// cycle. Then a cycle that is still below zero gains by more than the tolerance.
///
/// # Errors
/// `negative-cycle`; `cancelled`.
pub(crate) fn potentials<S: PathSemiring, E: Iterator<Item = Edge<S>>>(
    n: usize,
    edges: impl Fn() -> E,
    measure: &Measure,
    options: &Options<'_>,
) -> Result<Vec<Length>, Error> {
    let mut heights = Vec::new();
    for slack in measure.slacks() {
        let (found, is_settled) = relax::<S, E>(n, &edges, measure, Length::new(slack), options)?;
        heights = found;
        if is_settled {
            break;
        }
    }
    Ok(heights)
}

/// The lengths of the shortest ways from anywhere to each vertex over edges that are longer by `slack`, and whether `n` rounds found them all.
fn relax<S: PathSemiring, E: Iterator<Item = Edge<S>>>(
    n: usize,
    edges: impl Fn() -> E,
    measure: &Measure,
    slack: Length,
    options: &Options<'_>,
) -> Result<(Vec<Length>, bool), Error> {
    let mut heights = vec![Length::ZERO; n];
    // The edge by which each vertex was reached last.
    let mut last: Vec<Option<(usize, S::Weight)>> = vec![None; n];
    for _ in 0..=n {
        check_cancelled(options)?;
        let mut is_settled = true;
        for (from, to, weight) in edges() {
            let way = heights[from].plus(measure.length::<S>(weight)).plus(slack);
            if way.is_less(heights[to]) {
                (heights[to], last[to]) = (way, Some((from, weight)));
                is_settled = false;
            }
        }
        if is_settled {
            return Ok((heights, true));
        }
        for turn in cycle::turns(&last) {
            let edges = turn.iter().cycle().skip(1).take(turn.len());
            let edges = edges.map(|&to| last[to].map_or(S::ZERO, |(_, weight)| weight));
            if let Some(weight) = measure.gain::<S>(edges) {
                return Err(cycle::error::<S>(turn, weight));
            }
        }
    }
    Ok((heights, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Element, ErrorKind, MinPlus};

    fn found<T>(n: usize, largest: f64, edges: &[(usize, usize, T)]) -> Option<(Vec<usize>, f64)>
    where
        T: Copy + Element,
        MinPlus<T>: PathSemiring<Weight = T>,
    {
        let measure = Measure::of::<MinPlus<T>>(n, largest).unwrap();
        let edges = || edges.iter().copied();
        let error = potentials::<MinPlus<T>, _>(n, edges, &measure, &Options::default()).err()?;
        match error.kind() {
            ErrorKind::NegativeCycle { cycle, weight, .. } => Some((cycle.clone(), weight.to_f64())),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_cycle_is_found_beside_others_that_gain_nothing() {
        let edges = [(0, 1, 1), (1, 0, 2), (3, 1, 1), (1, 2, -4), (2, 3, 2), (3, 4, -9), (4, 4, 0)];
        assert_eq!(found(5, 9.0, &edges), Some((vec![1, 2, 3], -1.0)));
        assert_eq!(found(5, 9.0, &edges[..3]), None);
        assert_eq!(found(1, 2.0, &[(0, 0, -2)]), Some((vec![0], -2.0)));
    }

    #[test]
    fn a_cycle_that_counts_as_zero_hides_none_that_gains() {
        let zero = [(0, 1, 0.3), (1, 2, -0.1), (2, 0, -0.2 - 1e-16)];
        assert_eq!(found(5, 0.3, &zero), None);
        let more: Vec<_> =
            zero.into_iter().chain([(1, 3, 0.25), (3, 4, 0.25), (4, 1, -0.5 - 1e-9)]).collect();
        assert_eq!(found(5, 0.5, &more).unwrap().0, [1, 3, 4]);
    }
}
