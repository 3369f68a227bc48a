//! The steps from the naive product to the production kernel.

mod rung;

use crate::kernel::{Family, Kernel, Variant};
use rung::{Axis, Rung, Sizes};
use tilewright_core::{DType, SemiringId};

const FLOAT: &[Variant] =
    &[Variant::new(SemiringId::PlusTimes, DType::F32), Variant::new(SemiringId::MinPlus, DType::F32)];
const FLOAT_AND_INT: &[Variant] = &[
    Variant::new(SemiringId::PlusTimes, DType::F32),
    Variant::new(SemiringId::MinPlus, DType::F32),
    Variant::new(SemiringId::PlusTimes, DType::I32),
];

pub(crate) const NAIVE: Kernel = Kernel {
    name: "naive",
    family: Family::Ladder,
    summary: "one thread per output, neighbouring threads in neighbouring rows",
    teaches: "uncoalesced access: every lane of a warp touches a sector of its own and uses an eighth of it",
    file: "naive.cu",
    source: include_str!("../../kernels/naive.cu"),
    variants: FLOAT,
    recipe: |kernel, request| {
        const RUNG: Rung = Rung {
            tile: [32, 32, 1],
            block: [32, 32],
            grid_x: Axis::Rows,
            sizes: Sizes::Any,
            vector: 1,
            constants: &[("BLOCK", 32)],
        };
        RUNG.recipe(kernel, request)
    },
};

pub(crate) const COALESCED: Kernel = Kernel {
    name: "coalesced",
    family: Family::Ladder,
    summary: "one thread per output, neighbouring threads in neighbouring columns",
    teaches: "coalescing: a warp's accesses to neighbouring elements are served together",
    file: "coalesced.cu",
    source: include_str!("../../kernels/coalesced.cu"),
    variants: FLOAT_AND_INT,
    recipe: |kernel, request| {
        const RUNG: Rung = Rung {
            tile: [32, 32, 1],
            block: [32, 32],
            grid_x: Axis::Columns,
            sizes: Sizes::Any,
            vector: 1,
            constants: &[("BLOCK", 32)],
        };
        RUNG.recipe(kernel, request)
    },
};

pub(crate) const SHARED_TILE: Kernel = Kernel {
    name: "shared-tile",
    family: Family::Ladder,
    summary: "tiles of A and B in shared memory, two barriers a step; sizes are multiples of the tile",
    teaches: "data reuse: each element is read from global memory once per block instead of once per thread",
    file: "shared_tile.cu",
    source: include_str!("../../kernels/shared_tile.cu"),
    variants: FLOAT,
    recipe: |kernel, request| {
        const RUNG: Rung = Rung {
            tile: [32, 32, 32],
            block: [32, 32],
            grid_x: Axis::Columns,
            sizes: Sizes::MultiplesOfTile,
            vector: 1,
            constants: &[("BLOCK", 32)],
        };
        RUNG.recipe(kernel, request)
    },
};

/// Bytes of dynamic shared memory that `shared-tile-dynamic` needs for a `side x side` block:
/// a tile of A and a tile of B, `2 side² size` with `size` bytes per element.
///
/// ```
/// assert_eq!(tilewright_kernels::required_shared_memory(32, 4), 8192);
/// ```
pub const fn required_shared_memory(side: u32, element_size: u32) -> u32 {
    2 * side * side * element_size
}

/// The side of the largest square block of at most `threads` threads whose side is a power of two:
/// the root of `4^floor(log4(threads))`; 1 for no threads.
///
/// ```
/// use tilewright_kernels::square_side;
/// assert_eq!([1, 63, 64, 255, 256, 768, 1024].map(square_side), [1, 4, 8, 8, 16, 16, 32]);
/// ```
pub const fn square_side(threads: u32) -> u32 {
    if threads == 0 { 1 } else { 1 << (threads.ilog2() / 2) }
}
