//! What a copy moves, row by row along the fastest dimension.

use super::{Im2col, RANK, TensorMap};

/// Bytes that lie one after the other in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it begins in the box in shared memory, in bytes.
    pub shared: u32,
    /// Bytes in shared memory.
    pub bytes: u32,
    /// Those of them that lie inside of the tensor: from here
    pub first: u32,
    /// to here.
    pub end: u32,
    /// The address of the first of these.
    pub global: u64,
}

/// Bytes that a store writes together.
const PIECE: u32 = 16;

impl Row {
    /// Takes in what a store writes behind the tensor: the rest of a piece of 16 bytes that the row ends in, in every type, with a swizzle and without, as an
    /// H200 does (driver 580.159.04, 2026-11-28). A load fills exactly. What a reduction does there was not measured.
    pub(crate) fn widen_store(&mut self) {
        if self.first < self.end {
            self.end = self.end.next_multiple_of(PIECE).min(self.bytes);
        }
    }
}

/// Where a copy begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traversal {
    /// Coordinates, the fastest first.
    pub coordinates: [i32; RANK],
    /// Offsets along w, h, d of im2col mode.
    pub offsets: [u32; 3],
}

impl TensorMap {
    /// The rows of a copy, in the order in which they lie in shared memory.
    pub(crate) fn rows(&self, at: &Traversal) -> Vec<Row> {
        match &self.im2col {
            None => self.rows_of_box(at),
            Some(im2col) => self.rows_of_pixels(im2col, at),
        }
    }

    fn rows_of_box(&self, at: &Traversal) -> Vec<Row> {
        let has_slices = self.interleave.slice().is_some();
        // Steps along the fastest dimension count in slices alone; they make a row of each pixel.
        let is_apart = has_slices && self.steps[0] > 1;
        let is_one = |dimension: usize| match dimension {
            0 => !is_apart,
            _ => dimension >= self.rank || has_slices && dimension == self.slices(),
        };
        let counts: [u32; RANK] = std::array::from_fn(|dimension| match is_one(dimension) {
            true => 1,
            false => self.boxes[dimension].div_ceil(self.steps[dimension]),
        });
        let count = counts.iter().product::<u32>() as usize;
        let mut rows = Vec::with_capacity(count);
        for number in 0..count {
            let mut index = at.coordinates.map(i64::from);
            let mut rest = number as u32;
            for dimension in 0..RANK {
                index[dimension] += i64::from(rest % counts[dimension] * self.steps[dimension]);
                rest /= counts[dimension];
            }
            rows.push(self.row(number, index, if is_apart { 1 } else { self.boxes[0] }));
        }
        rows
    }

    /// The dimension of slices, where channels lie in slices.
    fn slices(&self) -> usize {
        self.rank - 2
    }

    /// Pixels one after the other along w, then h, then d, within the box; then those of the next image.
    fn rows_of_pixels(&self, im2col: &Im2col, at: &Traversal) -> Vec<Row> {
        let axes = self.rank - 2;
        // Channels are the fastest dimension, or a slice of them is part of a pixel.
        let (first, count) = match self.interleave.slice() {
            None => (1, im2col.channels),
            Some(_) => (0, 1),
        };
        let mut pixel = at.coordinates.map(i64::from);
        let mut rows = Vec::new();
        for _ in 0..im2col.pixels {
            let mut index = pixel;
            for (axis, &offset) in at.offsets[..axes].iter().enumerate() {
                index[first + axis] += i64::from(offset);
            }
            rows.push(self.row(rows.len(), index, count));
            let mut carries = true;
            for axis in 0..axes {
                if !carries {
                    break;
                }
                let dimension = first + axis;
                pixel[dimension] += i64::from(self.steps[dimension]);
                carries = pixel[dimension] >= self.extents[dimension] as i64 + i64::from(im2col.upper[axis]);
                if carries {
                    pixel[dimension] = im2col.lower[axis].into();
                }
            }
            pixel[self.rank - 1] += i64::from(carries);
        }
        rows
    }

    /// `count` elements from `index` on.
    fn row(&self, number: usize, index: [i64; RANK], count: u32) -> Row {
        let size = self.interleave.slice().unwrap_or(self.element.bytes());
        let bytes = count * size;
        let outside = (1..self.rank)
            .any(|dimension| index[dimension] < 0 || index[dimension] >= self.extents[dimension] as i64);
        let extent = if outside { 0 } else { self.extents[0] as i64 };
        let first = (-index[0]).clamp(0, count.into());
        let end = (extent - index[0]).clamp(first, count.into());
        let outer = (1..self.rank).fold(0i64, |sum, dimension| {
            sum.wrapping_add(index[dimension].wrapping_mul(self.strides[dimension - 1] as i64))
        });
        let start = (index[0] + first).wrapping_mul(size.into()).wrapping_add(outer);
        Row {
            shared: number as u32 * bytes,
            bytes,
            first: first as u32 * size,
            end: end as u32 * size,
            global: self.address.wrapping_add_signed(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ElementType, Fill, Interleave, Swizzle};
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            element: ElementType::F16,
            rank: 3,
            address: 1 << 20,
            extents: [20, 5, 3, 1, 1],
            strides: [64, 512, 0, 0],
            boxes: [16, 2, 2, 1, 1],
            steps: [1; RANK],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zeros,
            im2col: None,
        }
    }

