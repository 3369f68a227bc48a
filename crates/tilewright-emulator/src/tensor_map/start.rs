//! Where a copy of a box may begin.

use super::{Interleave, TensorMap, Traversal};

/// A beginning that is an illegal instruction on a GPU: measured on an H200 (driver 580.159.04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IllegalStart {
    /// The first coordinate, in bytes, is no multiple of 16.
    Misaligned {
        /// The bytes.
        bytes: i64,
    },
    /// A store begins before the first element.
    StoreBefore,
}

/// What the first coordinate of a box in tiled mode is a multiple of, in bytes.
const UNIT: i64 = 16;

impl TensorMap {
    /// What is wrong about where a copy begins. Of im2col mode without slices nothing is known.
    pub(crate) fn illegal_start(&self, at: &Traversal, is_load: bool) -> Option<IllegalStart> {
        let (is_tiled, has_slices) = (self.im2col.is_none(), self.interleave != Interleave::None);
        let first = i64::from(at.coordinates[0]);
        let bytes = first * i64::from(self.element.bytes());
        if is_tiled && !has_slices && bytes % UNIT != 0 {
            return Some(IllegalStart::Misaligned { bytes });
        }
        (!is_load && first < 0 && (is_tiled || has_slices)).then_some(IllegalStart::StoreBefore)
    }
}

impl IllegalStart {
    /// What is wrong, and what to do.
    pub(crate) fn in_words(self) -> (String, &'static str) {
        match self {
            Self::Misaligned { bytes } => (
                format!(
                    "copies a box that begins {bytes} bytes into its rows, which is no multiple of {UNIT}"
                ),
                "begin at a first coordinate of a multiple of 16 bytes, and shift what is read from shared memory",
            ),
            Self::StoreBefore => (
                "stores a box that begins before the first element of its rows".into(),
                "begin at a coordinate that is not negative",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ElementType, RANK, Swizzle};
    use super::*;

    /// As an H200 (driver 580.159.04, 2026-11-28) took loads and stores of boxes of 128 bytes.
    #[test]
    fn boxes_begin_at_multiples_of_16_bytes_and_stores_inside() {
        let started = |element, x, is_load| {
            let map = TensorMap::matrix(element, 0, [512, 16], 4096, [64, 8], Swizzle::None);
            let mut at = Traversal { coordinates: [0; RANK], offsets: [0; 3] };
            at.coordinates[0] = x;
            map.illegal_start(&at, is_load).is_none()
        };
        use ElementType::{Bf16, F32, U8};
        for (element, x, loads, stores) in [
            (Bf16, 8, true, true),
            (Bf16, 1, false, false),
            (Bf16, 4, false, false),
            (Bf16, -1, false, false),
            (Bf16, -8, true, false),
            (U8, 16, true, true),
            (U8, 4, false, false),
            (F32, 4, true, true),
            (F32, 1, false, false),
        ] {
            assert_eq!(
                (started(element, x, true), started(element, x, false)),
                (loads, stores),
                "{element:?} {x}"
            );
        }
    }
}
