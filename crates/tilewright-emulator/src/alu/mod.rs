//! Pure semantics of arithmetic instructions, bit for bit, without a machine.
//!
//! [`prepare`] binds an instruction's types and modifiers once, when a program is decoded; the [`Operation`] it gives is
//! then a plain function from source words to the result.
//!
//! Exactness: integer and logic instructions, and every floating-point instruction with a rounding modifier, give the bits
//! that the PTX manual defines. The `.approx` instructions are within its error bounds, not bit-equal to a GPU. NaN results
//! are 0x7fffffff in `f32`, 0x7fff in the 16-bit formats; `f64` keeps the payload of the first NaN operand.
//! Products of matrices have the bits of the tensor cores of an architecture, see [`tensor`].

mod approx;
mod bits;
mod compare;
mod convert;
mod float;
mod form;
mod half;
mod integer;
mod matrix;
mod minmax;
mod native;
mod operation;
mod quads;
pub mod tensor;
mod value;
mod video;

pub use matrix::{fragment_position, fragment_registers, has_matrix, multiply};
pub use operation::{Lanes, MAX_SOURCES, Operation};

pub(crate) use half::Half;

use crate::ptx_isa::ScalarOp;
use form::Form;

/// The groups of instructions. Each gives `None` for opcodes and types that are not its own.
const GROUPS: &[fn(&mut Form) -> Option<Operation>] = &[
    integer::resolve,
    bits::resolve,
    compare::resolve,
    convert::resolve,
    video::resolve,
    native::resolve,
    half::resolve,
    minmax::resolve,
    approx::resolve,
];

/// The operation that evaluates `op`.
///
/// `None`: this combination of opcode, types and modifiers is not supported.
pub fn prepare(op: &ScalarOp) -> Option<Operation> {
    GROUPS.iter().find_map(|resolve| {
        let mut form = Form::new(op);
        let operation = resolve(&mut form)?;
        (form.is_spent() && operation.sources() == form.sources).then_some(operation)
    })
}
