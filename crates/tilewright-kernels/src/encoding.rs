//! What the words hold that kernels compute with.

use crate::variant::Variant;
use tilewright_core::DType;

/// What a register of the product kernel, and a word of its packed operands, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    /// A number of the type of sums.
    #[default]
    Numbers,
    /// Two neighbouring columns of C in 16 bits each.
    Halves,
    /// 32 terms, a bit each.
    Bits,
    /// A float as an integer of the same order.
    Ordered,
    /// The distances of two neighbouring columns from the best element, in 16 bits each.
    Close,
    /// The distance from the best element, in 31 bits.
    Near,
}

impl Encoding {
    /// Columns of B and of C in a word.
    pub const fn columns(self) -> u32 {
        if matches!(self, Self::Halves | Self::Close) { 2 } else { 1 }
    }

    /// Terms in a word.
    pub const fn terms(self) -> u32 {
        if matches!(self, Self::Bits) { 32 } else { 1 }
    }

    /// The type of a word in the kernels, and what computes with it where `R` computes with numbers: header, type, class.
    pub const fn source(self) -> Option<(&'static str, &'static str, &'static str)> {
        match self {
            Self::Numbers => None,
            Self::Halves => Some(("halves.cuh", "unsigned", "Halves<R, T>")),
            Self::Bits => Some(("bits.cuh", "unsigned", "Bits")),
            Self::Ordered => Some(("ordered.cuh", "int", "Ordered<R>")),
            Self::Close => Some(("close.cuh", "unsigned", "Close<R>")),
            Self::Near => Some(("close.cuh", "int", "Near<R>")),
        }
    }

    /// Bytes of a word.
    pub fn size(self, variant: Variant) -> usize {
        if self == Self::Numbers { variant.accumulator().size() } else { DType::I32.size() }
    }

    /// For the names of programs; empty for numbers.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Numbers => "",
            Self::Halves => ".halves",
            Self::Bits => ".bits",
            Self::Ordered => ".ordered",
            Self::Close => ".close",
            Self::Near => ".near",
        }
    }
}
