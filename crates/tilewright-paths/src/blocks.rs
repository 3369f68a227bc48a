//! Disjoint blocks of one matrix, some to read and one to write.

use core::{marker::PhantomData, ops::Range, ptr::NonNull};
use tilewright_core::{Layout, MatMut, MatRef};

/// A block: its rows and its columns.
pub(crate) type Block<'r> = (&'r Range<usize>, &'r Range<usize>);

/// A matrix that is borrowed block by block.
pub(crate) struct Blocks<'a, T> {
    ptr: NonNull<T>,
    layout: Layout,
    life: PhantomData<&'a mut [T]>,
}

impl<'a, T> Blocks<'a, T> {
    pub fn new(mut matrix: MatMut<'a, T>) -> Self {
        let ptr = NonNull::new(matrix.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { ptr, layout: matrix.layout(), life: PhantomData }
    }

    /// One block to write.
    pub fn one(&mut self, write: Block<'_>) -> MatMut<'_, T> {
        self.split(write, []).0
    }

    /// A block to write, and others to read.
    ///
    /// # Panics
    /// If a block reaches outside, or one to read has an element in common with the one to write.
    pub fn split<const N: usize>(
        &mut self,
        write: Block<'_>,
        read: [Block<'_>; N],
    ) -> (MatMut<'_, T>, [MatRef<'_, T>; N]) {
        for block in read {
            assert!(apart(block.0, write.0) || apart(block.1, write.1), "blocks overlap");
        }
        let (ptr, layout) = self.at(write);
        // SAFETY: the block lies inside the matrix, which is borrowed exclusively, and no other shares an element with it.
        let write = unsafe { MatMut::from_raw_parts(ptr, layout) };
        let read = read.map(|block| {
            let (ptr, layout) = self.at(block);
            // SAFETY: as above; among each other, blocks that are read may overlap.
            unsafe { MatRef::from_raw_parts(ptr, layout) }
        });
        (write, read)
    }

    fn at(&self, (rows, cols): Block<'_>) -> (NonNull<T>, Layout) {
        assert!(
            rows.end <= self.layout.rows
                && cols.end <= self.layout.cols
                && rows.start <= rows.end
                && cols.start <= cols.end
        );
        let layout = Layout { rows: rows.len(), cols: cols.len(), ..self.layout };
        let offset = if layout.is_empty() { 0 } else { self.layout.offset(rows.start, cols.start) };
        // SAFETY: the first element of a block that is not empty is an element of the matrix.
        (unsafe { self.ptr.offset(offset) }, layout)
    }
}

/// Parts of a matrix, of `width` columns each but the last.
pub(crate) fn column_tiles<T>(mut matrix: MatMut<'_, T>, width: usize) -> Vec<MatMut<'_, T>> {
    let (layout, ptr) = (matrix.layout(), matrix.as_mut_ptr());
    let tile = |col: usize| {
        let part = Layout { cols: width.min(layout.cols - col), ..layout };
        let offset = if part.is_empty() { 0 } else { layout.offset(0, col) };
        // SAFETY: the first element of a part that is not empty is an element of the matrix, which is borrowed exclusively for as long
        // as its parts, and each column is in one of them.
        unsafe { MatMut::from_raw_parts(NonNull::new_unchecked(ptr.offset(offset)), part) }
    };
    (0..layout.cols).step_by(width).map(tile).collect()
}

fn apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_where_they_should() {
        let mut data: Vec<i32> = (0..16).collect();
        let mut blocks = Blocks::new(MatMut::new(&mut data, Layout::row_major(4, 4)).unwrap());
        let (mut c, [a, b]) = blocks.split((&(0..2), &(2..4)), [(&(0..2), &(0..2)), (&(2..4), &(2..4))]);
        assert_eq!((a[(1, 0)], b[(0, 1)]), (4, 11));
        c[(1, 1)] = a[(0, 0)] - 1;
        assert_eq!(data[7], -1);
    }

    #[test]
    #[should_panic(expected = "blocks overlap")]
    fn a_block_that_is_written_is_not_read() {
        let mut data = [0; 16];
        let mut blocks = Blocks::new(MatMut::new(&mut data, Layout::row_major(4, 4)).unwrap());
        blocks.split((&(0..2), &(0..4)), [(&(1..3), &(3..4))]);
    }
}
