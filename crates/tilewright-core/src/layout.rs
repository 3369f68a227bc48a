//! The shape of a matrix and where its elements lie.

use crate::error::{Error, ErrorKind};

/// Rows, columns and the signed distance, in elements, between neighbours in each direction.
///
/// Element `(i, j)` lies at offset `i * row_stride + j * col_stride` from element `(0, 0)`. Row-major,
/// column-major, transposed, reversed (negative stride), broadcast (zero stride) and sliced matrices are
/// all values of this one type, on the host, on a device and in files.
///
/// ```
/// use tilewright_core::Layout;
/// let l = Layout::row_major(2, 3);
/// assert_eq!((l.row_stride, l.col_stride), (3, 1));
/// assert_eq!(l.t(), Layout::col_major(3, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Elements from `(i, j)` to `(i + 1, j)`.
    pub row_stride: isize,
    /// Elements from `(i, j)` to `(i, j + 1)`.
    pub col_stride: isize,
}

impl Layout {
    /// Rows one after another, without gaps.
    pub const fn row_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, row_stride: cols as isize, col_stride: 1 }
    }

    /// Columns one after another, without gaps.
    pub const fn col_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, row_stride: 1, col_stride: rows as isize }
    }

    /// Any strides, in elements.
    pub const fn strided(rows: usize, cols: usize, row_stride: isize, col_stride: isize) -> Self {
        Self { rows, cols, row_stride, col_stride }
    }

    /// The transposed layout: the same elements with rows and columns exchanged.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride }
    }

    /// True when there is no element.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    /// `rows * cols`, or `None` when that exceeds `usize`.
    pub const fn len(&self) -> Option<usize> {
        self.rows.checked_mul(self.cols)
    }

    /// Offset of element `(row, col)` from element `(0, 0)`.
    ///
    /// Meaningful for indices inside a layout that passed [`Layout::span`].
    #[inline(always)]
    pub const fn offset(&self, row: usize, col: usize) -> isize {
        (row as isize)
            .wrapping_mul(self.row_stride)
            .wrapping_add((col as isize).wrapping_mul(self.col_stride))
    }

    /// Smallest and largest offset of any element, or `None` when there is no element.
    ///
    /// # Errors
    /// [`ErrorKind::LayoutOverflow`] when an offset does not fit `isize`.
    pub fn span(&self) -> Result<Option<(isize, isize)>, Error> {
        if self.is_empty() {
            return Ok(None);
        }
        let reach = |count: usize, stride: isize| isize::try_from(count - 1).ok()?.checked_mul(stride);
        let span = || {
            let (r, c) = (reach(self.rows, self.row_stride)?, reach(self.cols, self.col_stride)?);
            Some((r.min(0).checked_add(c.min(0))?, r.max(0).checked_add(c.max(0))?))
        };
        span().map(Some).ok_or_else(|| ErrorKind::LayoutOverflow { layout: *self }.into())
    }

    /// Checks that every element, counted from element `(0, 0)` at `data[origin]`, lies inside a slice of
    /// `len` elements.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfBounds`] when it does not, [`ErrorKind::LayoutOverflow`] when offsets overflow.
    pub fn check_bounds(&self, len: usize, origin: usize) -> Result<(), Error> {
        let Some((low, high)) = self.span()? else { return Ok(()) };
        let first = origin.checked_add_signed(low);
        let last = origin.checked_add_signed(high);
        match (first, last) {
            (Some(_), Some(last)) if last < len => Ok(()),
            _ => Err(ErrorKind::OutOfBounds { layout: *self, origin, len }.into()),
        }
    }

    /// Checks that no two index pairs address the same element, which a writable matrix needs.
    ///
    /// `i1*rs + j1*cs = i2*rs + j2*cs` has a solution inside the matrix exactly when
    /// `|cs| / g < rows` and `|rs| / g < cols` with `g = gcd(|rs|, |cs|)`, for strides that are not zero.
    ///
    /// # Errors
    /// [`ErrorKind::Aliased`] when two index pairs meet.
    pub fn check_unaliased(&self) -> Result<(), Error> {
        let (rs, cs) = (self.row_stride.unsigned_abs(), self.col_stride.unsigned_abs());
        let aliased = match (self.rows, self.cols) {
            (0, _) | (_, 0) | (1, 1) => false,
            (1, _) => cs == 0,
            (_, 1) => rs == 0,
            _ if rs == 0 || cs == 0 => true,
            _ => {
                let g = gcd(rs, cs);
                cs / g < self.rows && rs / g < self.cols
            }
        };
        if aliased { Err(ErrorKind::Aliased { layout: *self }.into()) } else { Ok(()) }
    }

    /// The `rows x cols` window whose first element is `(row, col)`, and the offset of that element.
    ///
    /// # Errors
    /// [`ErrorKind::WindowOutOfBounds`] when the window reaches beyond the matrix.
    pub fn window(&self, row: usize, col: usize, rows: usize, cols: usize) -> Result<(Self, isize), Error> {
        let fits =
            |start: usize, count: usize, size: usize| start.checked_add(count).is_some_and(|e| e <= size);
        if !fits(row, rows, self.rows) || !fits(col, cols, self.cols) {
            return Err(ErrorKind::WindowOutOfBounds { layout: *self, row, col, rows, cols }.into());
        }
        let layout = Self { rows, cols, ..*self };
        // An empty window may start one past the end; its offset is never followed.
        let offset = if layout.is_empty() { 0 } else { self.offset(row, col) };
        Ok((layout, offset))
    }
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn span_covers_negative_strides() {
        let l = Layout::strided(3, 4, -10, 2);
        assert_eq!(l.span().unwrap(), Some((-20, 6)));
        assert_eq!(Layout::strided(0, 4, 1, 1).span().unwrap(), None);
    }

    #[test]
    fn overflow_is_an_error() {
        let l = Layout::strided(usize::MAX, 2, 3, 1);
        assert_eq!(l.span().unwrap_err().code(), "layout-overflow");
        let l = Layout::strided(2, 2, isize::MAX, isize::MAX);
        assert_eq!(l.span().unwrap_err().code(), "layout-overflow");
    }

    #[test]
    fn bounds_need_the_origin_for_negative_strides() {
        let l = Layout::strided(2, 3, -3, 1);
        assert!(l.check_bounds(6, 3).is_ok());
        assert_eq!(l.check_bounds(6, 0).unwrap_err().code(), "out-of-bounds");
        assert_eq!(l.check_bounds(5, 3).unwrap_err().code(), "out-of-bounds");
    }

    #[test]
    fn windows() {
        let l = Layout::row_major(4, 5);
        assert_eq!(l.window(1, 2, 2, 3).unwrap(), (Layout::strided(2, 3, 5, 1), 7));
        assert!(l.window(4, 5, 0, 0).is_ok());
        assert_eq!(l.window(3, 0, 2, 1).unwrap_err().code(), "window-out-of-bounds");
        assert!(l.window(usize::MAX, 0, 2, 1).is_err());
    }

    proptest! {
        #[test]
        fn aliasing_is_decided_exactly(rows in 0usize..7, cols in 0usize..7, rs in -12isize..13, cs in -12isize..13) {
            let l = Layout::strided(rows, cols, rs, cs);
            let mut seen = HashSet::new();
            let mut unique = true;
            for i in 0..rows {
                for j in 0..cols {
                    unique &= seen.insert(l.offset(i, j));
                }
            }
            prop_assert_eq!(l.check_unaliased().is_ok(), unique);
        }
    }
}
