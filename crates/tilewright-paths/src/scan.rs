//! Looking at all weights of a matrix, on several threads where there are many: a closure on a GPU takes less time than one thread for this.

use crate::{
    blocks::column_tiles,
    semiring::{PathSemiring, largest},
    share::share,
};
use std::sync::{Mutex, PoisonError};
use tilewright_core::{Error, MatMut, MatRef};

/// Rows that a thread takes at a time.
const ROWS: usize = 64;
/// Elements below which other threads cost more than they bring.
const FEW: usize = 1 << 20;

fn threads_for<T>(matrix: MatRef<'_, T>, threads: usize) -> usize {
    if matrix.rows().saturating_mul(matrix.cols()) < FEW { 1 } else { threads }
}

/// What `f` finds in some rows, joined with what it finds in the others.
fn over_rows<T: Sync, R: Send>(
    threads: usize,
    w: MatRef<'_, T>,
    f: impl Fn(MatRef<'_, T>) -> R + Sync,
    join: impl Fn(R, R) -> R + Sync,
) -> Result<Option<R>, Error> {
    let found = Mutex::new(None);
    share(threads_for(w, threads), (0..w.rows()).step_by(ROWS), |first| {
        let part = f(w.window(first, 0, ROWS.min(w.rows() - first), w.cols())?);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        *found = Some(match found.take() {
            Some(before) => join(before, part),
            None => part,
        });
        Ok(())
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The largest magnitude of the weights that are there and finite; 0 if there are none.
pub(crate) fn largest_of<S: PathSemiring>(w: MatRef<'_, S::Weight>, threads: usize) -> Result<f64, Error> {
    Ok(over_rows(threads, w, |rows| largest::<S>(rows.iter()), f64::max)?.unwrap_or(0.0))
}

/// Edges: weights that are there.
pub(crate) fn edges<S: PathSemiring>(w: MatRef<'_, S::Weight>, threads: usize) -> Result<usize, Error> {
    let count = |rows: MatRef<'_, S::Weight>| rows.iter().filter(|&x| !S::is_absent(S::clean(x))).count();
    Ok(over_rows(threads, w, count, |x, y| x + y)?.unwrap_or(0))
}

/// Makes elements clean, and the diagonal no worse than `ONE`. Gives whether an edge makes paths better.
pub(crate) fn clean<S: PathSemiring>(mut d: MatMut<'_, S::Weight>, threads: usize) -> Result<bool, Error> {
    let threads = threads_for(d.as_ref(), threads);
    let gains = Mutex::new(false);
    // Columns of the transpose.
    share(threads, column_tiles(d.reborrow().t(), ROWS).into_iter().enumerate(), |(i, mut tile)| {
        let mut gains_here = false;
        for j in 0..tile.cols() {
            for k in 0..tile.rows() {
                let weight = S::clean(tile[(k, j)]);
                gains_here |= S::improves(weight, S::ONE);
                tile[(k, j)] = if k == i * ROWS + j { S::add(S::ONE, weight) } else { weight };
            }
        }
        *gains.lock().unwrap_or_else(PoisonError::into_inner) |= gains_here;
        Ok(())
    })?;
    Ok(gains.into_inner().unwrap_or_else(PoisonError::into_inner))
}
