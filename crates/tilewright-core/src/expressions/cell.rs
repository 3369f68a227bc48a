//! The numbers that expressions compute with.

use super::{Binary, Unary};
use crate::{
    dtype::{DType, Element},
    value::{Extremes, Value},
};

/// An element type of semirings that are given by their text: f32, f64, i32 and i64. Integers wrap.
pub trait Cell: Element + PartialOrd {
    /// 0, and false.
    const ZERO: Self;
    /// 1, and true.
    const ONE: Self;
    /// The distance of 1 to the next number; 0 for integers.
    const EPSILON: f64;
    /// How far results of a few operations may be apart where they are the same in exact arithmetic; 0 for integers.
    const TOLERANCE: f64 = 16.0 * Self::EPSILON;
    /// The result of an operation on one number. Truth is 1, and false is 0.
    fn unary(operation: Unary, x: Self) -> Self;
    /// The result of an operation on two numbers.
    fn binary(operation: Binary, x: Self, y: Self) -> Self;
    /// The nearest number; an infinity is the extreme integer. `None` for a fraction among integers.
    fn of(x: f64) -> Option<Self> {
        Self::from_value(Value::Float(x), Extremes::Absent)
    }
    /// The same number, and `+0` for `-0`.
    #[inline(always)]
    fn positive_zero(self) -> Self {
        Self::binary(Binary::Add, self, Self::ZERO)
    }
    /// True for every number but 0.
    #[inline(always)]
    fn is_true(self) -> bool {
        self != Self::ZERO
    }
}

/// The types that are cells.
pub const DTYPES: &[DType] = &[DType::F32, DType::F64, DType::I32, DType::I64];

macro_rules! cells {
    ($($t:ident, $zero:literal, $one:literal, $epsilon:expr, $add:expr, $subtract:expr, $multiply:expr, $divide:expr,
        $negate:expr, $absolute:expr;)*) => {$(
        impl Cell for $t {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const EPSILON: f64 = $epsilon;

            #[inline(always)]
            fn unary(operation: Unary, x: Self) -> Self {
                match operation {
                    Unary::Negate => $negate(x),
                    Unary::Absolute => $absolute(x),
                    Unary::Not => $t::from(u8::from(x == $zero)),
                }
            }
            #[inline(always)]
            #[allow(clippy::eq_op)] // NaN is what differs from itself.
            fn binary(operation: Binary, x: Self, y: Self) -> Self {
                let truth = |is_true: bool| $t::from(u8::from(is_true));
                match operation {
                    Binary::Add => $add(x, y),
                    Binary::Subtract => $subtract(x, y),
                    Binary::Multiply => $multiply(x, y),
                    Binary::Divide => $divide(x, y),
                    // The other one, where one is NaN.
                    Binary::Min => if x < y || y != y { x } else { y },
                    Binary::Max => if x > y || y != y { x } else { y },
                    Binary::Less => truth(x < y),
                    Binary::LessEqual => truth(x <= y),
                    Binary::Greater => truth(x > y),
                    Binary::GreaterEqual => truth(x >= y),
                    Binary::Equal => truth(x == y),
                    Binary::NotEqual => truth(x != y),
                    Binary::And => truth(x != $zero && y != $zero),
                    Binary::Or => truth(x != $zero || y != $zero),
                }
            }
        }
    )*};
}
cells! {
    f32, 0.0, 1.0, f32::EPSILON as f64, |x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y, |x: f32| -x, f32::abs;
    f64, 0.0, 1.0, f64::EPSILON, |x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y, |x: f64| -x, f64::abs;
    i32, 0, 1, 0.0, i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul,
        |x: i32, y| if y == 0 { 0 } else { x.wrapping_div(y) }, i32::wrapping_neg, i32::wrapping_abs;
    i64, 0, 1, 0.0, i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul,
        |x: i64, y| if y == 0 { 0 } else { x.wrapping_div(y) }, i64::wrapping_neg, i64::wrapping_abs;
}
