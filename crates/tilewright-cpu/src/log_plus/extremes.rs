//! The largest element of each line of an operand, and how far its elements lie apart.

use super::real::{Loops, Real, run};
use crate::{
    blocking::cut,
    isa::Isa,
    options::Options,
    share::{lock, share},
};
use std::sync::Mutex;
use tilewright_core::{Error, ErrorKind, MatRef};

/// Of each row of A, or column of B.
pub struct Extremes<T> {
    /// The largest element: `-inf` where all are, or where there is none; NaN where some element is.
    pub best: Vec<T>,
    /// The distance from there to the smallest element above `-inf`; 0 where there is none, infinite or NaN where `best` is.
    pub span: Vec<T>,
}

impl<T: Real> Extremes<T> {
    /// Of the rows of `x`, shared among threads.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn of_rows(x: MatRef<'_, T>, options: &Options<'_>, isa: Isa) -> Result<Self, Error> {
        let (mut best, mut span) = (filled(x.rows(), T::BOTTOM)?, filled(x.rows(), T::TOP)?);
        let threads = options.threads_for(x.rows() as f64 * x.cols() as f64 * TERMS_PER_ELEMENT);
        let (mut best_left, mut span_left) = (best.as_mut_slice(), span.as_mut_slice());
        let mut parts = Vec::new();
        for rows in cut(0..x.rows(), threads, 1) {
            let (best, span);
            (best, best_left) = best_left.split_at_mut(rows.len());
            (span, span_left) = span_left.split_at_mut(rows.len());
            let x = x.window(rows.start, 0, rows.len(), x.cols())?;
            parts.push(Mutex::new(Look { x, best, span }));
        }
        share(&parts, threads, &|part| {
            let Look { x, best, span } = &mut *lock(part);
            run(Look { x: *x, best, span }, isa);
            Ok(())
        })?;
        drop(parts);
        Ok(Self { best, span })
    }
}

/// Terms that a look at an element costs, roughly, divided by those of a product.
const TERMS_PER_ELEMENT: f64 = 8.0;

/// So many elements.
///
/// # Errors
/// `out-of-memory`.
pub fn filled<T: Clone>(count: usize, element: T) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    if all.try_reserve_exact(count).is_err() {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        return Err(ErrorKind::OutOfMemory { what: "the scales of rows and columns", bytes }.into());
    }
    all.resize(count, element);
    Ok(all)
}

/// Some rows, whose `best` starts at `-inf` and whose `span` at infinity: the smallest element until all were seen.
struct Look<'a, T> {
    x: MatRef<'a, T>,
    best: &'a mut [T],
    span: &'a mut [T],
}

/// Elements that are seen side by side.
const SIDE: usize = 32;

impl<T: Real> Loops for Look<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { x, best, span } = self;
        let layout = x.layout();
        if layout.is_empty() {
            span.fill(T::NIL);
            return;
        }
        let along_rows = layout.row_stride.unsigned_abs() >= layout.col_stride.unsigned_abs();
        if !along_rows && layout.row_stride == 1 {
            // Rows lie side by side: a few terms of them all at a time.
            for p in 0..layout.cols {
                // SAFETY: a column with unit stride is a slice.
                let column = unsafe {
                    core::slice::from_raw_parts(x.as_ptr().offset(layout.offset(0, p)), layout.rows)
                };
                for i in 0..column.len().min(best.len()).min(span.len()) {
                    see(column[i], &mut best[i], &mut span[i]);
                }
            }
        } else {
            for i in 0..layout.rows {
                // SAFETY: the row is part of the matrix.
                (best[i], span[i]) = unsafe { row(x, i) };
            }
        }
        for (best, span) in best.iter_mut().zip(span) {
            // Infinite, or NaN, where the largest is; and nothing but `-inf` has no extent.
            *span = if *best == T::BOTTOM { T::NIL } else { best.minus(*span) };
        }
    }
}

