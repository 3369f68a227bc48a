//! What textures are made of.

use crate::alu::Half;

/// What a channel of a texel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TexelFormat {
    /// A float or an integer of 32 bits, as the kernel reads it.
    #[default]
    Word,
    /// An integer of 8 bits without sign.
    U8,
    /// An integer of 8 bits.
    S8,
    /// An integer of 16 bits without sign.
    U16,
    /// An integer of 16 bits.
    S16,
    /// A float of 16 bits.
    F16,
}

impl TexelFormat {
    /// Bytes of a channel.
    pub fn bytes(self) -> usize {
        match self {
            Self::Word => 4,
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 => 2,
        }
    }

    /// The 32 bits that a kernel gets for a channel that holds `bits`.
    pub(super) fn widen(self, bits: u32, read: TexelRead) -> u32 {
        let (signed, most) = match self {
            Self::Word => return bits,
            Self::F16 => return Half::F16.widen(bits as u16).to_bits(),
            Self::U8 => (i32::from(bits as u8), 255.0),
            Self::S8 => (i32::from(bits as u8 as i8), 127.0),
            Self::U16 => (i32::from(bits as u16), 65535.0),
            Self::S16 => (i32::from(bits as u16 as i16), 32767.0),
        };
        match read {
            TexelRead::AsItIs => signed.cast_unsigned(),
            TexelRead::Normalized => (signed as f32 / most).max(-1.0).to_bits(),
        }
    }
}

/// What a kernel gets for an integer of 8 or 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TexelRead {
    /// The integer (`cudaReadModeElementType`).
    #[default]
    AsItIs,
    /// A float from 0 or -1 to 1 (`cudaReadModeNormalizedFloat`).
    Normalized,
}

/// Where the texels of a texture lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Texels {
    /// In an array of their own: 32-bit words, channel by channel.
    Words(Vec<u32>),
    /// In device memory, as it is when they are read.
    Memory {
        /// The address of the first.
        address: u64,
        /// Bytes from one row to the next.
        pitch: u64,
        /// What a channel is.
        format: TexelFormat,
        /// What kernels get for it.
        read: TexelRead,
    },
}
