//! What the best path needs of a semiring.

use crate::length::Measure;
use tilewright_core::{
    Element, Extremes, OrAnd, Semiring, SemiringId, Value,
    semiring::{Multiply, Number, Order, Selective},
};

/// A semiring whose ⊕ selects the better of two paths, and whose ⊗ appends one to another.
///
/// The weight of a path is `w1 ⊗ w2 ⊗ ...` of its edges, and the best path between two vertices has the weight `⊕` selects among all. Every
/// selective semiring of the library is one, and so is [`OrAnd`].
pub trait PathSemiring:
    Semiring<
        Elem = <Self as PathSemiring>::Weight,
        Acc = <Self as PathSemiring>::Weight,
        Out = <Self as PathSemiring>::Weight,
    >
{
    /// The weight of an edge, and of a path.
    type Weight: Element;

    /// The weight of a path and an edge that continues it.
    #[inline(always)]
    fn times(path: Self::Weight, edge: Self::Weight) -> Self::Weight {
        Self::mul_add(Self::ZERO, path, edge)
    }

    /// Whether a path of weight `new` is strictly better than one of weight `old`.
    #[inline(always)]
    fn improves(new: Self::Weight, old: Self::Weight) -> bool {
        Self::add(old, new) != old
    }

    /// Whether a worse part makes the whole path worse: so it is for sums and products, not for bottlenecks.
    fn times_is_strict() -> bool {
        let id = Self::BUILT_IN.map(|built_in| built_in.id());
        matches!(
            id,
            Some(SemiringId::MinPlus | SemiringId::MaxPlus | SemiringId::MaxTimes | SemiringId::MinTimes)
        )
    }

    /// Whether there is no edge, or no path.
    #[inline(always)]
    fn is_absent(weight: Self::Weight) -> bool {
        weight == Self::ZERO
    }

    /// The weight as it is computed with: NaN is absent, and negative zero positive.
    #[inline(always)]
    fn clean(weight: Self::Weight) -> Self::Weight {
        Self::finish(Self::add(Self::ZERO, Self::resume(weight)))
    }
}

impl<O: Order, M: Multiply<O, T>, T: Number> PathSemiring for Selective<O, M, T> {
    type Weight = T;

    #[inline(always)]
    fn improves(new: T, old: T) -> bool {
        O::better(new, old)
    }
}

impl PathSemiring for OrAnd {
    type Weight = bool;
}

/// Whether the weights of paths are rounded: sums and products of floats are.
pub(crate) fn is_rounded<S: PathSemiring>() -> bool {
    S::times_is_strict() && S::Weight::DTYPE.is_float()
}

/// The weight of a way that makes others worse by more than the roundings of `n` edges do, whose weights are at most `largest` in magnitude.
///
/// A sum of `n` weights, in any order, differs from the exact one by less than `n eps max|w|` for each of them
/// (N. J. Higham, "Accuracy and stability of numerical algorithms", 4.2).
pub(crate) fn margin<S: PathSemiring>(n: usize, largest: f64) -> S::Weight {
    let Some(tolerance) = Measure::of::<S>(n, largest).map(|measure| measure.tolerance()) else {
        return S::ONE;
    };
    let one = number::<S>(S::ONE);
    let towards_zero = if S::improves(S::ONE, weight::<S>(one + 1.0)) { 2.0 } else { -2.0 };
    if tolerance > 0.0 && tolerance.is_finite() {
        weight::<S>(one + towards_zero * tolerance)
    } else {
        S::ONE
    }
}

/// The weight as a number.
pub(crate) fn number<S: PathSemiring>(weight: S::Weight) -> f64 {
    weight.to_value().to_f64()
}

/// The weight of this number.
pub(crate) fn weight<S: PathSemiring>(number: f64) -> S::Weight {
    S::Weight::from_value(Value::Float(number), Extremes::Refuse).unwrap_or(S::ONE)
}

/// The largest magnitude of the weights that are there and finite; 0 if there are none.
pub(crate) fn largest<S: PathSemiring>(weights: impl Iterator<Item = S::Weight>) -> f64 {
    let present = weights.filter(|&weight| !S::is_absent(weight)).map(number::<S>);
    present.filter(|weight| weight.is_finite()).fold(0.0, |most, weight| f64::max(most, weight.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{MaxMin, MaxTimes, MinPlus};

    #[test]
    fn better_is_strict_and_nan_is_absent() {
        assert!(MinPlus::<f32>::improves(1.0, 2.0) && !MinPlus::<f32>::improves(2.0, 2.0));
        assert!(!MinPlus::<f64>::improves(f64::NAN, f64::INFINITY));
        assert_eq!(MinPlus::<f64>::clean(f64::NAN), f64::INFINITY);
        assert_eq!(MinPlus::<f64>::clean(-0.0).to_bits(), 0);
        assert_eq!(MinPlus::<i32>::times(i32::MAX, -5), i32::MAX);
        assert_eq!(MaxMin::<f64>::times(3.0, f64::INFINITY), 3.0);
        assert!(OrAnd::improves(true, false) && !OrAnd::improves(true, true));
    }

    #[test]
    fn margins_are_beyond_roundings() {
        assert!(margin::<MinPlus<f64>>(3, 0.3) > 3.0 * 0.3 * f64::EPSILON);
        assert_eq!(margin::<MinPlus<i32>>(9, 5.0), 0);
        assert_eq!(margin::<MaxMin<f64>>(9, 5.0), f64::INFINITY);
        assert!(margin::<MaxTimes<f64>>(3, 0.9) < 1.0 - 3.0 * f64::EPSILON);
        assert_eq!(largest::<MinPlus<f64>>([1.0, f64::INFINITY, -3.0].into_iter()), 3.0);
        assert!(
            is_rounded::<MaxTimes<f32>>() && !is_rounded::<MinPlus<i16>>() && !is_rounded::<MaxMin<f64>>()
        );
    }
}