/// Of one row, the largest and the smallest element.
///
/// # Safety
/// Row `i` must be part of `x`.
#[inline(always)]
unsafe fn row<T: Real>(x: MatRef<'_, T>, i: usize) -> (T, T) {
    let layout = x.layout();
    let (mut best, mut least) = ([T::BOTTOM; SIDE], [T::TOP; SIDE]);
    let mut rest = 0;
    // SAFETY: as the caller guarantees; a row with unit stride is a slice.
    unsafe {
        if layout.col_stride == 1 {
            let row = core::slice::from_raw_parts(x.as_ptr().offset(layout.offset(i, 0)), layout.cols);
            let (chunks, _) = row.as_chunks::<SIDE>();
            for chunk in chunks {
                for l in 0..SIDE {
                    see(chunk[l], &mut best[l], &mut least[l]);
                }
            }
            rest = chunks.len() * SIDE;
        }
        for p in rest..layout.cols {
            see(x.get_unchecked(i, p), &mut best[0], &mut least[0]);
        }
    }
    for l in 1..SIDE {
        let other = best[l];
        best[0] = if is_nan(best[0]) || best[0] >= other { best[0] } else { other };
        least[0] = if least[0] < least[l] { least[0] } else { least[l] };
    }
    (best[0], least[0])
}

#[allow(clippy::eq_op)] // NaN is what differs from itself.
#[inline(always)]
pub fn is_nan<T: Real>(x: T) -> bool {
    x != x
}

/// Sees an element. The largest stays NaN once it is.
#[inline(always)]
fn see<T: Real>(x: T, best: &mut T, least: &mut T) {
    let larger = if x <= *best { *best } else { x };
    *best = if is_nan(*best) { *best } else { larger };
    let above = if x > T::BOTTOM { x } else { T::TOP };
    *least = if above < *least { above } else { *least };
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::Layout;

    #[test]
    fn lines_of_every_layout() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let rows = 6;
        for cols in [1, 5, 31, 32, 33, 70] {
            let at = |i: usize, j: usize| match (i, j % 7) {
                (1, _) => -inf,
                (2, 0) => -inf,
                (3, 0) if j + 7 >= cols => inf,
                (4, 0) => nan,
                (5, 0) if j == 0 => nan,
                (_, r) => ((i * 5 + r * 3) % 11) as f32 - 20.0,
            };
            let expected: Vec<_> = (0..rows)
                .map(|i| {
                    let row: Vec<f32> = (0..cols).map(|j| at(i, j)).collect();
                    let best = if row.iter().any(|x| x.is_nan()) {
                        nan
                    } else {
                        row.iter().fold(-inf, |m, &x| m.max(x))
                    };
                    let least = row.iter().filter(|&&x| x > -inf).fold(inf, |m, &x| m.min(x));
                    (best, if best == -inf { 0.0 } else { best - least })
                })
                .collect();
            for layout in [
                Layout::row_major(rows, cols),
                Layout::col_major(rows, cols),
                Layout::strided(rows, cols, 2 * cols as isize, 2),
            ] {
                let mut data = vec![nan; 2 * rows * cols];
                for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                    data[layout.offset(i, j) as usize] = at(i, j);
                }
                let x = MatRef::new(&data, layout).unwrap();
                for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_supported()) {
                    let found = Extremes::of_rows(x, &Options::default(), isa).unwrap();
                    for (i, &(best, span)) in expected.iter().enumerate() {
                        let same = |x: f32, y: f32| x == y || x.is_nan() && y.is_nan();
                        assert!(same(found.best[i], best), "{isa} {cols} {i}: {}", found.best[i]);
                        let sure = found.span[i] <= 1e9;
                        assert!(
                            same(found.span[i], span) || !sure && (span.is_nan() || span > 1e9),
                            "{isa} {cols} {i}"
                        );
                    }
                }
            }
        }
    }
}
