//! The tiles of the family.

/// A tile of C and how it is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tile {
    /// Rows and columns of C: of a block, and of a warp.
    pub block: [u32; 2],
    pub warp: [u32; 2],
    /// Stages of the ring that holds operands.
    pub stages: u32,
    /// Blocks that share a multiprocessor.
    pub resident: u32,
    /// Part of the rate of a multiprocessor that one block reaches alone.
    pub alone: f64,
}

/// Terms of a stage: 128 bytes, the widest swizzle.
pub(super) const TILE_K: u32 = 16;
/// Bytes of an element.
pub(super) const ELEMENT: u32 = 8;
/// Threads of a warp.
const WARP: u32 = 32;

const fn tile(block: [u32; 2], warp: [u32; 2], stages: u32, resident: u32, alone: f64) -> Tile {
    Tile { block, warp, stages, resident, alone }
}

/// Every tile. Of two that are estimated to be as fast, the first is chosen.
pub(super) const TILES: [Tile; 4] = [
    tile([128, 64], [64, 32], 4, 2, 0.58),
    tile([64, 64], [32, 32], 4, 3, 0.50),
    tile([64, 32], [32, 16], 4, 4, 0.32),
    tile([32, 32], [32, 16], 4, 6, 0.15),
];

impl Tile {
    /// What it is called by where tiles are chosen: rows, columns, terms of a step, rows and columns of a warp, stages.
    pub const fn id(&self) -> [u32; 6] {
        let ([m, n], [warp_m, warp_n]) = (self.block, self.warp);
        [m, n, TILE_K, warp_m, warp_n, self.stages]
    }

    pub const fn threads(&self) -> u32 {
        let ([m, n], [warp_m, warp_n]) = (self.block, self.warp);
        m / warp_m * (n / warp_n) * WARP
    }

    /// Bytes of a stage.
    pub const fn stage_bytes(&self) -> u32 {
        (self.block[0] + self.block[1]) * TILE_K * ELEMENT
    }

    /// Bytes of shared memory: stages at a multiple of 1024, and two barriers a stage.
    pub const fn shared_memory(&self) -> u32 {
        1024 + self.stages * (self.stage_bytes() + 2 * 8)
    }

    /// The name in programs and plans.
    pub fn name(&self) -> String {
        format!("{}x{}", self.block[0], self.block[1])
    }
}
