//! Views of the matrices of the crate `ndarray`, and views for it. No element is copied, and strides may have any sign.
//!
//! ```
//! use ndarray::{ArrayView2, array, s};
//! use tilewright_core::{Layout, MatMut, MatRef, Matrix};
//! let a = array![[1, 2, 3], [4, 5, 6]];
//! let reversed = a.slice(s![.., ..;-1]);
//! assert_eq!(MatRef::from(reversed), Matrix::from([[3, 2, 1], [6, 5, 4]]).as_ref());
//!
//! let c = Matrix::from_rows(&[[1, 2], [3, 4]])?;
//! assert_eq!(ArrayView2::try_from(c.as_ref().t())?, array![[1, 3], [2, 4]]);
//!
//! let mut out = ndarray::Array2::zeros((2, 2));
//! MatMut::from(&mut out)[(0, 1)] = 7;
//! assert_eq!(out, array![[0, 7], [0, 0]]);
//! # Ok::<(), tilewright_core::Error>(())
//! ```

use super::countable;
use crate::{
    error::{Error, ErrorKind},
    layout::Layout,
    view::{MatMut, MatRef},
};
use core::ptr::NonNull;
use ndarray::{ArrayBase, ArrayView2, ArrayViewMut2, Axis, Data, DataMut, Ix2, RawData, ShapeBuilder};

fn layout<S: RawData>(array: &ArrayBase<S, Ix2>) -> Layout {
    let ((rows, cols), strides) = (array.dim(), array.strides());
    Layout::strided(rows, cols, strides[0], strides[1])
}

impl<'a, T> From<ArrayView2<'a, T>> for MatRef<'a, T> {
    fn from(array: ArrayView2<'a, T>) -> Self {
        // SAFETY: an array's elements are readable where its strides say, for as long as the view lives.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(array.as_ptr().cast_mut()), layout(&array)) }
    }
}

impl<'a, T> From<ArrayViewMut2<'a, T>> for MatMut<'a, T> {
    fn from(mut array: ArrayViewMut2<'a, T>) -> Self {
        let layout = layout(&array);
        // SAFETY: as above; elements that are written have one index each, and nobody else borrows them.
        unsafe { Self::from_raw_parts(NonNull::new_unchecked(array.as_mut_ptr()), layout) }
    }
}

impl<'a, T, S: Data<Elem = T>> From<&'a ArrayBase<S, Ix2>> for MatRef<'a, T> {
    fn from(array: &'a ArrayBase<S, Ix2>) -> Self {
        array.view().into()
    }
}

impl<'a, T, S: DataMut<Elem = T>> From<&'a mut ArrayBase<S, Ix2>> for MatMut<'a, T> {
    fn from(array: &'a mut ArrayBase<S, Ix2>) -> Self {
        array.view_mut().into()
    }
}

/// Shape and strides, none of them negative.
type Forward = ndarray::StrideShape<Ix2>;

/// How an array is made from its lowest address: the distance of element (0, 0) from there, and the axes that run backwards then.
fn forward(layout: Layout) -> Result<(Forward, isize, [bool; 2]), Error> {
    countable(layout)?;
    // Of an array without elements, only the shape counts.
    let axis = |length: usize, stride: isize| match length {
        0 | 1 => 0,
        _ if layout.is_empty() => 1,
        _ => stride,
    };
    let (down, across) = (axis(layout.rows, layout.row_stride), axis(layout.cols, layout.col_stride));
    let strides = (down.unsigned_abs(), across.unsigned_abs());
    let low = |length: usize, stride: isize| if stride < 0 { (length - 1) as isize * stride } else { 0 };
    let lowest = low(layout.rows, down) + low(layout.cols, across);
    Ok(((layout.rows, layout.cols).strides(strides), lowest, [down < 0, across < 0]))
}

/// Whether the steps along one axis, all together, reach beyond one step along the other.
fn interleaves(l: Layout) -> bool {
    let (down, across) = ((l.rows, l.row_stride.unsigned_abs()), (l.cols, l.col_stride.unsigned_abs()));
    let (short, long) = if down.1 < across.1 { (down, across) } else { (across, down) };
    l.rows > 1 && l.cols > 1 && long.1 <= (short.0 - 1) * short.1
}

/// `layout-overflow` for more elements than an array can count, which only strides of 0 make possible.
impl<'a, T> TryFrom<MatRef<'a, T>> for ArrayView2<'a, T> {
    type Error = Error;
    fn try_from(matrix: MatRef<'a, T>) -> Result<Self, Error> {
        let (shape, lowest, backwards) = forward(matrix.layout())?;
        // SAFETY: the lowest element is one of the matrix, all of whose elements are readable; there are not too many.
        let mut array = unsafe { Self::from_shape_ptr(shape, matrix.as_ptr().offset(lowest)) };
        backwards.iter().enumerate().filter(|(_, is)| **is).for_each(|(i, _)| array.invert_axis(Axis(i)));
        Ok(array)
    }
}

/// `unsupported` where rows and columns interleave, as with strides of 2 and 3: an array that is written has none between the elements
/// of another.
impl<'a, T> TryFrom<MatMut<'a, T>> for ArrayViewMut2<'a, T> {
    type Error = Error;
    fn try_from(mut matrix: MatMut<'a, T>) -> Result<Self, Error> {
        let (shape, lowest, backwards) = forward(matrix.layout())?;
        if interleaves(matrix.layout()) {
            return Err(ErrorKind::Unsupported {
                what: "an array to write whose rows and columns interleave".into(),
                why: "ndarray has none".into(),
                hint: "write to a matrix of other strides".into(),
            }
            .into());
        }
        // SAFETY: as above; elements of a matrix that is written have one index each, and nobody else borrows them.
        let mut array = unsafe { Self::from_shape_ptr(shape, matrix.as_mut_ptr().offset(lowest)) };
        backwards.iter().enumerate().filter(|(_, is)| **is).for_each(|(i, _)| array.invert_axis(Axis(i)));
        Ok(array)
    }
}
