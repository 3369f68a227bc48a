//! How much of C is computed at a time, so that its scratch memory keeps a limit.

use crate::request::Batch;

/// What is computed at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Products.
    pub batches: usize,
    /// Rows and columns of C.
    pub sides: [u32; 2],
}

/// Rectangles of C with shorter sides are not worth their launches.
const LEAST: u32 = 256;

/// The largest part of `batch` products of `sides` rows and columns for which `bytes` says no more than `limit`; `None` where no part
/// that is worth it is so small.
pub(super) fn part(batch: Batch, sides: [u32; 2], limit: u64, bytes: impl Fn(Part) -> u128) -> Option<Part> {
    let mut part = Part { batches: batch.count, sides };
    while bytes(part) > limit.into() {
        let longer = usize::from(part.sides[1] > part.sides[0]);
        match part {
            Part { batches: 2.., .. } => part.batches = part.batches.div_ceil(2),
            _ if part.sides[longer] <= LEAST => return None,
            _ => part.sides[longer] = part.sides[longer].div_ceil(2).next_multiple_of(LEAST),
        }
    }
    Some(part)
}

/// A side of an operand, filled up so that tiles of the product have no edges where there are many of them, and are copied in vectors.
pub(super) fn padded_side(side: u32) -> u32 {
    side.next_multiple_of(match side {
        2048.. => 128,
        256.. => 64,
        _ => 4,
    })
}

/// Terms, filled up likewise.
pub(super) fn padded_terms(terms: u32) -> u32 {
    terms.next_multiple_of(if terms >= 256 { 32 } else { 8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part_of(count: usize, sides: [u32; 2], limit: u64) -> Option<Part> {
        let bytes = |part: Part| {
            let [rows, cols] = part.sides.map(u128::from);
            part.batches as u128 * (1000 * (rows + cols) + rows * cols)
        };
        part(Batch { count, ..Batch::ONE }, sides, limit, bytes)
    }

    #[test]
    fn what_fits_is_computed_at_once_and_the_rest_in_rectangles() {
        let all = |batches, sides| Some(Part { batches, sides });
        assert_eq!(part_of(7, [100, 9], 1 << 20), all(7, [100, 9]));
        assert_eq!(part_of(7, [100, 9], 300_000), all(2, [100, 9]));
        assert_eq!(part_of(1, [5000, 3000], 20_000_000), all(1, [2560, 3000]));
        assert_eq!(part_of(1, [5000, 3000], 4_000_000), all(1, [1280, 768]));
        assert_eq!(part_of(1, [5000, 300], 600_000), all(1, [256, 256]));
        assert_eq!(part_of(1, [5000, 3000], 0), None);
    }

    #[test]
    fn thin_sides_are_hardly_filled_up() {
        assert_eq!([1, 16, 255, 257, 1000, 4095].map(padded_side), [4, 16, 256, 320, 1024, 4096]);
        assert_eq!([1, 16, 100, 256, 257].map(padded_terms), [8, 16, 104, 256, 288]);
    }
}
