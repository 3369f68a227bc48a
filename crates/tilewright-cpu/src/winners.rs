//! Which term won: the micro-kernel that also tells the group of terms in which the best one was first seen, and the search for it
//! in that group.
//!
//! A comparison for each term would take as long as the term. So terms are computed in groups as if nobody asked, and after each group sums are
//! compared with those before it: where one became better, the group has the winner. No later group has, unless it is better still.
//! What is left is to find the first term of one group that equals the sum, for which rows of A and columns of B have their terms side by side.

#![allow(clippy::needless_range_loop)] // Rows and vectors of a tile count in several places at once.

use crate::{
    lanes::Lanes,
    op::{Scalar, SelectOp},
    tile::{FindA, Finish, InPlace, Start, Tile, term},
};
use tilewright_core::NO_ARG;

/// Finds the winners of a tile that has been computed.
///
/// # Safety
/// As [`crate::tile::TileFn`].
pub type FindFn<P, A> = unsafe fn(&Tile<P, A>, &Search<P>);

/// How a kernel tells which term won.
pub struct Winners<P, A> {
    /// Terms of a group.
    pub group: usize,
    pub find: FindFn<P, A>,
}

/// Where to look for the winners of a tile, and where to put them.
pub struct Search<P> {
    pub rows: usize,
    pub cols: usize,
    /// Columns in vectors.
    pub padded: usize,
    /// Columns of B, terms side by side and in whole groups: column `j` from `columns + j * column`.
    pub columns: *const P,
    pub column: usize,
    /// The number of the first term of the block.
    pub first: usize,
    /// That of row `i` and column `j` is at `winners + i * row + j * col`. Where no term of the block won, it stays as it is, unless it is the
    /// first block.
    pub winners: *mut u32,
    pub row: isize,
    pub col: isize,
}

/// Terms of a group: whole vectors, and so many that a block of bytes has fewer groups than a byte has numbers.
pub const fn group<V: Lanes>() -> usize {
    let least = if size_of::<V::T>() == 1 { 32 } else { 8 };
    if V::LEN < least { least } else { V::LEN }
}

/// `MR` rows by `NV` vectors of C, which holds the sums from group to group, and the group in which each was first seen.
///
/// # Safety
/// As [`crate::tile::TileFn`].
#[inline(always)]
pub unsafe fn compute_tile<V: Lanes<T: Scalar>, O: SelectOp<V>, const MR: usize, const NV: usize>(
    t: &Tile<V::T, V::T>,
) {
    // SAFETY: the caller guarantees all that is read, written and executed here.
    unsafe {
        let op = O::new();
        let c = |i: usize, j: usize| t.c.offset(i as isize * t.c_row).add(j * V::LEN);
        let seen = |i: usize, j: usize| t.seen.add((i * NV + j) * V::LEN);
        for i in 0..MR {
            for j in 0..NV {
                V::splat(V::T::NIL).store(seen(i, j));
                if t.start == Start::Zero {
                    op.zero().store(c(i, j));
                }
            }
        }
        let (mut a, mut b) = (InPlace::new::<_, MR>(t), t.b);
        for number in 0..t.k.div_ceil(group::<V>()) {
            let mut acc = [[op.zero(); NV]; MR];
            let terms = group::<V>().min(t.k - number * group::<V>());
            for _ in 0..terms / O::UNROLL {
                for p in 0..O::UNROLL {
                    term::<V, O, _, MR, NV>(op, &mut acc, &a, p, b.offset(p as isize * t.b_k), t.copy);
                }
                a.advance::<MR>(O::UNROLL);
                b = b.offset(O::UNROLL as isize * t.b_k);
            }
            for _ in 0..terms % O::UNROLL {
                term::<V, O, _, MR, NV>(op, &mut acc, &a, 0, b, t.copy);
                a.advance::<MR>(1);
                b = b.offset(t.b_k);
            }
            let number = V::splat(V::T::number(number + 1));
            for i in 0..MR {
                for j in 0..NV {
                    let old = V::load(c(i, j));
                    let sum = op.add(old, op.rounded(acc[i][j]));
                    // Not a blend with what was seen: the compiler would store under a mask, which takes Zen 20 cycles.
                    let new = V::splat(V::T::NIL).where_better(O::MAX, sum, old, number);
                    new.max(V::load(seen(i, j))).store(seen(i, j));
                    sum.store(c(i, j));
                }
            }
        }
        if t.finish == Finish::Complete {
            for i in 0..MR {
                for j in 0..NV {
                    op.finish(V::load(c(i, j))).store(c(i, j));
                }
            }
        }
    }
}

/// Finds the winners of a tile: of each output the first term that equals it, in the group where it was first seen.
///
/// # Safety
/// As [`FindFn`].
#[inline(always)]
pub unsafe fn find<V: Lanes<T: Scalar>, O: SelectOp<V>>(t: &Tile<V::T, V::T>, s: &Search<V::T>) {
    // SAFETY: the caller guarantees all that is read, written and executed here.
    unsafe {
        let op = O::new();
        let zero = op.finish(op.zero());
        let is_complete = t.finish == Finish::Complete;
        for i in 0..s.rows {
            let (sums, seen) = (t.c.offset(i as isize * t.c_row), t.seen.add(i * s.padded));
            let (row, winners) = (t.a.offset(i as isize * t.a_row), s.winners.offset(i as isize * s.row));
            for j in 0..s.cols {
                let (winner, sum) = (winners.offset(j as isize * s.col), V::splat(*sums.add(j)));
                let Some(number) = (*seen.add(j)).term() else {
                    // Earlier blocks may have found terms that stand for none: integers with an absent one.
                    if t.start == Start::Zero || is_complete && sum.equal(zero) != 0 {
                        winner.write(NO_ARG);
                    }
                    continue;
                };
                let from = (number as usize - 1) * group::<V>();
                let (a, b) = (row.add(from), s.columns.add(j * s.column + from));
                let mut equal = 0;
                for p in (0..group::<V>()).step_by(V::LEN) {
                    let terms = op.rounded(op.mul(V::load(a.add(p)), V::load(b.add(p))));
                    equal |= terms.equal(sum) << p;
                }
                // A sum of integers that stands for no term equals none of them.
                let first = s.first + from + equal.trailing_zeros() as usize;
                winner.write(if equal == 0 { NO_ARG } else { first as u32 });
            }
        }
    }
}

/// The functions of one instruction set.
macro_rules! with_features {
    ($isa:ident $(, $arch:literal, $features:literal)?) => {
        $(#[cfg(target_arch = $arch)])?
        pub mod $isa {
            use super::*;

            /// # Safety
            /// As [`super::compute_tile`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn compute<V: Lanes<T: Scalar>, O: SelectOp<V>, const MR: usize, const NV: usize>(
                t: &Tile<V::T, V::T>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { super::compute_tile::<V, O, MR, NV>(t) }
            }

            /// # Safety
            /// As [`super::find`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            pub unsafe fn find<V: Lanes<T: Scalar>, O: SelectOp<V>>(t: &Tile<V::T, V::T>, s: &Search<V::T>) {
                // SAFETY: as the caller guarantees.
                unsafe { super::find::<V, O>(t, s) }
            }
        }
    };
}
with_features!(avx512, "x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma");
with_features!(avx2, "x86_64", "avx2,fma");
with_features!(neon, "aarch64", "neon");
with_features!(portable);
