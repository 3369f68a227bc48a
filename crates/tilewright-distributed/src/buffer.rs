//! Bytes on their way between ranks.

use tilewright::{DType, DynMut, DynRef, Error, ErrorKind, Layout};

/// Bytes in which elements of any type can lie.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Words keep the alignment of the largest element.
    words: Vec<u64>,
    len: usize,
}

impl Buffer {
    /// So many bytes, all zero.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn zeroed(len: usize) -> Result<Self, Error> {
        let count = len.div_ceil(size_of::<u64>());
        let mut words = Vec::new();
        words
            .try_reserve_exact(count)
            .map_err(|_| ErrorKind::OutOfMemory { what: "a panel of blocks", bytes: len as u64 })?;
        words.resize(count, 0);
        Ok(Self { words, len })
    }

    /// A copy of these bytes.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn of(bytes: &[u8]) -> Result<Self, Error> {
        let mut buffer = Self::zeroed(bytes.len())?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The bytes to read.
    pub fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
    /// The bytes to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// The same buffer for fewer bytes, or as many again as it was made for.
    ///
    /// # Panics
    /// For more than that.
    pub(crate) fn fit(mut self, len: usize) -> Self {
        assert!(len.div_ceil(size_of::<u64>()) <= self.words.len(), "a buffer does not grow");
        self.len = len;
        self
    }

    /// The bytes as the row-major matrix that they hold.
    pub(crate) fn matrix(&self, dtype: DType, rows: usize, cols: usize) -> Result<DynRef<'_>, Error> {
        DynRef::new(self.as_slice(), dtype, Layout::row_major(rows, cols))
    }

    /// As [`Buffer::matrix`], to write.
    pub(crate) fn matrix_mut(&mut self, dtype: DType, rows: usize, cols: usize) -> Result<DynMut<'_>, Error> {
        DynMut::new(self.as_mut_slice(), dtype, Layout::row_major(rows, cols))
    }
}
