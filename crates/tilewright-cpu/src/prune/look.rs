//! Whether pruning pays: a look at some outputs.

use super::{
    Model,
    metric::{FAR, Metric},
    order::{Join, OfBottleneck, OfProduct, OfSum, Order, worst},
    sort::best_but,
};
use crate::{op::By, pack::Load};
use tilewright_core::MatRef;

/// Rows, columns and terms from which on pruning may pay: panels and steps are filled.
const LEAST: [usize; 3] = [24, 128, 256];

/// Terms in all from which on pruning may pay: beginning has a cost, too.
const LEAST_IN_ALL: f64 = (1u32 << 22) as f64;
/// The same of bottlenecks, whose rows are seldom left unsorted by a look.
const LEAST_OF_BOTTLENECKS: f64 = (1u32 << 23) as f64;

/// Whether a product of `m x k` and `k x n` elements of so many bytes is large enough; `narrowed` if it could be computed in 16 bits.
pub fn pays((m, n, k): (usize, usize, usize), size: usize, narrowed: bool, by: By) -> bool {
    let large = [m, n, k].into_iter().zip(LEAST).all(|(side, least)| side >= least);
    let model = Model::new((m, n, k), size, narrowed);
    let least = if by == By::Bottleneck { LEAST_OF_BOTTLENECKS } else { LEAST_IN_ALL };
    large && model.terms() >= least && model.may_pay()
}

/// Rows, and columns, that meet in the outputs that are looked at.
const SIDE: usize = 8;
/// Lines side by side that are looked at: they share cache lines.
const BESIDE: usize = 4;
/// The most terms of an output that are looked at: no more than a block of them has, because of fewer terms farther ones win.
const TERMS: usize = 1024;
/// Terms side by side that are looked at: they share cache lines. Such runs are spread over all terms.
const RUN: usize = 16;
/// How much farther than was seen to be needed elements are sorted: the most that leaves [`NEAR`]. A row that needs others is computed a second time.
const MARGINS: [f64; 4] = [1.75, 1.5, 1.25, 1.1];
/// What part of their elements rows may be sorted by. Where most elements lie close together, far from the best, a wide margin takes in nearly all of them.
const NEAR: f64 = 0.5;
/// The scale where only the best elements of each row are needed.
const NO_DISTANCE: f64 = 1e30;

/// The lines to look at, by their place in a row of numbers that are spread: not those of A in B, which may be its transpose, where the
/// product of a line with itself tells nothing of the others.
#[derive(Clone, Copy)]
pub enum Operand {
    A = 0,
    B = SIDE as isize / BESIDE as isize,
}

/// The distances of some terms of [`SIDE`] rows of `x`, as [`By`] tells: lines of equal length. NaN for what is absent. With
/// `MAX`, larger terms win. No closures, as in [`crate::scan`].
#[inline(always)]
pub fn distances<E: Copy, P: Metric, L: Load<E, P>, const MAX: bool>(
    x: MatRef<'_, E>,
    by: By,
    operand: Operand,
    model: &Model,
) -> Vec<f64> {
    let runs = x.cols().min(TERMS).min(model.terms_to_look_at()).div_ceil(RUN).max(2);
    let (terms, last) = (runs * RUN, x.cols() - RUN);
    let mut lines = vec![worst::<P, MAX>(); SIDE * terms];
    for (place, lines) in lines.chunks_exact_mut(BESIDE * terms).enumerate() {
        let i = spread(place + operand as usize, x.rows() - BESIDE);
        for q in 0..terms {
            let p = q / RUN * last / (runs - 1) + q % RUN;
            for beside in 0..BESIDE {
                // SAFETY: runs end at the last term, and the matrix has more rows than lie side by side.
                lines[beside * terms + q] = L::load(unsafe { x.get_unchecked(i + beside, p) });
            }
        }
    }
    let order = Order::<P, MAX>::of(by);
    let mut distances = vec![f64::NAN; lines.len()];
    for (line, distances) in lines.chunks_exact(terms).zip(distances.chunks_exact_mut(terms)) {
        let best = best_but::<P, MAX>(line, order.top);
        for (distance, &x) in distances.iter_mut().zip(line) {
            let known = if x == order.top { f64::NEG_INFINITY } else { x.distance(best) };
            *distance = if order.is_absent(x) { f64::NAN } else { known };
        }
        let [best, unit] = [best.wide(), best.distance(P::NIL)];
        match by {
            By::Sum => {}
            By::Product => {
                for distance in distances {
                    *distance = if *distance == 0.0 { 0.0 } else { *distance / unit };
                }
            }
            // From none in particular: a row and a column share one order.
            By::Bottleneck => {
                for distance in distances {
                    *distance += if MAX { -best } else { best };
                }
            }
        }
    }
    distances
}

