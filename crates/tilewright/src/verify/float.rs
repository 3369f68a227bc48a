//! What the error bound needs to know of floating-point types.

use tilewright_core::{DType, E4m3, E5m2, Element, Extremes, Value, bf16, f16, semiring::Arithmetic};

/// A floating-point format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Half the distance from 1 to the next number.
    pub roundoff: f64,
    /// The largest finite number.
    pub max: f64,
    /// The smallest positive number, below which rounding errors are absolute.
    pub tiny: f64,
}

const F16: Format = Format { roundoff: power(-11), max: 65504.0, tiny: power(-24) };
const BF16: Format = Format { roundoff: power(-8), max: 255.0 * power(120), tiny: power(-133) };
const E4M3: Format = Format { roundoff: power(-4), max: 448.0, tiny: power(-9) };
const E5M2: Format = Format { roundoff: power(-3), max: 57344.0, tiny: power(-16) };
const F32: Format = Format { roundoff: power(-24), max: f32::MAX as f64, tiny: power(-149) };
const F64: Format = Format { roundoff: power(-53), max: f64::MAX, tiny: 5e-324 };

/// `2^e` for normal exponents.
const fn power(e: i64) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// The unit roundoff of the reference sums.
pub(super) const REFERENCE: f64 = F64.roundoff;

/// A floating-point element type of plus-times.
pub(super) trait Float: Arithmetic + Into<f64> {
    /// The format of the elements.
    const ELEMENT: Format = format(Self::DTYPE);
    /// The format of the sums.
    const SUM: Format = format(<Self::Acc as Element>::DTYPE);
}

/// The unit roundoff of rounding a sum to a result: 0 when they are of one format.
pub(super) fn narrowing(sum: Format, result: Format) -> f64 {
    if result.roundoff > sum.roundoff { result.roundoff } else { 0.0 }
}

const fn format(dtype: DType) -> Format {
    match dtype {
        DType::F16 => F16,
        DType::Bf16 => BF16,
        DType::E4m3 => E4M3,
        DType::E5m2 => E5M2,
        DType::F32 => F32,
        _ => F64,
    }
}

impl Float for f16 {}
impl Float for bf16 {}
impl Float for E4m3 {}
impl Float for E5m2 {}
impl Float for f32 {}
impl Float for f64 {}

/// The number of type `T` nearest to `x`; an infinity beyond its range.
pub(super) fn round<T: Element>(x: f64) -> f64 {
    match T::from_value(Value::Float(x), Extremes::Refuse).map(T::to_value) {
        Some(Value::Float(x)) => x,
        _ => f64::INFINITY.copysign(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_the_types() {
        fn check<T: Float>(max: f64, epsilon: f64) {
            assert_eq!((T::ELEMENT.max, 2.0 * T::ELEMENT.roundoff), (max, epsilon));
            assert_eq!(round::<T>(T::ELEMENT.tiny), T::ELEMENT.tiny);
            assert_eq!(round::<T>(T::ELEMENT.tiny / 2.0), 0.0);
        }
        check::<f16>(f16::MAX.into(), f16::EPSILON.into());
        check::<bf16>(bf16::MAX.into(), bf16::EPSILON.into());
        check::<E4m3>(448.0, 0.125);
        check::<E5m2>(57344.0, 0.25);
        check::<f32>(f32::MAX.into(), f32::EPSILON.into());
        check::<f64>(f64::MAX, f64::EPSILON);
        assert_eq!((narrowing(F32, F16), narrowing(F32, F32)), (power(-11), 0.0));
    }
}
