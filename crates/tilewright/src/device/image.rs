//! A matrix in memory that stands for a device's.

use tilewright_core::{DType, Element, Error, ErrorKind, Layout, MatMut, MatRef};
use tilewright_emulator::HostArray;

/// Shape and strides on the device, and the index of element (0, 0).
pub(super) type Place = (Layout, usize);

/// The bytes of a matrix, with the strides that it has on the device.
pub(super) struct Image {
    name: &'static str,
    bytes: Vec<u8>,
    layout: Layout,
    /// The byte at which element (0, 0) begins.
    origin: usize,
}

impl Image {
    /// Room for a matrix, unwritten.
    pub fn room<T: Element>(name: &'static str, (layout, origin): Place) -> Result<Self, Error> {
        let elements = layout.span()?.map_or(0, |(low, high)| high.abs_diff(low).saturating_add(1));
        // Every value of a boolean must be one.
        let fill = if T::DTYPE == DType::Bool { 0 } else { UNWRITTEN };
        let bytes = filled(name, elements.saturating_mul(size_of::<T>()) as u64, fill)?;
        Ok(Self { name, bytes, layout, origin: origin * size_of::<T>() })
    }

    /// A copy of a matrix.
    pub fn of<T: Element>(name: &'static str, place: Place, source: MatRef<'_, T>) -> Result<Self, Error> {
        let mut image = Self::room::<T>(name, place)?;
        for row in 0..source.rows() {
            for col in 0..source.cols() {
                let at = image.at::<T>(row, col);
                let Some(target) = image.bytes.get_mut(at..at + size_of::<T>()) else { continue };
                // SAFETY: the indices are those of the matrix.
                let element = unsafe { source.get_unchecked(row, col) };
                // SAFETY: an element is plain bytes without padding, and there is room for them.
                unsafe { target.as_mut_ptr().cast::<T>().write_unaligned(element) };
            }
        }
        Ok(image)
    }

    /// Copies the matrix to where it belongs.
    pub fn copy_to<T: Element>(&self, mut target: MatMut<'_, T>) {
        target.fill_with(|row, col| {
            let at = self.at::<T>(row, col);
            match self.bytes.get(at..at + size_of::<T>()) {
                // SAFETY: there are as many bytes as an element has, and a kernel wrote them as an element.
                Some(bytes) => unsafe { bytes.as_ptr().cast::<T>().read_unaligned() },
                None => T::DEFAULT,
            }
        });
    }

    /// The byte at which an element begins: inside, as the span of the layout has all of them.
    fn at<T>(&self, row: usize, col: usize) -> usize {
        self.origin.wrapping_add_signed(self.layout.offset(row, col).wrapping_mul(size_of::<T>() as isize))
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
        let name = "a workspace";
        Ok(Self { name, bytes: filled(name, bytes, UNWRITTEN)?, layout: Layout::row_major(0, 0), origin: 0 })
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

/// The largest power of two, up to 256, that divides the address of element (0, 0): allocations begin at multiples of 256.
pub(super) fn alignment<T>((_, origin): Place) -> u64 {
    1 << (origin * size_of::<T>()).trailing_zeros().min(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::Matrix;

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
            let image = Image::of("A", place, source).unwrap();
            let mut copy = Matrix::filled(layout.rows, layout.cols, 0).unwrap();
            image.copy_to(copy.as_mut());
            assert_eq!(copy.as_ref(), source, "{layout:?}");
        }
    }

    #[test]
    fn alignments_are_those_of_element_zero() {
        let layout = Layout::row_major(1, 1);
        assert_eq!([0, 1, 4, 6, 64].map(|origin| alignment::<f32>((layout, origin))), [256, 4, 16, 8, 256]);
    }
}
