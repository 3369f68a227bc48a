//! How a tile of an operand gets into shared memory.

use super::menu::Tile;
use crate::{encoding::Encoding, variant::Variant};
use tilewright_core::Layout;

/// The way threads walk over a tile while they copy it. The discriminants are those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    /// Neighbouring threads copy neighbouring terms, one element each.
    AlongK = 0,
    /// Neighbouring threads copy neighbouring rows of A or columns of B, one element each.
    AlongSide = 1,
    /// The same with 16 bytes each.
    Vectors = 2,
    /// As [`Copy::AlongK`], converting each element to the type of sums.
    WidenAlongK = 3,
    /// As [`Copy::AlongSide`], converting each element to the type of sums.
    WidenAlongSide = 4,
}

impl Copy {
    /// Part of a tile's rate that remains, measured on an H200.
    pub const fn rate(self, tile: &Tile) -> f64 {
        match self {
            Self::AlongK => tile.along_k,
            Self::AlongSide => 0.985,
            Self::Vectors => 1.0,
            Self::WidenAlongK => tile.along_k * 0.9,
            Self::WidenAlongSide => 0.9,
        }
    }

    /// Whether neighbouring threads copy neighbouring terms.
    pub const fn is_along_k(self) -> bool {
        matches!(self, Self::AlongK | Self::WidenAlongK)
    }
}

/// Lines of an operand along k that are so many bytes apart, or a multiple of it, fall into the same sets of a cache.
const ALIASING: usize = 2048;

/// An operand as the kernel sees it: a side (rows of A, columns of B) and terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// Rows are the side, columns the terms.
    pub layout: Layout,
    /// Bytes to which element (0, 0) is aligned.
    pub alignment: u64,
    /// Elements to the same operand of the next product.
    pub batch: isize,
}

impl Operand {
    /// Whether its lines along k are so far apart that they fall into the same sets of a cache.
    pub fn is_aliased(&self, variant: Variant) -> bool {
        let apart = self.layout.row_stride.unsigned_abs() * variant.dtype.size();
        variant.accumulator().size() == 4 && apart > 0 && apart.is_multiple_of(ALIASING)
    }

    /// The best way to copy it.
    pub fn copy(&self, variant: Variant, encoding: Encoding) -> Copy {
        let vector = Tile::vector(variant) as isize;
        let Layout { row_stride: side, col_stride: k, rows, .. } = self.layout;
        let whole = rows % vector as usize == 0;
        let aligned =
            whole && k % vector == 0 && self.batch % vector == 0 && self.alignment.is_multiple_of(16);
        let as_it_is = encoding == Encoding::Numbers && variant.is_computed_as_it_is();
        match (as_it_is, side.unsigned_abs() <= k.unsigned_abs()) {
            (true, _) if side == 1 && aligned => Copy::Vectors,
            (true, true) => Copy::AlongSide,
            (true, false) => Copy::AlongK,
            (false, true) => Copy::WidenAlongSide,
            (false, false) => Copy::WidenAlongK,
        }
    }
}
