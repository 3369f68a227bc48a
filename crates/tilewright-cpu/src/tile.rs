//! The micro-kernel: one register tile of C, all of one block of k.

#![allow(clippy::needless_range_loop)] // Rows and vectors of a tile count in several places at once.

use crate::{
    lanes::{Lanes, prefetch_to_write},
    narrow::Code,
    op::Op,
};
use core::hint::black_box;
use tilewright_core::Semiring;

/// Where the accumulators start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the identity of ⊕; C is not read.
    Zero,
    /// At partial sums that an earlier block of k left in C.
    Partial,
    /// At the elements of the user's C.
    Resume,
}

/// Whether the sums are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// More blocks of k follow: leave partial sums.
    Partial,
    /// Leave elements of C.
    Complete,
}

/// The operands of one tile. Strides are in elements.
pub struct Tile<P, A> {
    /// Packed elements of a line: terms, or groups of them, and what sums begin with where lines have that.
    pub k: usize,
    /// A: packed, or row `i`, term `p` at `a + i * a_row + p`.
    pub a: *const P,
    pub a_row: isize,
    /// B: term `p`, columns side by side from `b + p * b_k`.
    pub b: *const P,
    pub b_k: isize,
    /// Where tiles that pack B on the way put it, terms next to each other.
    pub copy: *mut P,
    /// C: row `i`, columns side by side from `c + i * c_row`.
    pub c: *mut A,
    pub c_row: isize,
    pub start: Start,
    pub finish: Finish,
    /// For tiles that also tell which term won: row `i` from `seen + i * width of the tile`, as numbers of groups of terms
    /// within this block, counted from 1, or 0 where no term was better than what C held; see [`crate::winners`].
    pub seen: *mut A,
    /// For narrowed operands: how their sums are written.
    pub code: Code,
}

impl<P, A> Clone for Tile<P, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, A> Copy for Tile<P, A> {}

/// Computes a tile whose height and width are part of the function.
///
/// # Safety
/// All elements named by the tile must be readable, those of C writable, and the instruction set available.
pub type TileFn<P, A> = unsafe fn(&Tile<P, A>);

/// Where the micro-kernel finds A, as part of the function so that addresses are constants.
pub trait FindA<P>: Copy {
    /// Whether B is packed on the way.
    const COPIES_B: bool = false;
    /// For a tile of `MR` rows.
    fn new<A, const MR: usize>(t: &Tile<P, A>) -> Self;
    /// Row `i`, term `p` after the current one.
    fn at<const MR: usize>(&self, i: usize, p: usize) -> *const P;
    /// Moves on by `terms`.
    fn advance<const MR: usize>(&mut self, terms: usize);
}

/// Packed: the rows of each term side by side.
#[derive(Clone, Copy)]
pub struct Packed<P>(*const P);

impl<P: Copy> FindA<P> for Packed<P> {
    #[inline(always)]
    fn new<A, const MR: usize>(t: &Tile<P, A>) -> Self {
        Self(t.a)
    }
    #[inline(always)]
    fn at<const MR: usize>(&self, i: usize, p: usize) -> *const P {
        self.0.wrapping_add(p * MR + i)
    }
    #[inline(always)]
    fn advance<const MR: usize>(&mut self, terms: usize) {
        self.0 = self.0.wrapping_add(terms * MR);
    }
}

/// In place: the terms of each row side by side, rows at any distance.
///
/// Holds every fourth row and the distances to the three after it. Left to itself the compiler walks from row
/// to row by repeated addition, a chain of dependent instructions as long as the tile's arithmetic; opaque
/// distances make every address a sum of two registers.
#[derive(Clone, Copy)]
pub struct InPlace<P> {
    quads: [*const P; 3],
    within: [isize; 4],
}

impl<P: Copy> FindA<P> for InPlace<P> {
    #[inline(always)]
    fn new<A, const MR: usize>(t: &Tile<P, A>) -> Self {
        const { assert!(MR <= 12) };
        let quad = |q: usize| if 4 * q < MR { t.a.wrapping_offset(4 * q as isize * t.a_row) } else { t.a };
        Self {
            quads: [t.a, black_box(quad(1)), black_box(quad(2))],
            // A row that is alone may have any stride, which is then never followed.
            within: [
                0,
                black_box(t.a_row),
                black_box(t.a_row.wrapping_mul(2)),
                black_box(t.a_row.wrapping_mul(3)),
            ],
        }
    }
    #[inline(always)]
    fn at<const MR: usize>(&self, i: usize, p: usize) -> *const P {
        self.quads[i / 4].wrapping_offset(self.within[i % 4]).wrapping_add(p)
    }
    #[inline(always)]
    fn advance<const MR: usize>(&mut self, terms: usize) {
        for quad in &mut self.quads {
            *quad = quad.wrapping_add(terms);
        }
    }
}

