//! Pure semantics of arithmetic instructions, bit for bit, without a machine.
//!
//! [`prepare`] binds an instruction's types and modifiers once, when a program is decoded; the [`Operation`] it gives is
//! then a plain function from source words to the result.
//!
//! Exactness: integer and logic instructions, and every floating-point instruction with a rounding modifier, give the bits
//! that the PTX manual defines. The `.approx` instructions are within its error bounds, not bit-equal to a GPU. NaN results
//! are 0x7fffffff in `f32`, 0x7fff in the 16-bit formats; `f64` keeps the payload of the first NaN operand.

mod approx;
mod bits;
mod compare;
mod convert;
mod float;
mod form;
mod half;
mod integer;
mod minmax;
mod native;
mod operation;
mod value;
mod video;

pub use operation::{Lanes, MAX_SOURCES, Operation};

use crate::isa::{Fragment, MatrixOp, ScalarOp};
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

/// The evaluation of a whole warp's `D = A x B + C`.
///
/// `a`, `b`, `c`, `d` are registers as the instruction lists them; `a[r][lane]` is register `r` of that lane, 32 bits in the low half
/// except for f64 elements.
pub type Matrix = fn(&MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]);

/// The function that evaluates `op`, or `None` if the shape and types are not supported.
pub fn prepare_matrix(op: &MatrixOp) -> Option<Matrix> {
    let _ = op;
    None
}

/// How many registers per lane hold a fragment of `op`, as PTX lists them; `None` if `op` is not supported.
pub fn fragment_registers(op: &MatrixOp, fragment: Fragment) -> Option<usize> {
    let _ = (op, fragment);
    None
}

/// Row and column (of the whole m x k, k x n or m x n matrix) of element `element` in register `register` of `lane`.
/// A 32-bit register holds `32 / bits` elements, the first in the low bits. `wmma` fragments may hold an element twice.
pub fn fragment_position(
    op: &MatrixOp,
    fragment: Fragment,
    lane: usize,
    register: usize,
    element: usize,
) -> (usize, usize) {
    let _ = (op, fragment, lane, register, element);
    (0, 0)
}
