//! Columns of a matrix side by side, in rows whose length the compiler knows.

use tilewright_core::{MatMut, MatRef};

/// Columns of a tile: some vectors of any element type.
pub(crate) const WIDTH: usize = 64;

/// A row of a tile.
pub(crate) type Line<T> = [T; WIDTH];

/// Copies a matrix of at most [`WIDTH`] columns. What is beyond them keeps what it holds.
#[inline(always)]
pub(crate) fn load<T: Copy>(from: MatRef<'_, T>, tile: &mut [Line<T>]) {
    let (rows, cols) = (from.rows().min(tile.len()), from.cols().min(WIDTH));
    if along_rows(from.layout()) {
        for (i, line) in tile.iter_mut().enumerate().take(rows) {
            for (j, element) in line.iter_mut().enumerate().take(cols) {
                // SAFETY: the indices run inside the matrix.
                *element = unsafe { from.get_unchecked(i, j) };
            }
        }
    } else {
        for j in 0..cols {
            for (i, line) in tile.iter_mut().enumerate().take(rows) {
                // SAFETY: as above.
                line[j] = unsafe { from.get_unchecked(i, j) };
            }
        }
    }
}

/// Copies a tile back.
#[inline(always)]
pub(crate) fn store<T: Copy>(tile: &[Line<T>], to: &mut MatMut<'_, T>) {
    let (layout, to_ptr) = (to.layout(), to.as_mut_ptr());
    let (rows, cols) = (to.rows().min(tile.len()), to.cols().min(WIDTH));
    if along_rows(layout) {
        for (i, line) in tile.iter().enumerate().take(rows) {
            for (j, &element) in line.iter().enumerate().take(cols) {
                // SAFETY: the indices run inside the matrix, which is borrowed exclusively.
                unsafe { to_ptr.offset(layout.offset(i, j)).write(element) };
            }
        }
    } else {
        for j in 0..cols {
            for (i, line) in tile.iter().enumerate().take(rows) {
                // SAFETY: as above.
                unsafe { to_ptr.offset(layout.offset(i, j)).write(line[j]) };
            }
        }
    }
}

/// Whether neighbours in a row lie nearer to each other than those in a column.
fn along_rows(layout: tilewright_core::Layout) -> bool {
    layout.col_stride.unsigned_abs() <= layout.row_stride.unsigned_abs()
}
