//! The few operations that the selective semirings need of their elements.

use crate::dtype::Element;
use half::{bf16, f16};

/// A number extended by a top and a bottom: infinities for floats, the extreme values for integers.
pub trait Number: Element + PartialOrd {
    /// Not smaller than any element: `+inf` or `MAX`.
    const TOP: Self;
    /// Not larger than any element: `-inf` or `MIN`.
    const BOTTOM: Self;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// What [`Number::is_addend`] accepts; `None` when that is everything.
    const ADDENDS: Option<&'static str>;

    /// The sum, or `absent` when an integer operand is `absent`. Floats follow IEEE 754.
    fn plus(self, other: Self, absent: Self) -> Self;
    /// True for values that may be summed without overflow, and for `absent`.
    fn is_addend(self, absent: Self) -> bool;
    /// The product. Floats follow IEEE 754.
    fn times(self, other: Self) -> Self;
    /// `self`, with a negative zero made positive.
    fn canonical(self) -> Self;
    /// `self`, with a signalling NaN made quiet and perhaps a negative zero positive. Compilers for AArch64 may
    /// select between a value and a constant with an instruction that drops quiet NaN only.
    #[inline(always)]
    fn quiet(self) -> Self {
        self.canonical()
    }
    /// True for NaN.
    fn is_unordered(self) -> bool;
}

macro_rules! float {
    ($($t:ident, $zero:expr, $one:expr;)*) => {$(
        impl Number for $t {
            const TOP: Self = $t::INFINITY;
            const BOTTOM: Self = $t::NEG_INFINITY;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const ADDENDS: Option<&'static str> = None;
            #[inline(always)]
            fn plus(self, other: Self, _absent: Self) -> Self { self + other }
            #[inline(always)]
            fn is_addend(self, _absent: Self) -> bool { true }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn canonical(self) -> Self { self + $zero }
            #[inline(always)]
            fn is_unordered(self) -> bool { self.is_nan() }
        }
    )*};
}

float! {
    f16, f16::ZERO, f16::ONE;
    bf16, bf16::ZERO, bf16::ONE;
    f32, 0.0, 1.0;
    f64, 0.0, 1.0;
}

macro_rules! integer {
    ($($t:ident, $least:expr, $limit:expr, $addends:literal;)*) => {$(
        impl Number for $t {
            const TOP: Self = $t::MAX;
            const BOTTOM: Self = $t::MIN;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const ADDENDS: Option<&'static str> = Some($addends);
            #[inline(always)]
            fn plus(self, other: Self, absent: Self) -> Self {
                if self == absent || other == absent { absent } else { self.wrapping_add(other) }
            }
            #[inline(always)]
            fn is_addend(self, absent: Self) -> bool { ($least..$limit).contains(&self) || self == absent }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn canonical(self) -> Self { self }
            #[inline(always)]
            fn is_unordered(self) -> bool { false }
        }
    )*};
}

integer! {
    u8, 0, 1 << 6, "numbers below 2^6, or the extreme value for \"absent\"";
    i16, 1 - (1 << 12), 1 << 12, "magnitudes below 2^12, or the extreme value for \"absent\"";
    i32, 1 - (1 << 28), 1 << 28, "magnitudes below 2^28, or the extreme value for \"absent\"";
    i64, 1 - (1 << 59), 1 << 59, "magnitudes below 2^59, or the extreme value for \"absent\"";
}
