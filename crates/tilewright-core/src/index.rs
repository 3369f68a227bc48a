//! Elements by row and column.

use crate::{
    layout::Layout,
    matrix::Matrix,
    view::{MatMut, MatRef},
};
use core::ops::{Index, IndexMut};

/// The distance of element `(row, col)` from element `(0, 0)`.
#[track_caller]
fn offset(layout: Layout, (row, col): (usize, usize)) -> isize {
    assert!(
        row < layout.rows && col < layout.cols,
        "element ({row}, {col}) is outside the {}x{} matrix",
        layout.rows,
        layout.cols
    );
    layout.offset(row, col)
}

/// Element `(row, col)`.
///
/// # Panics
/// Outside the matrix; [`MatRef::get`] does not.
impl<T> Index<(usize, usize)> for MatRef<'_, T> {
    type Output = T;
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        // SAFETY: the indices are inside the layout, all of whose elements are readable.
        unsafe { &*self.as_ptr().offset(offset(self.layout(), at)) }
    }
}

/// Element `(row, col)`.
///
/// # Panics
/// Outside the matrix.
impl<T> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        // SAFETY: the indices are inside the layout, all of whose elements are readable.
        unsafe { &*self.as_ref().as_ptr().offset(offset(self.layout(), at)) }
    }
}

/// Element `(row, col)`.
///
/// # Panics
/// Outside the matrix; [`MatMut::get_mut`] does not.
impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        let offset = offset(self.layout(), at);
        // SAFETY: the indices are inside the layout, and `self` is borrowed exclusively.
        unsafe { &mut *self.as_mut_ptr().offset(offset) }
    }
}

/// Element `(row, col)`.
///
/// # Panics
/// Outside the matrix.
impl<T: Copy> Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        // SAFETY: the indices are inside the layout, all of whose elements the matrix owns.
        unsafe { &*self.as_ref().as_ptr().offset(offset(self.layout(), at)) }
    }
}

/// Element `(row, col)`.
///
/// # Panics
/// Outside the matrix.
impl<T: Copy> IndexMut<(usize, usize)> for Matrix<T> {
    #[track_caller]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        let offset = offset(self.layout(), at);
        // SAFETY: the indices are inside the layout, and `self` is borrowed exclusively.
        unsafe { &mut *self.as_mut().as_mut_ptr().offset(offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_places_that_strides_give_them() {
        let data: Vec<i32> = (0..12).collect();
        let a = MatRef::new(&data, Layout::row_major(3, 4)).unwrap().reverse_rows().t();
        assert_eq!((a[(0, 0)], a[(3, 0)], a[(1, 2)]), (8, 11, 1));
        let mut c = Matrix::from_vec(data.clone(), Layout::col_major(3, 4)).unwrap();
        c[(2, 3)] = 70;
        c.as_mut().t()[(0, 0)] = 71;
        assert_eq!((c[(2, 3)], c[(0, 0)], c.as_mut()[(1, 0)]), (70, 71, 1));
    }

    #[test]
    #[should_panic(expected = "element (0, 4) is outside the 3x4 matrix")]
    fn elements_outside_are_refused() {
        let _ = Matrix::filled(3, 4, 0).unwrap()[(0, 4)];
    }
}
