//! Tensor maps: the 128 bytes that tell the Tensor Memory Accelerator (TMA) of a tensor in global memory.
//!
//! CUDA keeps the format to itself. This one is the emulator's own: maps come from [`TensorMap::encode`], and go to kernels of this
//! emulator alone.

mod checks;
mod element;
mod rows;
mod start;

pub use checks::TensorMapError;
pub use element::ElementType;
pub(crate) use rows::{Row, Traversal};
pub(crate) use start::IllegalStart;

/// Most dimensions of a tensor.
pub const RANK: usize = 5;

/// What a copy does with 16-byte pieces of shared memory: bits 4 and up of their addresses are XORed with bits 7 and up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// Nothing.
    #[default]
    None,
    /// One bit: patterns of 32 bytes.
    Bytes32,
    /// Two bits.
    Bytes64,
    /// Three bits.
    Bytes128,
}

impl Swizzle {
    /// In the order of CUDA's numbers, with the bytes of a pattern's line.
    const TABLE: [(Swizzle, u32); 4] =
        [(Self::None, 16), (Self::Bytes32, 32), (Self::Bytes64, 64), (Self::Bytes128, 128)];

    /// Of CUDA's number for it, `CUtensorMapSwizzle`.
    pub fn from_number(number: usize) -> Option<Self> {
        Self::TABLE.get(number).map(|row| row.0)
    }

    /// Bytes of a line of the pattern; 16 without one.
    pub fn width(self) -> u32 {
        Self::TABLE[self as usize].1
    }

    /// The physical address of a logical one.
    pub(crate) fn place(self, at: u64) -> u64 {
        at ^ (at >> 7 & u64::from(self.width() / 16 - 1)) << 4
    }
}

/// How channels lie in a tensor: one after the other, or in slices of so many bytes, as in NC/8HWC8 and NC/16HWC16.
///
/// A tensor of slices has the dimensions w, h and d, as far as it has them, then slices, then images. An element of the fastest one is
/// what a slice has of a pixel, and a copy moves one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interleave {
    /// One after the other.
    #[default]
    None,
    /// Slices of 16 bytes.
    Bytes16,
    /// Slices of 32 bytes.
    Bytes32,
}

impl Interleave {
    /// In the order of CUDA's numbers, with the bytes of a pixel in a slice.
    const TABLE: [(Interleave, Option<u32>); 3] =
        [(Self::None, None), (Self::Bytes16, Some(16)), (Self::Bytes32, Some(32))];

    /// Of CUDA's number for it, `CUtensorMapInterleave`.
    pub fn from_number(number: usize) -> Option<Self> {
        Self::TABLE.get(number).map(|row| row.0)
    }

    /// Bytes of a pixel in a slice; `None` without slices.
    pub fn slice(self) -> Option<u32> {
        Self::TABLE[self as usize].1
    }
}

/// What elements outside of the tensor read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Zero.
    #[default]
    Zeros,
    /// A NaN that fused multiply-adds take for a zero.
    Nan,
}

impl Fill {
    /// Of CUDA's number for it, `CUtensorMapFloatOOBfill`.
    pub fn from_number(number: usize) -> Option<Self> {
        [Self::Zeros, Self::Nan].get(number).copied()
    }
}

/// The pixels that a copy in im2col mode goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Im2col {
    /// Where the box of pixels begins, relative to the tensor's first pixel, along w, h, d.
    pub lower: [i32; 3],
    /// Where it ends, relative to the tensor's last pixel.
    pub upper: [i32; 3],
    /// Channels of each pixel.
    pub channels: u32,
    /// Pixels of a copy.
    pub pixels: u32,
}

/// A tensor in global memory, and the box that a copy moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Type of the elements.
    pub element: ElementType,
    /// Dimensions, 1 to 5.
    pub rank: usize,
    /// Address of the first element.
    pub address: u64,
    /// Elements of each dimension, the fastest first.
    pub extents: [u64; RANK],
    /// Bytes between neighbours of the second dimension and up.
    pub strides: [u64; RANK - 1],
    /// Elements of the box.
    pub boxes: [u32; RANK],
    /// Of so many elements of each dimension the box takes one.
    pub steps: [u32; RANK],
    /// How channels lie in it.
    pub interleave: Interleave,
    /// How it lies in shared memory.
    pub swizzle: Swizzle,
    /// What lies outside.
    pub fill: Fill,
    /// Set for maps of im2col mode, whose copies have pixels in place of a box.
    pub im2col: Option<Im2col>,
}

/// What tells our format from other bytes.
const MAGIC: u64 = u64::from_le_bytes(*b"TWMAP\0\0\x01");

