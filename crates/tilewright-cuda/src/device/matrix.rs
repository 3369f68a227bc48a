//! Matrices that live on the device.

use super::memory::{DeviceMemory, Direction};
use super::stream::Stream;
use super::transfer::{Transfer, transfer};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use tilewright_core::{DType, DynMatrix, DynMut, DynRef, Element, Error, ErrorKind, Layout, MatMut, Matrix};

/// A matrix in the memory of a device, with any strides, as on the host; its element type is known at run time.
///
/// It is paid for once and used many times; [`Engine`](crate::Engine) makes it and multiplies it. Copies wait for the work
/// that was asked for before.
#[derive(Debug)]
pub struct DynDeviceMatrix {
    memory: DeviceMemory,
    dtype: DType,
    layout: Layout,
    /// The index of element (0, 0).
    origin: usize,
}

/// A [`DynDeviceMatrix`] whose element type is known at compile time.
#[derive(Debug)]
#[repr(transparent)]
pub struct DeviceMatrix<T> {
    erased: DynDeviceMatrix,
    element: PhantomData<T>,
}

impl DynDeviceMatrix {
    /// A copy of `source`: dense matrices and broadcast ones keep their strides, gaps between rows or columns are left out, and
    /// elements that are apart from each other are packed by rows.
    pub(crate) fn upload(stream: &Arc<Stream>, source: DynRef<'_>) -> Result<Self, Error> {
        let (transfer, layout, origin) = transfer(source.layout())?;
        let (dtype, size) = (source.dtype(), source.dtype().size());
        let from = |low: isize| source.as_ptr().wrapping_offset(low * size as isize);
        let memory = match transfer {
            Transfer::Whole { low, count } => {
                let memory = allocate(stream, dtype, count)?;
                // SAFETY: the piece holds elements of the view alone, which are readable; an empty one is not touched.
                unsafe { memory.write_raw(from(low).cast(), count * size)? };
                memory
            }
            Transfer::Lines { low, width, height, pitch } => {
                let memory = allocate(stream, dtype, width * height)?;
                let shape = (width * size, height, pitch * size);
                // SAFETY: the lines hold elements of the view alone, and are only read.
                unsafe { memory.copy_rows(Direction::ToDevice, from(low).cast_mut().cast(), shape)? };
                memory
            }
            Transfer::Scattered => {
                let packed = source.to_matrix()?;
                let count = layout.rows * layout.cols;
                let memory = allocate(stream, dtype, count)?;
                // SAFETY: the memory was made for these elements.
                unsafe { memory.write_raw(packed.as_ref().as_ptr().cast(), count * size)? };
                memory
            }
        };
        Ok(Self { memory, dtype, layout, origin })
    }

    /// Zeros with the strides of `layout`.
    pub(crate) fn zeros(stream: &Arc<Stream>, dtype: DType, layout: Layout) -> Result<Self, Error> {
        layout.check_unaliased()?;
        let (low, high) = layout.span()?.unwrap_or((0, -1));
        let memory = allocate(stream, dtype, high.wrapping_sub(low).wrapping_add(1).unsigned_abs())?;
        memory.clear()?;
        Ok(Self { memory, dtype, layout, origin: low.unsigned_abs() })
    }

