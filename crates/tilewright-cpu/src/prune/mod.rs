//! Selective products by few terms: a row of A begins with its best elements, and ends where no other can win.
//!
//! The elements of a row of A are sorted, best first, and meet some columns of B (a panel) in that order. Let `bound` be
//! the best element that is still to come, and `best[j]` the best of column `j`: what is still to come of output `j` is at best
//! `bound ⊗ best[j]`, because ⊗ and rounding are monotonic. Where no sum so far is worse than that, the rest of the row is
//! left out. The result is the same in every bit, whatever the order, which only tells how soon that happens: it is Fagin's
//! threshold algorithm (Fagin, Lotem, Naor, "Optimal aggregation algorithms for middleware", 2003) with one of the lists in
//! order. Of `k` random elements about `sqrt(2 k ln w)` meet a panel of `w` columns where ⊗ adds: 90 of 1024.
//! `docs/decisions/pruning.md` argues for each ⊗.
//!
//! Sorting is approximate, and only what may be needed is sorted ([`sort()`]); whether it pays, and how far it should go, is found by
//! looking at some outputs ([`scale()`]).
//!
//! Where the term that won is asked for, a row ends where no other term can be as good, so that no tie is left out. A second pass over its
//! terms finds the first of those that equal the sum.

mod cost;
mod job;
mod look;
mod metric;
mod order;
mod panels;
mod region;
mod row;
mod run;
mod sort;
mod sorted_rows;
#[cfg(test)]
mod tests;
mod unpruned;
mod whole;

pub use cost::{Account, Model};
pub use job::Job;
pub use look::{Operand, distances, pays, scale};
pub use metric::Metric;
pub use row::{Done, Row, STEP};
pub use run::{Outcome, is_one_block};
pub use sort::{Room, SPARE, Sorted, Sorting, sort};
pub use sorted_rows::ROOM;
pub use unpruned::Part;

use crate::{
    lanes::{Below, Lanes},
    op::{By, Scalar, SelectOp},
    pack::PackFn,
};

/// Vectors side by side in a panel.
const VECTORS: usize = 4;

/// How elements of C become those that are computed with, and back, rounded.
#[derive(Clone, Copy)]
pub struct Between<E, P> {
    pub load: fn(E) -> P,
    pub store: fn(P) -> E,
}

/// What prunes products on one instruction set: `E` are the elements of A, B and C, `P` those that are computed with.
pub struct Pruning<E, P> {
    /// Columns of a panel.
    pub cols: usize,
    /// How elements of C are computed with, where they are others.
    pub between: Option<Between<E, P>>,
    /// Packs panels of B, and rows of A.
    pub pack: PackFn<E, P>,
    /// What distances of a row's elements are.
    pub by: By,
    /// Sorts a row of A.
    pub sort: unsafe fn(&[P], By, f64, usize, &Sorting<P>) -> Sorted,
    /// The best element of a row.
    pub best_of: fn(&[P]) -> P,
    /// The best of so many rows of a panel, column by column.
    pub best: unsafe fn(*const P, usize, *mut P),
    /// Computes a row of C in a panel.
    pub row: unsafe fn(&Row<P>) -> Done,
    /// Finds its winners.
    pub winners: unsafe fn(&Row<P>, usize, *mut P),
}

/// The functions of one instruction set.
macro_rules! with_features {
    ($isa:ident $(, $arch:literal, $features:literal)?) => {
        $(#[cfg(target_arch = $arch)])?
        pub mod $isa {
            use super::*;

            /// # Safety
            /// As [`super::sort()`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            unsafe fn sort<Q: Below, P: Metric, const MAX: bool>(
                line: &[P],
                by: By,
                scale: f64,
                width: usize,
                memory: &Sorting<P>,
            ) -> Sorted {
                // SAFETY: as the caller guarantees.
                unsafe { super::sort::<Q, P, MAX>(line, by, scale, width, memory) }
            }

            /// # Safety
            /// As [`row::best`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            unsafe fn best<V: Lanes<T: Scalar>, O: SelectOp<V>>(panel: *const V::T, k: usize, to: *mut V::T) {
                // SAFETY: as the caller guarantees.
                unsafe { row::best::<V, O, VECTORS>(panel, k, to) }
            }

            /// # Safety
            /// As [`row::row()`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            unsafe fn row<V: Lanes<T: Scalar>, O: SelectOp<V>>(row: &Row<V::T>) -> Done {
                // SAFETY: as the caller guarantees.
                unsafe { row::row::<V, O, VECTORS>(row) }
            }

            /// # Safety
            /// As [`row::winners`], on a processor with these features.
            $(#[target_feature(enable = $features)])?
            unsafe fn winners<V: Lanes<T: Scalar>, O: SelectOp<V>>(row: &Row<V::T>, steps: usize, to: *mut V::T) {
                // SAFETY: as the caller guarantees.
                unsafe { row::winners::<V, O, VECTORS>(row, steps, to) }
            }

            /// All of them.
            pub fn pruning<E, Q, V, O, const MAX: bool>(pack: PackFn<E, V::T>) -> Pruning<E, V::T>
            where
                Q: Below,
                V: Lanes<T: Metric>,
                O: SelectOp<V>,
            {
                Pruning { cols: VECTORS * V::LEN, between: None, pack, by: O::BY, sort: sort::<Q, V::T, MAX>,
                    best_of: sort::best_of::<V::T, MAX>, best: best::<V, O>, row: row::<V, O>, winners: winners::<V, O> }
            }
        }
    };
}
with_features!(avx512, "x86_64", "avx512f,avx512bw,avx512dq,avx512vl,fma,popcnt");
with_features!(avx2, "x86_64", "avx2,fma");
with_features!(neon, "aarch64", "neon");
with_features!(portable);
