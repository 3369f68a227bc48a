//! A tile whose side is chosen at launch.

use super::FLOAT;
use crate::{
    kernel::{
        Family, Kernel, Make,
        launch::{Launch, Recipe, Symbol},
        rung::{Checks, arguments},
    },
    refusal::Refusal,
    request::Request,
};

pub(crate) const SHARED_TILE_DYNAMIC: Kernel = Kernel {
    name: "shared-tile-dynamic",
    family: Family::Ladder,
    summary: "shared-tile with a block size chosen at run time, in dynamic shared memory",
    teaches: "choosing the block size by occupancy; constant memory; one allocation split in two",
    file: "shared_tile_dynamic.cu",
    source: include_str!("../../kernels/shared_tile_dynamic.cu"),
    variants: FLOAT,
    make: Make::Product(recipe),
};

/// The side when the request does not say: a block of 256 threads, which every GPU can fill its warps with.
const DEFAULT_SIDE: u32 = 16;
const LARGEST_SIDE: u32 = 32;

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.row_major()?;
    let side = request.block_side.unwrap_or(DEFAULT_SIDE);
    if !(1..=LARGEST_SIDE).contains(&side) {
        let needs = format!("a block side from 1 to {LARGEST_SIDE}");
        return checks.refuse(needs, format!("{side} is asked for"), "a block has at most 1024 threads");
    }
    let grid = [size.n.div_ceil(side), size.m.div_ceil(side), 1];
    checks.grid(grid)?;
    let launch = Launch {
        symbols: vec![Symbol { name: "SIDE", bytes: side.to_le_bytes().to_vec() }],
        ..Launch::new(
            kernel.program(request.variant(), &[]),
            kernel.entry(),
            grid,
            [side, side, 1],
            arguments(request, size),
        )
        .with_dynamic_shared_memory(required_shared_memory(side, request.dtype.size() as u32))
    };
    Ok(Recipe {
        details: vec![
            ("tile", format!("{side}x{side}, {side} terms a step")),
            ("outputs per thread", "1".into()),
        ],
        ..Recipe::product(kernel, request, vec![launch])
    })
}

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
