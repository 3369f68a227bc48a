//! Exponentials and logarithms on vectors, by the polynomials of [`Real`], and what is made of them.
//!
//! Every function needs the instruction set of its vectors, and is inlined into one that enables it.

#![allow(clippy::undocumented_unsafe_blocks)] // All for the reason above.

use super::real::Real;
use crate::lanes::FloatLanes;

/// The largest and the smallest element of each of some lines so far, a line a lane.
#[derive(Clone, Copy)]
pub struct Extreme<V> {
    best: V,
    least: V,
    /// NaN where some element is, otherwise not.
    odd: V,
}

impl<T: Real, V: FloatLanes<T = T>> Extreme<V> {
    /// Of no element.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        unsafe { Self { best: V::splat(T::BOTTOM), least: V::splat(T::TOP), odd: V::splat(T::NIL) } }
    }

    /// With one more element.
    #[inline(always)]
    pub unsafe fn see(self, x: V) -> Self {
        unsafe {
            let top = V::splat(T::TOP);
            let above = top.where_better(true, x, V::splat(T::BOTTOM), x);
            Self { best: x.max(self.best), least: above.min(self.least), odd: self.odd.or_nan(x) }
        }
    }

    /// The best element and the span, as [`super::extremes::Extremes`] has them.
    #[inline(always)]
    pub unsafe fn of_lines(self) -> (V, V) {
        unsafe {
            let (bottom, best) = (V::splat(T::BOTTOM), self.best.or_nan(self.odd));
            // Nothing but absent elements has no extent.
            let span = V::splat(T::NIL).where_better(true, best, bottom, best.sub(self.least));
            (best, span.or_nan(best))
        }
    }

    /// The same of one line whose elements are spread over the lanes.
    #[inline(always)]
    pub unsafe fn of_one_line(self) -> (T, T) {
        let (mut best, mut least, mut odd) = ([T::BOTTOM; MOST], [T::TOP; MOST], [T::NIL; MOST]);
        unsafe {
            self.best.store(best.as_mut_ptr());
            self.least.store(least.as_mut_ptr());
            self.odd.store(odd.as_mut_ptr());
        }
        for l in 1..V::LEN {
            best[0] = if best[l] > best[0] { best[l] } else { best[0] };
            least[0] = if least[l] < least[0] { least[l] } else { least[0] };
            odd[0] = odd[0].plus(odd[l]);
        }
        let best = odd[0].plus(best[0]);
        (best, if best == T::BOTTOM { T::NIL } else { best.minus(least[0]) })
    }
}

/// At least as many elements as the longest vector has.
pub const MOST: usize = 16;

/// What is subtracted from the elements of lines whose largest ones are these.
#[inline(always)]
pub unsafe fn shift<T: Real, V: FloatLanes<T = T>>(best: V) -> V {
    unsafe { V::splat(T::NIL).where_better(true, best, V::splat(T::BOTTOM), best) }
}

/// The sum and its rounding error.
#[inline(always)]
unsafe fn two_sum<V: FloatLanes>(x: V, y: V) -> (V, V) {
    unsafe {
        let sum = x.add(y);
        let part = sum.sub(x);
        (sum, x.sub(sum.sub(part)).add(y.sub(part)))
    }
}

/// `exp(x - shift)`, as [`Real::exponential`] of the difference and what rounding loses of it.
#[inline(always)]
pub unsafe fn factor<T: Real, V: FloatLanes<T = T>>(x: V, shift: V) -> V {
    unsafe {
        let (nil, one, round) = (V::splat(T::NIL), V::splat(T::ONE), V::splat(T::ROUND));
        let (x, low) = two_sum(x, nil.sub(shift));
        let lowest = V::splat(T::LOWEST);
        let y = nil.where_better(true, x, lowest, x);
        let rounded = y.mul_add(V::splat(T::LOG2_E), round);
        let n = round.sub(rounded);
        let r = n.mul_add(V::splat(T::LN_2[0]), y);
        let r = n.mul_add(V::splat(T::LN_2[1]), r).add(low);
        let mut p = V::splat(T::EXP[0]);
        for &coefficient in &T::EXP[1..] {
            p = p.mul_add(r, V::splat(coefficient));
        }
        let exp = one.add(r.mul(r).mul_add(p, r));
        nil.where_better(true, x, lowest, exp.mul(rounded.power()))
    }
}

/// As [`Real::scaled_log`].
#[inline(always)]
unsafe fn scaled_log<T: Real, V: FloatLanes<T = T>>(a: V, b: V, s: V) -> V {
    unsafe {
        let (exponent, m) = s.split();
        // log m = 2 (z + z^3/3 + z^5/5 + ...)
        let f = m.sub(V::splat(T::ONE));
        let z = f.div(m.add(V::splat(T::ONE)));
        let (double, square) = (z.add(z), z.mul(z));
        let mut p = V::splat(T::LOG[0]);
        for &coefficient in &T::LOG[1..] {
            p = p.mul_add(square, V::splat(coefficient));
        }
        let rest = double.mul(square).mul_add(p, double);
        let (sum, lost) = two_sum(a, b);
        let (sum, lost_again) = two_sum(sum, exponent.mul(V::splat(T::LN_2[0])));
        let small = exponent.mul(V::splat(T::LN_2[1])).add(rest);
        sum.add(lost.add(lost_again).add(small))
    }
}

/// The results of scaled sums of the lines of A and B that begin with these largest elements and spans; NaN where a sum cannot be trusted.
/// Sums of `least` and more can.
#[inline(always)]
pub unsafe fn result<T: Real, V: FloatLanes<T = T>>(a: (V, V), b: (V, V), sum: V, least: V) -> V {
    unsafe {
        let (nan, nil, bottom, top) =
            (V::splat(T::NAN), V::splat(T::NIL), V::splat(T::BOTTOM), V::splat(T::TOP));
        let log = scaled_log(a.0, b.0, sum);
        let finite = nan.where_better(false, log, top, log);
        let finite = nan.where_better(true, finite, bottom, finite);
        // Nothing is lost where all factors are normal; no sum is then small, unless it is of absent terms alone.
        let (span, normal) = (a.1.add(b.1), V::splat(T::SPAN));
        let whole = finite.where_better(false, sum, V::splat(T::TINY), bottom);
        let weighs = nan.where_better(true, sum, least, finite);
        weighs.where_better(false, span, normal, whole).add(nil)
    }
}

/// Whether no element of a result is NaN. Results are no `+inf`.
#[inline(always)]
pub unsafe fn is_sure<T: Real, V: FloatLanes<T = T>>(x: V) -> bool {
    unsafe {
        let (nil, one) = (V::splat(T::NIL), V::splat(T::ONE));
        !one.where_better(false, x, V::splat(T::TOP), nil).any_better(true, nil)
    }
}
