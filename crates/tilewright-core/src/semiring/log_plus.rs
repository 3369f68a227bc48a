//! Sums of exponentials, in logarithms: what hidden Markov models, parsers and probabilities multiply.

use super::{BuiltIn, Laws, Semiring, SemiringId};
use crate::dtype::Element;
use core::{f64::consts::LN_2, marker::PhantomData};

/// `C[i,j] = log Σ_k exp(A[i,k] + B[k,j])`: probabilities, as logarithms, are added and multiplied. Zero is `-inf`, one is 0.
///
/// The definition joins terms in f64, one after the other, as [`log_add_exp`] does, and rounds once. Infinities and NaN are those of
/// NumPy's `logaddexp`: `-inf` is a probability of 0; NaN, and `-inf + inf`, make their sum NaN, as in [`PlusTimes`](super::PlusTimes).
///
/// Other ways to compute it keep [`Logarithm::error_bound`].
#[derive(Clone, Copy, Debug)]
pub struct LogPlus<T>(PhantomData<T>);

/// `log(exp x + exp y)`, without overflow.
///
/// ```
/// use tilewright_core::semiring::log_add_exp;
/// assert_eq!(log_add_exp(f64::NEG_INFINITY, 3.0), 3.0);
/// assert!((log_add_exp(1000.0, 1000.0) - 1000.0 - 2f64.ln()).abs() < 1e-12);
/// ```
pub fn log_add_exp(x: f64, y: f64) -> f64 {
    // Infinities that are equal have no difference.
    if x == y {
        return x + LN_2;
    }
    let larger = if x > y { x } else { y };
    larger + (-(x - y).abs()).exp().ln_1p()
}

/// An element type of [`LogPlus`], and what the scaled way of computing it needs to know.
///
/// That way is plus-times inside: with `r[i]` the largest element of row `i` of A and `c[j]` that of column `j` of B, it sums
/// `s = Σ_k exp(A[i,k] - r[i]) exp(B[k,j] - c[j])`, which is at most K, and the result is `r[i] + c[j] + log s`. Factors below the
/// smallest normal number may be lost; [`Logarithm::least_sum`] and [`Logarithm::SPAN`] tell where that matters.
pub trait Logarithm: Element + PartialOrd + Into<f64> {
    /// 0, which is the one of the semiring.
    const NOUGHT: Self;
    /// `-inf`, which is the zero of the semiring.
    const ABSENT: Self;
    /// Half the distance from 1 to the next number.
    const UNIT_ROUNDOFF: f64;
    /// A factor `exp(-x)` is a normal number for every `x` up to this. Where the finite elements of a row of A span `x` and those of a
    /// column of B span `y`, no term of theirs is lost if `x + y` is at most this.
    const SPAN: Self;

    /// The nearest element.
    fn nearest(x: f64) -> Self;

    /// The scaled sum of `k` terms from which on lost terms have no weight: each is smaller than the smallest normal number, and all
    /// together are less than a unit roundoff of such a sum.
    ///
    /// ```
    /// use tilewright_core::semiring::Logarithm;
    /// assert_eq!(f32::least_sum(4), 2f32.powi(2 - 126 + 24));
    /// ```
    fn least_sum(k: usize) -> Self;

    /// How far a result `c` of `k` terms may be from the exact one; with `joined`, of a product that is joined with the old C.
    ///
    /// It is `u (k + 8 + 2 |c|)`, where `u` is the unit roundoff: `k` for the sum of `k` terms in any order, 8 for two exponentials and
    /// a logarithm, and `2 |c|` for the rounding of the terms that count, and of the result. Joining adds `u (8 + |c|)`.
    ///
    /// ```
    /// use tilewright_core::semiring::Logarithm;
    /// assert_eq!(f32::error_bound(8, -16.0, false), 2f64.powi(-24) * 48.0);
    /// ```
    fn error_bound(k: usize, c: f64, joined: bool) -> f64 {
        let roundings = k as f64 + 8.0 + 2.0 * c.abs() + if joined { 8.0 + c.abs() } else { 0.0 };
        Self::UNIT_ROUNDOFF * roundings
    }
}

macro_rules! logarithms {
    ($($t:ident, $span:literal;)*) => {$(
        impl Logarithm for $t {
            const NOUGHT: Self = 0.0;
            const ABSENT: Self = $t::NEG_INFINITY;
            const UNIT_ROUNDOFF: f64 = $t::EPSILON as f64 / 2.0;
            const SPAN: Self = $span;
            fn nearest(x: f64) -> Self { x as $t }
            fn least_sum(k: usize) -> Self { k as $t * ($t::MIN_POSITIVE / ($t::EPSILON / 2.0)) }
        }
    )*};
}
logarithms! {
    f32, 87.0;
    f64, 708.0;
}

impl<T: Logarithm> Semiring for LogPlus<T> {
    type Elem = T;
    type Acc = f64;
    type Out = T;
    const NAME: &'static str = SemiringId::LogPlus.name();
    const ZERO: f64 = f64::NEG_INFINITY;
    const ONE: T = T::NOUGHT;
    const BUILT_IN: Option<BuiltIn<Self>> = BuiltIn::new(SemiringId::LogPlus);

    #[inline(always)]
    fn add(x: f64, y: f64) -> f64 {
        log_add_exp(x, y)
    }
    #[inline(always)]
    fn mul_add(acc: f64, a: T, b: T) -> f64 {
        log_add_exp(acc, a.into() + b.into())
    }
    #[inline(always)]
    fn finish(acc: f64) -> T {
        // A zero is positive.
        T::nearest(acc + 0.0)
    }
    #[inline(always)]
    fn resume(out: T) -> f64 {
        out.into()
    }
    fn laws() -> Laws {
        Laws::COMMUTATIVE
    }
}
