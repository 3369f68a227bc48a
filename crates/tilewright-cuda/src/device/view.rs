//! Parts of matrices on the device, and their transposes: nothing is moved.

use super::matrix::{DeviceMatrix, DynDeviceMatrix};
use super::memory::Direction;
use tilewright_core::{DType, DynMatrix, DynMut, DynRef, Element, Error, ErrorKind, Layout};

/// A matrix on the device, or a part of one, that is read.
#[derive(Debug, Clone, Copy)]
pub struct DeviceRef<'a> {
    matrix: &'a DynDeviceMatrix,
    layout: Layout,
    /// The index of element (0, 0).
    origin: usize,
}

/// A matrix on the device, or a part of one, that is written.
#[derive(Debug)]
pub struct DeviceMut<'a> {
    matrix: &'a mut DynDeviceMatrix,
    layout: Layout,
    origin: usize,
}

impl<'a> DeviceRef<'a> {
    /// The element type.
    pub fn dtype(self) -> DType {
        self.matrix.dtype()
    }

    /// Shape and strides on the device.
    pub fn layout(self) -> Layout {
        self.layout
    }

    /// The transpose.
    #[must_use]
    pub fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, origin) = moved(self.layout, self.origin, [row, col, rows, cols])?;
        Ok(Self { layout, origin, ..self })
    }

    /// The same elements in another shape, from element (0, 0) on.
    ///
    /// # Errors
    /// `out-of-bounds` where it reaches outside the matrix's memory.
    pub fn reshaped(self, layout: Layout) -> Result<Self, Error> {
        layout.check_bounds(self.matrix.bytes() / self.dtype().size(), self.origin)?;
        Ok(Self { layout, ..self })
    }

    /// Copies into `target` on the host, with whatever strides it has. Waits for the work that was asked for before.
    ///
    /// # Errors
    /// `result-mismatch` when the shapes differ, `dtype-mismatch` when the types do, `device` when the device fails, also by a kernel
    /// that ran before; `out-of-memory` on the host.
    pub fn copy_to(self, mut target: DynMut<'_>) -> Result<(), Error> {
        if (self.layout, self.origin) == (self.matrix.layout(), self.matrix.origin()) {
            return self.matrix.copy_to(target);
        }
        let (dtype, size) = (self.dtype(), self.dtype().size());
        fits(self.layout, dtype, (target.layout(), target.dtype()))?;
        if self.layout.is_empty() {
            return Ok(());
        }
        let Some(Lines { width, height, pitch, by_columns }) = Lines::of(self.layout) else {
            let all = self.matrix.download()?;
            return target.copy_from(part(&all, self.layout, self.origin)?);
        };
        let mut lines = DynMatrix::zeros(dtype, height, width)?;
        let host = lines.as_mut().as_mut_ptr().cast();
        let there = (self.origin * size, pitch * size);
        // SAFETY: the lines lie inside the matrix, `lines` has room for them, and device memory holds values of the element type.
        unsafe { self.matrix.memory().copy_lines(Direction::ToHost, host, there, (width * size, height))? };
        target.copy_from(if by_columns { lines.as_ref().t() } else { lines.as_ref() })
    }

    /// A copy on the host, by rows.
    ///
    /// # Errors
    /// As [`DeviceRef::copy_to`].
    pub fn to_matrix(self) -> Result<DynMatrix, Error> {
        let mut matrix = DynMatrix::zeros(self.dtype(), self.layout.rows, self.layout.cols)?;
        self.copy_to(matrix.as_mut())?;
        Ok(matrix)
    }

    pub(crate) fn matrix(self) -> &'a DynDeviceMatrix {
        self.matrix
    }

    pub(crate) fn origin(self) -> usize {
        self.origin
    }

    /// The address of element (0, 0) on the device; meaningless when the matrix is empty.
    pub(crate) fn address(self) -> u64 {
        self.matrix.memory().address() + (self.origin * self.dtype().size()) as u64
    }

    /// The largest power of two, up to 256, that divides the address of element (0, 0).
    pub(crate) fn alignment(self) -> u64 {
        1 << self.address().trailing_zeros().min(8)
    }
}

