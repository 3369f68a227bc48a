//! The occupancy of the launch, with the keys of `tilewright occupancy`.

use serde::Serialize;
use tilewright_arch::{KernelResources, LaunchConfig, Limits, Occupancy, Resource};

/// How many blocks an SM holds, and what limits them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OccupancySummary {
    /// Such as `8.6`.
    pub compute_capability: String,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Registers of a thread; `None` where nothing could assemble the kernel: they are then left out of the limits.
    pub registers_per_thread: Option<u32>,
    /// Bytes of static shared memory of a block.
    #[serde(rename = "static_shared_memory_bytes")]
    pub static_shared_memory: u32,
    /// Resident blocks.
    pub blocks_per_sm: u32,
    /// Resident warps.
    pub warps_per_sm: u32,
    /// Warps that the SM could hold.
    pub max_warps_per_sm: u32,
    /// Resident warps as a part of those, 0 to 1.
    pub occupancy: f64,
    /// Blocks that each resource allows.
    pub limits: BlocksAllowed,
    /// The resources that limit the blocks.
    pub limited_by: Vec<&'static str>,
    /// What a block takes, after rounding.
    pub allocated: AllocatedPerBlock,
}

/// Blocks that each resource allows; `None` for no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "named after the resource")]
pub struct BlocksAllowed {
    pub warps: u32,
    pub blocks: u32,
    pub registers: Option<u32>,
    pub shared_memory: Option<u32>,
    pub barriers: Option<u32>,
}

/// What a block takes, after rounding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllocatedPerBlock {
    /// Registers.
    pub registers_per_block: u32,
    /// Bytes, the reserved part included.
    #[serde(rename = "shared_memory_per_block_bytes")]
    pub shared_memory_per_block: u32,
}

impl OccupancySummary {
    /// The occupancy of a launch; `None` for a launch without threads. Without registers (0) these are no limit.
    pub fn of(limits: &Limits, kernel: &KernelResources, launch: &LaunchConfig) -> Option<Self> {
        let occupancy = Occupancy::of(limits, kernel, launch).ok()?;
        let allowed = |resource| occupancy.limits.get(resource);
        Some(Self {
            compute_capability: limits.compute_capability.to_string(),
            threads_per_block: launch.threads_per_block,
            registers_per_thread: Some(kernel.registers_per_thread).filter(|&registers| registers > 0),
            static_shared_memory: kernel.static_shared_memory,
            blocks_per_sm: occupancy.blocks_per_sm,
            warps_per_sm: occupancy.warps_per_sm,
            max_warps_per_sm: occupancy.max_warps_per_sm,
            occupancy: occupancy.ratio(),
            limits: BlocksAllowed {
                warps: occupancy.limits.warps,
                blocks: occupancy.limits.blocks,
                registers: allowed(Resource::Registers),
                shared_memory: allowed(Resource::SharedMemory),
                barriers: allowed(Resource::Barriers),
            },
            limited_by: occupancy.limited_by.iter().map(Resource::name).collect(),
            allocated: AllocatedPerBlock {
                registers_per_block: occupancy.allocated.registers_per_block,
                shared_memory_per_block: occupancy.allocated.shared_memory_per_block,
            },
        })
    }
}

/// What occupancy is computed from, to vary one thing of it at a time.
#[derive(Clone, Copy, Debug)]
pub struct OccupancyCurves {
    /// The GPU's.
    pub limits: Limits,
    /// The kernel's.
    pub kernel: KernelResources,
    /// The launch's.
    pub launch: LaunchConfig,
}
