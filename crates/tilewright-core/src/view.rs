//! Borrowed matrices: a pointer, a [`Layout`] and a lifetime.

use crate::{error::Error, layout::Layout};
use core::{marker::PhantomData, ptr::NonNull};

/// A matrix that is read. Free to copy, transpose and slice; any strides, zero and negative included.
///
/// ```
/// use tilewright_core::{Layout, MatRef};
/// let data = [1, 2, 3, 4, 5, 6];
/// let a = MatRef::new(&data, Layout::row_major(2, 3))?;
/// assert_eq!(a.t().get(2, 1), Some(6));
/// assert_eq!(a.reverse_rows().get(0, 0), Some(4));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
pub struct MatRef<'a, T> {
    ptr: NonNull<T>,
    layout: Layout,
    life: PhantomData<&'a [T]>,
}

/// A matrix that is written. No two indices address the same element.
pub struct MatMut<'a, T> {
    ptr: NonNull<T>,
    layout: Layout,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: a MatRef gives what a shared slice gives.
unsafe impl<T: Sync> Send for MatRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for MatRef<'_, T> {}
// SAFETY: a MatMut gives what an exclusive slice gives.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: as above; a shared MatMut only reads.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

impl<T> Clone for MatRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for MatRef<'_, T> {}

impl<'a, T> MatRef<'a, T> {
    /// The matrix whose element `(0, 0)` is `data[0]`.
    ///
    /// # Errors
    /// `out-of-bounds` when the layout reaches outside `data`, `layout-overflow` when it is absurd.
    pub fn new(data: &'a [T], layout: Layout) -> Result<Self, Error> {
        Self::with_origin(data, layout, 0)
    }

    /// The matrix whose element `(0, 0)` is `data[origin]`: negative strides need an origin that is not 0.
    ///
    /// # Errors
    /// As [`MatRef::new`].
    pub fn with_origin(data: &'a [T], layout: Layout, origin: usize) -> Result<Self, Error> {
        layout.check_bounds(data.len(), origin)?;
        let origin = if layout.is_empty() { 0 } else { origin };
        // SAFETY: the check above keeps `origin` and every element inside `data`.
        Ok(unsafe { Self::from_raw_parts(NonNull::from(data).cast().add(origin), layout) })
    }

    /// A vector as a matrix of one column.
    ///
    /// ```
    /// use tilewright_core::MatRef;
    /// let x = MatRef::column(&[1, 2, 3]);
    /// assert_eq!((x.rows(), x.cols(), x[(2, 0)]), (3, 1, 3));
    /// assert_eq!(x.t(), MatRef::row(&[1, 2, 3]));
    /// ```
    pub const fn column(vector: &'a [T]) -> Self {
        let layout = Layout::row_major(vector.len(), 1);
        // SAFETY: element (i, 0) is element i of the slice.
        unsafe { Self::from_raw_parts(first(vector), layout) }
    }

    /// A vector as a matrix of one row.
    pub const fn row(vector: &'a [T]) -> Self {
        let layout = Layout::row_major(1, vector.len());
        // SAFETY: element (0, j) is element j of the slice.
        unsafe { Self::from_raw_parts(first(vector), layout) }
    }

    /// # Safety
    /// Every element of `layout`, counted from `ptr`, must be readable for `'a`, and offsets must not overflow.
    pub const unsafe fn from_raw_parts(ptr: NonNull<T>, layout: Layout) -> Self {
        Self { ptr, layout, life: PhantomData }
    }

