//! The JSON object of `occupancy`; the fields are its keys.

use super::{
    gains::Gain,
    setting::{Outcome, Setting},
};
use serde::Serialize;
use tilewright_arch::{BlockSize, Resource, SquareBlock, Vary};

#[derive(Serialize)]
pub struct Report {
    schema: u32,
    /// Null where a compute capability is given.
    gpu: Option<&'static str>,
    #[serde(flatten)]
    pub row: Row,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// What lets another block, or more warps, be resident.
    changes: Vec<Change>,
}

/// One quantity changed, and what comes of it.
#[derive(Serialize)]
struct Change {
    quantity: &'static str,
    from: u32,
    to: u32,
    blocks_per_sm: u32,
    warps_per_sm: u32,
    occupancy: f64,
}

/// One configuration.
#[derive(Serialize)]
pub struct Row {
    compute_capability: String,
    threads_per_block: u32,
    registers_per_thread: u32,
    static_shared_memory_bytes: u32,
    dynamic_shared_memory_bytes: u32,
    barriers: u32,
    cluster_size: u32,
    blocks_per_sm: u32,
    warps_per_sm: u32,
    max_warps_per_sm: u32,
    /// Resident warps as a part of those possible, 0 to 1.
    occupancy: f64,
    limits: Limits,
    limited_by: Vec<&'static str>,
    allocated: Allocated,
    /// Why the configuration cannot launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Blocks per SM that each resource allows; null for no limit.
#[derive(Serialize)]
struct Limits {
    warps: u32,
    blocks: u32,
    registers: Option<u32>,
    shared_memory: Option<u32>,
    barriers: Option<u32>,
}

#[derive(Serialize)]
struct Allocated {
    registers_per_block: u32,
    shared_memory_per_block_bytes: u32,
}

/// The block size with the highest occupancy.
#[derive(Serialize)]
pub struct Best {
    /// Null, as the others, where no block size can launch.
    block_size: Option<u32>,
    /// Blocks that fill the GPU; null unless the GPU is named.
    min_grid_size: Option<u32>,
    /// The side of the largest square block within, a power of two.
    square_side: Option<u32>,
}

impl Report {
    pub fn new(gpu: Option<&'static str>, row: Row, best: Option<Best>, gains: &[Gain]) -> Self {
        Self { schema: 1, gpu, row, best, changes: gains.iter().map(Change::new).collect() }
    }
}

impl Change {
    fn new(gain: &Gain) -> Self {
        let Gain { quantity, from, to, after } = gain;
        Self {
            quantity: match quantity {
                Vary::Threads => "threads_per_block",
                Vary::Registers => "registers_per_thread",
                Vary::SharedMemory => "shared_memory_bytes",
                Vary::Barriers => "barriers",
            },
            from: *from,
            to: *to,
            blocks_per_sm: after.blocks_per_sm,
            warps_per_sm: after.warps_per_sm,
            occupancy: after.ratio(),
        }
    }
}

impl Row {
    pub fn new(setting: &Setting, outcome: &Outcome) -> Self {
        let occupancy = &outcome.occupancy;
        let (limits, kernel, launch) = (&occupancy.limits, &setting.kernel, setting.launch());
        Self {
            compute_capability: setting.limits.compute_capability.to_string(),
            threads_per_block: launch.threads_per_block,
            registers_per_thread: kernel.registers_per_thread,
            static_shared_memory_bytes: kernel.static_shared_memory,
            dynamic_shared_memory_bytes: launch.dynamic_shared_memory,
            barriers: kernel.barriers,
            cluster_size: launch.cluster_size,
            blocks_per_sm: occupancy.blocks_per_sm,
            warps_per_sm: occupancy.warps_per_sm,
            max_warps_per_sm: occupancy.max_warps_per_sm,
            occupancy: occupancy.ratio(),
            limits: Limits {
                warps: limits.warps,
                blocks: limits.blocks,
                registers: limits.registers,
                shared_memory: limits.shared_memory,
                barriers: limits.barriers,
            },
            limited_by: occupancy.limited_by.iter().map(Resource::name).collect(),
            allocated: Allocated {
                registers_per_block: occupancy.allocated.registers_per_block,
                shared_memory_per_block_bytes: occupancy.allocated.shared_memory_per_block,
            },
            error: outcome.error.map(|e| e.to_string()),
        }
    }
}

impl Best {
    pub fn new(best: Option<&BlockSize>, sms: Option<u32>) -> Self {
        Self {
            block_size: best.map(|best| best.threads),
            min_grid_size: best.and_then(|best| Some(best.min_grid_size(sms?))),
            square_side: best.and_then(|best| SquareBlock::within(best.threads)).map(|square| square.side),
        }
    }
}
