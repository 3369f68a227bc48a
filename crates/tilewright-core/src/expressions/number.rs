//! Constants as they are written: what they are on an element type is decided there, from the digits.

use super::Cell;
use crate::{
    dtype::DType,
    value::{Extremes, Value},
};

/// A constant of an expression. On integers it is exact, and on floats the nearest one to what is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    single: f32,
    double: f64,
    /// The same as an integer, where it is one.
    whole: Option<i128>,
}

impl Number {
    /// `inf`: the largest integer, where there are integers.
    pub(super) const INFINITY: Self = Self { single: f32::INFINITY, double: f64::INFINITY, whole: None };

    /// A decimal number without a sign, such as `12`, `.5` or `1e3`. `None` for what is none, and for what exceeds every type.
    pub(super) fn parse(digits: &str) -> Option<Self> {
        let is_octal =
            digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|c| c.is_ascii_digit());
        let number =
            Self { single: digits.parse().ok()?, double: digits.parse().ok()?, whole: whole(digits) };
        (number.double.is_finite() && !is_octal).then_some(number)
    }

    /// The number with its sign changed. That of infinity is the smallest integer, not the second smallest.
    pub(super) fn negated(self) -> Self {
        Self { single: -self.single, double: -self.double, whole: self.whole.map(|whole| -whole) }
    }

    /// The element of a type that it stands for; `None` where the type has none: a fraction or too large a number on integers, too large
    /// a number on floats.
    pub fn value(self, dtype: DType) -> Option<Value> {
        let has_infinity = self.double.is_infinite();
        let float = |x: f64| (x.is_finite() || has_infinity).then_some(Value::Float(x));
        match dtype {
            DType::F32 => float(self.single.into()),
            _ if dtype.is_float() => float(self.double),
            _ => {
                let most = i64::MAX >> (i64::BITS as usize - 8 * dtype.size());
                let least = -most - 1;
                let whole = if has_infinity {
                    Some(if self.double > 0.0 { most } else { least })
                } else {
                    self.whole.and_then(|whole| i64::try_from(whole).ok())
                };
                whole.filter(|whole| (least..=most).contains(whole)).map(Value::Int)
            }
        }
    }

    /// The same as [`Number::value`], with its type.
    pub fn of<T: Cell>(self) -> Option<T> {
        T::from_value(self.value(T::DTYPE)?, Extremes::Refuse)
    }
}

impl core::fmt::Display for Number {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.whole {
            Some(whole) => whole.fmt(f),
            None => self.double.fmt(f),
        }
    }
}

/// The integer that a decimal number is, without a detour by floats.
fn whole(number: &str) -> Option<i128> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (front, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{}{fraction}", front.trim_start_matches('0'));
    if digits.bytes().all(|digit| digit == b'0') {
        return Some(0);
    }
    let shift = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let moved = usize::try_from(shift.unsigned_abs()).ok()?;
    if shift >= 0 {
        // More digits than the largest integer of 128 bits has are too many.
        return (moved < 40).then(|| format!("{digits}{}", "0".repeat(moved)).parse().ok())?;
    }
    let (front, lost) = digits.split_at_checked(digits.len().checked_sub(moved)?)?;
    lost.bytes().all(|digit| digit == b'0').then(|| front.parse().ok())?
}
