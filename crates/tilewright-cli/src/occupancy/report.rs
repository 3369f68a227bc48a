//! The JSON object of `occupancy`; the fields are its keys.

use super::setting::{Outcome, Setting};
use serde::Serialize;
use tilewright_arch::{BlockSize, Resource, SquareBlock};

#[derive(Serialize)]
pub struct Report {
    schema: u32,
    #[serde(flatten)]
    pub row: Row,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
}

/// One configuration.
#[derive(Serialize)]
pub struct Row {
    compute_capability: String,
    threads_per_block: u32,
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
    shared_memory_per_block: u32,
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
    pub fn new(row: Row, best: Option<Best>) -> Self {
        Self { schema: 1, row, best }
    }
}

impl Row {
    pub fn new(setting: &Setting, outcome: &Outcome) -> Self {
        let occupancy = &outcome.occupancy;
        let limits = &occupancy.limits;
        Self {
            compute_capability: setting.limits.compute_capability.to_string(),
            threads_per_block: setting.launch().threads_per_block,
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
                shared_memory_per_block: occupancy.allocated.shared_memory_per_block,
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
