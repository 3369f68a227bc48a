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
        let count = |dimension: usize| match dimension < self.rank {
            true => self.boxes[dimension].div_ceil(self.steps[dimension]),
            false => 1,
        };
        let mut rows = Vec::new();
        for w in 0..count(4) {
            for z in 0..count(3) {
                for y in 0..count(2) {
                    for x in 0..count(1) {
                        let mut index = at.coordinates.map(i64::from);
                        for (dimension, steps) in [(1, x), (2, y), (3, z), (4, w)] {
                            if dimension < self.rank {
                                index[dimension] += i64::from(steps * self.steps[dimension]);
                            }
                        }
                        rows.push(self.row(rows.len(), index, self.boxes[0]));
                    }
                }
            }
        }
        rows
    }

    /// Pixels one after the other along w, then h, then d, within the box; then those of the next image.
    fn rows_of_pixels(&self, im2col: &Im2col, at: &Traversal) -> Vec<Row> {
        let axes = self.rank - 2;
        let mut pixel = at.coordinates.map(i64::from);
        let mut rows = Vec::new();
        for _ in 0..im2col.pixels {
            let mut index = pixel;
            for (axis, &offset) in at.offsets[..axes].iter().enumerate() {
                index[1 + axis] += i64::from(offset);
            }
            rows.push(self.row(rows.len(), index, im2col.channels));
            let mut carries = true;
            for axis in 0..axes {
                if !carries {
                    break;
                }
                pixel[1 + axis] += i64::from(self.steps[1 + axis]);
                carries = pixel[1 + axis] >= self.extents[1 + axis] as i64 + i64::from(im2col.upper[axis]);
                if carries {
                    pixel[1 + axis] = im2col.lower[axis].into();
                }
            }
            pixel[1 + axes] += i64::from(carries);
        }
        rows
    }

    /// `count` elements from `index` on.
    fn row(&self, number: usize, index: [i64; RANK], count: u32) -> Row {
        let size = self.element.bytes();
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
    use super::super::{ElementType, Fill, Swizzle};
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
}