    /// Shape and strides.
    pub const fn layout(&self) -> Layout {
        self.layout
    }
    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.layout.rows
    }
    /// Number of columns.
    pub const fn cols(&self) -> usize {
        self.layout.cols
    }
    /// Address of element `(0, 0)`; dangling when the matrix is empty.
    pub const fn as_ptr(&self) -> *const T {
        self.ptr.as_ptr()
    }

    /// Element `(row, col)`, or `None` outside the matrix.
    pub fn get(&self, row: usize, col: usize) -> Option<T>
    where
        T: Copy,
    {
        if row >= self.rows() || col >= self.cols() {
            return None;
        }
        // SAFETY: the indices are inside the layout, all of whose elements are readable.
        Some(unsafe { self.get_unchecked(row, col) })
    }

    /// Element `(row, col)`.
    ///
    /// # Safety
    /// `row < rows` and `col < cols`.
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, row: usize, col: usize) -> T
    where
        T: Copy,
    {
        debug_assert!(row < self.rows() && col < self.cols());
        // SAFETY: the caller keeps the indices inside the layout.
        unsafe { *self.ptr.as_ptr().offset(self.layout.offset(row, col)) }
    }

    /// The transpose, without moving an element.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, offset) = self.layout.window(row, col, rows, cols)?;
        // SAFETY: the window's elements are elements of this matrix.
        Ok(unsafe { Self::from_raw_parts(self.ptr.offset(offset), layout) })
    }

    /// The same rows in reverse order: a negative row stride.
    #[must_use]
    pub fn reverse_rows(self) -> Self {
        if self.layout.is_empty() {
            return self;
        }
        let offset = self.layout.offset(self.rows() - 1, 0);
        let layout = Layout { row_stride: self.layout.row_stride.wrapping_neg(), ..self.layout };
        // SAFETY: element (rows - 1, 0) exists; the same elements are addressed from the other end.
        unsafe { Self::from_raw_parts(self.ptr.offset(offset), layout) }
    }

    /// The rows, where the elements of each lie side by side.
    pub(crate) fn row_slices(self) -> Option<impl Iterator<Item = &'a [T]>> {
        let Layout { rows, cols, col_stride, .. } = self.layout;
        // Without columns there is nothing to visit, however many rows there are.
        let visited = if cols == 0 { 0 } else { rows };
        // SAFETY: the elements of a row follow each other inside the layout, and are readable for `'a`.
        let row = move |i| unsafe {
            core::slice::from_raw_parts(self.ptr.as_ptr().offset(self.layout.offset(i, 0)), cols)
        };
        (cols <= 1 || col_stride == 1).then(|| (0..visited).map(row))
    }

    /// All elements, row by row.
    pub fn iter(self) -> impl Iterator<Item = T> + 'a
    where
        T: Copy,
    {
        let Layout { rows, cols, .. } = self.layout;
        // Without columns there is nothing to visit, however many rows there are.
        let rows = if cols == 0 { 0 } else { rows };
        // SAFETY: both indices run inside the layout.
        (0..rows).flat_map(move |i| (0..cols).map(move |j| unsafe { self.get_unchecked(i, j) }))
    }
}

impl<'a, T> MatMut<'a, T> {
    /// The matrix whose element `(0, 0)` is `data[0]`.
    ///
    /// # Errors
    /// As [`MatRef::new`], and `aliased` when two indices address one element.
    pub fn new(data: &'a mut [T], layout: Layout) -> Result<Self, Error> {
        Self::with_origin(data, layout, 0)
    }

    /// The matrix whose element `(0, 0)` is `data[origin]`.
    ///
    /// # Errors
    /// As [`MatMut::new`].
    pub fn with_origin(data: &'a mut [T], layout: Layout, origin: usize) -> Result<Self, Error> {
        layout.check_bounds(data.len(), origin)?;
        layout.check_unaliased()?;
        let origin = if layout.is_empty() { 0 } else { origin };
        // SAFETY: the checks keep every element inside `data` and apart from the others.
        Ok(unsafe { Self::from_raw_parts(NonNull::from(data).cast().add(origin), layout) })
    }

    /// A vector as a matrix of one column, to write a matrix times a vector to.
    ///
    /// ```
    /// use tilewright_core::MatMut;
    /// let mut y = [0; 3];
    /// MatMut::column(&mut y)[(1, 0)] = 5;
    /// assert_eq!(y, [0, 5, 0]);
    /// ```
    pub const fn column(vector: &'a mut [T]) -> Self {
        let layout = Layout::row_major(vector.len(), 1);
        // SAFETY: element (i, 0) is element i of the slice, which is borrowed exclusively.
        unsafe { Self::from_raw_parts(first_mut(vector), layout) }
    }

    /// A vector as a matrix of one row.
    pub const fn row(vector: &'a mut [T]) -> Self {
        let layout = Layout::row_major(1, vector.len());
        // SAFETY: element (0, j) is element j of the slice, which is borrowed exclusively.
        unsafe { Self::from_raw_parts(first_mut(vector), layout) }
    }

    /// # Safety
    /// Every element of `layout`, counted from `ptr`, must be readable and writable for `'a`, by nobody
    /// else, and at one index pair only; offsets must not overflow.
    pub const unsafe fn from_raw_parts(ptr: NonNull<T>, layout: Layout) -> Self {
        Self { ptr, layout, life: PhantomData }
    }

