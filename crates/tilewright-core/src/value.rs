//! Elements whose type is only known at run time, and what becomes of them in another one.

use crate::{
    dtype::{DType, Element},
    float8::{E4m3, E5m2},
};
use half::{bf16, f16};

/// What becomes of an infinity that is converted to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremes {
    /// It is an error.
    Refuse,
    /// It becomes `MAX` or `MIN`, which min-plus and max-plus read as "absent". These stay infinite in every type, and no
    /// finite number becomes one of them. Bytes without a sign keep all their numbers.
    Absent,
}

impl Extremes {
    /// What an element of type `dtype` stands for: an infinity, where it is an extreme integer that means one.
    pub fn meaning(self, dtype: DType, value: Value) -> Value {
        let (min, max) = match dtype {
            DType::I8 => (i8::MIN.into(), i8::MAX.into()),
            DType::I16 => (i16::MIN.into(), i16::MAX.into()),
            DType::I32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN, i64::MAX),
        };
        match (self, value) {
            (Self::Absent, Value::Int(x)) if x == max => Value::Float(f64::INFINITY),
            (Self::Absent, Value::Int(x)) if x == min => Value::Float(f64::NEG_INFINITY),
            _ => value,
        }
    }
}

/// One element of a matrix with a run-time element type, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A floating-point element, exactly.
    Float(f64),
    /// An integer element.
    Int(i64),
    /// A boolean element.
    Bool(bool),
}

impl Value {
    /// The nearest `f64`; 0 and 1 for booleans.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Float(x) => x,
            Self::Int(x) => x as f64,
            Self::Bool(x) => f64::from(u8::from(x)),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Float(x) => x.fmt(f),
            Self::Int(x) => x.fmt(f),
            Self::Bool(x) => x.fmt(f),
        }
    }
}

macro_rules! float_values {
    ($($t:ty, $dtype:ident, $zero:expr, $to:expr, $from:expr, $from_int:expr;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            const DEFAULT: Self = $zero;
            fn to_value(self) -> Value { Value::Float($to(self)) }
            fn from_value(value: Value, _: Extremes) -> Option<Self> {
                let nearest = match value {
                    Value::Float(x) if !x.is_finite() => {
                        let same = $from(x);
                        // e4m3 has no infinity.
                        return (same.is_nan() == x.is_nan()).then_some(same);
                    }
                    Value::Float(x) => $from(x),
                    Value::Int(x) => $from_int(x),
                    Value::Bool(x) => $from(f64::from(u8::from(x))),
                };
                nearest.is_finite().then_some(nearest)
            }
        }
    )*};
}
float_values! {
    f16, F16, f16::ZERO, f64::from, |x| f16::from_f32(f32_to_odd(x)), |x| f16::from_f32(f32_to_odd(f64_to_odd(x)));
    bf16, Bf16, bf16::ZERO, f64::from, |x| bf16::from_f32(f32_to_odd(x)), |x| bf16::from_f32(f32_to_odd(f64_to_odd(x)));
    E4m3, E4m3, E4m3::ZERO, f64::from, |x| E4m3::from_f32(f32_to_odd(x)), |x| E4m3::from_f32(f32_to_odd(f64_to_odd(x)));
    E5m2, E5m2, E5m2::ZERO, f64::from, |x| E5m2::from_f32(f32_to_odd(x)), |x| E5m2::from_f32(f32_to_odd(f64_to_odd(x)));
    f32, F32, 0.0, f64::from, |x: f64| x as f32, |x: i64| x as f32;
    f64, F64, 0.0, f64::from, f64::from, |x: i64| x as f64;
}

/// `x` as f64; where that is not exact, the neighbour whose last bit is odd.
///
/// A number rounded to odd still says on which side of every tie of a narrower type it lies, so that rounding
/// it again, to that type, gives what rounding once would have given (Boldo and Melquiond, "Emulation of FMA
/// and correctly rounded sums", 2008).
fn f64_to_odd(x: i64) -> f64 {
    const LOST: u32 = i64::BITS - f64::MANTISSA_DIGITS;
    match x.unsigned_abs() >> f64::MANTISSA_DIGITS {
        0 => x as f64,
        _ => (x >> LOST | i64::from(x & ((1 << LOST) - 1) != 0)) as f64 * (1u64 << LOST) as f64,
    }
}

/// As [`f64_to_odd`], from f64 to f32.
fn f32_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let wide = f64::from(nearest);
    if wide == x || x.is_nan() {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(wide.abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

macro_rules! int_values {
    ($($t:ty, $dtype:ident;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            const DEFAULT: Self = 0;
            fn to_value(self) -> Value { Value::Int(i64::from(self)) }
            fn from_value(value: Value, extremes: Extremes) -> Option<Self> {
                let finite: Option<$t> = match value {
                    Value::Int(x) => x.try_into().ok(),
                    Value::Bool(x) => Some(x.into()),
                    Value::Float(x) if x.is_infinite() => return (extremes == Extremes::Absent)
                        .then_some(if x > 0.0 { <$t>::MAX } else { <$t>::MIN }),
                    // `as` saturates, so only a whole number in range survives the way back; 2^63 itself
                    // would, and is excluded.
                    Value::Float(x) => (x as $t as f64 == x && x < <$t>::MAX as f64 + 1.0).then_some(x as $t),
                };
                finite.filter(|&x| extremes == Extremes::Refuse || <$t>::MIN == 0 || !matches!(x, <$t>::MIN | <$t>::MAX))
            }
        }
    )*};
}
int_values! {
    i8, I8;
    i16, I16;
    i32, I32;
    i64, I64;
    u8, U8;
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    const DEFAULT: Self = false;
    fn to_value(self) -> Value {
        Value::Bool(self)
    }
    fn from_value(value: Value, _: Extremes) -> Option<Self> {
        match value {
            Value::Bool(x) => Some(x),
            Value::Int(x) => Some(x != 0),
            Value::Float(x) => (!x.is_nan()).then_some(x != 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_but_zero_is_true_and_nan_is_neither() {
        let boolean = |value| bool::from_value(value, Extremes::Refuse);
        for (value, expected) in [
            (Value::Float(2.0), Some(true)),
            (Value::Float(-0.5), Some(true)),
            (Value::Float(f64::INFINITY), Some(true)),
            (Value::Float(-0.0), Some(false)),
            (Value::Float(f64::NAN), None),
            (Value::Int(-7), Some(true)),
            (Value::Int(0), Some(false)),
        ] {
            assert_eq!(boolean(value), expected, "{value}");
        }
    }
}
