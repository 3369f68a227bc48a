//! Matrices as text for people, of any size.

use crate::{
    matrix::Matrix,
    view::{MatMut, MatRef},
};
use core::fmt::{Debug, Formatter, Result};

/// Most rows and columns that are shown.
const MOST: usize = 12;

/// The shape and the rows, `2x2 [[1, 2], [3, 4]]`; `{:#?}` gives each row a line. Of more than 12 rows or columns, the first 12.
impl<T: Copy + Debug> Debug for MatRef<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}x{} ", self.rows(), self.cols())?;
        let mut list = f.debug_list();
        list.entries((0..self.rows().min(MOST)).map(|i| Row(*self, i)));
        if self.rows() > MOST { list.finish_non_exhaustive() } else { list.finish() }
    }
}

/// As that of a [`MatRef`].
impl<T: Copy + Debug> Debug for MatMut<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.as_ref().fmt(f)
    }
}

/// As that of a [`MatRef`].
impl<T: Copy + Debug> Debug for Matrix<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.as_ref().fmt(f)
    }
}

/// A row, always on one line.
struct Row<'a, T>(MatRef<'a, T>, usize);

impl<T: Copy + Debug> Debug for Row<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(m, i) = *self;
        f.write_str("[")?;
        for (j, x) in (0..m.cols().min(MOST)).filter_map(|j| Some((j, m.get(i, j)?))) {
            f.write_str(if j > 0 { ", " } else { "" })?;
            match f.precision() {
                Some(digits) => write!(f, "{x:.digits$?}")?,
                None => write!(f, "{x:?}")?,
            }
        }
        f.write_str(if m.cols() > MOST { ", ..]" } else { "]" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_matrices_are_shown_whole_and_large_ones_in_part() {
        let small = Matrix::from([[1.0, 2.5], [f32::INFINITY, 4.0]]);
        assert_eq!(format!("{small:?}"), "2x2 [[1.0, 2.5], [inf, 4.0]]");
        assert_eq!(format!("{small:.0?}"), "2x2 [[1, 2], [inf, 4]]");
        assert_eq!(format!("{:#?}", small.as_ref()), "2x2 [\n    [1.0, 2.5],\n    [inf, 4.0],\n]");
        assert_eq!(format!("{:?}", Matrix::filled(0, 3, 1).unwrap()), "0x3 []");
        let large = format!("{:?}", Matrix::filled(1000, 2000, 7).unwrap());
        assert!(large.starts_with("1000x2000 [[7, 7,") && large.ends_with(", ..], ..]"), "{large}");
        assert_eq!(large.matches('7').count(), 144);
    }
}
