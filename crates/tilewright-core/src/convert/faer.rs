//! Views of the matrices of the crate `faer`, and views for it. No element is copied, and strides may have any sign.
//!
//! ```
//! use faer::mat;
//! use tilewright_core::{MatMut, MatRef, Matrix};
//! let a = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! assert_eq!(MatRef::from(a.reverse_cols()), Matrix::from([[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]).as_ref());
//!
//! let c = Matrix::from([[1.0, 2.0], [3.0, 4.0]]);
//! assert_eq!(faer::MatRef::from(c.as_ref().t()), mat![[1.0, 3.0], [2.0, 4.0]]);
//!
//! let mut out = faer::Mat::zeros(2, 2);
//! MatMut::from(&mut out)[(0, 1)] = 7.0;
//! assert_eq!(out, mat![[0.0, 7.0], [0.0, 0.0]]);
//! ```

use crate::{
    layout::Layout,
    view::{MatMut, MatRef},
};
use core::ptr::NonNull;

fn layout<T>(matrix: faer::MatRef<'_, T>) -> Layout {
    Layout::strided(matrix.nrows(), matrix.ncols(), matrix.row_stride(), matrix.col_stride())
}

impl<'a, T> From<faer::MatRef<'a, T>> for MatRef<'a, T> {
    fn from(matrix: faer::MatRef<'a, T>) -> Self {
        let ptr = matrix.as_ptr().cast_mut();
        // SAFETY: the elements are readable where the strides say, for as long as the view lives.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(ptr), layout(matrix)) }
    }
}

impl<'a, T> From<faer::MatMut<'a, T>> for MatMut<'a, T> {
    fn from(matrix: faer::MatMut<'a, T>) -> Self {
        let (layout, ptr) = (layout(matrix.as_ref()), matrix.as_ptr_mut());
        // SAFETY: as above; elements that are written have one index each, and nobody else borrows them.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(ptr), layout) }
    }
}

impl<'a, T> From<&'a faer::Mat<T>> for MatRef<'a, T> {
    fn from(matrix: &'a faer::Mat<T>) -> Self {
        matrix.as_ref().into()
    }
}

impl<'a, T> From<&'a mut faer::Mat<T>> for MatMut<'a, T> {
    fn from(matrix: &'a mut faer::Mat<T>) -> Self {
        matrix.as_mut().into()
    }
}

impl<'a, T> From<MatRef<'a, T>> for faer::MatRef<'a, T> {
    fn from(matrix: MatRef<'a, T>) -> Self {
        let Layout { rows, cols, row_stride, col_stride } = matrix.layout();
        // SAFETY: all elements are readable where the strides say.
        unsafe { Self::from_raw_parts(matrix.as_ptr(), rows, cols, row_stride, col_stride) }
    }
}

impl<'a, T> From<MatMut<'a, T>> for faer::MatMut<'a, T> {
    fn from(mut matrix: MatMut<'a, T>) -> Self {
        let Layout { rows, cols, row_stride, col_stride } = matrix.layout();
        // SAFETY: as above; each element has one index, and nobody else borrows it.
        unsafe { Self::from_raw_parts_mut(matrix.as_mut_ptr(), rows, cols, row_stride, col_stride) }
    }
}
