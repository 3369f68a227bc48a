//! One memory instruction.

use super::{BankTraffic, SectorTraffic, Traffic};
use serde::Serialize;

/// The memory that an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Device memory.
    Global,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Constant memory.
    Constant,
    /// Device memory through a texture.
    Texture,
    /// A generic address that was of several.
    Generic,
}

impl Space {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Constant => "constant",
            Self::Texture => "texture",
            Self::Generic => "generic",
        }
    }
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Read.
    Load,
    /// Written.
    Store,
    /// Read and written in one.
    Atomic,
}

impl Operation {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

/// A memory instruction, with its sums over the launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Access {
    /// Its number among the accesses of the kernel; [`super::Patterns::access`] refers to it.
    pub id: usize,
    /// The line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The opcode with its modifiers, such as `ld.global.f32`; with `(load)` behind it for the loads of an atomic that is a loop.
    pub instruction: String,
    /// The memory.
    pub space: Space,
    /// Read or written.
    pub operation: Operation,
    /// Bytes that one lane moves.
    pub bytes_per_lane: u32,
    /// The array or variable, as the source calls it; `None` where the recorded block does not show it, or accesses several.
    pub buffer: Option<String>,
    /// How often a warp executes the instruction. Requests are more where the hardware makes a loop of an atomic.
    pub executions: u64,
    /// Of an atomic: how many lanes of a warp meet in one address, the mean over the executions of the recorded block.
    pub lanes_per_address: Option<f64>,
    /// Bytes between the nearest two lanes that want different places, in the first request of the recorded block.
    #[serde(rename = "lane_stride_bytes")]
    pub lane_stride: Option<u64>,
    /// Requests and their cost.
    #[serde(flatten)]
    pub traffic: Traffic,
}

impl Access {
    /// The array, or the memory where that is not known: `A`, `local memory`.
    pub fn target(&self) -> String {
        self.buffer.clone().unwrap_or_else(|| format!("{} memory", self.space.name()))
    }

    /// What it does to what, in words: `load of A`, `atomic to bins`, `store to local memory`.
    pub fn describe(&self) -> String {
        let word = match (self.operation, &self.buffer) {
            (Operation::Load, Some(_)) => "of",
            (Operation::Load, None) => "from",
            _ => "to",
        };
        format!("{} {word} {}", self.operation.name(), self.target())
    }

    /// Passes of 128 bytes that it makes, to the cache or over the banks of shared memory.
    pub fn passes(&self) -> u64 {
        match &self.traffic {
            Traffic::Sectors(t) => t.sectors.div_ceil(4),
            Traffic::Banks(t) => t.wavefronts,
        }
    }

    /// The cost in sectors, for global memory.
    pub fn sectors(&self) -> Option<&SectorTraffic> {
        match &self.traffic {
            Traffic::Sectors(sectors) => Some(sectors),
            Traffic::Banks(_) => None,
        }
    }

    /// The cost in wavefronts, for shared memory.
    pub fn banks(&self) -> Option<&BankTraffic> {
        match &self.traffic {
            Traffic::Banks(banks) => Some(banks),
            Traffic::Sectors(_) => None,
        }
    }
}
