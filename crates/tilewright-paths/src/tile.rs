//! Columns of a matrix side by side, in rows whose length the compiler knows.

use core::ptr::copy_nonoverlapping;
use tilewright_core::{Layout, MatMut, MatRef};

/// Columns of a tile: some vectors of any element type.
pub(crate) const WIDTH: usize = 64;

/// A row of a tile.
pub(crate) type Line<T> = [T; WIDTH];

/// Copies a matrix of at most [`WIDTH`] columns. What is beyond them keeps what it holds. Compiled once for an element type, and not into the loops of every
/// semiring and instruction set.
#[inline(never)]
pub(crate) fn load<T: Copy>(from: MatRef<'_, T>, tile: &mut [Line<T>]) {
    let (rows, cols, layout) = (from.rows().min(tile.len()), from.cols().min(WIDTH), from.layout());
    if layout.col_stride == 1 && cols > 0 {
        for (i, line) in tile.iter_mut().enumerate().take(rows) {
            // SAFETY: the columns of a row lie side by side, and no tile is part of a matrix.
            unsafe {
                copy_nonoverlapping(from.as_ptr().offset(layout.offset(i, 0)), line.as_mut_ptr(), cols)
            };
        }
        return;
    }
    // SAFETY: the indices run inside the matrix.
    each(layout, (rows, cols), |i, j| tile[i][j] = unsafe { from.get_unchecked(i, j) });
}

/// Copies a tile back; see [`load`].
#[inline(never)]
pub(crate) fn store<T: Copy>(tile: &[Line<T>], to: &mut MatMut<'_, T>) {
    let (layout, to_ptr) = (to.layout(), to.as_mut_ptr());
    let (rows, cols) = (to.rows().min(tile.len()), to.cols().min(WIDTH));
    if layout.col_stride == 1 && cols > 0 {
        for (i, line) in tile.iter().enumerate().take(rows) {
            // SAFETY: as in `load`; the matrix is borrowed exclusively.
            unsafe { copy_nonoverlapping(line.as_ptr(), to_ptr.offset(layout.offset(i, 0)), cols) };
        }
        return;
    }
    // SAFETY: the indices run inside the matrix, which is borrowed exclusively.
    each(layout, (rows, cols), |i, j| unsafe { to_ptr.offset(layout.offset(i, j)).write(tile[i][j]) });
}

/// Visits all indices in the order in which elements lie in memory.
#[inline(always)]
fn each(layout: Layout, (rows, cols): (usize, usize), mut visit: impl FnMut(usize, usize)) {
    if along_rows(layout) {
        (0..rows).for_each(|i| (0..cols).for_each(|j| visit(i, j)));
    } else {
        (0..cols).for_each(|j| (0..rows).for_each(|i| visit(i, j)));
    }
}

/// Whether neighbours in a row lie nearer to each other than those in a column.
fn along_rows(layout: Layout) -> bool {
    layout.col_stride.unsigned_abs() <= layout.row_stride.unsigned_abs()
}