    #[test]
    fn a_box_is_clipped_on_all_sides() {
        let at = |x, y, z| Traversal { coordinates: [x, y, z, 0, 0], offsets: [0; 3] };
        let rows = map().rows(&at(8, 4, -1));
        assert_eq!(rows.len(), 4);
        let inside: Vec<_> = rows.iter().map(|row| row.end - row.first).collect();
        assert_eq!(inside, [0, 0, 24, 0]);
        assert_eq!(
            rows[2],
            Row { shared: 64, bytes: 32, first: 0, end: 24, global: (1 << 20) + 4 * 64 + 16 }
        );
        let left = map().rows(&at(-3, 0, 0));
        assert_eq!((left[0].first, left[0].end, left[0].global), (6, 32, 1 << 20));
    }

    #[test]
    fn steps_take_one_of_several() {
        let strided = TensorMap { boxes: [16, 3, 1, 1, 1], steps: [1, 2, 1, 1, 1], ..map() };
        let rows = strided.rows(&Traversal { coordinates: [0, 1, 2, 0, 0], offsets: [0; 3] });
        let addresses: Vec<_> = rows.iter().map(|row| row.global - (1 << 20)).collect();
        assert_eq!(addresses, [64 + 1024, 3 * 64 + 1024]);
    }

    #[test]
    fn pixels_go_around_the_box() {
        // Channels, w, h, n; a filter of 3 x 3 with padding 1: pixels from -1 to 2 short of the end.
        let im2col = Im2col { lower: [-1, -1, 0], upper: [-1, -1, 0], channels: 8, pixels: 6 };
        let images = TensorMap {
            rank: 4,
            extents: [8, 4, 3, 2, 1],
            strides: [16, 64, 192, 0],
            im2col: Some(im2col),
            ..map()
        };
        let rows = images.rows(&Traversal { coordinates: [0, 1, 1, 0, 0], offsets: [1, 0, 0] });
        let seen: Vec<_> = rows.iter().map(|row| (row.end > 0, row.global - (1 << 20))).collect();
        // (w, h, n): (1, 1, 0), (2, 1, 0), then w begins at -1 and h is at its end: the next image, from -1, -1.
        let place = |w: i64, h: i64, n: i64| (16 * w + 64 * h + 192 * n) as u64;
        assert_eq!(seen[..2], [(true, place(2, 1, 0)), (true, place(3, 1, 0))]);
        assert!(!seen[2].0 && !seen[5].0);
    }

    /// What an H200 copies of a tensor of 11 x 6 pixels, 7 slices and 3 images: pixels 512 bytes, slices 4096, images 65536 apart.
    fn slices(interleave: Interleave) -> TensorMap {
        TensorMap {
            rank: 4,
            extents: [11, 6, 7, 3, 1],
            strides: [512, 4096, 65536, 0],
            boxes: [8, 2, 9, 2, 1],
            interleave,
            ..map()
        }
    }

    /// Where each row comes from, and its bytes inside.
    fn seen(map: &TensorMap, coordinates: [i32; RANK]) -> Vec<(u64, u32)> {
        let rows = map.rows(&Traversal { coordinates, offsets: [0; 3] });
        rows.iter().map(|row| (row.global - (1 << 20), row.end - row.first)).collect()
    }

    #[test]
    fn a_box_is_of_one_slice() {
        for (interleave, bytes) in [(Interleave::Bytes16, 16), (Interleave::Bytes32, 32)] {
            let map = slices(interleave);
            let rows = [0, 512, 65536, 66048];
            assert_eq!(seen(&map, [0; RANK]), rows.map(|at| (at, 8 * bytes)));
            let second = rows.map(|at| (4096 * 2 + at + 6 * u64::from(bytes), 5 * bytes));
            assert_eq!(seen(&map, [6, 0, 2, 0, 0]), second);
            assert!(seen(&map, [0, 0, 7, 0, 0]).iter().all(|row| row.1 == 0));
            // Every third pixel is a row of its own: 0, 3 and 6.
            let steps = TensorMap { steps: [3, 2, 5, 2, 1], ..map };
            let pixels = [0, 3, 6].map(|pixel| (pixel * u64::from(bytes), bytes));
            assert_eq!(seen(&steps, [0; RANK]), pixels);
        }
    }

    #[test]
    fn pixels_of_a_slice_are_its_fastest_dimension() {
        let im2col = Im2col { lower: [-1, 0, 0], upper: [-2, 0, 0], channels: 64, pixels: 9 };
        let map = TensorMap { im2col: Some(im2col), ..slices(Interleave::Bytes16) };
        let rows = seen(&map, [4, 5, 1, 0, 0]);
        let place = |w: u64, h: u64, n: u64| 4096 + 16 * w + 512 * h + 65536 * n;
        // Along w up to 8, then the next image, from (-1, 0).
        let expected = [4, 5, 6, 7, 8].map(|w| (place(w, 5, 0), 16));
        assert_eq!(rows[..5], expected);
        assert_eq!(rows[5].1, 0);
        assert_eq!(rows[6..], [0, 1, 2].map(|w| (place(w, 0, 1), 16)));
    }

    /// Rows of 1 to 17 elements were stored from a box of 128 bytes.
    #[test]
    fn stores_write_whole_pieces() {
        for (size, element) in
            [(1, ElementType::U8), (2, ElementType::Bf16), (4, ElementType::F32), (8, ElementType::F64)]
        {
            for elements in 1..=17 {
                let box_elements = 128 / size;
                let map = TensorMap::matrix(element, 0, [elements, 4], 256, [box_elements, 8], Swizzle::None);
                let mut rows = map.rows(&Traversal { coordinates: [0; RANK], offsets: [0; 3] });
                rows.iter_mut().for_each(Row::widen_store);
                let written = (elements as u32 * size).min(128).next_multiple_of(16);
                assert!(rows[..4].iter().all(|row| row.end - row.first == written), "{elements} of {size}");
                assert!(rows[4..].iter().all(|row| row.end == row.first), "rows outside");
            }
        }
    }
}
