//! Binary floating point of any size, exactly: values are taken apart, computed without error or rounded to odd in
//! 128 bits, and rounded once.
//!
//! This is what the instructions are defined by. The frequent ones (round to nearest even in `f32` and `f64`) use the
//! processor's own arithmetic, which is the same function, and are tested against this module.

mod arithmetic;
mod format;

pub(super) use arithmetic::{add, divide, fused_multiply_add, multiply, square_root};
pub(super) use format::{Format, Number, Rounding, Specials};

#[cfg(test)]
mod tests;
