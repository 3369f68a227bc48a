//! `mma.sync.m8n8k4` of f16: four products in one instruction. Lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 hold the matrices of
//! product q; the latter have the upper half of the rows of A, C and D and of the columns of B.

use super::tensor::{TensorProduct, Unit};
use crate::ptx_isa::{Fragment, Major, MatrixOp, Type};
use tilewright_arch::ComputeCapability;

/// Registers per lane of a fragment.
pub fn registers(op: &MatrixOp, fragment: Fragment) -> usize {
    match fragment {
        Fragment::A | Fragment::B => 2,
        Fragment::C => 8 / per_register(op, fragment),
    }
}

fn per_register(op: &MatrixOp, fragment: Fragment) -> usize {
    if fragment == Fragment::C && op.c == Type::F32 { 1 } else { 2 }
}

/// Row and column of an element in the matrices of the lane's product.
pub fn position(
    op: &MatrixOp,
    fragment: Fragment,
    lane: usize,
    register: usize,
    element: usize,
) -> (usize, usize) {
    let index = register * per_register(op, fragment) + element;
    let (member, upper) = (lane % 4, lane / 16 * 4);
    match (fragment, op.a_major, op.b_major) {
        (Fragment::A, Major::Row, _) => (member + upper, index),
        (Fragment::A, Major::Col, _) => (index + upper, member),
        (Fragment::B, _, Major::Row) => (member, index + upper),
        (Fragment::B, _, Major::Col) => (index, member + upper),
        (Fragment::C, ..) if op.c == Type::F16 => (member + upper, index),
        (Fragment::C, ..) => ((lane & 1) + (index & 2) + upper, (index & 4) + (lane & 2) + (index & 1)),
    }
}

/// The four products of a warp, as [`super::multiply`].
pub fn multiply(
    op: &MatrixOp,
    capability: ComputeCapability,
    [a, b, c]: [&[[u64; 32]]; 3],
    d: &mut [[u64; 32]],
) {
    let product = TensorProduct::of(op, Unit::Warp, capability);
    let d_op = MatrixOp { c: op.d, ..*op };
    for quad in 0..4 {
        let [a, b, c] = [(Fragment::A, a), (Fragment::B, b), (Fragment::C, c)]
            .map(|(fragment, words)| gather(op, fragment, quad, words));
        let values = product.evaluate(&a, &b, &c);
        each(&d_op, Fragment::C, quad, |lane, register, shift, _, index| {
            let Some(word) = d.get_mut(register).map(|lanes| &mut lanes[lane]) else { return };
            *word = values[index] << shift | if shift == 0 { 0 } else { *word };
        });
    }
}

/// The bits of all elements of a product, row by row; B is transposed.
fn gather(op: &MatrixOp, fragment: Fragment, quad: usize, words: &[[u64; 32]]) -> Vec<u64> {
    let mut matrix = vec![0; if fragment == Fragment::C { 64 } else { 32 }];
    each(op, fragment, quad, |lane, register, shift, ones, index| {
        matrix[index] = words.get(register).map_or(0, |lanes| lanes[lane] >> shift & ones);
    });
    matrix
}

/// Lane, register, shift, mask and index in the matrix of each element of a product.
fn each(
    op: &MatrixOp,
    fragment: Fragment,
    quad: usize,
    mut see: impl FnMut(usize, usize, usize, u64, usize),
) {
    let (count, ones) = match per_register(op, fragment) {
        1 => (1, u64::from(u32::MAX)),
        count => (count, u64::from(u16::MAX)),
    };
    for lane in [0, 16].into_iter().flat_map(|first| (0..4).map(move |member| first + 4 * quad + member)) {
        for register in 0..registers(op, fragment) {
            for element in 0..count {
                let (row, column) = position(op, fragment, lane, register, element);
                let index = match fragment {
                    Fragment::A => 4 * row + column,
                    Fragment::B => 4 * column + row,
                    Fragment::C => 8 * row + column,
                };
                see(lane, register, 16 * element, ones, index);
            }
        }
    }
}