/// As [`InPlace`]; and B, which is in place too, is packed on the way, for the rows to come. Packing is loads and
/// stores, which cost nothing beside so many multiplications.
#[derive(Clone, Copy)]
pub struct Copying<P>(InPlace<P>);

impl<P: Copy> FindA<P> for Copying<P> {
    const COPIES_B: bool = true;
    #[inline(always)]
    fn new<A, const MR: usize>(t: &Tile<P, A>) -> Self {
        Self(InPlace::new::<A, MR>(t))
    }
    #[inline(always)]
    fn at<const MR: usize>(&self, i: usize, p: usize) -> *const P {
        self.0.at::<MR>(i, p)
    }
    #[inline(always)]
    fn advance<const MR: usize>(&mut self, terms: usize) {
        self.0.advance::<MR>(terms);
    }
}

/// Adds one term: row `i`, `p` terms on, times the columns at `b`, which are left at `copy` where B is packed.
///
/// # Safety
/// As [`TileFn`], for what is named here.
#[inline(always)]
pub unsafe fn term<V: Lanes, O: Op<V>, F: FindA<V::T>, const MR: usize, const NV: usize>(
    op: O,
    acc: &mut [[V; NV]; MR],
    a: &F,
    p: usize,
    b: *const V::T,
    copy: *mut V::T,
) {
    // SAFETY: as the caller of the tile guarantees.
    unsafe {
        let mut row = [op.zero(); NV];
        for j in 0..NV {
            row[j] = V::load(b.add(j * V::LEN));
            if F::COPIES_B {
                row[j].store(copy.add(j * V::LEN));
            }
        }
        for i in 0..MR {
            let x = op.spread(a.at::<MR>(i, p));
            for j in 0..NV {
                acc[i][j] = op.mul_add(acc[i][j], x, row[j]);
            }
        }
    }
}

/// `MR` rows by `NV` vectors of C, in registers.
///
/// # Safety
/// As [`TileFn`].
#[inline(always)]
pub unsafe fn compute<V: Lanes, O: Op<V>, F: FindA<V::T>, const MR: usize, const NV: usize>(
    t: &Tile<V::T, V::T>,
) {
    // SAFETY: the caller guarantees all that is read, written and executed here.
    unsafe {
        let op = O::new();
        let at = |i: usize, j: usize| t.c.offset(i as isize * t.c_row).add(j * V::LEN);
        let mut acc = [[op.zero(); NV]; MR];
        for i in 0..MR {
            for j in 0..NV {
                prefetch_to_write(at(i, j));
            }
        }
        let (mut a, mut b, mut copy) = (F::new::<_, MR>(t), t.b, t.copy);
        // A term that is alone may have any stride, which is then never followed.
        let b_k = [0, t.b_k, black_box(t.b_k.wrapping_mul(2)), black_box(t.b_k.wrapping_mul(3))];
        let mut k = t.k;
        if O::BEGINS {
            for i in 0..MR {
                let x = V::splat(*a.at::<MR>(i, 0));
                for j in 0..NV {
                    acc[i][j] = x.add(V::load(b.add(j * V::LEN)));
                }
            }
            a.advance::<MR>(1);
            b = b.wrapping_offset(t.b_k);
            k -= 1;
        }
        for _ in 0..k / O::UNROLL {
            for p in 0..O::UNROLL {
                let copy = copy.wrapping_add(p * NV * V::LEN);
                term::<V, O, F, MR, NV>(op, &mut acc, &a, p, b.offset(b_k[p]), copy);
            }
            a.advance::<MR>(O::UNROLL);
            copy = copy.wrapping_add(O::UNROLL * NV * V::LEN);
            b = b.wrapping_offset(O::UNROLL as isize * t.b_k);
        }
        for _ in 0..k % O::UNROLL {
            term::<V, O, F, MR, NV>(op, &mut acc, &a, 0, b, copy);
            a.advance::<MR>(1);
            copy = copy.wrapping_add(NV * V::LEN);
            b = b.wrapping_offset(t.b_k);
        }
        for i in 0..MR {
            for j in 0..NV {
                let mut sum = acc[i][j];
                if t.start != Start::Zero {
                    let old = V::load(at(i, j));
                    sum = op.add(if t.start == Start::Resume { op.resume(old) } else { old }, sum);
                }
                if t.finish == Finish::Complete {
                    sum = op.finish(sum);
                }
                sum.store(at(i, j));
            }
        }
    }
}

