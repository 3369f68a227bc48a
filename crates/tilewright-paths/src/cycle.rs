//! Naming a negative cycle: going around it makes every path better.

use crate::{length::Measure, options::check_cancelled, potentials::potentials, semiring::PathSemiring};
use tilewright_core::{Element, Error, ErrorKind, MatRef};
use tilewright_cpu::Options;

/// An edge: from, to, weight.
pub(crate) type Edge<S> = (usize, usize, <S as PathSemiring>::Weight);

/// The error for a matrix in which a cycle through `vertex` gains, exactly.
pub(crate) fn name<S: PathSemiring>(w: MatRef<'_, S::Weight>, vertex: usize, largest: f64) -> Error {
    let otherwise = || error::<S>(vec![vertex], S::clean(w[(vertex, vertex)]));
    check::<S>(w, largest, &Options::default()).err().unwrap_or_else(otherwise)
}

/// # Errors
/// `negative-cycle`: one that gains; `cancelled`.
pub(crate) fn check<S: PathSemiring>(
    w: MatRef<'_, S::Weight>,
    largest: f64,
    options: &Options<'_>,
) -> Result<(), Error> {
    let n = w.rows();
    let Some(measure) = Measure::of::<S>(n, largest) else { return check_cancelled(options) };
    let edges = (0..n).flat_map(|i| (0..n).map(move |j| (i, j, S::clean(w[(i, j)]))));
    let edges = edges.filter(|&(_, _, weight)| !S::is_absent(weight));
    potentials::<S, _>(n, || edges.clone(), &measure, options).map(|_| ())
}

/// The error for a cycle of this weight, in the order of a turn.
pub(crate) fn error<S: PathSemiring>(cycle: Vec<usize>, weight: S::Weight) -> Error {
    ErrorKind::NegativeCycle { semiring: S::NAME, cycle, weight: weight.to_value() }.into()
}

/// All cycles of a graph in which at most one edge leads to each vertex, in the order of a turn, from the smallest vertex of each.
pub(crate) fn turns<W>(last: &[Option<(usize, W)>]) -> Vec<Vec<usize>> {
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
