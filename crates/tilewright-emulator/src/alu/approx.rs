//! The approximate functions. Each is computed in `f64` and rounded, so that it is closer to the true value than the
//! documented error of the hardware's table; what differs from IEEE 754 by design (`div.approx`, the `f64` forms)
//! follows the PTX manual.

use super::form::Form;
use super::half::{Half, lanes};
use super::native::Float;
use super::operation::{Operation, binary, unary};
use crate::ptx_isa::{Modifier, Opcode, Type};

type Function = fn(f64) -> f64;

/// The functions. At infinities, zeros and negative numbers the PTX manual asks for what IEEE 754 gives.
const FUNCTIONS: &[(Opcode, Function)] = &[
    (Opcode::Rcp, |x| 1.0 / x),
    (Opcode::Sqrt, f64::sqrt),
    (Opcode::Rsqrt, reciprocal_square_root),
    (Opcode::Sin, f64::sin),
    (Opcode::Cos, f64::cos),
    (Opcode::Lg2, f64::log2),
    (Opcode::Ex2, f64::exp2),
    (Opcode::Tanh, f64::tanh),
];

/// The root of -0 is -0, so that the result for it is -inf, as documented.
fn reciprocal_square_root(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Resolves the `.approx` instructions; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    if !op.take(Modifier::Approx) {
        return None;
    }
    let flush = op.take(Modifier::Ftz);
    let ty = op.take_type()?;
    let function = FUNCTIONS.iter().find(|(name, _)| *name == op.opcode).map(|(_, function)| *function);
    match ty {
        Type::F32 if op.opcode == Opcode::Div => Some(binary(move |a: f32, b: f32| divide(a, b, flush))),
        Type::F32 if op.opcode == Opcode::Tanh && flush => None,
        Type::F32 => {
            let function = function?;
            Some(unary(move |a: f32| {
                let a = a.flushed(flush);
                (function(f64::from(a)) as f32).or_nan_of([a]).flushed(flush)
            }))
        }
        Type::F64 if flush && matches!(op.opcode, Opcode::Rcp | Opcode::Rsqrt) => {
            let function = function?;
            Some(unary(move |a: f64| upper_word(function, a)))
        }
        Type::F64 if op.opcode == Opcode::Rsqrt => {
            Some(unary(|a: f64| reciprocal_square_root(a).or_nan_of([a])))
        }
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            let half = Half::of(ty)?;
            // `ex2` of bf16 exists with `.ftz` alone, of f16 without it.
            let exists = match op.opcode {
                Opcode::Ex2 => flush == (half == Half::Bf16),
                Opcode::Tanh => !flush,
                _ => false,
            };
            let function = function.filter(|_| exists)?;
            Some(lanes(ty, move |[a]| {
                let result = half.narrow(function(f64::from(half.widen(half.flushed(a, flush)))));
                half.flushed(result, flush)
            }))
        }
        _ => None,
    }
}

/// `div.approx.f32` is `a (1 / b)`: a divisor above 2^126 has a reciprocal that is flushed to zero.
fn divide(a: f32, b: f32, flush: bool) -> f32 {
    let (a, b) = (a.flushed(flush), b.flushed(flush));
    let reciprocal_vanishes = b.abs() > 2f32.powi(126) && b.is_finite();
    let quotient = if reciprocal_vanishes { a * 0f32.copysign(b) } else { a / b };
    quotient.or_nan_of([a, b]).flushed(flush)
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` see and give the upper 32 bits of a number: 20 bits of fraction.
fn upper_word(function: Function, a: f64) -> f64 {
    let upper = |x: f64| f64::from_bits(x.to_bits() & !0xffff_ffff);
    let a = upper(a).flushed(true);
    if a.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    upper(function(a).or_nan_of([a])).flushed(true)
}
