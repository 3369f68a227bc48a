//! Elements that can be drawn, compared by their bits, and computed with in f64.

use crate::random::Random;
use tilewright_core::{E4m3, E5m2, Element, Extremes, Value, bf16, f16};

/// An element type of the hunt.
pub trait Sample: Element {
    /// What fills memory that must be neither read nor written.
    const POISON: Self;
    /// The distance from 1 to the next number, in the type that plus-times sums in.
    const SUM_EPSILON: f64;
    /// What is hard: infinities, NaN, denormals, the edges of domains and of types.
    const HARD: &'static [Self];
    /// The bits.
    fn bits(self) -> u64;
    /// The value.
    fn wide(self) -> f64;
    /// The nearest element.
    fn nearest(x: f64) -> Self;
    /// Zero, with its sign changed where it has one.
    fn negative_zero() -> Self {
        Self::nearest(-0.0)
    }
    /// Any magnitude.
    fn any(r: &mut Random) -> Self;
    /// An element whose distance from `base`, a number of the type's safe range, is `distance`.
    fn at(base: i64, distance: u32) -> Self {
        Self::nearest(base as f64 + f64::from(distance))
    }
}

macro_rules! floats {
    ($($t:ident, $sum:ident;)*) => {$(
        impl Sample for $t {
            const POISON: Self = $t::NAN;
            const SUM_EPSILON: f64 = $sum::EPSILON as f64;
            const HARD: &'static [Self] = &[
                $t::INFINITY, $t::NEG_INFINITY, $t::NAN, $t::from_bits(1), $t::MAX, $t::MIN, $t::MIN_POSITIVE,
                $t::EPSILON, $t::from_bits($t::MIN_POSITIVE.to_bits() - 1),
                // Negative zero and the smallest negative number: the sign is the highest bit.
                $t::from_bits(1 << (size_of::<$t>() * 8 - 1)), $t::from_bits((1 << (size_of::<$t>() * 8 - 1)) + 1),
            ];
            fn bits(self) -> u64 { self.to_bits().into() }
            fn wide(self) -> f64 { self.into() }
            fn nearest(x: f64) -> Self {
                // Beyond the range lies infinity.
                let beyond = if x < 0.0 { Self::NEG_INFINITY } else { Self::INFINITY };
                Self::from_value(Value::Float(x), Extremes::Refuse).unwrap_or(beyond)
            }
            fn any(r: &mut Random) -> Self {
                let unit = r.bits() as i64 as f64 / i64::MAX as f64;
                Self::nearest(unit * 2f64.powi(r.below(21) as i32 - 10))
            }
        }
    )*};
}
floats! {
    f16, f32;
    bf16, f32;
    f32, f32;
    f64, f64;
}

macro_rules! small_floats {
    ($($t:ident, $special:expr;)*) => {$(
        impl Sample for $t {
            const POISON: Self = $t::NAN;
            const SUM_EPSILON: f64 = f32::EPSILON as f64;
            const HARD: &'static [Self] = &[
                $t::NAN, $t::MAX, $t::from_bits($t::MAX.to_bits() | 0x80), $t::TINY, $t::from_bits(0x80), $t::from_bits(0x81), $special,
            ];
            fn bits(self) -> u64 { self.to_bits().into() }
            fn wide(self) -> f64 { self.into() }
            fn nearest(x: f64) -> Self { $t::from_f32(x as f32) }
            fn any(r: &mut Random) -> Self {
                let unit = r.bits() as i64 as f64 / i64::MAX as f64;
                Self::nearest(unit * 2f64.powi(r.below(15) as i32 - 7))
            }
        }
    )*};
}
small_floats! {
    E4m3, E4m3::ONE;
    E5m2, E5m2::INFINITY;
}

macro_rules! integers {
    ($($t:ident, $limit:expr;)*) => {$(
        impl Sample for $t {
            const POISON: Self = 0x5a5a_5a5a_5a5a_5a5a_u64 as $t;
            const SUM_EPSILON: f64 = 0.0;
            const HARD: &'static [Self] = &[
                $t::MAX, $t::MIN, $t::MAX - 1, $t::MIN + 1, $limit, $t::wrapping_sub(0, $limit), $limit - 1,
                $t::wrapping_sub(1, $limit), 0, $t::wrapping_sub(0, 1), $limit / 2, $t::wrapping_sub(0, $limit / 2),
            ];
            fn bits(self) -> u64 { self as u64 }
            fn wide(self) -> f64 { self as f64 }
            fn nearest(x: f64) -> Self { x as $t }
            fn any(r: &mut Random) -> Self { (r.bits() as $t) >> r.below($t::BITS as usize) }
            fn at(base: i64, distance: u32) -> Self {
                let safe: $t = $limit - 1;
                (base % i64::from(safe)).saturating_add(i64::from(distance)).min(i64::from(safe)) as $t
            }
        }
    )*};
}
integers! {
    i8, 1 << 5;
    i16, 1 << 12;
    i32, 1 << 28;
    i64, 1 << 59;
    u8, 1 << 6;
}

impl Sample for bool {
    const POISON: Self = true;
    const SUM_EPSILON: f64 = 0.0;
    const HARD: &'static [Self] = &[false, true];
    fn bits(self) -> u64 {
        self.into()
    }
    fn wide(self) -> f64 {
        f64::from(u8::from(self))
    }
    fn nearest(x: f64) -> Self {
        x != 0.0
    }
    fn any(r: &mut Random) -> Self {
        r.one_in(2)
    }
}
