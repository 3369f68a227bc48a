//! Rough sums that rule out most terms of min-plus and max-plus: filter and refine.
//!
//! An element is written as its distance from the best one of its line (a row of A, a column of B) in whole units, rounded
//! down and at most [`FAR`]: 7 bits, so that sums fit 8, and four terms fit an element of 32 bits. Let `m` be the
//! smallest rough sum of an output. That term's distances add up to less than `m + 2` units, so the best one's do as well, and its
//! rough sum is at most `m + 2`, rounding in floating point included: only terms up to there are computed exactly. Where `m` is
//! so large that far terms might be better, all of them are. The result is the same in every bit, whatever the unit, which
//! only tells how many terms are left. How large it should be, and whether the filter pays, is found by looking at some outputs.
//!
//! Rounding: a sum in floating point does not decrease when its exact value increases, so the best exact sum is the best rounded
//! one, and which terms reach it does not matter here. Products that ask for the term that won are not filtered.

use crate::{op::Scalar, pack::Load};
use tilewright_core::MatRef;

/// The largest code: its distance may be any from there on.
pub const FAR: u8 = 127;
/// By how much the rough sum of the best term may exceed the smallest.
pub const SLACK: u8 = 2;
/// Rough sums up to which no far term can be the best.
pub const LIMIT: u8 = FAR - SLACK - 1;
/// Terms of a block.
pub const BLOCK: usize = 1024;
/// Terms side by side of which the filter keeps or drops all.
pub const RUN: usize = 16;

/// What sums can be filtered.
pub trait Rough: Scalar + PartialOrd {
    /// Whether distances of up to twice `window` are finite, and so large a scale is a number.
    fn measures(window: f64, scale: f64) -> bool;
    /// The distance of two elements.
    fn distance(self, other: Self) -> f64;
    /// The distance in units, of which one is `scale`; it may be infinite or NaN.
    fn units(self, other: Self, scale: f64) -> f32;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Rough for $t {
            fn measures(window: f64, scale: f64) -> bool {
                window < f64::from($t::MAX) / 8.0 && (scale as $t).is_normal()
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                f64::from(self - other).abs()
            }
            #[inline(always)]
            fn units(self, other: Self, scale: f64) -> f32 {
                ((self - other).abs() * scale as $t) as f32
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Rough for $t {
            fn measures(_window: f64, scale: f64) -> bool {
                (scale as f32).is_normal()
            }
            #[inline(always)]
            fn distance(self, other: Self) -> f64 {
                (self.wrapping_sub(other) as f64).abs()
            }
            #[inline(always)]
            fn units(self, other: Self, scale: f64) -> f32 {
                (self.wrapping_sub(other) as f32).abs() * scale as f32
            }
        }
    )*};
}
integers! { i32 i64 }

/// The better of two values under min-plus or, with `MAX`, max-plus: `x` if `y` is NaN.
#[inline(always)]
pub fn better<P: Rough, const MAX: bool>(x: P, y: P) -> P {
    if (MAX && y > x) || (!MAX && y < x) { y } else { x }
}

/// What no term can be worse than.
#[inline(always)]
pub fn worst<P: Rough, const MAX: bool>() -> P {
    if MAX { P::BOTTOM } else { P::TOP }
}

/// The code of an element whose line's best is `origin`. NaN, and what lies infinitely far, is far.
#[inline(always)]
pub fn code<P: Rough>(x: P, origin: P, scale: f64) -> u32 {
    let units = x.units(origin, scale);
    let far = f32::from(FAR);
    let near = if units < far { units } else { far };
    // SAFETY: distances are not negative, and `near` is not NaN.
    unsafe { near.to_int_unchecked::<i32>() as u32 }
}

/// Lines, and terms, from which on filtering a block pays: it has a cost for each element and for each output.
const LEAST: [usize; 2] = [128, 384];

/// Whether a product of `m x k` and `k x n` elements is large enough.
pub fn pays(m: usize, n: usize, k: usize) -> bool {
    m.min(n) >= LEAST[0] && k >= LEAST[1]
}