/// Columns of a "vector" of [`generic`].
pub const GENERIC_LANES: usize = 4;

/// Bytes that elements or sums of a user's semiring may take on the stack, several at a time.
pub const ON_STACK: usize = 4 << 10;

/// Any semiring, one element at a time.
///
/// # Safety
/// As [`TileFn`].
pub unsafe fn generic<S: Semiring, const MR: usize>(t: &Tile<S::Elem, S::Acc>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if const { size_of::<[[S::Acc; GENERIC_LANES]; MR]>() <= ON_STACK } {
            all_at_once::<S, MR>(t);
        } else {
            sum_by_sum::<S, MR>(t);
        }
    }
}

/// Large sums, of which there is one on the stack.
unsafe fn sum_by_sum<S: Semiring, const MR: usize>(t: &Tile<S::Elem, S::Acc>) {
    for (i, j) in (0..MR).flat_map(|i| (0..GENERIC_LANES).map(move |j| (i, j))) {
        // SAFETY: the caller guarantees all that is read and written here.
        unsafe {
            let mut sum = S::ZERO;
            for p in 0..t.k {
                sum = S::mul_add(sum, *t.a.add(p * MR + i), *t.b.offset(p as isize * t.b_k).add(j));
            }
            let c = t.c.offset(i as isize * t.c_row).add(j);
            c.write(if t.start == Start::Zero { sum } else { S::add(*c, sum) });
        }
    }
}

/// Sums that fit the stack, and mostly registers.
unsafe fn all_at_once<S: Semiring, const MR: usize>(t: &Tile<S::Elem, S::Acc>) {
    // SAFETY: the caller guarantees all that is read and written here.
    unsafe {
        let mut acc = [[S::ZERO; GENERIC_LANES]; MR];
        for p in 0..t.k {
            for (i, row) in acc.iter_mut().enumerate() {
                let a = *t.a.add(p * MR + i);
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum = S::mul_add(*sum, a, *t.b.offset(p as isize * t.b_k).add(j));
                }
            }
        }
        for (i, row) in acc.iter().enumerate() {
            for (j, &sum) in row.iter().enumerate() {
                let c = t.c.offset(i as isize * t.c_row).add(j);
                c.write(if t.start == Start::Zero { sum } else { S::add(*c, sum) });
            }
        }
    }
}

/// [`compute`] as it is, for vectors that need no instruction set.
///
/// # Safety
/// As [`TileFn`].
pub unsafe fn portable<V: Lanes, O: Op<V>, F: FindA<V::T>, const MR: usize, const NV: usize>(
    t: &Tile<V::T, V::T>,
) {
    // SAFETY: as the caller guarantees.
    unsafe { compute::<V, O, F, MR, NV>(t) }
}

/// The functions that enable an instruction set around [`compute`].
macro_rules! with_features {
    ($arch:literal, $features:literal, $compute:ident) => {
        /// # Safety
        /// As [`TileFn`], on a processor with these features.
        #[cfg(target_arch = $arch)]
        #[target_feature(enable = $features)]
        pub unsafe fn $compute<V: Lanes, O: Op<V>, F: FindA<V::T>, const MR: usize, const NV: usize>(
            t: &Tile<V::T, V::T>,
        ) {
            // SAFETY: as the caller guarantees.
            unsafe { compute::<V, O, F, MR, NV>(t) }
        }
    };
}
with_features!("x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma", avx512);
with_features!("x86_64", "avx2,fma", avx2);
with_features!("x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma,avx512vnni", avx512_vnni);
with_features!("x86_64", "avx2,fma,avxvnni", avx2_vnni);
with_features!("aarch64", "neon", neon);
with_features!("aarch64", "neon,dotprod", neon_dotprod);
