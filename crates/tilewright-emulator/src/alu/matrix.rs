//! `mma.sync` and `wmma`: which lane holds which element, and `D = A x B + C`.
//!
//! Integers are exact and wrap or clamp once. `f64` sums are fused multiply-adds in the order of k. All other formats have
//! exact products, which are added to C in `f64` in the order of k and rounded once to the type of D: PTX asks for at least
//! single precision in any order, and the hardware's own order differs between architectures, so results may differ from a
//! GPU's in the last places.

use super::float::Format;
use super::half::Half;
use crate::ptx_isa::{Fragment, MatrixArithmetic, MatrixFamily, MatrixOp, Overflow, Type};

/// The evaluation of a whole warp's `D = A x B + C`.
///
/// `a`, `b`, `c`, `d` are registers as the instruction lists them; `a[r][lane]` is register `r` of that lane, 32 bits in the
/// low half except for f64 elements.
pub type Matrix = fn(&MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]);

type Shape = (u16, u16, u16);

const WARP_TILES: &[Shape] = &[(16, 16, 16), (32, 8, 16), (8, 32, 16)];

/// The shapes m, n, k of each family by the type of A.
fn shapes(family: MatrixFamily, a: Type) -> &'static [Shape] {
    match (family, a) {
        (MatrixFamily::Mma, Type::F16 | Type::Bf16) => &[(16, 8, 8), (16, 8, 16)],
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

/// Whether types, shape and arithmetic belong together.
fn is_supported(op: &MatrixOp) -> bool {
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
    factors && sums && bits == (op.a == Type::B1) && shapes(op.family, op.a).contains(&(op.m, op.n, op.k))
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
    is_supported(op).then(|| registers(op, fragment))
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
/// A 32-bit register holds `32 / bits` elements, the first in the low bits. `wmma` fragments may hold an element twice.
pub fn fragment_position(
    op: &MatrixOp,
    fragment: Fragment,
    lane: usize,
    register: usize,
    element: usize,
) -> (usize, usize) {
    Layout::new(op, fragment).position(lane, register, element)
}

/// The function that evaluates `op`, or `None` if the shape and types are not supported.
pub fn prepare_matrix(op: &MatrixOp) -> Option<Matrix> {
    if !is_supported(op) {
        return None;
    }
    Some(match (op.a, op.arithmetic) {
        (_, MatrixArithmetic::XorPopc | MatrixArithmetic::AndPopc) => bits,
        (Type::F64, _) => doubles,
        (Type::U8 | Type::S8 | Type::U4 | Type::S4, _) => integers,
        _ => floats,
    })
}

/// All elements of a fragment in row-major order, read by `decode` from the low bits of a word.
fn gather<T: Copy + Default>(
    op: &MatrixOp,
    fragment: Fragment,
    words: &[[u64; 32]],
    decode: impl Fn(u64) -> T,
) -> Vec<T> {
    let layout = Layout::new(op, fragment);
    let bits = element_type(op, fragment).bits() as usize;
    let mut matrix = vec![T::default(); layout.rows * layout.columns];
    for (register, lanes) in words.iter().enumerate().take(layout.registers) {
        for (lane, word) in lanes.iter().enumerate() {
            for element in 0..layout.count {
                let (row, column) = layout.position(lane, register, element);
                matrix[row * layout.columns + column] = decode(word >> (bits * element));
            }
        }
    }
    matrix
}

/// Writes D from a function of row and column.
fn scatter(op: &MatrixOp, d: &mut [[u64; 32]], encode: impl Fn(usize, usize) -> u64) {
    let (layout, bits) = (Layout::new(&MatrixOp { c: op.d, ..*op }, Fragment::C), op.d.bits() as usize);
    for (register, lanes) in d.iter_mut().enumerate().take(layout.registers) {
        for (lane, word) in lanes.iter_mut().enumerate() {
            *word = (0..layout.count).fold(0, |word, element| {
                let (row, column) = layout.position(lane, register, element);
                word | encode(row, column) << (bits * element)
            });
        }
    }
}

/// `c + sum over k of a(row, k) b(k, column)`, for each element, by `step(sum, a, b)` in the order of k.
fn product<T: Copy, S: Copy>(
    op: &MatrixOp,
    (a, b, c): (&[T], &[T], &[S]),
    step: impl Fn(S, T, T) -> S,
) -> Vec<S> {
    let [n, k] = [op.n, op.k].map(usize::from);
    let mut sums = c.to_vec();
    for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
        for (inner, b) in b.chunks_exact(n).enumerate() {
            let a = a[row * k + inner];
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = step(*sum, a, b);
            }
        }
    }
    sums
}

