//! Arguments of a launch that name arrays.

use super::TextureOver;
use tilewright_cuda::CodeArgument;
use tilewright_kernels::{ArgumentValue, Buffer};

/// An argument that names arrays by their place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of an array.
    Pointer(usize),
    /// A texture over an array.
    Texture(TextureOver),
    /// A surface over an array; its handle is the array's address.
    Surface(usize),
    /// A value, as it lies in memory.
    Bytes(Vec<u8>),
    /// A struct with addresses of arrays in it: where they lie in its bytes, and the arrays by their place.
    Struct {
        /// All bytes; those of addresses are 0.
        bytes: Vec<u8>,
        /// Offset and array of each address.
        pointers: Vec<(usize, usize)>,
        /// Textures whose handles are among the bytes.
        textures: Vec<TextureOver>,
    },
}

/// An address that lies in an array of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The array of addresses.
    pub array: usize,
    /// Bytes from its start.
    pub offset: usize,
    /// The array whose address it is.
    pub target: usize,
}

impl Argument {
    /// The argument of a recipe; `place` finds a buffer in the list of arrays. `None` for a buffer that is not there.
    pub(super) fn of_recipe(value: ArgumentValue, place: &dyn Fn(Buffer) -> Option<usize>) -> Option<Self> {
        Some(match value {
            ArgumentValue::Pointer(buffer) => Self::Pointer(place(buffer)?),
            ArgumentValue::Texture(buffer) => {
                let array = place(buffer)?;
                Self::Texture(TextureOver::by_index(array as u64 + 1, array))
            }
            ArgumentValue::I32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::I64(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F64(x) => Self::Bytes(x.to_le_bytes().into()),
        })
    }

    /// With the addresses of the arrays and the handles of textures in place, for a launch that knows the textures.
    pub fn placed(&self, addresses: &[u64]) -> Self {
        let (bytes, pointers) = match self {
            Self::Struct { bytes, pointers, .. } => (bytes, pointers),
            Self::Texture(texture) => return Self::Bytes(texture.handle.to_le_bytes().into()),
            _ => return self.clone(),
        };
        let mut bytes = bytes.clone();
        for &(offset, array) in pointers {
            put_address(&mut bytes, offset, array, addresses);
        }
        Self::Bytes(bytes)
    }

    /// Its textures.
    pub fn textures(&self) -> &[TextureOver] {
        match self {
            Self::Texture(texture) => std::slice::from_ref(texture),
            Self::Struct { textures, .. } => textures,
            Self::Pointer(_) | Self::Surface(_) | Self::Bytes(_) => &[],
        }
    }

    /// The places of all arrays that it names.
    pub fn arrays(&mut self) -> Vec<&mut usize> {
        match self {
            Self::Pointer(array) | Self::Surface(array) => vec![array],
            Self::Texture(texture) => vec![&mut texture.array],
            Self::Struct { pointers, textures, .. } => {
                let pointers = pointers.iter_mut().map(|(_, array)| array);
                pointers.chain(textures.iter_mut().map(|texture| &mut texture.array)).collect()
            }
            Self::Bytes(_) => Vec::new(),
        }
    }

    /// The same for an engine; addresses in a struct must be in place.
    pub fn as_code(&self) -> CodeArgument<'_> {
        match self {
            Self::Pointer(index) | Self::Surface(index) => CodeArgument::Memory(*index),
            Self::Texture(texture) => CodeArgument::Texture(texture.array),
            Self::Bytes(bytes) | Self::Struct { bytes, .. } => CodeArgument::Bytes(bytes),
        }
    }
}

/// Writes the address of an array, little-endian.
pub fn put_address(bytes: &mut [u8], offset: usize, array: usize, addresses: &[u64]) {
    let address = addresses.get(array).copied().unwrap_or_default();
    for (to, from) in bytes.iter_mut().skip(offset).zip(address.to_le_bytes()) {
        *to = from;
    }
}
