//! `mma.sync` and `wmma`: which lane holds which element, and `D = A x B + C`.
//!
//! The arithmetic is that of [`super::tensor`], and four products in one instruction are those of [`super::quads`].

use super::{
    quads,
    tensor::{TensorProduct, Unit},
};
use crate::ptx_isa::{Fragment, MatrixArithmetic, MatrixFamily, MatrixOp, Type};
use tilewright_arch::ComputeCapability;

type Shape = (u16, u16, u16);

const WARP_TILES: &[Shape] = &[(16, 16, 16), (32, 8, 16), (8, 32, 16)];

/// The shapes m, n, k of each family by the type of A.
fn shapes(family: MatrixFamily, a: Type) -> &'static [Shape] {
    match (family, a) {
        (MatrixFamily::Mma, Type::F16) => &[(8, 8, 4), (16, 8, 8), (16, 8, 16)],
        (MatrixFamily::Mma, Type::Bf16) => &[(16, 8, 8), (16, 8, 16)],
        (MatrixFamily::Mma, Type::Tf32) => &[(16, 8, 4), (16, 8, 8)],
        (MatrixFamily::Mma, Type::F64) => &[(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)],
        (MatrixFamily::Mma, Type::U8 | Type::S8) => &[(8, 8, 16), (16, 8, 16), (16, 8, 32)],
        (MatrixFamily::Mma, Type::E4m3 | Type::E5m2) => &[(16, 8, 16), (16, 8, 32)],
        (MatrixFamily::Mma, Type::U4 | Type::S4) => &[(8, 8, 32), (16, 8, 32), (16, 8, 64)],
        (MatrixFamily::Mma, Type::B1) => &[(8, 8, 128), (16, 8, 128), (16, 8, 256)],
        (MatrixFamily::Wmma, Type::F16 | Type::Bf16 | Type::U8 | Type::S8) => WARP_TILES,
        (MatrixFamily::Wmma, Type::Tf32) => &[(16, 16, 8)],
        (MatrixFamily::Wmma, Type::F64) => &[(8, 8, 4)],
        (MatrixFamily::Wmma, Type::U4 | Type::S4) => &[(8, 8, 32)],
        (MatrixFamily::Wmma, Type::B1) => &[(8, 8, 128)],
        _ => &[],
    }
}

/// Whether there is an instruction of these types, this shape and this arithmetic.
pub fn has_matrix(op: &MatrixOp) -> bool {
    let factors = match op.a {
        Type::U8 | Type::S8 => matches!(op.b, Type::U8 | Type::S8),
        Type::U4 | Type::S4 => matches!(op.b, Type::U4 | Type::S4),
        Type::E4m3 | Type::E5m2 => matches!(op.b, Type::E4m3 | Type::E5m2),
        a => op.b == a,
    };
    let sums = [op.c, op.d].into_iter().all(|ty| match op.a {
        Type::F64 => ty == Type::F64,
        Type::F16 | Type::E4m3 | Type::E5m2 => matches!(ty, Type::F16 | Type::F32),
        Type::Bf16 | Type::Tf32 => ty == Type::F32,
        _ => ty == Type::S32,
    });
    let bits = op.arithmetic != MatrixArithmetic::MultiplyAdd;
    // Four products at once have no C that is wider than D.
    let narrows = op.is_of_quads() && op.c == Type::F32 && op.d == Type::F16;
    factors
        && sums
        && !narrows
        && bits == (op.a == Type::B1)
        && shapes(op.family, op.a).contains(&(op.m, op.n, op.k))
}

fn dimensions(op: &MatrixOp, fragment: Fragment) -> (usize, usize) {
    let [m, n, k] = [op.m, op.n, op.k].map(usize::from);
    match fragment {
        Fragment::A => (m, k),
        Fragment::B => (k, n),
        Fragment::C => (m, n),
    }
}

fn element_type(op: &MatrixOp, fragment: Fragment) -> Type {
    match fragment {
        Fragment::A => op.a,
        Fragment::B => op.b,
        Fragment::C => op.c,
    }
}

/// Elements of a type in a register: 32 bits, or one f64.
fn per_register(ty: Type) -> usize {
    (32 / ty.bits() as usize).max(1)
}

fn registers(op: &MatrixOp, fragment: Fragment) -> usize {
    let ty = element_type(op, fragment);
    if op.family == MatrixFamily::Wmma && ty == Type::F16 && fragment != Fragment::C {
        // PTX gives f16 factors eight registers whatever their shape.
        return 8;
    }
    let (rows, columns) = dimensions(op, fragment);
    rows * columns / 32 / per_register(ty)
}

