//! The tiles of the family: how blocks divide C, and warps a tile.

use tilewright_arch::Gpu;

/// A tile of C and how it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Rows and columns of C.
    pub m: u32,
    pub n: u32,
    /// Warps along rows and columns.
    pub warps: [u32; 2],
    /// Stages of the ring that holds operands.
    pub stages: u32,
}

/// Bytes of a row of operands in a stage.
pub(crate) const ROW_BYTES: u32 = 64;

const fn tile(m: u32, n: u32, warps: [u32; 2], stages: u32) -> Tile {
    Tile { m, n, warps, stages }
}

/// Every tile. Turing has shared memory for two stages of the large ones.
pub(crate) const TILES: [Tile; 5] = [
    tile(128, 256, [2, 4], 4),
    tile(128, 128, [2, 4], 4),
    tile(128, 256, [2, 4], 2),
    tile(128, 128, [2, 4], 3),
    tile(64, 64, [2, 2], 4),
];

impl Tile {
    /// What it is called by where tiles are chosen: rows, columns, bytes of a row, warps, stages.
    pub const fn id(&self) -> [u32; 6] {
        [self.m, self.n, ROW_BYTES, self.warps[0], self.warps[1], self.stages]
    }

    pub const fn threads(&self) -> u32 {
        32 * self.warps[0] * self.warps[1]
    }

    /// Sums of a thread.
    pub const fn sums(&self) -> u32 {
        self.m * self.n / self.threads()
    }

    /// Bytes of shared memory.
    pub const fn shared_memory(&self) -> u32 {
        self.stages * (self.m + self.n) * ROW_BYTES
    }

    /// Registers of a thread, at least: sums, and what a step multiplies.
    pub const fn registers(&self) -> u32 {
        let [rows, cols] = [self.m / self.warps[0], self.n / self.warps[1]];
        rows * cols / 32 + rows / 4 + cols / 8 + 40
    }

    /// Blocks that a multiprocessor has at a time.
    pub fn resident(&self, gpu: &Gpu) -> u32 {
        gpu.resident_blocks(self.threads(), self.registers(), self.shared_memory()).unwrap_or(0)
    }

    /// The name in programs and plans.
    pub fn name(&self) -> String {
        format!("{}x{}.{}", self.m, self.n, self.stages)
    }
}
