//! `f16` and `bf16` arithmetic, alone and in pairs.

use super::float::Format;
use super::form::Form;
use super::operation::{Operation, words};
use crate::ptx_isa::{Modifier, Opcode, Type};

/// A 16-bit floating-point format. Its sums and products are computed in `f64` and rounded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    F16,
    Bf16,
}

impl Half {
    pub fn of(ty: Type) -> Option<Half> {
        match ty {
            Type::F16 | Type::F16x2 => Some(Half::F16),
            Type::Bf16 | Type::Bf16x2 => Some(Half::Bf16),
            _ => None,
        }
    }

    pub const fn format(self) -> Format {
        match self {
            Half::F16 => Format::F16,
            Half::Bf16 => Format::BF16,
        }
    }

    /// The value, exactly.
    #[inline]
    pub fn widen(self, bits: u16) -> f32 {
        let sign = u32::from(bits & 0x8000) << 16;
        match self {
            Half::Bf16 => f32::from_bits(u32::from(bits) << 16),
            Half::F16 => {
                // The exponent field moves to its place in `f32`, and a product corrects the bias, which also
                // normalises subnormal numbers. Infinities and NaN keep the largest exponent.
                let magnitude = u32::from(bits & 0x7fff) << 13;
                let special = if magnitude >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
                let rebiased = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
                f32::from_bits(rebiased.to_bits() | special | sign)
            }
        }
    }

    /// The nearest value, ties to even. `x` may have been rounded to odd.
    ///
    /// [`Format::round`] in 64 bits.
    #[inline]
    pub fn narrow(self, x: f64) -> u16 {
        let format = self.format();
        let sign = (x.to_bits() >> 48 & 0x8000) as u16;
        if x.is_nan() {
            return format.nan() as u16;
        }
        let magnitude = x.to_bits() & (u64::MAX >> 1);
        let exponent = (magnitude >> 52) as i64 - 1023;
        let significand = magnitude & ((1 << 52) - 1) | 1 << 52;
        // Subnormal results keep fewer bits; from a shift of 54 on everything is below half a unit.
        let lowest = i64::from(format.min_exponent() + format.fraction_bits as i32);
        let shift = (52 - i64::from(format.fraction_bits) + (lowest - exponent).max(0)).min(54);
        let even = significand >> shift & 1;
        let kept = (significand + (1 << (shift - 1)) - 1 + even) >> shift;
        let rounded = (((exponent - lowest).max(0) as u64) << format.fraction_bits) + kept;
        sign | rounded.min(format.max_finite() + 1) as u16
    }

    /// Subnormal numbers become zeros of the same sign.
    #[inline]
    pub fn flushed(self, bits: u16, flush: bool) -> u16 {
        let fraction_bits = self.format().fraction_bits;
        if flush && bits << 1 >> (fraction_bits + 1) == 0 { bits & 0x8000 } else { bits }
    }

    /// `.sat`: into 0..=1, NaN to +0.
    fn saturated(self, bits: u16) -> u16 {
        let x = self.widen(bits);
        if x > 0.0 { if x > 1.0 { self.narrow(1.0) } else { bits } } else { 0 }
    }

    /// `.relu`: negative values become +0.
    pub fn rectified(self, bits: u16) -> u16 {
        if bits & 0x8000 != 0 && !self.widen(bits).is_nan() { 0 } else { bits }
    }
}

/// An operation on the 16-bit value, or on both 16-bit values, of its operands.
pub(super) fn lanes<const N: usize>(
    ty: Type,
    f: impl Fn([u16; N]) -> u16 + Send + Sync + 'static,
) -> Operation {
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        words(move |sources: [u64; N]| {
            let lane = |shift: u32| u64::from(f(sources.map(|word| (word >> shift) as u16))) << shift;
            lane(0) | lane(16)
        })
    } else {
        words(move |sources: [u64; N]| u64::from(f(sources.map(|word| word as u16))))
    }
}

/// `a + b` rounded to odd: what rounding to a format with at most 51 bits needs to be right.
#[inline]
pub(super) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The error of the sum, exactly (two-sum).
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // Infinite sums have an error of NaN.
    let inexact = error.abs() > 0.0;
    if bits & 1 == 1 || !inexact {
        return sum;
    }
    // The last bit is even and the exact sum lies between two numbers: its odd neighbour on that side.
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away_from_zero { bits + 1 } else { bits - 1 })
}

/// Resolves the instructions of 16-bit floating point but for `min`, `max` and approximations; `None` if the opcode is
/// not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    let nearest = op.take(Modifier::Rn);
    let (flush, saturate, rectify) =
        (op.take(Modifier::Ftz), op.take(Modifier::Sat), op.take(Modifier::Relu));
    let ty = op.take_type()?;
    let half = Half::of(ty)?;
    if half == Half::Bf16 && (flush || saturate) || saturate && rectify || rectify && op.opcode != Opcode::Fma
    {
        return None;
    }
    let finish = move |x: f64| {
        let bits = half.flushed(half.narrow(x), flush);
        match (saturate, rectify) {
            (true, _) => half.saturated(bits),
            (_, true) => half.rectified(bits),
            _ => bits,
        }
    };
    let read = move |bits| f64::from(half.widen(half.flushed(bits, flush)));
    Some(match op.opcode {
        Opcode::Add => lanes(ty, move |[a, b]| finish(add_to_odd(read(a), read(b)))),
        Opcode::Sub => lanes(ty, move |[a, b]| finish(add_to_odd(read(a), -read(b)))),
        Opcode::Mul => lanes(ty, move |[a, b]| finish(read(a) * read(b))),
        Opcode::Fma if nearest => lanes(ty, move |[a, b, c]| finish(add_to_odd(read(a) * read(b), read(c)))),
        Opcode::Abs if !nearest && !saturate => lanes(ty, move |[a]| half.flushed(a, flush) & 0x7fff),
        Opcode::Neg if !nearest && !saturate => lanes(ty, move |[a]| half.flushed(a, flush) ^ 0x8000),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alu::float::{self, Number, Rounding};

    const NEAREST: Rounding = Rounding::NearestEven;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// The short way through `f64` against the exact definition.
        #[test]
        fn sums_and_products_are_rounded_once(a: u16, b: u16, c: u16) {
            for half in [Half::F16, Half::Bf16] {
                let format = half.format();
                let number = |bits: u16| format.unpack(bits.into());
                let value = |bits: u16| f64::from(half.widen(bits));
                let exact = |number: Number| format.round(number, NEAREST) as u16;
                prop_assert_eq!(half.narrow(add_to_odd(value(a), value(b))), exact(float::add(number(a), number(b), NEAREST)));
                prop_assert_eq!(half.narrow(value(a) * value(b)), exact(float::multiply(number(a), number(b))));
                let fused = float::fused_multiply_add(number(a), number(b), number(c), NEAREST);
                prop_assert_eq!(half.narrow(add_to_odd(value(a) * value(b), value(c))), exact(fused));
            }
        }

        #[test]
        fn narrowing_is_rounding(bits: u64, exponent in 860u64..1160, low in 0u64..4) {
            // Any double, and doubles of every exponent that matters with few low bits, which make ties.
            let tie = bits >> 63 << 63 | exponent << 52 | bits >> 22 & 0x3ff << 42 | low << 40;
            for x in [bits, tie, tie & !(7 << 40)] {
                for half in [Half::F16, Half::Bf16] {
                    let expected = half.format().round(Format::F64.unpack(x), NEAREST) as u16;
                    prop_assert_eq!(half.narrow(f64::from_bits(x)), expected, "{:#x}", x);
                }
            }
        }
    }
}