/// How many of `k` terms are filtered: all, but for a last block that would be short.
pub fn filtered(k: usize) -> usize {
    if k > BLOCK && k % BLOCK < LEAST[1] { k - k % BLOCK } else { k }
}

/// Rows, and columns, that meet in the outputs that are looked at; more where the product can afford it.
const SIDE: [usize; 2] = [8, 12];
const LARGE: f64 = 3e8;
/// Lines side by side that are looked at: they share cache lines.
const BESIDE: usize = 4;
/// Terms of an output that may be left, on average, for the filter to pay.
const NEAR: usize = 4;

/// Units per distance with which filtering pays, if any, by some outputs of the product. With `MAX`, under max-plus.
#[inline(always)]
pub fn scale<E: Copy, P: Rough, L: Load<E, P>, const MAX: bool>(
    a: MatRef<'_, E>,
    b: MatRef<'_, E>,
) -> Option<f64> {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let side = SIDE[usize::from(m as f64 * n as f64 * k as f64 > LARGE)];
    let terms = k.min(BLOCK);
    let first = spread(0, k - terms + 1);
    let [mut rows, mut cols] = [(); 2].map(|()| Vec::with_capacity(side * terms));
    for i in 0..side {
        let (beside, line) = (i % BESIDE, i / BESIDE);
        distances::<E, P, L, MAX>(a, spread(line, m - BESIDE) + beside, first, terms, &mut rows);
        distances::<E, P, L, MAX>(b.t(), spread(line, n - BESIDE) + beside, first, terms, &mut cols);
    }
    let outputs = || rows.chunks_exact(terms).flat_map(|a| cols.chunks_exact(terms).map(move |b| (a, b)));
    let sums: Vec<f64> = outputs().map(|(a, b)| least(a, b)).collect();
    // Few outputs lie beyond the codes then.
    let window = sums.iter().copied().fold(0.0, f64::max) * 1.1;
    let unit = window / f64::from(LIMIT);
    let scale = unit.recip();
    if !(window > 0.0 && P::measures(window, scale)) {
        return None;
    }
    let near = outputs().zip(&sums).map(|((a, b), sum)| below(a, b, sum + f64::from(SLACK + 1) * unit));
    (near.sum::<usize>() <= NEAR * sums.len()).then_some(scale)
}

/// Appends the distances of some terms of row `i` from the best of them.
#[inline(always)]
fn distances<E: Copy, P: Rough, L: Load<E, P>, const MAX: bool>(
    x: MatRef<'_, E>,
    i: usize,
    first: usize,
    terms: usize,
    to: &mut Vec<f64>,
) {
    let mut origin = worst::<P, MAX>();
    let mut line = [origin; BLOCK];
    let line = &mut line[..terms];
    for (p, x_p) in line.iter_mut().enumerate() {
        // SAFETY: the caller stays inside the matrix.
        *x_p = L::load(unsafe { x.get_unchecked(i, first + p) });
        origin = better::<P, MAX>(origin, *x_p);
    }
    to.extend(line.iter().map(|x| x.distance(origin)));
}

/// Numbers side by side, which makes vectors of them.
const LANES: usize = 8;

/// The smallest sum of two distances; infinity if there is none.
#[inline(always)]
fn least(a: &[f64], b: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for (least, (a, b)) in least.iter_mut().zip(a.iter().zip(b)) {
            *least = if a + b < *least { a + b } else { *least };
        }
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}

/// How many sums are below `limit`.
#[inline(always)]
fn below(a: &[f64], b: &[f64], limit: f64) -> usize {
    a.iter().zip(b).filter(|&(a, b)| a + b < limit).count()
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
    fn a_short_last_block_is_not_filtered() {
        for (k, terms) in [(384, 384), (1024, 1024), (1025, 1024), (1407, 1024), (1408, 1408), (2049, 2048)] {
            assert_eq!(filtered(k), terms);
        }
    }

    #[test]
    fn lines_are_spread() {
        let lines: Vec<_> = (0..12).map(|i| spread(i, 100)).collect();
        assert!(lines.iter().all(|&line| line < 100));
        assert!(lines.chunks(3).all(|three| three[0].abs_diff(three[1]) > 20), "{lines:?}");
    }
}
