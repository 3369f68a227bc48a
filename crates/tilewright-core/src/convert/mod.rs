//! What becomes a matrix or a view: owned matrices, arrays of rows, and the matrices of other crates.
//!
//! The features `ndarray`, `nalgebra` and `faer` give views of the matrices of these crates, and views for them, without copies.

#[cfg(feature = "faer")]
pub mod faer;
#[cfg(feature = "nalgebra")]
pub mod nalgebra;
#[cfg(feature = "ndarray")]
pub mod ndarray;

use crate::{
    dtype::Element,
    dynamic::{DynMatrix, DynRef},
    layout::Layout,
    matrix::Matrix,
    view::{MatMut, MatRef},
};
use core::ptr::NonNull;

/// Refuses more elements than memory has, which only strides of 0 make possible: other crates count the elements of a view.
#[cfg(any(feature = "nalgebra", feature = "ndarray"))]
fn countable(layout: Layout) -> Result<(), crate::error::Error> {
    let count = layout.rows.max(1).checked_mul(layout.cols.max(1));
    if count.is_some_and(|count| isize::try_from(count).is_ok()) {
        return Ok(());
    }
    Err(crate::error::ErrorKind::LayoutOverflow { layout }.into())
}

/// So that `&matrix` stands where a view is expected.
impl<'a, T: Copy> From<&'a Matrix<T>> for MatRef<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.as_ref()
    }
}

/// So that `&mut matrix` stands where a view to write is expected.
impl<'a, T: Copy> From<&'a mut Matrix<T>> for MatMut<'a, T> {
    fn from(matrix: &'a mut Matrix<T>) -> Self {
        matrix.as_mut()
    }
}

/// So that `&matrix` stands where a view without a type is expected.
impl<'a> From<&'a DynMatrix> for DynRef<'a> {
    fn from(matrix: &'a DynMatrix) -> Self {
        matrix.as_ref()
    }
}

/// As above, for a matrix whose type is known.
impl<'a, T: Element> From<&'a Matrix<T>> for DynRef<'a>
where
    DynRef<'a>: From<MatRef<'a, T>>,
{
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.as_ref().into()
    }
}

/// The matrix of these rows.
impl<T: Copy, const ROWS: usize, const COLS: usize> From<[[T; COLS]; ROWS]> for Matrix<T> {
    fn from(rows: [[T; COLS]; ROWS]) -> Self {
        Self::of_rows(rows.as_flattened().to_vec(), ROWS, COLS)
    }
}

/// The rows in place.
impl<'a, T, const ROWS: usize, const COLS: usize> From<&'a [[T; COLS]; ROWS]> for MatRef<'a, T> {
    fn from(rows: &'a [[T; COLS]; ROWS]) -> Self {
        // SAFETY: rows follow each other without gaps.
        unsafe { Self::from_raw_parts(NonNull::from(rows).cast(), Layout::row_major(ROWS, COLS)) }
    }
}

/// The rows in place.
impl<'a, T, const ROWS: usize, const COLS: usize> From<&'a mut [[T; COLS]; ROWS]> for MatMut<'a, T> {
    fn from(rows: &'a mut [[T; COLS]; ROWS]) -> Self {
        // SAFETY: rows follow each other without gaps, and are borrowed exclusively.
        unsafe { Self::from_raw_parts(NonNull::from(rows).cast(), Layout::row_major(ROWS, COLS)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_lose_their_type_by_reference() {
        let typed = Matrix::from([[1i16, 2], [3, 4]]);
        let of_typed = DynRef::from(&typed);
        assert_eq!(of_typed.typed::<i16>(), Some(typed.as_ref()));
        let untyped = DynMatrix::from(typed.clone());
        assert_eq!(DynRef::from(&untyped).typed::<i16>(), Some(typed.as_ref()));
    }

    #[test]
    fn arrays_are_rows() {
        let mut rows = [[1, 2, 3], [4, 5, 6]];
        assert_eq!(MatRef::from(&rows), Matrix::from(rows).as_ref());
        MatMut::from(&mut rows)[(1, 2)] = 7;
        assert_eq!(rows, [[1, 2, 3], [4, 5, 7]]);
        let none: [[u8; 3]; 0] = [];
        assert_eq!((MatRef::from(&none).rows(), Matrix::from(none).cols()), (0, 3));
    }
}
