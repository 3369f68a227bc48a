//! Matrices that live on the device.

use super::memory::{DeviceMemory, Direction};
use super::stream::Stream;
use super::transfer::{Transfer, transfer};
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_core::{Element, Error, ErrorKind, Layout, MatMut, MatRef, Matrix};

/// A matrix in the memory of a device, with any strides, as on the host.
///
/// It is paid for once and used many times; [`Engine`](crate::Engine) makes it and multiplies it. Copies wait for the work
/// that was asked for before.
#[derive(Debug)]
pub struct DeviceMatrix<T> {
    memory: DeviceMemory,
    layout: Layout,
    /// The index of element (0, 0).
    origin: usize,
    element: PhantomData<T>,
}

impl<T: Element> DeviceMatrix<T> {
    /// A copy of `source`: dense matrices and broadcast ones keep their strides, gaps between rows or columns are left out, and
    /// elements that are apart from each other are packed by rows.
    pub(crate) fn upload(stream: &Arc<Stream>, source: MatRef<'_, T>) -> Result<Self, Error> {
        let (transfer, layout, origin) = transfer(source.layout())?;
        let size = size_of::<T>();
        match transfer {
            Transfer::Whole { low, count } => {
                let memory = allocate::<T>(stream, count)?;
                // SAFETY: the piece holds elements of the view alone, which are readable; an empty one is not touched.
                unsafe { memory.write_raw(source.as_ptr().wrapping_offset(low).cast(), count * size)? };
                Ok(Self::of(memory, layout, origin))
            }
            Transfer::Lines { low, width, height, pitch } => {
                let memory = allocate::<T>(stream, width * height)?;
                let (start, shape) =
                    (source.as_ptr().wrapping_offset(low), (width * size, height, pitch * size));
                // SAFETY: the lines hold elements of the view alone, and are only read.
                unsafe { memory.copy_rows(Direction::ToDevice, start.cast_mut().cast(), shape)? };
                Ok(Self::of(memory, layout, origin))
            }
            Transfer::Scattered => {
                let packed: Vec<T> = source.iter().collect();
                let memory = allocate::<T>(stream, packed.len())?;
                // SAFETY: the memory was made for these elements.
                unsafe { memory.write_raw(packed.as_ptr().cast(), size_of_val(&packed[..]))? };
                Ok(Self::of(memory, layout, origin))
            }
        }
    }

    /// Zeros with the strides of `layout`.
    pub(crate) fn zeros(stream: &Arc<Stream>, layout: Layout) -> Result<Self, Error> {
        layout.check_unaliased()?;
        let (low, high) = layout.span()?.unwrap_or((0, -1));
        let memory = allocate::<T>(stream, high.wrapping_sub(low).wrapping_add(1).unsigned_abs())?;
        memory.clear()?;
        Ok(Self::of(memory, layout, low.unsigned_abs()))
    }

    fn of(memory: DeviceMemory, layout: Layout, origin: usize) -> Self {
        Self { memory, layout, origin, element: PhantomData }
    }

    /// Shape and strides on the device.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.layout.cols
    }

    /// The bytes that it takes on the device.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The index of element (0, 0) among the elements on the device.
    pub(crate) fn origin(&self) -> usize {
        self.origin
    }

    /// The address of element (0, 0) on the device; meaningless when the matrix is empty.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address() + (self.origin * size_of::<T>()) as u64
    }

    /// The largest power of two, up to 256, that divides the address of element (0, 0).
    pub(crate) fn alignment(&self) -> u64 {
        1 << self.address().trailing_zeros().min(8)
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        self.memory.stream()
    }

    /// The transpose, without moving an element.
    #[must_use]
    pub fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// `device` when the device fails, also by a kernel that ran before; `out-of-memory` on the host.
    pub fn to_matrix(&self) -> Result<Matrix<T>, Error> {
        let mut matrix = Matrix::filled(self.rows(), self.cols(), T::DEFAULT)?;
        self.copy_to(matrix.as_mut())?;
        Ok(matrix)
    }

    /// Copies into `target`, with whatever strides it has.
    ///
    /// # Errors
    /// `result-mismatch` when the shapes differ, `device` when the device fails, also by a kernel that ran before.
    pub fn copy_to(&self, mut target: MatMut<'_, T>) -> Result<(), Error> {
        let Layout { rows, cols, .. } = target.layout();
        if (rows, cols) != (self.rows(), self.cols()) {
            let (m, n) = (self.rows(), self.cols());
            return Err(ErrorKind::ResultMismatch { what: "the target", rows, cols, m, n }.into());
        }
        let (transfer, layout, origin) = transfer(target.layout())?;
        let size = size_of::<T>();
        // A copy by the device needs the same strides on both sides, gaps on the host left out.
        let same = layout == self.layout && origin == self.origin;
        match transfer {
            Transfer::Whole { low, count } if same && count * size == self.bytes() => {
                // SAFETY: the piece holds elements of the target alone, which are writable, and as many as there are here.
                unsafe { self.memory.read_raw(target.as_mut_ptr().wrapping_offset(low).cast(), count * size) }
            }
            Transfer::Lines { low, width, height, pitch }
                if same && width * height * size == self.bytes() =>
            {
                let start = target.as_mut_ptr().wrapping_offset(low).cast();
                // SAFETY: as above, line by line.
                unsafe {
                    self.memory.copy_rows(Direction::ToHost, start, (width * size, height, pitch * size))
                }
            }
            _ => {
                let mut all = Vec::new();
                let count = self.bytes() / size;
                let failed = |_| ErrorKind::OutOfMemory {
                    what: "a copy of a device matrix",
                    bytes: self.bytes() as u64,
                };
                all.try_reserve_exact(count).map_err(failed)?;
                all.resize(count, T::DEFAULT);
                // SAFETY: as many bytes as there are here; device memory is cleared, copied from elements or written by kernels,
                // and holds values of the element type.
                unsafe { self.memory.read_raw(all.as_mut_ptr().cast(), self.bytes())? };
                let all = MatRef::with_origin(&all, self.layout, self.origin)?;
                // SAFETY: the shapes are equal.
                target.fill_with(|i, j| unsafe { all.get_unchecked(i, j) });
                Ok(())
            }
        }
    }
}

fn allocate<T>(stream: &Arc<Stream>, count: usize) -> Result<DeviceMemory, Error> {
    let what = "a matrix";
    let bytes = count
        .checked_mul(size_of::<T>())
        .ok_or(ErrorKind::OutOfMemory { what: "a matrix on the device", bytes: u64::MAX })?;
    DeviceMemory::new(stream, what, bytes)
}
