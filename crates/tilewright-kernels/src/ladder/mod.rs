//! The steps from the naive product to the production kernel.

mod dynamic_tile;
mod padded;
mod single_block;

pub(crate) use dynamic_tile::SHARED_TILE_DYNAMIC;
pub use dynamic_tile::{required_shared_memory, square_side};
pub(crate) use padded::{REGISTER_TILE, SHARED_REGISTER_TILE};
pub(crate) use single_block::SINGLE_BLOCK;

use crate::{
    kernel::{
        Family, Kernel, Make,
        rung::{Axis, Rung, Sizes},
    },
    variant::Variant,
};
use tilewright_core::{DType, SemiringId};

const FLOAT: &[Variant] =
    &[Variant::new(SemiringId::PlusTimes, DType::F32), Variant::new(SemiringId::MinPlus, DType::F32)];
/// What there is a kernel for on every GPU: the PTX of the production kernel is for compute capability 8.0 and later.
const EVERY: &[Variant] = &[
    Variant::new(SemiringId::PlusTimes, DType::F32),
    Variant::new(SemiringId::MinPlus, DType::F32),
    Variant::new(SemiringId::PlusTimes, DType::I32),
    Variant::new(SemiringId::PlusTimes, DType::F64),
];

pub(crate) const NAIVE: Kernel = Kernel {
    name: "naive",
    family: Family::Ladder,
    summary: "one thread per output, neighbouring threads in neighbouring rows",
    teaches: "uncoalesced access: every lane of a warp touches a sector of its own and uses an eighth of it",
    file: "naive.cu",
    source: include_str!("../../kernels/naive.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [32, 32, 1],
        block: [32, 32],
        grid_x: Axis::Rows,
        sizes: Sizes::Any,
        vector: 1,
        constants: &[("BLOCK", 32)],
    }),
};

pub(crate) const COALESCED: Kernel = Kernel {
    name: "coalesced",
    family: Family::Ladder,
    summary: "one thread per output, neighbouring threads in neighbouring columns",
    teaches: "coalescing: a warp's accesses to neighbouring elements are served together",
    file: "coalesced.cu",
    source: include_str!("../../kernels/coalesced.cu"),
    variants: EVERY,
    make: Make::Rung(Rung {
        tile: [32, 32, 1],
        block: [32, 32],
        grid_x: Axis::Columns,
        sizes: Sizes::Any,
        vector: 1,
        constants: &[("BLOCK", 32)],
    }),
};

pub(crate) const SHARED_TILE: Kernel = Kernel {
    name: "shared-tile",
    family: Family::Ladder,
    summary: "tiles of A and B in shared memory, two barriers a step; sizes are multiples of the tile",
    teaches: "data reuse: each element is read from global memory once per block instead of once per thread",
    file: "shared_tile.cu",
    source: include_str!("../../kernels/shared_tile.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [32, 32, 32],
        block: [32, 32],
        grid_x: Axis::Columns,
        sizes: Sizes::MultiplesOfTile,
        vector: 1,
        constants: &[("BLOCK", 32)],
    }),
};

pub(crate) const SHARED_TILE_RAGGED: Kernel = Kernel {
    name: "shared-tile-ragged",
    family: Family::Ladder,
    summary: "shared-tile for any M, N and K, with guards",
    teaches: "edges: tiles are filled up with the semiring's zero, and no thread leaves before the last barrier",
    file: "shared_tile_ragged.cu",
    source: include_str!("../../kernels/shared_tile_ragged.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [32, 32, 32],
        block: [32, 32],
        grid_x: Axis::Columns,
        sizes: Sizes::Any,
        vector: 1,
        constants: &[("BLOCK", 32)],
    }),
};

pub(crate) const BLOCK_TILE_1D: Kernel = Kernel {
    name: "block-tile-1d",
    family: Family::Ladder,
    summary: "eight outputs per thread, in one column",
    teaches: "arithmetic per shared-memory access: one element of B serves eight rows",
    file: "block_tile_1d.cu",
    source: include_str!("../../kernels/block_tile_1d.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [64, 64, 8],
        block: [512, 1],
        grid_x: Axis::Columns,
        sizes: Sizes::MultiplesOfTile,
        vector: 1,
        constants: &[("TILE_M", 64), ("TILE_N", 64), ("TILE_K", 8), ("ROWS", 8)],
    }),
};

pub(crate) const BLOCK_TILE_2D: Kernel = Kernel {
    name: "block-tile-2d",
    family: Family::Ladder,
    summary: "8 x 8 outputs per thread",
    teaches: "register tiles: 16 reads of shared memory feed 64 multiplications",
    file: "block_tile_2d.cu",
    source: include_str!("../../kernels/block_tile_2d.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [128, 128, 8],
        block: [256, 1],
        grid_x: Axis::Columns,
        sizes: Sizes::MultiplesOfTile,
        vector: 1,
        constants: &[("TILE_M", 128), ("TILE_N", 128), ("TILE_K", 8), ("SIDE", 8)],
    }),
};

pub(crate) const VECTORIZED: Kernel = Kernel {
    name: "vectorized",
    family: Family::Ladder,
    summary: "block-tile-2d with 16-byte accesses to global and shared memory",
    teaches: "wide accesses: a quarter of the load and store instructions for the same arithmetic",
    file: "vectorized.cu",
    source: include_str!("../../kernels/vectorized.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [128, 128, 8],
        block: [256, 1],
        grid_x: Axis::Columns,
        sizes: Sizes::MultiplesOfTile,
        vector: 4,
        constants: &[("TILE_M", 128), ("TILE_N", 128), ("TILE_K", 8), ("SIDE", 8)],
    }),
};

pub(crate) const WARP_TILE: Kernel = Kernel {
    name: "warp-tile",
    family: Family::Ladder,
    summary: "a tile per warp, loads ahead of the arithmetic, one barrier a step",
    teaches: "latency hiding by software pipelining, and an arrangement of lanes without bank conflicts",
    file: "warp_tile.cu",
    source: include_str!("../../kernels/warp_tile.cu"),
    variants: FLOAT,
    make: Make::Rung(Rung {
        tile: [128, 128, 8],
        block: [256, 1],
        grid_x: Axis::Columns,
        sizes: Sizes::MultiplesOfTile,
        vector: 4,
        constants: &[("TILE_M", 128), ("TILE_N", 128), ("TILE_K", 8)],
    }),
};
