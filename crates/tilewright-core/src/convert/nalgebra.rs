//! Views of the matrices of the crate `nalgebra`, and views for it. No element is copied.
//!
//! nalgebra has no negative strides: views that run backwards cannot become its views.
//!
//! ```
//! use nalgebra::{DMatrix, Matrix2};
//! use tilewright_core::{MatMut, MatRef, Matrix, convert::nalgebra::{View, ViewMut}};
//! let a = DMatrix::from_row_slice(2, 3, &[1, 2, 3, 4, 5, 6]);
//! assert_eq!(MatRef::from(&a), Matrix::from([[1, 2, 3], [4, 5, 6]]).as_ref());
//! assert_eq!(MatRef::from(&a.columns(1, 2)).t(), Matrix::from([[2, 5], [3, 6]]).as_ref());
//!
//! let mut c = Matrix::from([[1, 2], [3, 4]]);
//! assert_eq!(View::try_from(c.as_ref().t())?, Matrix2::new(1, 3, 2, 4));
//! ViewMut::try_from(c.as_mut())?.fill_diagonal(0);
//! assert_eq!(c, Matrix::from([[0, 2], [3, 0]]));
//!
//! let mut out = DMatrix::zeros(2, 2);
//! MatMut::from(&mut out)[(0, 1)] = 7;
//! assert_eq!(out, Matrix2::new(0, 7, 0, 0));
//! # Ok::<(), tilewright_core::Error>(())
//! ```

use super::countable;
use crate::{
    error::{Error, ErrorKind},
    layout::Layout,
    view::{MatMut, MatRef},
};
use core::ptr::NonNull;
use nalgebra::{Dim, Dyn, MatrixView, MatrixViewMut, RawStorage, RawStorageMut, ViewStorage, ViewStorageMut};

/// The view of nalgebra that a [`MatRef`] becomes.
pub type View<'a, T> = MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;
/// The view of nalgebra that a [`MatMut`] becomes.
pub type ViewMut<'a, T> = MatrixViewMut<'a, T, Dyn, Dyn, Dyn, Dyn>;

fn layout<T, R: Dim, C: Dim, S: RawStorage<T, R, C>>(storage: &S) -> Layout {
    let ((rows, cols), (down, across)) = (storage.shape(), storage.strides());
    // The strides of a matrix with several rows and columns are within its memory; others are not used.
    Layout::strided(rows.value(), cols.value(), down.value() as isize, across.value() as isize)
}

impl<'a, T, R: Dim, C: Dim, S: RawStorage<T, R, C>> From<&'a nalgebra::Matrix<T, R, C, S>> for MatRef<'a, T> {
    fn from(matrix: &'a nalgebra::Matrix<T, R, C, S>) -> Self {
        let ptr = matrix.data.ptr().cast_mut();
        // SAFETY: a storage's elements are readable where its strides say, for as long as it is borrowed.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(ptr), layout(&matrix.data)) }
    }
}

impl<'a, T, R: Dim, C: Dim, S: RawStorageMut<T, R, C>> From<&'a mut nalgebra::Matrix<T, R, C, S>>
    for MatMut<'a, T>
{
    fn from(matrix: &'a mut nalgebra::Matrix<T, R, C, S>) -> Self {
        let layout = layout(&matrix.data);
        // SAFETY: as above; elements that are written have one index each, and nobody else borrows them.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(matrix.data.ptr_mut()), layout) }
    }
}

/// Shape and strides as nalgebra has them.
type Shape = ((Dyn, Dyn), (Dyn, Dyn));

fn shape(layout: Layout) -> Result<Shape, Error> {
    countable(layout)?;
    let stride = |length: usize, stride: isize| match usize::try_from(stride) {
        Ok(stride) => Ok(Dyn(stride)),
        Err(_) if layout.is_empty() || length == 1 => Ok(Dyn(0)),
        Err(_) => Err(Error::from(ErrorKind::Unsupported {
            what: "a view for nalgebra with negative strides".into(),
            why: "its strides are not negative".into(),
            hint: "reverse the matrix on the other side, or copy it".into(),
        })),
    };
    let strides = (stride(layout.rows, layout.row_stride)?, stride(layout.cols, layout.col_stride)?);
    Ok(((Dyn(layout.rows), Dyn(layout.cols)), strides))
}

/// `unsupported` for negative strides; `layout-overflow` for more elements than memory has, which only strides of 0 make possible.
impl<'a, T> TryFrom<MatRef<'a, T>> for View<'a, T> {
    type Error = Error;
    fn try_from(matrix: MatRef<'a, T>) -> Result<Self, Error> {
        let (shape, strides) = shape(matrix.layout())?;
        // SAFETY: all elements are readable where the strides say.
        Ok(Self::from_data(unsafe { ViewStorage::from_raw_parts(matrix.as_ptr(), shape, strides) }))
    }
}

/// `unsupported` for negative strides.
impl<'a, T> TryFrom<MatMut<'a, T>> for ViewMut<'a, T> {
    type Error = Error;
    fn try_from(mut matrix: MatMut<'a, T>) -> Result<Self, Error> {
        let (shape, strides) = shape(matrix.layout())?;
        // SAFETY: as above; each element has one index, and nobody else borrows it.
        Ok(Self::from_data(unsafe { ViewStorageMut::from_raw_parts(matrix.as_mut_ptr(), shape, strides) }))
    }
}
