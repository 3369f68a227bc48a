//! Tensors over device memory, as the tensor memory accelerator (TMA) copies boxes of them.

use crate::buffer::Buffer;

/// A tensor over memory, of which the tensor memory accelerator copies boxes. A kernel gets it by value, as the
/// `CUtensorMap` that the driver encodes.
///
/// What a box has outside the tensor reads as zero. Boxes take every element, and nothing is
/// interleaved.
///
/// CUDA asks for more: addresses and strides are multiples of 16 bytes, and so are the elements of a box along
/// the first dimension. There are 1 to 256 elements along each. With a swizzle, those along the first take at
/// most as many bytes as the swizzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor<Memory = Buffer> {
    /// Element 0 lies at the address of this memory.
    pub memory: Memory,
    /// The type of the elements.
    pub element: TensorElement,
    /// Elements along each of 1 to 5 dimensions, the contiguous one first.
    pub extents: Vec<u64>,
    /// Bytes from one element to the next along the dimensions after the first.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub tile: Vec<u32>,
    /// How a box lies in shared memory.
    pub swizzle: Swizzle,
}

impl<Memory> Tensor<Memory> {
    /// The same with another name for its memory.
    ///
    /// # Errors
    /// That of `memory`.
    pub fn rename<M, E>(&self, memory: impl FnOnce(&Memory) -> Result<M, E>) -> Result<Tensor<M>, E> {
        Ok(Tensor {
            memory: memory(&self.memory)?,
            element: self.element,
            extents: self.extents.clone(),
            strides: self.strides.clone(),
            tile: self.tile.clone(),
            swizzle: self.swizzle,
        })
    }
}

/// The type of a tensor's elements (`CUtensorMapDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorElement {
    /// Bytes, with a sign or without.
    U8,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
    /// Single precision.
    F32,
    /// Single precision in memory, rounded to tf32 by the copy.
    Tf32,
    /// Double precision.
    F64,
    /// 32-bit integers.
    I32,
}

impl TensorElement {
    /// Bytes of an element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::Tf32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
}

/// How a box lies in shared memory (`CUtensorMapSwizzle`): pieces of 16 bytes change places within lines of so
/// many bytes, so that accesses along columns meet different banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// One row behind the other.
    #[default]
    None,
    /// Lines of 32 bytes.
    B32,
    /// Lines of 64 bytes.
    B64,
    /// Lines of 128 bytes.
    B128,
}

impl Swizzle {
    /// Bytes of a line; `None` without a swizzle.
    pub const fn bytes(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::Argument;

    #[test]
    fn a_tensor_is_renamed_by_its_memory_alone() {
        let tensor = |memory| Tensor {
            memory,
            element: TensorElement::F16,
            extents: vec![64, 32],
            strides: vec![128],
            tile: vec![64, 8],
            swizzle: Swizzle::B128,
        };
        let named: Argument<usize> = Argument::Tensor(Box::new(tensor(2)));
        let places = [10, 11, 12];
        let place = |memory: &usize| places.get(*memory).copied().ok_or(());
        assert_eq!(named.rename(place, place), Ok(Argument::Tensor(Box::new(tensor(12)))));
        let unknown: Argument<usize> = Argument::Tensor(Box::new(tensor(3)));
        assert_eq!(unknown.rename(place, place), Err(()));
    }
}
