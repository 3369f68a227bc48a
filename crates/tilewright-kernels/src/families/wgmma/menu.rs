//! The tiles of the family: how blocks divide C, and how their warp groups share a tile.

use crate::{families::tensor_cores::ROW_BYTES, scaling::Place};

/// A tile of C and how it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Rows and columns of C.
    pub m: u32,
    pub n: u32,
    /// Stages of the ring that holds operands.
    pub stages: u32,
    /// Whether each warp group computes a tile of its own while the other writes, instead of a part of the same.
    pub ping_pong: bool,
    /// Blocks of a cluster: they compute tiles of the same columns, and copy B once for all.
    pub cluster: u32,
    /// Rows of tiles that are computed before the next: see `tile_order.cuh`.
    pub band: u32,
}

/// Columns of a box across, of 16 bits each.
const ACROSS: u32 = 64;
/// Warp groups that multiply; another one copies.
pub(crate) const CONSUMERS: u32 = 2;
/// Threads of a warp group.
const WARP_GROUP: u32 = 128;
/// Rows that a warp group multiplies by one instruction.
pub(super) const GROUP_M: u32 = 64;
/// Bytes through which a warp writes C: two pieces of 16 rows.
const SLABS: u32 = 2 * 16 * ROW_BYTES;

/// Bytes of shared memory that a block can have on the GPUs with these instructions.
const MOST_SHARED: u32 = 227 * 1024;

const fn tile(m: u32, n: u32, stages: u32, ping_pong: bool, cluster: u32) -> Tile {
    Tile { m, n, stages, ping_pong, cluster, band: if m == 256 { 8 } else { 16 } }
}

/// Every tile. Of two that are estimated to be as fast, the first is chosen.
pub(crate) const TILES: [Tile; 11] = [
    tile(128, 256, 4, false, 1),
    tile(128, 128, 6, true, 2),
    tile(128, 256, 4, false, 2),
    tile(256, 128, 4, false, 1),
    tile(128, 224, 4, false, 1),
    tile(128, 224, 4, false, 2),
    tile(128, 192, 4, false, 1),
    tile(128, 128, 6, true, 1),
    tile(64, 128, 8, true, 2),
    tile(64, 128, 8, true, 1),
    tile(64, 64, 8, true, 1),
];

impl Tile {
    /// What it is called by where tiles are chosen: rows, columns, bytes of a row, 1 for ping-pong, stages, blocks of a cluster.
    pub const fn id(&self) -> [u32; 6] {
        [self.m, self.n, ROW_BYTES, self.ping_pong as u32, self.stages, self.cluster]
    }

    pub const fn threads(&self) -> u32 {
        (CONSUMERS + 1) * WARP_GROUP
    }

    /// Instructions that a warp group needs for its rows at each term.
    pub const fn waves(&self) -> u32 {
        self.m / GROUP_M / if self.ping_pong { 1 } else { CONSUMERS }
    }

    /// Sums of a thread.
    pub const fn sums(&self) -> u32 {
        self.waves() * self.n / 2
    }

    /// Bytes of A and of B in a stage. Boxes across have 64 columns.
    pub const fn stage_bytes(&self) -> [u32; 2] {
        [self.m * ROW_BYTES, self.n.next_multiple_of(ACROSS) * ROW_BYTES]
    }

    /// Bytes of shared memory: stages at a multiple of 1024, what C goes through, two barriers a stage.
    pub const fn shared_memory(&self) -> u32 {
        let [a, b] = self.stage_bytes();
        1024 + self.stages * (a + b) + CONSUMERS * (WARP_GROUP / 32) * SLABS + 2 * 8 * self.stages
    }

    /// Scales of a stage: of each row, and of each column or of 64 of them; 0 where they are not in shared memory.
    pub const fn scales(&self, place: Place) -> u32 {
        match place {
            Place::Nowhere | Place::AtTheEnd => 0,
            Place::ByBlocks => self.m + self.n.div_ceil(64),
            Place::ByColumns => self.m + self.n,
        }
    }

    /// The same with scales of each stage in shared memory, and the bytes of that: with a stage less where there is no room.
    pub fn with_scales(&self, place: Place) -> (Self, u32) {
        let of_a_stage = self.scales(place).next_multiple_of(4) * 4;
        let bytes = |tile: &Self| tile.shared_memory() + tile.stages * of_a_stage;
        let mut tile = *self;
        while bytes(&tile) > MOST_SHARED {
            tile.stages -= 1;
        }
        (tile, bytes(&tile))
    }

    /// The name in programs and plans.
    pub fn name(&self) -> String {
        let schedule = if self.ping_pong { "ping-pong" } else { "cooperative" };
        format!("{}x{}.{schedule}.{}", self.m, self.n, self.cluster)
    }
}