    /// Somebody else's memory: `elements` are those that are reached, counted from element (0, 0), which has this address.
    ///
    /// # Safety
    /// As [`DeviceMemory::foreign`], for these elements; they are values of the type.
    pub(crate) unsafe fn foreign(
        stream: &Arc<Stream>,
        (dtype, layout): (DType, Layout),
        address: u64,
        elements: Range<isize>,
    ) -> Result<Self, Error> {
        let origin = elements.start.min(0).unsigned_abs();
        let count = origin + elements.end.max(0).unsigned_abs();
        layout.check_bounds(count, origin)?;
        let size = dtype.size();
        let start = address.wrapping_sub((origin * size) as u64);
        // SAFETY: the caller's promise.
        let memory = unsafe { DeviceMemory::foreign(stream, start, count * size) };
        Ok(Self { memory, dtype, layout, origin })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
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

    /// The address of element (0, 0) on the device, for other libraries that work there; meaningless when the matrix is empty. The memory is freed in the order of
    /// the engine's work: let that wait for theirs before, by [`Engine::wait_for`](crate::Engine::wait_for).
    pub fn address(&self) -> u64 {
        self.memory.address() + (self.origin * self.dtype.size()) as u64
    }

    /// The same matrix with its element type, if that is `T`.
    pub fn typed<T: Element>(&self) -> Option<&DeviceMatrix<T>> {
        // SAFETY: a matrix with a type at compile time is laid out as this one, and the type is right.
        (self.dtype == T::DTYPE).then(|| unsafe { &*ptr::from_ref(self).cast() })
    }

    /// As [`typed`](Self::typed), to write to.
    pub fn typed_mut<T: Element>(&mut self) -> Option<&mut DeviceMatrix<T>> {
        // SAFETY: as above.
        (self.dtype == T::DTYPE).then(|| unsafe { &mut *ptr::from_mut(self).cast() })
    }

    /// The largest power of two, up to 256, that divides that address.
    pub(crate) fn alignment(&self) -> u64 {
        1 << self.address().trailing_zeros().min(8)
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        self.memory.stream()
    }

    pub(crate) fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    /// All elements of its memory, on the host.
    pub(crate) fn download(&self) -> Result<DynMatrix, Error> {
        let mut all = DynMatrix::zeros(self.dtype, 1, self.bytes() / self.dtype.size())?;
        // SAFETY: as many bytes as there are here; device memory is cleared, copied from elements or written by kernels,
        // and holds values of the element type.
        unsafe { self.memory.read_raw(all.as_mut().as_mut_ptr().cast(), self.bytes())? };
        Ok(all)
    }

    /// Writes all elements of its memory.
    pub(crate) fn overwrite(&self, all: &DynMatrix) -> Result<(), Error> {
        let all = all.as_ref();
        let bytes = (all.layout().cols * all.dtype().size()).min(self.bytes());
        // SAFETY: so many bytes are there on both sides.
        unsafe { self.memory.write_raw(all.as_ptr().cast(), bytes) }
    }

    /// The same memory as a matrix of so many rows. The matrices of a batch lie below each other: the first of them has fewer rows than
    /// all.
    ///
    /// # Errors
    /// `out-of-bounds` where there are not so many.
    pub fn with_rows(self, rows: usize) -> Result<Self, Error> {
        let layout = Layout { rows, ..self.layout };
        layout.check_bounds(self.bytes() / self.dtype.size(), self.origin)?;
        Ok(Self { layout, ..self })
    }

    /// Copies into `target`, with whatever strides it has.
    ///
    /// # Errors
    /// `result-mismatch` when the shapes differ, `dtype-mismatch` when the types do, `device` when the device fails, also by a kernel
    /// that ran before.
    pub fn copy_to(&self, mut target: DynMut<'_>) -> Result<(), Error> {
        let Layout { rows, cols, .. } = target.layout();
        if (rows, cols) != (self.rows(), self.cols()) {
            let (m, n) = (self.rows(), self.cols());
            return Err(ErrorKind::ResultMismatch { what: "the target", rows, cols, m, n }.into());
        }
        if target.dtype() != self.dtype {
            let (what, expected, found) = ("the target", self.dtype, target.dtype());
            return Err(ErrorKind::DTypeMismatch { what, expected, found }.into());
        }
        let (transfer, layout, origin) = transfer(target.layout())?;
        let size = self.dtype.size();
        let mut to = |low: isize| target.as_mut_ptr().wrapping_offset(low * size as isize).cast();
        // A copy by the device needs the same strides on both sides, gaps on the host left out.
        let same = layout == self.layout && origin == self.origin;
        match transfer {
            Transfer::Whole { low, count } if same && count * size == self.bytes() => {
                // SAFETY: the piece holds elements of the target alone, which are writable, and as many as there are here.
                unsafe { self.memory.read_raw(to(low), count * size) }
            }
            Transfer::Lines { low, width, height, pitch }
                if same && width * height * size == self.bytes() =>
            {
                // SAFETY: as above, line by line.
                unsafe {
                    self.memory.copy_rows(Direction::ToHost, to(low), (width * size, height, pitch * size))
                }
            }
            _ => {
                let mut all = self.download()?;
                let start = all.as_mut().as_mut_ptr();
                self.layout.check_bounds(self.bytes() / size, self.origin)?;
                let first =
                    NonNull::new(start.wrapping_add(self.origin * size)).unwrap_or(NonNull::dangling());
                // SAFETY: the check keeps every element inside `all`, which lives as long.
                target.copy_from(unsafe { DynRef::from_raw_parts(first, self.dtype, self.layout) })
            }
        }
    }
}

impl<T: Element> DeviceMatrix<T> {
    pub(crate) fn upload(stream: &Arc<Stream>, source: DynRef<'_>) -> Result<Self, Error> {
        Ok(Self { erased: DynDeviceMatrix::upload(stream, source)?, element: PhantomData })
    }

    pub(crate) fn zeros(stream: &Arc<Stream>, layout: Layout) -> Result<Self, Error> {
        Ok(Self { erased: DynDeviceMatrix::zeros(stream, T::DTYPE, layout)?, element: PhantomData })
    }

    /// The transpose, without moving an element.
    #[must_use]
    pub fn t(mut self) -> Self {
        self.erased.layout = self.erased.layout.t();
        self
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
    /// As [`DynDeviceMatrix::copy_to`].
    pub fn copy_to(&self, target: MatMut<'_, T>) -> Result<(), Error> {
        self.erased.copy_to(target.into())
    }
}

impl<T> Deref for DeviceMatrix<T> {
    type Target = DynDeviceMatrix;
    fn deref(&self) -> &DynDeviceMatrix {
        &self.erased
    }
}

impl<T> DerefMut for DeviceMatrix<T> {
    fn deref_mut(&mut self) -> &mut DynDeviceMatrix {
        &mut self.erased
    }
}

fn allocate(stream: &Arc<Stream>, dtype: DType, count: usize) -> Result<DeviceMemory, Error> {
    let what = "a matrix";
    let bytes = count
        .checked_mul(dtype.size())
        .ok_or(ErrorKind::OutOfMemory { what: "a matrix on the device", bytes: u64::MAX })?;
    DeviceMemory::new(stream, what, bytes)
}
