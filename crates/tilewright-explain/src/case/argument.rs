//! Arguments of a launch that name arrays.

use tilewright_cuda::CodeArgument;
use tilewright_kernels::{ArgumentValue, Buffer};

/// An argument that names arrays by their place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of an array.
    Pointer(usize),
    /// A texture over an array of 32-bit elements.
    Texture(usize),
    /// A value, as it lies in memory.
    Bytes(Vec<u8>),
}

impl Argument {
    /// The argument of a recipe; `place` finds a buffer in the list of arrays. `None` for a buffer that is not there.
    pub(super) fn of_recipe(value: ArgumentValue, place: &dyn Fn(Buffer) -> Option<usize>) -> Option<Self> {
        Some(match value {
            ArgumentValue::Pointer(buffer) => Self::Pointer(place(buffer)?),
            ArgumentValue::Texture(buffer) => Self::Texture(place(buffer)?),
            ArgumentValue::I32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::I64(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F64(x) => Self::Bytes(x.to_le_bytes().into()),
        })
    }

    /// The same for an engine.
    pub fn as_code(&self) -> CodeArgument<'_> {
        match self {
            Self::Pointer(index) => CodeArgument::Memory(*index),
            Self::Texture(index) => CodeArgument::Texture(*index),
            Self::Bytes(bytes) => CodeArgument::Bytes(bytes),
        }
    }
}
