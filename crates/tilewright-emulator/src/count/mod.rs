//! Counters: what the hardware would count, at the level of PTX.

mod raw;
mod report;

pub use raw::{AccessCount, RawCounts};
pub use report::{
    AccessCounters, AccessKind, Counters, InstructionCounters, LineCounters, OptimisedAccesses,
};