impl DeviceMut<'_> {
    /// The same part, to be read.
    pub fn as_ref(&self) -> DeviceRef<'_> {
        DeviceRef { matrix: self.matrix, layout: self.layout, origin: self.origin }
    }

    /// The same part for a shorter time, so that it can be handed on and used again.
    pub fn reborrow(&mut self) -> DeviceMut<'_> {
        DeviceMut { matrix: self.matrix, layout: self.layout, origin: self.origin }
    }

    /// The transpose.
    #[must_use]
    pub fn t(self) -> Self {
        Self { layout: self.layout.t(), ..self }
    }

    /// The `rows x cols` part whose first element is `(row, col)`.
    ///
    /// # Errors
    /// `window-out-of-bounds` when it reaches outside.
    pub fn window(self, row: usize, col: usize, rows: usize, cols: usize) -> Result<Self, Error> {
        let (layout, origin) = moved(self.layout, self.origin, [row, col, rows, cols])?;
        Ok(Self { layout, origin, ..self })
    }

    /// As [`DeviceRef::reshaped`].
    ///
    /// # Errors
    /// As [`DeviceRef::reshaped`]; `aliased` where two indices address one element.
    pub fn reshaped(self, layout: Layout) -> Result<Self, Error> {
        layout.check_unaliased()?;
        layout.check_bounds(self.matrix.bytes() / self.matrix.dtype().size(), self.origin)?;
        Ok(Self { layout, ..self })
    }

    /// Copies from `source` on the host, with whatever strides it has; nothing outside this part is written. Waits for the work that was
    /// asked for before.
    ///
    /// # Errors
    /// As [`DeviceRef::copy_to`].
    pub fn copy_from(&mut self, source: DynRef<'_>) -> Result<(), Error> {
        let (dtype, size) = (self.matrix.dtype(), self.matrix.dtype().size());
        fits(self.layout, dtype, (source.layout(), source.dtype()))?;
        if self.layout.is_empty() {
            return Ok(());
        }
        let Some(Lines { width, height, pitch, by_columns }) = Lines::of(self.layout) else {
            let mut all = self.matrix.download()?;
            part_mut(&mut all, self.layout, self.origin)?.copy_from(source)?;
            return self.matrix.overwrite(&all);
        };
        let mut lines = DynMatrix::zeros(dtype, height, width)?;
        lines.as_mut().copy_from(if by_columns { source.t() } else { source })?;
        let host = lines.as_mut().as_mut_ptr().cast();
        let there = (self.origin * size, pitch * size);
        // SAFETY: the lines lie inside the matrix, which is borrowed exclusively, and `lines` holds as many elements of its type.
        unsafe { self.matrix.memory().copy_lines(Direction::ToDevice, host, there, (width * size, height)) }
    }
}

impl<'a> From<&'a DynDeviceMatrix> for DeviceRef<'a> {
    fn from(matrix: &'a DynDeviceMatrix) -> Self {
        Self { matrix, layout: matrix.layout(), origin: matrix.origin() }
    }
}

impl<'a, T: Element> From<&'a DeviceMatrix<T>> for DeviceRef<'a> {
    fn from(matrix: &'a DeviceMatrix<T>) -> Self {
        Self::from(&**matrix)
    }
}

impl<'a> From<&'a mut DynDeviceMatrix> for DeviceMut<'a> {
    fn from(matrix: &'a mut DynDeviceMatrix) -> Self {
        let (layout, origin) = (matrix.layout(), matrix.origin());
        Self { matrix, layout, origin }
    }
}

impl<'a, T: Element> From<&'a mut DeviceMatrix<T>> for DeviceMut<'a> {
    fn from(matrix: &'a mut DeviceMatrix<T>) -> Self {
        Self::from(&mut **matrix)
    }
}

/// Lines of neighbouring elements, one a `pitch` of elements behind the other.
#[derive(Debug, PartialEq, Eq)]
struct Lines {
    width: usize,
    height: usize,
    pitch: usize,
    by_columns: bool,
}

