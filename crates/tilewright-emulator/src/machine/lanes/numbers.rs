//! Comparisons and floating-point results of one lane, written so that loops over lanes vectorise.

use super::vector;
use crate::program::instruction::Compare;

/// The bits of an f32 result: the hardware has one NaN.
#[inline(always)]
pub fn bits32(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// min: a number beats a NaN, and -0 is less than +0.
#[inline(always)]
pub fn min32(a: f32, b: f32) -> u32 {
    let less = if a < b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() | b.to_bits() } else { less };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff } else { number }
}

/// max: a number beats a NaN, and +0 is greater than -0.
#[inline(always)]
pub fn max32(a: f32, b: f32) -> u32 {
    let more = if a > b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() & b.to_bits() } else { more };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff } else { number }
}

/// As [`min32`].
#[inline(always)]
pub fn min64(a: f64, b: f64) -> u64 {
    let less = if a < b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() | b.to_bits() } else { less };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff_ffff_ffff } else { number }
}

/// As [`max32`].
#[inline(always)]
pub fn max64(a: f64, b: f64) -> u64 {
    let more = if a > b { a.to_bits() } else { b.to_bits() };
    let equal = if a == b { a.to_bits() & b.to_bits() } else { more };
    let number = if a.is_nan() { b.to_bits() } else { equal };
    let number = if b.is_nan() { a.to_bits() } else { number };
    if a.is_nan() & b.is_nan() { 0x7fff_ffff_ffff_ffff } else { number }
}

/// Lanes where a comparison holds.
///
/// # Safety
/// The pointers must be rows.
#[inline(always)]
pub unsafe fn compared<T: Copy + PartialOrd>(compare: Compare, a: *const T, b: *const T) -> u32 {
    #[allow(clippy::eq_op, reason = "a number differs from itself exactly if it is NaN")]
    let nan = |x: T| x != x;
    // SAFETY: the caller promises rows.
    unsafe {
        match compare {
            Compare::Eq => vector::compare(a, b, |a, b| a == b),
            Compare::Ne => vector::compare(a, b, |a, b| a != b && !nan(a) && !nan(b)),
            Compare::Lt => vector::compare(a, b, |a, b| a < b),
            Compare::Le => vector::compare(a, b, |a, b| a <= b),
            Compare::Gt => vector::compare(a, b, |a, b| a > b),
            Compare::Ge => vector::compare(a, b, |a, b| a >= b),
            // Equal or not ordered: neither less nor greater.
            Compare::Equ => !(vector::compare(a, b, |a, b| a < b) | vector::compare(a, b, |a, b| a > b)),
            Compare::Neu => vector::compare(a, b, |a, b| a != b),
            Compare::Ltu => !vector::compare(a, b, |a, b| a >= b),
            Compare::Leu => !vector::compare(a, b, |a, b| a > b),
            Compare::Gtu => !vector::compare(a, b, |a, b| a <= b),
            Compare::Geu => !vector::compare(a, b, |a, b| a < b),
            Compare::Num => vector::compare(a, b, |a, b| !nan(a) && !nan(b)),
            Compare::Nan => vector::compare(a, b, |a, b| nan(a) || nan(b)),
        }
    }
}