    /// Shape and strides.
    pub const fn layout(&self) -> Layout {
        self.layout
    }
    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.layout.rows
    }
    /// Number of columns.
    pub const fn cols(&self) -> usize {
        self.layout.cols
    }
    /// Address of element `(0, 0)`; dangling when the matrix is empty.
    pub const fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr.as_ptr()
    }

    /// The same matrix, to be read.
    pub const fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { ptr: self.ptr, layout: self.layout, life: PhantomData }
    }

    /// The same matrix for a shorter time, so that it can be handed on and used again.
    pub const fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { ptr: self.ptr, layout: self.layout, life: PhantomData }
    }

    /// Element `(row, col)`, or `None` outside the matrix.
    pub fn get_mut(&mut self, row: usize, col: usize) -> Option<&mut T> {
        if row >= self.rows() || col >= self.cols() {
            return None;
        }
        // SAFETY: the indices are inside the layout, and `self` is borrowed exclusively.
        Some(unsafe { &mut *self.ptr.as_ptr().offset(self.layout.offset(row, col)) })
    }

    /// The transpose, without moving an element.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, offset) = self.layout.window(row, col, rows, cols)?;
        // SAFETY: the window's elements are elements of this matrix, and `self` is consumed.
        Ok(unsafe { Self::from_raw_parts(self.ptr.offset(offset), layout) })
    }

    /// All elements, row by row, where they lie so without gaps.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatMut};
    /// let mut data = [1, 2, 3, 4];
    /// let m = MatMut::new(&mut data, Layout::row_major(2, 2))?;
    /// m.into_slice().expect("without gaps")[3] = 5;
    /// assert_eq!(data, [1, 2, 3, 5]);
    /// let gaps = MatMut::new(&mut data, Layout::row_major(2, 2))?.window(0, 0, 2, 1)?;
    /// assert!(gaps.into_slice().is_none());
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn into_slice(self) -> Option<&'a mut [T]> {
        let Layout { rows, cols, row_stride, col_stride } = self.layout;
        if self.layout.is_empty() {
            return Some(&mut []);
        }
        let is_dense = (cols == 1 || col_stride == 1) && (rows == 1 || row_stride == cols as isize);
        // SAFETY: the elements follow each other from the first one on, and `self`, which is consumed, has borrowed them exclusively.
        is_dense.then(|| unsafe { core::slice::from_raw_parts_mut(self.ptr.as_ptr(), rows * cols) })
    }

    /// Sets every element to `value`.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        self.fill_with(|_, _| value);
    }

    /// Sets element `(i, j)` to `f(i, j)`.
    pub fn fill_with(&mut self, mut f: impl FnMut(usize, usize) -> T)
    where
        T: Copy,
    {
        // Without columns there is nothing to visit, however many rows there are.
        let rows = if self.cols() == 0 { 0 } else { self.rows() };
        for i in 0..rows {
            for j in 0..self.cols() {
                // SAFETY: both indices run inside the layout, and `self` is borrowed exclusively.
                unsafe { self.ptr.as_ptr().offset(self.layout.offset(i, j)).write(f(i, j)) }
            }
        }
    }
}

const fn first<T>(vector: &[T]) -> NonNull<T> {
    // SAFETY: a slice's pointer is never null.
    unsafe { NonNull::new_unchecked(vector.as_ptr().cast_mut()) }
}

const fn first_mut<T>(vector: &mut [T]) -> NonNull<T> {
    // SAFETY: a slice's pointer is never null.
    unsafe { NonNull::new_unchecked(vector.as_mut_ptr()) }
}

impl<T: Copy + PartialEq> PartialEq for MatRef<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.rows() == other.rows() && self.cols() == other.cols() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_slice_transpose_and_reverse() {
        let data: Vec<i32> = (0..20).collect();
        let a = MatRef::new(&data, Layout::row_major(4, 5)).unwrap();
        let w = a.window(1, 2, 2, 3).unwrap();
        assert_eq!(w.iter().collect::<Vec<_>>(), [7, 8, 9, 12, 13, 14]);
        assert_eq!(w.t().iter().collect::<Vec<_>>(), [7, 12, 8, 13, 9, 14]);
        assert_eq!(w.reverse_rows().iter().collect::<Vec<_>>(), [12, 13, 14, 7, 8, 9]);
        assert_eq!(w.get(2, 0), None);
    }

    #[test]
    fn a_zero_stride_can_be_read_but_not_written() {
        let mut one = [7];
        let l = Layout::strided(3, 3, 0, 0);
        assert_eq!(MatRef::new(&one, l).unwrap().iter().sum::<i32>(), 63);
        assert_eq!(MatMut::new(&mut one, l).unwrap_err().code(), "aliased");
    }

    #[test]
    fn huge_views_are_addressed_with_strides_not_memory() {
        let data = [1.0f32, 2.0];
        let l = Layout::strided(1 << 20, 1 << 20, 0, 0);
        let a = MatRef::with_origin(&data, l, 1).unwrap();
        assert_eq!(a.layout().len(), Some(1 << 40));
        assert_eq!(a.get((1 << 20) - 1, (1 << 20) - 1), Some(2.0));
    }

    #[test]
    fn empty_views_need_no_memory() {
        let a = MatRef::<f32>::with_origin(&[], Layout::strided(0, 9, 100, 100), 5).unwrap();
        assert_eq!(a.iter().count(), 0);
        assert_eq!(a.reverse_rows().t().rows(), 9);
    }

    #[test]
    fn writes_go_where_the_layout_says() {
        let mut data = [0; 12];
        let mut c = MatMut::with_origin(&mut data, Layout::strided(2, 3, -6, 2), 6).unwrap();
        c.fill_with(|i, j| (10 * (i + 1) + j) as i32);
        *c.get_mut(0, 0).unwrap() = 99;
        assert_eq!(data, [20, 0, 21, 0, 22, 0, 99, 0, 11, 0, 12, 0]);
    }
}
