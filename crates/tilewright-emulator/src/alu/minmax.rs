//! Minimum and maximum of floating-point numbers.

use super::form::Form;
use super::half::{self, Half};
use super::native::Float;
use super::operation::{Operation, binary, ternary};
use crate::ptx_isa::{Modifier, Opcode, Type};

#[derive(Clone, Copy)]
struct Modes {
    flush: bool,
    /// `.NaN`: a NaN operand makes the result NaN; without it, it is an absent operand.
    propagate: bool,
    /// `.abs`: magnitudes are compared.
    magnitudes: bool,
    /// `.xorsign`: the result's sign is the product of the operands' signs.
    multiply_signs: bool,
}

/// Resolves `min` and `max` of floating-point types; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    let minimum = match op.opcode {
        Opcode::Min => true,
        Opcode::Max => false,
        _ => return None,
    };
    let modes = Modes {
        flush: op.take(Modifier::Ftz),
        propagate: op.take(Modifier::Nan),
        multiply_signs: op.take(Modifier::XorSign),
        magnitudes: op.take(Modifier::Abs),
    };
    if modes.multiply_signs && !modes.magnitudes {
        return None;
    }
    let three = op.sources == 3;
    let ty = op.take_type()?;
    if three {
        let fits = ty == Type::F32 && !modes.multiply_signs;
        return fits.then(|| {
            ternary(move |a: f32, b: f32, c: f32| select(select(a, b, minimum, modes), c, minimum, modes))
        });
    }
    if modes.magnitudes && !modes.multiply_signs {
        return None;
    }
    let plain = !modes.flush && !modes.propagate && !modes.magnitudes;
    match ty {
        Type::F32 if plain && minimum => Some(binary(min_number::<f32>)),
        Type::F32 if plain => Some(binary(max_number::<f32>)),
        Type::F64 if plain && minimum => Some(binary(min_number::<f64>)),
        Type::F64 if plain => Some(binary(max_number::<f64>)),
        Type::F32 => Some(binary(move |a: f32, b: f32| select(a, b, minimum, modes))),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            let half = Half::of(ty).filter(|half| !modes.flush || *half == Half::F16)?;
            Some(half::lanes(ty, move |[a, b]| {
                let [a, b] = [a, b].map(|bits| half.flushed(bits, modes.flush)).map(|bits| half.widen(bits));
                half.narrow(f64::from(select(a, b, minimum, Modes { flush: false, ..modes })))
            }))
        }
        _ => None,
    }
}

/// The smaller number, -0 below +0; a NaN operand gives the other one.
#[inline(always)]
pub(super) fn min_number<F: Float>(a: F, b: F) -> F {
    // Operands that compare equal differ in the sign of a zero at most.
    let equal = F::from_word(a.word() | b.word());
    ordered(a, b, a < b, b < a, equal)
}

/// The larger number, +0 above -0; a NaN operand gives the other one.
#[inline(always)]
pub(super) fn max_number<F: Float>(a: F, b: F) -> F {
    let equal = F::from_word(a.word() & b.word());
    ordered(a, b, a > b, b > a, equal)
}

#[inline(always)]
fn ordered<F: Float>(a: F, b: F, take_a: bool, take_b: bool, equal: F) -> F {
    let unordered = if !a.is_nan() {
        a
    } else if !b.is_nan() {
        b
    } else {
        F::nan([a, b])
    };
    let same_or_unordered = if a == b { equal } else { unordered };
    if take_a {
        a
    } else if take_b {
        b
    } else {
        same_or_unordered
    }
}

fn select(a: f32, b: f32, minimum: bool, modes: Modes) -> f32 {
    let [a, b] = [a, b].map(|x| x.flushed(modes.flush));
    if modes.propagate && (a.is_nan() || b.is_nan()) {
        return f32::nan([a, b]);
    }
    let [x, y] = if modes.magnitudes { [a.abs(), b.abs()] } else { [a, b] };
    let result = if minimum { min_number(x, y) } else { max_number(x, y) };
    if modes.multiply_signs && !result.is_nan() {
        result.copysign(if a.is_sign_negative() == b.is_sign_negative() { 1.0 } else { -1.0 })
    } else {
        result
    }
}
