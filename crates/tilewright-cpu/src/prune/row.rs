//! The micro-kernel: one row of C in a panel.

use crate::{
    lanes::Lanes,
    op::{Scalar, SelectOp},
};

/// Terms between two looks at the bound.
pub const STEP: usize = 8;

/// A row of C in a panel, and the terms to compute it from.
pub struct Row<P> {
    /// Steps of [`STEP`] terms each.
    pub steps: usize,
    /// The elements of A, and where in the panel their rows of B begin.
    pub terms: *const P,
    pub places: *const u32,
    /// Whether no other term can win.
    pub whole: bool,
    /// The best element that is still to come after each step.
    pub bounds: *const P,
    pub panel: *const P,
    /// The best element of each column of the panel.
    pub best: *const P,
    pub c: *mut P,
    /// Whether sums are joined with C.
    pub joins: bool,
    /// Whether terms as good as the sum are needed too, to tell which of them is the first.
    pub with_ties: bool,
}

/// How far a row was computed.
#[derive(Clone, Copy)]
pub struct Done {
    pub steps: usize,
    /// If not, better terms may exist.
    pub complete: bool,
}

/// Computes a row of `NV` vectors.
///
/// # Safety
/// The instruction set must be available, all that the row names readable, and C writable.
#[allow(clippy::needless_range_loop)] // Vectors count in several places at once.
#[inline(always)]
pub unsafe fn row<V: Lanes<T: Scalar>, O: SelectOp<V>, const NV: usize>(r: &Row<V::T>) -> Done {
    // SAFETY: as the caller guarantees.
    unsafe {
        let op = O::new();
        let mut acc = [op.zero(); NV];
        let mut old = acc;
        if r.joins {
            for j in 0..NV {
                old[j] = V::load(r.c.add(j * V::LEN));
                if !V::T::HAS_LIMITS {
                    // Floats may be NaN. Integers are joined as they are, whatever they are.
                    old[j] = op.resume(old[j]);
                }
                acc[j] = op.add(acc[j], old[j]);
            }
        }
        let (mut terms, mut places) = (r.terms, r.places);
        let mut done = Done { steps: r.steps, complete: r.whole };
        for step in 0..r.steps {
            for t in 0..STEP {
                let (x, b) = (V::splat(*terms.add(t)), r.panel.add(*places.add(t) as usize));
                for j in 0..NV {
                    acc[j] = op.mul_add(acc[j], x, V::load(b.add(j * V::LEN)));
                }
            }
            (terms, places) = (terms.add(STEP), places.add(STEP));
            let bound = V::splat(*r.bounds.add(step));
            let mut open = false;
            for j in 0..NV {
                let reach = op.mul(bound, V::load(r.best.add(j * V::LEN)));
                open |= reach.any_better(O::MAX, acc[j]);
                if r.with_ties {
                    // Where there is no term so far, one that is no better does not count.
                    open |= reach.equal(acc[j]) & !acc[j].equal(op.zero()) != 0;
                }
            }
            if !open {
                done = Done { steps: step + 1, complete: true };
                break;
            }
        }
        for j in 0..NV {
            let sum = op.finish(acc[j]);
            let sum = if r.joins { op.add(old[j], sum) } else { sum };
            sum.store(r.c.add(j * V::LEN));
        }
        done
    }
}

/// Finds the winners of a row of `NV` vectors that has been computed by `steps` steps: the first of the terms that equal a sum, as numbers of rows
/// of the panel, counted from 1, or 0.
///
/// # Safety
/// As [`row`]; the numbers must be writable at `to`.
#[allow(clippy::needless_range_loop)] // As above.
#[inline(always)]
pub unsafe fn winners<V: Lanes<T: Scalar>, O: SelectOp<V>, const NV: usize>(
    r: &Row<V::T>,
    steps: usize,
    to: *mut V::T,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let (op, none) = (O::new(), V::splat(V::T::TOP));
        let mut sums = [none; NV];
        let mut first = [none; NV];
        for j in 0..NV {
            sums[j] = V::load(r.c.add(j * V::LEN));
        }
        for t in 0..steps * STEP {
            let (x, place) = (V::splat(*r.terms.add(t)), *r.places.add(t) as usize);
            let number = V::splat(V::T::number(place / (NV * V::LEN) + 1));
            for j in 0..NV {
                let term = op.mul(x, V::load(r.panel.add(place + j * V::LEN)));
                first[j] = first[j].where_equal(term, sums[j], number.min(first[j]));
            }
        }
        let zero = op.finish(op.zero());
        for j in 0..NV {
            let absent = V::splat(V::T::NIL);
            let first = first[j].where_equal(first[j], none, absent).where_equal(sums[j], zero, absent);
            first.store(to.add(j * V::LEN));
        }
    }
}

/// The best of `k` rows of a panel of `NV` vectors, column by column.
///
/// # Safety
/// The instruction set must be available, the panel readable, and a row of it writable at `to`.
#[allow(clippy::needless_range_loop)] // As above.
#[inline(always)]
pub unsafe fn best<V: Lanes<T: Scalar>, O: SelectOp<V>, const NV: usize>(
    mut panel: *const V::T,
    k: usize,
    to: *mut V::T,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let op = O::new();
        let mut best = [op.zero(); NV];
        for _ in 0..k {
            for j in 0..NV {
                // Added to zero, a signalling NaN becomes quiet; see `Lanes::min`.
                best[j] = op.add(best[j], V::load(panel.add(j * V::LEN)).add(V::splat(V::T::NIL)));
            }
            panel = panel.add(NV * V::LEN);
        }
        for j in 0..NV {
            best[j].store(to.add(j * V::LEN));
        }
    }
}
