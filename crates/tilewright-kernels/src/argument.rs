//! What is passed to the parameters of a kernel: one type from recipes to the driver, whatever device memory
//! is called on the way.

pub use crate::buffer::Buffer;
use crate::{scalar::Scalar, tensor::Tensor};

/// What is passed to a parameter. Device memory is `Memory`: its role in a recipe, a place in a list where a
/// host has arrays. A texture over memory may be told more exactly than by the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<Memory = Buffer, Texture = Memory> {
    /// The address of memory: of element (0, 0) for A, B and C, of the first byte otherwise.
    Pointer(Memory),
    /// A texture object, fetched by index: over f32 elements, unless `Texture` says otherwise.
    Texture(Texture),
    /// A number.
    Scalar(Scalar),
    /// Any value, a struct for one, as it lies in memory.
    Bytes {
        /// All bytes; those of addresses are 0.
        bytes: Vec<u8>,
        /// Memory whose addresses lie in them, after their offsets.
        pointers: Vec<(usize, Memory)>,
    },
    /// What the tensor memory accelerator copies a tile by, passed by value.
    TensorMap(Box<TensorMap>),
    /// The same of a tensor over memory, encoded at the launch.
    Tensor(Box<Tensor<Memory>>),
}

/// A tensor map as the driver encodes it (`CUtensorMap`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct TensorMap(pub [u8; 128]);

impl<Memory, Texture> Argument<Memory, Texture> {
    /// A 32-bit integer.
    pub const fn i32(x: i32) -> Self {
        Self::Scalar(Scalar::I32(x))
    }

    /// A 64-bit integer.
    pub const fn i64(x: i64) -> Self {
        Self::Scalar(Scalar::I64(x))
    }

    /// A single-precision number.
    pub const fn f32(x: f32) -> Self {
        Self::Scalar(Scalar::F32(x))
    }

    /// A double-precision number.
    pub const fn f64(x: f64) -> Self {
        Self::Scalar(Scalar::F64(x))
    }

    /// A value without addresses in it.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes { bytes: bytes.into(), pointers: Vec::new() }
    }

    /// The same with other names for memory and textures.
    ///
    /// # Errors
    /// The first of those of `memory` and `texture`.
    pub fn rename<M, T, E>(
        &self,
        memory: impl Fn(&Memory) -> Result<M, E>,
        texture: impl FnOnce(&Texture) -> Result<T, E>,
    ) -> Result<Argument<M, T>, E> {
        Ok(match self {
            Self::Pointer(of) => Argument::Pointer(memory(of)?),
            Self::Texture(of) => Argument::Texture(texture(of)?),
            Self::Scalar(number) => Argument::Scalar(*number),
            Self::Bytes { bytes, pointers } => {
                let pointers = pointers.iter().map(|(offset, of)| Ok((*offset, memory(of)?)));
                Argument::Bytes { bytes: bytes.clone(), pointers: pointers.collect::<Result<_, E>>()? }
            }
            Self::TensorMap(map) => Argument::TensorMap(map.clone()),
            Self::Tensor(tensor) => Argument::Tensor(Box::new(tensor.rename(memory)?)),
        })
    }
}

impl<Memory, Texture> From<Scalar> for Argument<Memory, Texture> {
    fn from(number: Scalar) -> Self {
        Self::Scalar(number)
    }
}

/// One argument of a recipe, by the name of its parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArgument {
    /// The parameter's name in the source.
    pub name: &'static str,
    /// What to pass.
    pub value: Argument,
}
