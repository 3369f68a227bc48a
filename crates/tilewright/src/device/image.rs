//! A matrix in memory that stands for a device's.

use super::Place;
use tilewright_core::{DType, DynMut, DynRef, Error, ErrorKind, Layout};
use tilewright_emulator::HostArray;

/// The bytes of a matrix, with the strides that it has on the device.
pub(super) struct Image {
    name: &'static str,
    bytes: Vec<u8>,
    layout: Layout,
    /// Bytes of an element.
    size: usize,
    /// The byte at which element (0, 0) begins.
    origin: usize,
}

impl Image {
    /// Room for a matrix, unwritten.
    pub fn room(name: &'static str, (layout, origin): Place, dtype: DType) -> Result<Self, Error> {
        let size = dtype.size();
        let elements = layout.span()?.map_or(0, |(low, high)| high.abs_diff(low).saturating_add(1));
        // Every value of a boolean must be one.
        let fill = if dtype == DType::Bool { 0 } else { UNWRITTEN };
        let bytes = filled(name, elements.saturating_mul(size) as u64, fill)?;
        Ok(Self { name, bytes, layout, size, origin: origin * size })
    }

    /// A copy of a matrix.
    pub fn of(name: &'static str, place: Place, source: DynRef<'_>) -> Result<Self, Error> {
        let mut image = Self::room(name, place, source.dtype())?;
        let size = image.size;
        for (row, col) in indices(source.layout()) {
            let at = image.at(row, col);
            if let (Some(target), Some(element)) =
                (image.bytes.get_mut(at..at + size), source.bytes(row, col))
            {
                target.copy_from_slice(element);
            }
        }
        Ok(image)
    }

    /// Copies the matrix to where it belongs.
    pub fn copy_to(&self, mut target: DynMut<'_>) {
        for (row, col) in indices(target.layout()) {
            let at = self.at(row, col);
            if let Some(element) = self.bytes.get(at..at + self.size) {
                // SAFETY: a kernel wrote the bytes as an element of this type.
                unsafe { target.set_bytes(row, col, element) };
            }
        }
    }

    /// The byte at which an element begins: inside, as the span of the layout has all of them.
    fn at(&self, row: usize, col: usize) -> usize {
        self.origin.wrapping_add_signed(self.layout.offset(row, col).wrapping_mul(self.size as isize))
    }

    /// For a launch.
    pub fn array(&self) -> HostArray<'_> {
        HostArray { name: self.name, bytes: &self.bytes, origin: self.origin }
    }

    /// What a launch left.
    pub fn replace(&mut self, bytes: Vec<u8>) {
        self.bytes = bytes;
    }

    /// A workspace of so many bytes.
    pub fn workspace(bytes: u64) -> Result<Self, Error> {
        let (name, layout) = ("a workspace", Layout::row_major(0, 0));
        Ok(Self { name, bytes: filled(name, bytes, UNWRITTEN)?, layout, size: 1, origin: 0 })
    }
}

/// What memory holds that nobody has written: NaN as a float, -1 as an integer, so that a kernel that relies on zeros is found out.
const UNWRITTEN: u8 = 0xff;

fn filled(what: &'static str, count: u64, fill: u8) -> Result<Vec<u8>, Error> {
    let failed = || ErrorKind::OutOfMemory { what, bytes: count };
    let length = usize::try_from(count).map_err(|_| failed())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| failed())?;
    bytes.resize(length, fill);
    Ok(bytes)
}

/// Row by row.
fn indices(layout: Layout) -> impl Iterator<Item = (usize, usize)> {
    // Without columns there is nothing to visit, however many rows there are.
    let rows = if layout.cols == 0 { 0 } else { layout.rows };
    (0..rows).flat_map(move |row| (0..layout.cols).map(move |col| (row, col)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{MatRef, Matrix};

    #[test]
    fn every_element_comes_back_whatever_the_strides() {
        let data: Vec<i32> = (0..200).collect();
        for layout in [
            Layout::row_major(5, 7),
            Layout::col_major(5, 7),
            Layout::strided(5, 7, -9, 1),
            Layout::strided(5, 7, 0, 1),
            Layout::strided(0, 7, 7, 1),
        ] {
            let origin = layout.span().unwrap().map_or(0, |(low, _)| low.unsigned_abs());
            let source = MatRef::with_origin(&data, layout, origin).unwrap();
            let place = tilewright_cuda::device_layout(layout).unwrap();
            let image = Image::of("A", place, source.into()).unwrap();
            let mut copy = Matrix::filled(layout.rows, layout.cols, 0).unwrap();
            image.copy_to(copy.as_mut().into());
            assert_eq!(copy.as_ref(), source, "{layout:?}");
        }
    }
}
