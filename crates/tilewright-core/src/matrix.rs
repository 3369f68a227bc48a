//! An owned matrix.

use crate::{
    error::{Error, ErrorKind},
    layout::Layout,
    view::{MatMut, MatRef},
};

/// A matrix that owns its elements, in row-major order unless made from a layout.
///
/// ```
/// use tilewright_core::Matrix;
/// let mut a = Matrix::from_fn(2, 2, |i, j| (i * 2 + j) as f32)?;
/// assert_eq!(a, Matrix::from([[0.0, 1.0], [2.0, 3.0]]));
/// a[(0, 1)] = 7.0;
/// assert_eq!(a.as_ref().t()[(1, 0)], 7.0);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Matrix<T> {
    data: Vec<T>,
    layout: Layout,
}

impl<T: Copy> Matrix<T> {
    /// Takes `data` as a matrix of this layout.
    ///
    /// # Errors
    /// `out-of-bounds`, `layout-overflow` or `aliased` when the layout does not fit the data.
    pub fn from_vec(data: Vec<T>, layout: Layout) -> Result<Self, Error> {
        layout.check_bounds(data.len(), 0)?;
        layout.check_unaliased()?;
        Ok(Self { data, layout })
    }

    /// A copy of rows that are equally long.
    ///
    /// ```
    /// use tilewright_core::Matrix;
    /// let lines: Vec<Vec<f64>> = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]];
    /// let a = Matrix::from_rows(&lines)?;
    /// assert_eq!((a.rows(), a.cols(), a[(1, 0)]), (2, 3, 4.0));
    /// assert_eq!(Matrix::from_rows(&[&[1, 2][..], &[3]]).unwrap_err().code(), "ragged-rows");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ragged-rows` when a row is longer or shorter than the first, `out-of-memory`.
    pub fn from_rows<R: AsRef<[T]>>(rows: &[R]) -> Result<Self, Error> {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        let mut data = reserve(rows.len(), cols)?;
        for (row, elements) in rows.iter().map(AsRef::as_ref).enumerate() {
            if elements.len() != cols {
                return Err(ErrorKind::RaggedRows { row, found: elements.len(), expected: cols }.into());
            }
            data.extend_from_slice(elements);
        }
        Ok(Self::of_rows(data, rows.len(), cols))
    }

    /// A row-major matrix with every element equal to `value`.
    ///
    /// # Errors
    /// `out-of-memory` when it cannot be allocated.
    pub fn filled(rows: usize, cols: usize, value: T) -> Result<Self, Error> {
        let mut data = reserve(rows, cols)?;
        data.resize(rows * cols, value);
        Ok(Self::of_rows(data, rows, cols))
    }

    /// A row-major matrix whose element `(i, j)` is `f(i, j)`.
    ///
    /// # Errors
    /// `out-of-memory` when it cannot be allocated.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Result<Self, Error> {
        let mut data = reserve(rows, cols)?;
        // Without columns there is nothing to visit, however many rows there are.
        let visited = if cols == 0 { 0 } else { rows };
        for i in 0..visited {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Ok(Self::of_rows(data, rows, cols))
    }

    /// The matrix of rows that follow each other in `data`.
    pub(crate) fn of_rows(data: Vec<T>, rows: usize, cols: usize) -> Self {
        debug_assert_eq!(data.len(), rows * cols);
        Self { data, layout: Layout::row_major(rows, cols) }
    }

    /// A row-major copy.
    ///
    /// # Errors
    /// `out-of-memory` when it cannot be allocated.
    pub fn copy_of(source: MatRef<'_, T>) -> Result<Self, Error> {
        let (rows, cols) = (source.rows(), source.cols());
        if let Some(slices) = source.row_slices() {
            let mut data = reserve(rows, cols)?;
            slices.for_each(|row| data.extend_from_slice(row));
            return Ok(Self::of_rows(data, rows, cols));
        }
        // SAFETY: `from_fn` asks for the indices of a matrix of this shape.
        Self::from_fn(rows, cols, |i, j| unsafe { source.get_unchecked(i, j) })
    }

    /// Shape and strides.
    pub fn layout(&self) -> Layout {
        self.layout
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.layout.cols
    }
    /// The elements in memory order.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }
    /// The elements in memory order, giving up the shape.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// A view to read.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        // SAFETY: every constructor checked that the layout fits the data from element 0.
        unsafe { MatRef::from_raw_parts(std::ptr::NonNull::from(self.data.as_slice()).cast(), self.layout) }
    }

    /// A view to write.
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        // SAFETY: as in `as_ref`; the layout was checked to be free of aliases.
        unsafe {
            MatMut::from_raw_parts(std::ptr::NonNull::from(self.data.as_mut_slice()).cast(), self.layout)
        }
    }
}

/// Equal shapes and elements, wherever these lie.
impl<T: Copy + PartialEq> PartialEq for Matrix<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

pub(crate) fn reserve<T>(rows: usize, cols: usize) -> Result<Vec<T>, Error> {
    let mut data = Vec::new();
    let reserved = rows.checked_mul(cols).map(|len| data.try_reserve_exact(len));
    if let Some(Ok(())) = reserved {
        return Ok(data);
    }
    let bytes = (rows as u64).saturating_mul(cols as u64).saturating_mul(size_of::<T>() as u64);
    Err(ErrorKind::OutOfMemory { what: "a matrix", bytes }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_are_errors() {
        assert_eq!(Matrix::filled(usize::MAX, 2, 0u8).unwrap_err().code(), "out-of-memory");
        assert_eq!(Matrix::filled(1 << 31, 1 << 31, 0f64).unwrap_err().code(), "out-of-memory");
    }

    #[test]
    fn matrices_are_equal_by_shape_and_elements() {
        let rows = Matrix::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
        let columns = Matrix::from_vec(vec![1, 4, 2, 5, 3, 6], Layout::col_major(2, 3)).unwrap();
        assert_eq!(rows, columns);
        assert_ne!(rows, Matrix::from_vec(rows.as_slice().to_vec(), Layout::row_major(3, 2)).unwrap());
        assert_ne!(rows, Matrix::filled(2, 3, 1).unwrap());
        assert_ne!(Matrix::filled(0, 2, 1).unwrap(), Matrix::filled(0, 3, 1).unwrap());
    }

    #[test]
    fn rows_have_one_length() {
        assert_eq!(Matrix::<u8>::from_rows::<[u8; 0]>(&[]).unwrap().rows(), 0);
        assert_eq!(Matrix::<u8>::from_rows(&[[], []]).unwrap().layout(), Layout::row_major(2, 0));
        let error = Matrix::from_rows(&[vec![1, 2], vec![3, 4], vec![5]]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 has 1 elements, but row 0 has 2");
    }

    #[test]
    fn layouts_of_owned_matrices_are_checked() {
        assert!(Matrix::from_vec(vec![1, 2, 3, 4, 5, 6], Layout::col_major(2, 3)).is_ok());
        assert_eq!(Matrix::from_vec(vec![1], Layout::strided(2, 2, 0, 0)).unwrap_err().code(), "aliased");
        assert_eq!(Matrix::from_vec(vec![1], Layout::row_major(2, 2)).unwrap_err().code(), "out-of-bounds");
    }
}
