//! Equally shaped matrices at equal distances, whose types are known at run time.

use std::ptr::NonNull;
use tilewright_core::{DType, DynMut, DynRef};
#[cfg(feature = "cuda")]
use tilewright_core::{DynMatrix, Error, Layout};

/// Matrices to read; a stride of 0 repeats one.
#[derive(Clone, Copy)]
pub(crate) struct Series<'a> {
    pub first: DynRef<'a>,
    pub count: usize,
    /// In elements.
    pub stride: isize,
}

impl<'a> Series<'a> {
    /// # Safety
    /// All `count` matrices can be read as the first can.
    pub const unsafe fn new(first: DynRef<'a>, count: usize, stride: isize) -> Self {
        Self { first, count, stride }
    }

    /// A single matrix.
    #[cfg(feature = "cuda")]
    pub const fn one(first: DynRef<'a>) -> Self {
        Self { first, count: 1, stride: 0 }
    }

    /// Matrix `t`; none behind the last.
    pub fn get(&self, t: usize) -> Option<DynRef<'a>> {
        let (dtype, layout) = (self.first.dtype(), self.first.layout());
        let first = NonNull::new(self.first.as_ptr().cast_mut())?;
        // SAFETY: whoever made this has promised this matrix.
        (t < self.count)
            .then(|| unsafe { DynRef::from_raw_parts(at(first, t, self.stride, dtype), dtype, layout) })
    }

    /// A copy of all matrices in one, below each other; of one where it is repeated.
    ///
    /// # Errors
    /// `out-of-memory`.
    #[cfg(feature = "cuda")]
    pub fn stacked(&self) -> Result<DynMatrix, Error> {
        let Layout { rows, cols, .. } = self.first.layout();
        let count = if self.stride == 0 { self.count.min(1) } else { self.count };
        let mut all = DynMatrix::zeros(self.first.dtype(), count.saturating_mul(rows), cols)?;
        for (t, matrix) in (0..count).filter_map(|t| Some((t, self.get(t)?))) {
            all.as_mut().window(t * rows, 0, rows, cols)?.copy_from(matrix)?;
        }
        Ok(all)
    }
}

/// Matrices to write, none of which touches another.
pub(crate) struct SeriesMut<'a> {
    pub first: DynMut<'a>,
    pub count: usize,
    /// In elements.
    pub stride: isize,
}

impl<'a> SeriesMut<'a> {
    /// # Safety
    /// All `count` matrices can be written as the first can, and none touches another.
    pub const unsafe fn new(first: DynMut<'a>, count: usize, stride: isize) -> Self {
        Self { first, count, stride }
    }

    /// A single matrix.
    #[cfg(feature = "cuda")]
    pub const fn one(first: DynMut<'a>) -> Self {
        Self { first, count: 1, stride: 0 }
    }

    /// The same for a shorter time.
    #[cfg(feature = "cuda")]
    pub fn reborrow(&mut self) -> SeriesMut<'_> {
        SeriesMut { first: self.first.reborrow(), ..*self }
    }

    /// The same matrices, to be read.
    #[cfg(feature = "cuda")]
    pub fn as_ref(&self) -> Series<'_> {
        Series { first: self.first.as_ref(), count: self.count, stride: self.stride }
    }

    /// Matrix `t`; none behind the last.
    pub fn get(&mut self, t: usize) -> Option<DynMut<'_>> {
        let (dtype, layout) = (self.first.dtype(), self.first.layout());
        let first = NonNull::new(self.first.as_mut_ptr())?;
        // SAFETY: whoever made this has promised this matrix, and `self` is borrowed.
        (t < self.count)
            .then(|| unsafe { DynMut::from_raw_parts(at(first, t, self.stride, dtype), dtype, layout) })
    }
}

/// Where element (0, 0) of matrix `t` is.
fn at(first: NonNull<u8>, t: usize, stride: isize, dtype: DType) -> NonNull<u8> {
    let bytes = (t as isize).wrapping_mul(stride).wrapping_mul(dtype.size() as isize);
    NonNull::new(first.as_ptr().wrapping_offset(bytes)).unwrap_or(first)
}