impl Lines {
    /// `None` where elements have no neighbours, and where lines go backwards or overlap.
    fn of(layout: Layout) -> Option<Self> {
        let along = |width: usize, stride: isize, height: usize, pitch: isize, by_columns| {
            let pitch = if height == 1 { width } else { usize::try_from(pitch).ok()? };
            let has_neighbours = (width == 1 || stride == 1) && pitch >= width;
            has_neighbours.then_some(Self { width, height, pitch, by_columns })
        };
        let Layout { rows, cols, row_stride, col_stride } = layout;
        along(cols, col_stride, rows, row_stride, false)
            .or_else(|| along(rows, row_stride, cols, col_stride, true))
    }
}

/// The layout and the origin of a window.
fn moved(
    layout: Layout,
    origin: usize,
    [row, col, rows, cols]: [usize; 4],
) -> Result<(Layout, usize), Error> {
    let (window, offset) = layout.window(row, col, rows, cols)?;
    // Of an empty window the origin may be anywhere.
    Ok((window, origin.checked_add_signed(offset).filter(|_| !window.is_empty()).unwrap_or(origin)))
}

fn fits(layout: Layout, dtype: DType, (other, found): (Layout, DType)) -> Result<(), Error> {
    let (Layout { rows: m, cols: n, .. }, Layout { rows, cols, .. }) = (layout, other);
    if (rows, cols) != (m, n) {
        return Err(ErrorKind::ResultMismatch { what: "the matrix on the host", rows, cols, m, n }.into());
    }
    if found != dtype {
        let what = "the matrix on the host";
        return Err(ErrorKind::DTypeMismatch { what, expected: dtype, found }.into());
    }
    Ok(())
}

/// A part of the elements of a matrix, which are `1 x n` here.
fn part(all: &DynMatrix, layout: Layout, origin: usize) -> Result<DynRef<'_>, Error> {
    let all = all.as_ref();
    layout.check_bounds(all.layout().cols, origin)?;
    let first = all.as_ptr().wrapping_add(origin * all.dtype().size()).cast_mut();
    let first = core::ptr::NonNull::new(first).unwrap_or(core::ptr::NonNull::dangling());
    // SAFETY: the check keeps every element inside `all`, which is borrowed as long.
    Ok(unsafe { DynRef::from_raw_parts(first, all.dtype(), layout) })
}

fn part_mut(all: &mut DynMatrix, layout: Layout, origin: usize) -> Result<DynMut<'_>, Error> {
    layout.check_bounds(all.as_ref().layout().cols, origin)?;
    layout.check_unaliased()?;
    let mut all = all.as_mut();
    let (dtype, start) = (all.dtype(), all.as_mut_ptr());
    let first = start.wrapping_add(origin * dtype.size());
    let first = core::ptr::NonNull::new(first).unwrap_or(core::ptr::NonNull::dangling());
    // SAFETY: the check keeps every element inside `all`, which is borrowed exclusively as long, and no two are one.
    Ok(unsafe { DynMut::from_raw_parts(first, dtype, layout) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_along_rows_and_columns_and_nowhere_else() {
        let of = |rows, cols, row_stride, col_stride| {
            Lines::of(Layout::strided(rows, cols, row_stride, col_stride))
                .map(|l| (l.width, l.height, l.pitch, l.by_columns))
        };
        assert_eq!(of(3, 4, 10, 1), Some((4, 3, 10, false)));
        assert_eq!(of(3, 4, 1, 10), Some((3, 4, 10, true)));
        assert_eq!(of(1, 4, -7, 1), Some((4, 1, 4, false)));
        // A column of a matrix by rows has lines of one element.
        assert_eq!(of(5, 1, 8, 1), Some((1, 5, 8, false)));
        for none in [of(3, 4, -10, 1), of(3, 4, 10, -1), of(3, 4, 20, 2), of(3, 4, 0, 1), of(3, 4, 2, 1)] {
            assert_eq!(none, None);
        }
    }
}
