//! Log-plus, by plus-times on scaled exponentials.
//!
//! With `r[i]` the largest element of row `i` of A and `c[j]` that of column `j` of B,
//! `C[i,j] = r[i] + c[j] + log Σ_k exp(A[i,k] - r[i]) exp(B[k,j] - c[j])`. Packing takes exponentials, the micro-kernels of plus-times
//! multiply them, and the end takes logarithms, so that a term costs what it costs under plus-times. Where a sum is so small that terms
//! may have vanished from it, and the elements lie so far apart that they can, it is computed again from its terms. Sums of few terms take a shorter way
//! to the same: see [`few`].

mod exact;
mod extremes;
mod few;
mod finish;
mod near;
mod pack;
mod real;
mod vectors;

use crate::{
    choice::Sums,
    compute::{Call, Compute},
    isa::Isa,
    job::{Job, Target},
    kernel::{Kernel, Vectorised, name},
    options::Report,
    plan::{Outline, Plan},
    shared::Shared,
};
use core::any::{Any, TypeId};
use exact::{Again, Doubts};
use extremes::{Extremes, is_nan};
use finish::{Joined, Results, SIDE, Scales};
use real::Real;
pub use real::{Loops, run};
use tilewright_core::{Error, LogPlus, PlusTimes, Semiring, semiring::Arithmetic};

/// Log-plus, as plus-times.
pub struct Scaled;

/// What computes `S`, when `S` is log-plus.
pub fn find<S: Semiring>() -> Option<&'static dyn Compute<S>> {
    // Never inlined, so that they are compiled here alone.
    #[inline(never)]
    fn on_f32() -> &'static dyn Compute<LogPlus<f32>> {
        &Scaled
    }
    #[inline(never)]
    fn on_f64() -> &'static dyn Compute<LogPlus<f64>> {
        &Scaled
    }
    let engine: &dyn Any = match TypeId::of::<S>() {
        id if id == TypeId::of::<LogPlus<f32>>() => &on_f32(),
        id if id == TypeId::of::<LogPlus<f64>>() => &on_f64(),
        _ => return None,
    };
    engine.downcast_ref::<&'static dyn Compute<S>>().copied()
}

/// The kernel of plus-times, with both operands packed as exponentials.
fn kernel<T: Real + Arithmetic>(isa: Isa) -> Kernel<T, T, T>
where
    PlusTimes<T>: Vectorised<Elem = T, Lane = T>,
{
    Kernel { in_place: None, pack: [pack::packing::<T>(isa); 2], ..<PlusTimes<T> as Vectorised>::kernel(isa) }
}

impl<T: Real + Arithmetic> Compute<LogPlus<T>> for Scaled
where
    PlusTimes<T>: Vectorised<Elem = T, Lane = T>,
{
    fn compute(&self, call: Call<'_, LogPlus<T>>) -> Result<Report, Error> {
        let Call { mut c, a, b, update, options, isa, .. } = call.along_rows();
        let again = Again { a, b, c: Shared::new(&mut c), joins: update.reads_c(), isa };
        if let Some(kernel) = few::kernel::<T>(isa, a.cols()) {
            let threads = few::compute(&kernel, &again, options)?;
            return Ok(Report { isa, kernel: name::<LogPlus<T>, _, _>(&kernel, isa), threads });
        }
        let kernel = kernel::<T>(isa);
        if a.rows() == 0 || b.cols() == 0 {
            return Ok(Report { isa, kernel: name::<LogPlus<T>, _, _>(&kernel, isa), threads: 0 });
        }
        let (rows, cols) = (Extremes::of_rows(a, options, isa)?, Extremes::of_rows(b.t(), options, isa)?);
        let doubts = Doubts::new(a.rows(), b.cols())?;
        let store = |i: usize, first: usize, sums: &[T], _: &[u32]| {
            for (j, sums) in (first..).step_by(SIDE).zip(sums.chunks(SIDE)) {
                let scales = Scales::new(&rows, &cols, i, j, sums.len(), a.cols());
                // SAFETY: the driver names every element of C once.
                unsafe { finish(&again, &doubts, &cols, scales, (i, j), sums) };
            }
        };
        let best = Some([rows.best.as_slice(), cols.best.as_slice()]);
        let threads = Job { kernel: &kernel, a, b, target: Target::Through(&store), options, best }.run()?;
        again.compute(&doubts, options)?;
        Ok(Report { isa, kernel: name::<LogPlus<T>, _, _>(&kernel, isa), threads })
    }

    fn plan(&self, outline: Outline<'_, LogPlus<T>>) -> Plan {
        let outline = outline.along_rows();
        let (n, k, isa) = (outline.problem.n(), outline.problem.k(), outline.isa);
        match few::kernel::<T>(isa, k) {
            Some(kernel) => Plan {
                block_terms: k,
                block_columns: few::columns(&kernel, k, n),
                ..outline.with(&kernel, Sums::Buffered, isa)
            },
            None => outline.with(&kernel::<T>(isa), Sums::Buffered, isa),
        }
    }
}

/// Finishes sums of row `i` from column `j` on.
///
/// # Safety
/// The elements must exist, and no other thread may use them.
unsafe fn finish<T: Real>(
    again: &Again<'_, T>,
    doubts: &Doubts,
    cols: &Extremes<T>,
    scales: Scales<'_, T>,
    (i, j): (usize, usize),
    sums: &[T],
) {
    let (row, mut results) = (scales.row.0, [T::NIL; SIDE]);
    run(Results { scales, sums, to: &mut results }, again.isa);
    let sure = results;
    // SAFETY: as the caller guarantees.
    unsafe {
        if again.joins {
            let mut old = [T::NIL; SIDE];
            (0..sums.len()).for_each(|l| old[l] = again.c.get(i, j + l));
            run(Joined { results: &mut results[..sums.len()], old: &old }, again.isa);
        }
        for l in 0..sums.len() {
            if sure[l] <= T::TOP {
                again.c.set(i, j + l, results[l]);
                continue;
            }
            match doubtful(again, (i, j + l), [row, cols.best[j + l]]) {
                Some(sum) => again.set(i, j + l, sum),
                None => doubts.add(i, j + l),
            }
        }
    }
}

/// The sum of the terms of `(i, j)` where their largest factors decide it.
fn doubtful<T: Real>(again: &Again<'_, T>, (i, j): (usize, usize), best: [T; 2]) -> Option<T> {
    if best.iter().any(|&best| is_nan(best)) {
        return Some(T::NAN);
    }
    if best.iter().all(|&best| best < T::TOP) {
        let is_absent = best.contains(&T::BOTTOM);
        return is_absent.then_some(T::BOTTOM);
    }
    // An infinite factor makes the sum infinite, unless it meets an absent one.
    // SAFETY: the element exists, and so do its terms.
    let meets = (0..again.a.cols())
        .any(|p| unsafe { is_nan(again.a.get_unchecked(i, p).plus(again.b.get_unchecked(p, j))) });
    Some(if meets { T::NAN } else { T::TOP })
}