/// How many registers per lane hold a fragment of `op`, as PTX lists them; `None` if `op` is not supported.
pub fn fragment_registers(op: &MatrixOp, fragment: Fragment) -> Option<usize> {
    has_matrix(op).then(|| match op.is_of_quads() {
        true => quads::registers(op, fragment),
        false => registers(op, fragment),
    })
}

/// Where the elements of a fragment are.
#[derive(Clone, Copy)]
struct Layout {
    family: MatrixFamily,
    fragment: Fragment,
    rows: usize,
    columns: usize,
    /// Elements in a register.
    count: usize,
    registers: usize,
}

impl Layout {
    fn new(op: &MatrixOp, fragment: Fragment) -> Self {
        let (rows, columns) = dimensions(op, fragment);
        let count = per_register(element_type(op, fragment));
        Layout { family: op.family, fragment, rows, columns, count, registers: registers(op, fragment) }
    }

    #[inline(always)]
    fn position(&self, lane: usize, register: usize, element: usize) -> (usize, usize) {
        if self.family == MatrixFamily::Wmma {
            // Lane by lane in row-major order, starting again where registers are left over.
            let index = (lane * self.registers + register) * self.count + element;
            let index = index % (self.rows * self.columns);
            return (index / self.columns, index % self.columns);
        }
        // The lanes form eight groups of four. A register holds neighbours along k in A and B, along n in C.
        let (group, member) = (lane / 4, lane % 4);
        let along_k = |block: usize| 4 * self.count * block + self.count * member + element;
        match self.fragment {
            Fragment::A if self.rows == 8 => (group, along_k(register)),
            // Registers alternate between the upper and the lower eight rows.
            Fragment::A => (group + 8 * (register % 2), along_k(register / 2)),
            Fragment::B => (along_k(register), group),
            Fragment::C => {
                let index = register * self.count + element;
                (group + 8 * (index / 2), 2 * member + index % 2)
            }
        }
    }
}

/// Row and column (of the whole m x k, k x n or m x n matrix) of element `element` in register `register` of `lane`.
/// A 32-bit register holds `32 / bits` elements, the first in the low bits. `wmma` fragments may hold an element twice, and
/// `mma.sync.m8n8k4` of f16 has four products: the position is that in the product of the lane.
pub fn fragment_position(
    op: &MatrixOp,
    fragment: Fragment,
    lane: usize,
    register: usize,
    element: usize,
) -> (usize, usize) {
    match op.is_of_quads() {
        true => quads::position(op, fragment, lane, register, element),
        false => Layout::new(op, fragment).position(lane, register, element),
    }
}

/// A whole warp's `D = A x B + C` on a GPU of this compute capability. `op` is supported ([`has_matrix`]).
///
/// `a`, `b`, `c`, `d` are registers as the instruction lists them; `a[r][lane]` is register `r` of that lane, 32 bits in the
/// low half except for f64 elements.
pub fn multiply(
    op: &MatrixOp,
    capability: ComputeCapability,
    [a, b, c]: [&[[u64; 32]]; 3],
    d: &mut [[u64; 32]],
) {
    if op.is_of_quads() {
        return quads::multiply(op, capability, [a, b, c], d);
    }
    let product = TensorProduct::of(op, Unit::Warp, capability);
    let [a, b, c] = [(Fragment::A, a), (Fragment::B, b), (Fragment::C, c)]
        .map(|(fragment, words)| gather(op, fragment, words));
    scatter(op, d, &product.evaluate(&a, &b, &c));
}

/// The bits of all elements of a fragment, row by row; B is transposed.
fn gather(op: &MatrixOp, fragment: Fragment, words: &[[u64; 32]]) -> Vec<u64> {
    let layout = Layout::new(op, fragment);
    let bits = element_type(op, fragment).bits();
    let ones = u64::MAX >> (64 - bits.min(64));
    let mut matrix = vec![0; layout.rows * layout.columns];
    for (register, lanes) in words.iter().enumerate().take(layout.registers) {
        for (lane, word) in lanes.iter().enumerate() {
            for element in 0..layout.count {
                let (row, column) = layout.position(lane, register, element);
                let index = match fragment {
                    Fragment::B => column * layout.rows + row,
                    _ => row * layout.columns + column,
                };
                matrix[index] = word >> (bits as usize * element) & ones;
            }
        }
    }
    matrix
}

/// Writes D.
fn scatter(op: &MatrixOp, d: &mut [[u64; 32]], values: &[u64]) {
    let (layout, bits) = (Layout::new(&MatrixOp { c: op.d, ..*op }, Fragment::C), op.d.bits() as usize);
    for (register, lanes) in d.iter_mut().enumerate().take(layout.registers) {
        for (lane, word) in lanes.iter_mut().enumerate() {
            *word = (0..layout.count).fold(0, |word, element| {
                let (row, column) = layout.position(lane, register, element);
                word | values[row * layout.columns + column] << (bits * element)
            });
        }
    }
}
