//! Equally shaped matrices at equal distances.

use crate::{
    error::{Error, ErrorKind},
    layout::Layout,
    matrix::{Matrix, reserve},
    view::{MatMut, MatRef},
};
use core::{marker::PhantomData, ptr::NonNull};

/// `count` matrices to read; a stride of 0 repeats one.
pub struct BatchRef<'a, T> {
    first: MatRef<'a, T>,
    count: usize,
    stride: isize,
}

impl<T> Clone for BatchRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for BatchRef<'_, T> {}

impl<'a, T> BatchRef<'a, T> {
    /// Matrix `i` has its element `(0, 0)` at `data[i * stride]`.
    ///
    /// # Errors
    /// `out-of-bounds` or `layout-overflow`, as for one matrix.
    pub fn new(data: &'a [T], layout: Layout, count: usize, stride: isize) -> Result<Self, Error> {
        check_bounds(data.len(), layout, count, stride)?;
        // SAFETY: all elements of the first and, by the check, of every other matrix are in `data`.
        let first = unsafe { MatRef::from_raw_parts(NonNull::from(data).cast(), layout) };
        Ok(Self { first, count, stride })
    }

    /// `first`, and those that follow it at equal distances.
    ///
    /// # Safety
    /// All `count` matrices can be read as the first can.
    pub const unsafe fn from_first(first: MatRef<'a, T>, count: usize, stride: isize) -> Self {
        Self { first, count, stride }
    }

    /// The same matrix `count` times.
    pub fn repeat(matrix: MatRef<'a, T>, count: usize) -> Self {
        Self { first: matrix, count, stride: 0 }
    }

    /// Number of matrices.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Layout of each.
    pub fn layout(&self) -> Layout {
        self.first.layout()
    }
    /// From one to the next, in elements.
    pub fn stride(&self) -> isize {
        self.stride
    }

    /// Matrix `i`, or `None` past the end.
    pub fn get(&self, i: usize) -> Option<MatRef<'a, T>> {
        if i >= self.count {
            return None;
        }
        let offset = if self.layout().is_empty() { 0 } else { i as isize * self.stride };
        // SAFETY: the constructor checked every matrix.
        let ptr = unsafe { self.first.as_ptr().offset(offset) };
        // SAFETY: as above; the pointer comes from a reference.
        Some(unsafe { MatRef::from_raw_parts(NonNull::new_unchecked(ptr.cast_mut()), self.layout()) })
    }
}

impl<T: Copy> BatchRef<'_, T> {
    /// A copy of all matrices in one, below each other; of one matrix where the stride is 0.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn stacked(self) -> Result<Matrix<T>, Error> {
        let Layout { rows, cols, .. } = self.layout();
        let count = if self.stride == 0 { self.count.min(1) } else { self.count };
        let layout = Layout::row_major(count.saturating_mul(rows), cols);
        let mut data = reserve(layout.rows, cols)?;
        data.extend((0..count).filter_map(|t| self.get(t)).flat_map(MatRef::iter));
        Matrix::from_vec(data, layout)
    }
}

/// `count` matrices to write, none of which touches another.
pub struct BatchMut<'a, T> {
    ptr: NonNull<T>,
    layout: Layout,
    count: usize,
    stride: isize,
    life: PhantomData<&'a mut [T]>,
}

// SAFETY: a BatchMut gives what an exclusive slice gives.
unsafe impl<T: Send> Send for BatchMut<'_, T> {}
// SAFETY: a shared BatchMut gives no access at all.
unsafe impl<T: Sync> Sync for BatchMut<'_, T> {}

impl<'a, T> BatchMut<'a, T> {
    /// Matrix `i` has its element `(0, 0)` at `data[i * stride]`.
    ///
    /// # Errors
    /// `out-of-bounds`, `layout-overflow`; `aliased` when two indices, or two matrices, can meet.
    pub fn new(data: &'a mut [T], layout: Layout, count: usize, stride: isize) -> Result<Self, Error> {
        check_bounds(data.len(), layout, count, stride)?;
        layout.check_unaliased()?;
        if let Some((low, high)) = layout.span()? {
            // Batches of interleaved matrices are refused too: their spans overlap.
            let apart = stride.unsigned_abs() > high.abs_diff(low);
            if count > 1 && !apart {
                return Err(ErrorKind::Aliased { layout }.into());
            }
        }
        Ok(Self { ptr: NonNull::from(data).cast(), layout, count, stride, life: PhantomData })
    }

    /// Matrix `i` has its element `(0, 0)` at `first + i * stride`.
    ///
    /// # Safety
    /// As [`MatMut::from_raw_parts`], for each of the `count` matrices, none of which touches another.
    pub const unsafe fn from_raw_parts(
        first: NonNull<T>,
        layout: Layout,
        count: usize,
        stride: isize,
    ) -> Self {
        Self { ptr: first, layout, count, stride, life: PhantomData }
    }

