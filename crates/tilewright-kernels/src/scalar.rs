//! Numbers that are passed to kernels.

use core::fmt;
use tilewright_core::{DType, Value};

/// A number of the type that sums are computed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// For f16, bf16 and f32 elements.
    F32(f32),
    /// For f64 elements.
    F64(f64),
    /// For i8, u8, i16, i32 and boolean elements.
    I32(i32),
    /// For i64 elements.
    I64(i64),
}

impl Scalar {
    /// The number of the type that sums of `dtype` have; the extreme integer for an infinity.
    pub fn of(dtype: DType, value: Value) -> Self {
        let whole = if let Value::Int(x) = value { x } else { value.to_f64() as i64 };
        match dtype {
            DType::F64 => Self::F64(value.to_f64()),
            DType::I64 => Self::I64(whole),
            d if d.is_float() => Self::F32(value.to_f64() as f32),
            _ => Self::I32(whole.clamp(i32::MIN.into(), i32::MAX.into()) as i32),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32(x) => x.fmt(f),
            Self::F64(x) => x.fmt(f),
            Self::I32(x) => x.fmt(f),
            Self::I64(x) => x.fmt(f),
        }
    }
}