/// The value of the low bits of a word in one of the formats of factors and sums.
fn decoder(ty: Type) -> fn(u64) -> f64 {
    fn small(format: Format, word: u64) -> f64 {
        let bits = 1 + format.exponent_bits + format.fraction_bits;
        let number = format.unpack(word & ((1 << bits) - 1));
        f64::from_bits(Format::F64.round(number, super::float::Rounding::NearestEven))
    }
    match ty {
        Type::F16 => |word| Half::F16.widen(word as u16).into(),
        Type::Bf16 => |word| Half::Bf16.widen(word as u16).into(),
        // The last 13 bits of a tf32 register are not looked at.
        Type::Tf32 => |word| f32::from_bits(word as u32 & !0x1fff).into(),
        Type::E4m3 => |word| small(Format::E4M3, word),
        Type::E5m2 => |word| small(Format::E5M2, word),
        _ => |word| f32::from_bits(word as u32).into(),
    }
}

fn floats(op: &MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]) {
    let a = gather(op, Fragment::A, a, decoder(op.a));
    let b = gather(op, Fragment::B, b, decoder(op.b));
    let c = gather(op, Fragment::C, c, decoder(op.c));
    let sums = product(op, (&a, &b, &c), |sum, a, b| sum + a * b);
    scatter(op, d, |row, column| {
        let sum = sums[row * usize::from(op.n) + column];
        match op.d {
            Type::F16 => Half::F16.narrow(sum).into(),
            _ if sum.is_nan() => Format::F32.nan(),
            _ => (sum as f32).to_bits().into(),
        }
    });
}

fn doubles(op: &MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]) {
    let [a, b, c] = [(Fragment::A, a), (Fragment::B, b), (Fragment::C, c)]
        .map(|(fragment, words)| gather(op, fragment, words, f64::from_bits));
    let sums = product(op, (&a, &b, &c), |sum, a: f64, b| a.mul_add(b, sum));
    scatter(op, d, |row, column| sums[row * usize::from(op.n) + column].to_bits());
}

fn integers(op: &MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]) {
    let decode = |ty: Type| {
        let unused = 64 - ty.bits();
        move |word: u64| {
            if ty.is_signed() { (word << unused) as i64 >> unused } else { (word << unused >> unused) as i64 }
        }
    };
    let a = gather(op, Fragment::A, a, decode(op.a));
    let b = gather(op, Fragment::B, b, decode(op.b));
    let c = gather(op, Fragment::C, c, decode(op.c));
    let sums = product(op, (&a, &b, &c), |sum, a, b| sum + a * b);
    scatter(op, d, |row, column| {
        let sum = sums[row * usize::from(op.n) + column];
        let sum = match op.overflow {
            Overflow::Wrap => sum,
            Overflow::Saturate => sum.clamp(i32::MIN.into(), i32::MAX.into()),
        };
        u64::from(sum as u32)
    });
}

/// Single bits: the number of ones among the exclusive or, or the conjunction, of a row and a column.
fn bits(op: &MatrixOp, a: &[[u64; 32]], b: &[[u64; 32]], c: &[[u64; 32]], d: &mut [[u64; 32]]) {
    let combine: fn(bool, bool) -> bool =
        if op.arithmetic == MatrixArithmetic::XorPopc { |a, b| a ^ b } else { |a, b| a & b };
    let [a, b] = [(Fragment::A, a), (Fragment::B, b)]
        .map(|(fragment, words)| gather(op, fragment, words, |word| word & 1 == 1));
    let c = gather(op, Fragment::C, c, |word| word as u32);
    let sums = product(op, (&a, &b, &c), |sum, a, b| sum.wrapping_add(combine(a, b).into()));
    scatter(op, d, |row, column| sums[row * usize::from(op.n) + column].into());
}
