//! Whether pruning pays: a look at some outputs.

use super::sort::{FAR, best_of, worst};
use crate::{op::Scalar, pack::Load};
use tilewright_core::MatRef;

/// Elements with distances, by which they are sorted.
pub trait Metric: Scalar + PartialOrd {
    /// Whether so large a scale is a number.
    fn measures(scale: f64) -> bool;
    /// The distance of two elements.
    fn distance(self, other: Self) -> f64;
    /// The distance in whole units, of which `scale` measure one; [`FAR`] from there on, and of NaN.
    fn code(self, origin: Self, scale: f64) -> u8;
}

/// Units as a code.
#[inline(always)]
fn code(units: f32) -> u8 {
    let far = f32::from(FAR);
    let near = if units < far { units } else { far };
    // SAFETY: distances are not negative, and `near` is not NaN.
    unsafe { near.to_int_unchecked::<i32>() as u8 }
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Metric for $t {
            fn measures(scale: f64) -> bool {
                (scale as $t).is_normal()
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                f64::from(self - other).abs()
            }
            #[inline(always)]
            fn code(self, origin: Self, scale: f64) -> u8 {
                code(((self - origin).abs() * scale as $t) as f32)
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Metric for $t {
            fn measures(scale: f64) -> bool {
                (scale as f32).is_normal()
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                (self.wrapping_sub(other) as f64).abs()
            }
            #[inline(always)]
            fn code(self, origin: Self, scale: f64) -> u8 {
                code((self.wrapping_sub(origin) as f32).abs() * scale as f32)
            }
        }
    )*};
}
integers! { i16 i32 i64 }

/// Rows, columns and terms from which on pruning pays. Sorting has a cost for each element of A, which many columns share,
/// and packing one for each of B, which is less, and which rows share.
const LEAST: [usize; 3] = [24, 128, 256];

/// Terms in all from which on pruning pays: the look has a cost, too.
const LEAST_IN_ALL: f64 = (1u32 << 22) as f64;

/// Terms, by the square of an element's bytes, from which on pruning pays where all terms could be computed in 16 bits: that
/// takes a time that grows with `k`, and pruning one that grows with its root and with the size of elements.
const LEAST_NARROWED: usize = 40;

/// Whether a product of `m x k` and `k x n` elements of so many bytes is large enough; `narrowed` if it could be computed in 16 bits.
pub fn pays((m, n, k): (usize, usize, usize), size: usize, narrowed: bool) -> bool {
    let large = [m, n, k].into_iter().zip(LEAST).all(|(side, least)| side >= least);
    let in_all = m as f64 * n as f64 * k as f64;
    large && in_all >= LEAST_IN_ALL && !(narrowed && k < LEAST_NARROWED * size * size)
}

/// Rows, and columns, that meet in the outputs that are looked at.
const SIDE: usize = 8;
/// Lines side by side that are looked at: they share cache lines.
const BESIDE: usize = 4;
/// Terms of an output that are looked at.
const TERMS: usize = 4096;
/// The most terms that may be needed for pruning to pay, as a part of all: each takes twice as long, because its elements
/// come from the second-level cache, and a panel has more columns than are looked at.
const PART: usize = 4;
/// How much farther than was seen to be needed elements are sorted. A row that needs others is computed a second time.
const MARGIN: f64 = 1.75;
/// The scale where only the best elements of each row are needed.
const NO_DISTANCE: f64 = 1e30;

/// The distances of some terms of [`SIDE`] rows of `x` from the best of each row's: lines of equal length. With `MAX`, under
/// max-plus.
#[inline(always)]
pub fn distances<E: Copy, P: Metric, L: Load<E, P>, const MAX: bool>(x: MatRef<'_, E>) -> Vec<f64> {
    let terms = x.cols().min(TERMS);
    let first = (x.cols() - terms) / 2;
    let mut lines = vec![worst::<P, MAX>(); SIDE * terms];
    for (place, lines) in lines.chunks_exact_mut(BESIDE * terms).enumerate() {
        let i = spread(place, x.rows() - BESIDE);
        for p in 0..terms {
            for beside in 0..BESIDE {
                // SAFETY: the terms lie inside the matrix, which has more rows than lie side by side.
                lines[beside * terms + p] = L::load(unsafe { x.get_unchecked(i + beside, first + p) });
            }
        }
    }
    let mut distances = Vec::with_capacity(lines.len());
    for line in lines.chunks_exact(terms) {
        let origin = best_of::<P, MAX>(line);
        distances.extend(line.iter().map(|x| x.distance(origin)));
    }
    distances
}

/// Units per distance to sort rows by, if the [`distances`] of rows of A and columns of B tell that pruning pays.
#[inline(always)]
pub fn scale<P: Metric>(rows: &[f64], cols: &[f64]) -> Option<f64> {
    let terms = rows.len() / SIDE;
    let (mut needed, mut reach) = (0, 0.0);
    for row in rows.chunks_exact(terms) {
        let most = cols.chunks_exact(terms).map(|col| least_sum(row, col)).fold(0.0, f64::max);
        for &distance in row {
            // Others cannot win; equal ones may come before the winner.
            let near = distance <= most && distance < f64::INFINITY;
            needed += usize::from(near);
            reach = if near && distance > reach { distance } else { reach };
        }
    }
    let scale = if reach > 0.0 { f64::from(FAR) / (reach * MARGIN) } else { NO_DISTANCE };
    (needed * PART <= SIDE * terms && P::measures(scale)).then_some(scale)
}

/// Numbers side by side, which makes vectors of them.
const LANES: usize = 8;

/// The smallest sum of two distances; infinity if there is none.
#[inline(always)]
fn least_sum(a: &[f64], b: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for (least, (a, b)) in least.iter_mut().zip(a.iter().zip(b)) {
            *least = if a + b < *least { a + b } else { *least };
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a + b);
    least.into_iter().chain(rest).fold(f64::INFINITY, f64::min)
}

/// The `i`-th of numbers below `end` that are spread evenly (by the golden ratio) however many of them are taken.
fn spread(i: usize, end: usize) -> usize {
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