/// Bytes of a map.
pub const BYTES: usize = 128;

/// Where the address lies in them, 8 bytes, little-endian.
pub const ADDRESS: usize = 8;

impl TensorMap {
    /// A matrix by rows, `pitch` bytes apart, of `[columns, rows]` elements: a copy moves a box of `[columns, rows]`.
    pub fn matrix(
        element: ElementType,
        address: u64,
        [columns, rows]: [u64; 2],
        pitch: u64,
        boxes: [u32; 2],
        swizzle: Swizzle,
    ) -> Self {
        Self {
            element,
            rank: 2,
            address,
            extents: [columns, rows, 1, 1, 1],
            strides: [pitch, 0, 0, 0],
            boxes: [boxes[0], boxes[1], 1, 1, 1],
            swizzle,
            ..Self::blank()
        }
    }

    /// A map of which nothing is said: `tensormap.replace` says it, field by field.
    pub(crate) fn blank() -> Self {
        Self {
            element: ElementType::U8,
            rank: 1,
            address: 0,
            extents: [1; RANK],
            strides: [0; RANK - 1],
            boxes: [1; RANK],
            steps: [1; RANK],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zeros,
            im2col: None,
        }
    }

    /// The bytes that kernels get. The map is one that [`TensorMap::check`] takes.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC.to_le_bytes());
        put(ADDRESS, &self.address.to_le_bytes());
        for dimension in 0..RANK {
            // An extent of 2^32 is stored as 0.
            put(16 + 4 * dimension, &(self.extents[dimension] as u32).to_le_bytes());
            put(72 + 2 * dimension, &(self.boxes[dimension] as u16).to_le_bytes());
            put(82 + dimension, &[self.steps[dimension] as u8]);
        }
        for (dimension, stride) in self.strides.iter().enumerate() {
            put(40 + 8 * dimension, &stride.to_le_bytes());
        }
        put(92, &[self.interleave as u8]);
        put(87, &[self.element.number() as u8, self.rank as u8, self.swizzle as u8, self.fill as u8]);
        if let Some(im2col) = self.im2col {
            put(91, &[1]);
            for axis in 0..3 {
                put(96 + 2 * axis, &(im2col.lower[axis] as i16).to_le_bytes());
                put(102 + 2 * axis, &(im2col.upper[axis] as i16).to_le_bytes());
            }
            put(108, &(im2col.channels as u16).to_le_bytes());
            put(110, &(im2col.pixels as u16).to_le_bytes());
        }
        bytes
    }

    /// The map of some bytes; `None` if they are none.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (element, rank) = (ElementType::from_number(bytes[87].into())?, usize::from(bytes[88]));
        let swizzle = Swizzle::from_number(bytes[89].into())?;
        if word(0) != MAGIC || !(1..=RANK).contains(&rank) {
            return None;
        }
        let extent = |dimension: usize| match word(16 + 4 * dimension) as u32 {
            0 if dimension < rank => 1 << 32,
            extent => u64::from(extent),
        };
        let corner = |at: usize| [0, 1, 2].map(|axis| i32::from(half(at + 2 * axis) as i16));
        let im2col = Im2col {
            lower: corner(96),
            upper: corner(102),
            channels: half(108).into(),
            pixels: half(110).into(),
        };
        Some(Self {
            element,
            rank,
            address: word(ADDRESS),
            extents: std::array::from_fn(extent),
            strides: std::array::from_fn(|dimension| word(40 + 8 * dimension)),
            boxes: std::array::from_fn(|dimension| half(72 + 2 * dimension).into()),
            steps: std::array::from_fn(|dimension| bytes[82 + dimension].into()),
            interleave: Interleave::from_number(bytes[92].into())?,
            swizzle,
            fill: Fill::from_number(bytes[90].into())?,
            im2col: (bytes[91] == 1).then_some(im2col),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let map = TensorMap {
            element: ElementType::Bf16,
            rank: 4,
            address: 0x1234_5678_9ab0,
            extents: [64, 1 << 32, 7, 9, 0],
            strides: [128, 1 << 39, 16, 0],
            boxes: [64, 256, 1, 2, 0],
            steps: [1, 8, 1, 1, 1],
            interleave: Interleave::Bytes32,
            swizzle: Swizzle::Bytes128,
            fill: Fill::Nan,
            im2col: Some(Im2col { lower: [-1, -2, 3], upper: [-4, 5, -6], channels: 64, pixels: 1024 }),
        };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        let plain = TensorMap { im2col: None, swizzle: Swizzle::None, ..map };
        assert_eq!(TensorMap::decode(&plain.encode()), Some(plain));
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
    }
}
