//! Video instructions: arithmetic on selected bytes and half-words with a second operation or a merge.

mod scalar;
mod simd;

use super::form::Form;
use super::operation::Operation;
use crate::ptx_isa::{Modifier, Type};

/// Resolves the video instructions; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    scalar::resolve(op).or_else(|| simd::resolve(op))
}

/// The main operation on two selected values of at most 32 bits.
type Primary = fn(i64, i64) -> i64;

/// Comparisons of `vset`, `vset2` and `vset4`.
const COMPARISONS: &[(Modifier, Primary)] = &[
    (Modifier::Eq, |a, b| (a == b).into()),
    (Modifier::Ne, |a, b| (a != b).into()),
    (Modifier::Lt, |a, b| (a < b).into()),
    (Modifier::Le, |a, b| (a <= b).into()),
    (Modifier::Gt, |a, b| (a > b).into()),
    (Modifier::Ge, |a, b| (a >= b).into()),
];

/// Whether a 32-bit type is signed; `None` if it is not `.u32` or `.s32`.
fn signedness(ty: Type) -> Option<bool> {
    match ty {
        Type::U32 => Some(false),
        Type::S32 => Some(true),
        _ => None,
    }
}

/// The low `bits` of a word as a number.
fn value(word: u64, bits: u32, signed: bool) -> i64 {
    let unused = 64 - bits;
    let word = word << unused;
    if signed { word as i64 >> unused } else { (word >> unused) as i64 }
}

/// The nearest number of `bits` bits.
fn clamped(x: i64, bits: u32, signed: bool) -> i64 {
    if signed { x.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { x.clamp(0, (1 << bits) - 1) }
}