    /// Number of matrices.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Layout of each.
    pub fn layout(&self) -> Layout {
        self.layout
    }
    /// From one to the next, in elements.
    pub fn stride(&self) -> isize {
        self.stride
    }

    /// The same matrices, to be read.
    pub fn as_ref(&self) -> BatchRef<'_, T> {
        // SAFETY: the constructor checked every matrix.
        let first = unsafe { MatRef::from_raw_parts(self.ptr, self.layout) };
        BatchRef { first, count: self.count, stride: self.stride }
    }

    /// All matrices, each to be written independently.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = MatMut<'_, T>> {
        (0..self.count).map(|i| {
            let offset = if self.layout.is_empty() { 0 } else { i as isize * self.stride };
            // SAFETY: the constructor checked that every matrix is inside the data and apart from the
            // others, and each is handed out once for as long as `self` is borrowed.
            unsafe { MatMut::from_raw_parts(self.ptr.offset(offset), self.layout) }
        })
    }

    /// The batch in parts of `len` matrices each, the last one shorter, to be written independently.
    ///
    /// # Panics
    /// When `len` is 0.
    pub fn parts_mut(&mut self, len: usize) -> impl ExactSizeIterator<Item = BatchMut<'_, T>> {
        (0..self.count.div_ceil(len)).map(move |i| {
            let first = i * len;
            let offset = if self.layout.is_empty() { 0 } else { first as isize * self.stride };
            // SAFETY: the constructor checked that this matrix is inside the data.
            let ptr = unsafe { self.ptr.offset(offset) };
            // Parts have no matrix in common, and are borrowed as long as `self` is.
            BatchMut { ptr, layout: self.layout, count: len.min(self.count - first), ..*self }
        })
    }
}

fn check_bounds(len: usize, layout: Layout, count: usize, stride: isize) -> Result<(), Error> {
    let Some(last) = count.checked_sub(1) else { return Ok(()) };
    layout.check_bounds(len, 0)?;
    let origin = isize::try_from(last).ok().and_then(|l| l.checked_mul(stride));
    match origin.map(usize::try_from) {
        Some(Ok(origin)) => layout.check_bounds(len, origin),
        // A batch that runs backwards would start before its data.
        Some(Err(_)) if !layout.is_empty() => Err(ErrorKind::OutOfBounds { layout, origin: 0, len }.into()),
        Some(Err(_)) => Ok(()),
        None => Err(ErrorKind::LayoutOverflow { layout }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_checked_as_a_whole() {
        let mut data: Vec<i32> = (0..12).collect();
        let l = Layout::row_major(2, 2);
        let b = BatchRef::new(&data, l, 3, 4).unwrap();
        assert_eq!(b.get(2).unwrap().get(1, 1), Some(11));
        assert!(b.get(3).is_none());
        assert_eq!(BatchRef::new(&data, l, 4, 4).err().unwrap().code(), "out-of-bounds");
        assert!(BatchRef::new(&data, l, 1000, 0).is_ok());
        let columns = BatchRef::new(&data, l.t(), 3, 4).unwrap();
        assert_eq!(columns.stacked().unwrap().as_slice(), [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11]);
        assert_eq!(BatchRef::repeat(b.get(1).unwrap(), 7).stacked().unwrap().as_slice(), [4, 5, 6, 7]);
        assert_eq!(BatchMut::new(&mut data, l, 3, 3).err().unwrap().code(), "aliased");
        assert_eq!(BatchMut::new(&mut data, l, 3, -4).err().unwrap().code(), "out-of-bounds");
        let mut m = BatchMut::new(&mut data, l, 3, 4).unwrap();
        assert_eq!(m.as_ref().get(2).unwrap().iter().collect::<Vec<_>>(), [8, 9, 10, 11]);
        for (i, mut c) in m.iter_mut().enumerate() {
            c.fill(i as i32);
        }
        assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn parts_of_a_batch() {
        for len in 1..7 {
            let mut data = [9; 14];
            let mut batch = BatchMut::new(&mut data, Layout::row_major(1, 2), 5, 3).unwrap();
            let parts: Vec<_> = batch.parts_mut(len).collect();
            let counts: Vec<_> = parts.iter().map(BatchMut::count).collect();
            assert_eq!(counts.iter().sum::<usize>(), 5);
            assert!(counts.iter().rev().skip(1).all(|&count| count == len), "{counts:?}");
            for (i, mut part) in parts.into_iter().enumerate() {
                part.iter_mut().enumerate().for_each(|(j, mut c)| c.fill(i * len + j));
            }
            assert_eq!(data, [0, 0, 9, 1, 1, 9, 2, 2, 9, 3, 3, 9, 4, 4]);
        }
        let mut none = BatchMut::<u8>::new(&mut [], Layout::row_major(0, 2), 5, 0).unwrap();
        assert_eq!(none.parts_mut(2).map(|mut part| part.iter_mut().len()).sum::<usize>(), 5);
    }
}
