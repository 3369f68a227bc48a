//! Pure semantics of arithmetic instructions, bit for bit, without a machine.

use crate::isa::{Fragment, MatrixOp, Scalar, ScalarOp};

/// The function that evaluates `op` for one lane, chosen once when a program is decoded.
///
/// `None`: this combination of opcode, types and modifiers is not supported. The function must not panic for any source values.
pub fn prepare(op: &ScalarOp) -> Option<Scalar> {
    let _ = op;
    None
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