/// Units per distance to sort rows by, if the [`distances`] of rows of A and columns of B tell that pruning pays.
#[inline(always)]
pub fn scale(rows: &[f64], cols: &[f64], (by, max): (By, bool), model: &Model) -> Option<f64> {
    let (needed, reach) = match (by, max) {
        (By::Sum, _) => needed::<OfSum>(rows, cols),
        (By::Product, true) => needed::<OfProduct<true>>(rows, cols),
        (By::Product, false) => needed::<OfProduct<false>>(rows, cols),
        (By::Bottleneck, _) => needed::<OfBottleneck>(rows, cols),
    };
    let mut sorted = reach;
    for margin in MARGINS {
        sorted = reach * margin;
        if near(rows, sorted) <= NEAR {
            break;
        }
    }
    let scale = if sorted > 0.0 { f64::from(FAR) / sorted } else { NO_DISTANCE };
    model.pays_in_panels(needed).then_some(scale)
}

/// The part of their terms that rows need, and how much farther than the best of a row those are.
#[inline(always)]
fn needed<D: Join>(rows: &[f64], cols: &[f64]) -> (f64, f64) {
    let terms = rows.len() / SIDE;
    let (mut needed, mut reach) = (0.0, 0.0);
    for row in rows.chunks_exact(terms) {
        let mut most = f64::NEG_INFINITY;
        for col in cols.chunks_exact(terms) {
            let least = least_joined::<D>(row, col);
            // Where all of a column is absent nothing is needed.
            most = if least > most && !is_all_absent(col) { least } else { most };
        }
        let best = least_distance(row);
        let (mut nearer, mut equal) = (0_usize, 0_usize);
        for &distance in row {
            // Others cannot win. Half of the equal ones come before the winner.
            nearer += usize::from(distance < most);
            equal += usize::from(distance == most);
            let reached = distance <= most && distance < f64::INFINITY;
            reach = if reached && distance - best > reach { distance - best } else { reach };
        }
        needed += nearer as f64 + equal as f64 / 2.0;
    }
    (needed / (SIDE * terms) as f64, reach)
}

/// What part of their elements is nearer to the best of each row.
#[inline(always)]
fn near(rows: &[f64], reach: f64) -> f64 {
    let mut near = 0_usize;
    for row in rows.chunks_exact(rows.len() / SIDE) {
        let best = least_distance(row);
        for &distance in row {
            near += usize::from(distance - best < reach);
        }
    }
    near as f64 / rows.len() as f64
}

/// The smallest distance that is a number.
#[inline(always)]
fn least_distance(row: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for &distance in row {
        least = if distance < least && distance > f64::NEG_INFINITY { distance } else { least };
    }
    least
}

/// Whether no term of a line is there.
#[inline(always)]
fn is_all_absent(line: &[f64]) -> bool {
    let mut present = 0;
    for x in line {
        present += usize::from(!x.is_nan());
    }
    present == 0
}

/// Numbers side by side, which makes vectors of them.
const LANES: usize = 8;

/// The smallest distance of a term; infinity if there is none.
#[inline(always)]
fn least_joined<D: Join>(a: &[f64], b: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            let term = D::join(a[l], b[l]);
            least[l] = if term < least[l] { term } else { least[l] };
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        let term = D::join(*a, *b);
        least[0] = if term < least[0] { term } else { least[0] };
    }
    let mut smallest = f64::INFINITY;
    for least in least {
        smallest = if least < smallest { least } else { smallest };
    }
    smallest
}

/// The `i`-th of numbers below `end` that are spread evenly (by the golden ratio) however many of them are taken.
pub fn spread(i: usize, end: usize) -> usize {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    (((i as f64 + 0.5) * GOLDEN).fract() * end as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_spread() {
        let lines: Vec<_> = (0..12).map(|i| spread(i, 100)).collect();
        assert!(lines.iter().all(|&line| line < 100));
        assert!(lines.chunks(3).all(|three| three[0].abs_diff(three[1]) > 20), "{lines:?}");
    }
}
