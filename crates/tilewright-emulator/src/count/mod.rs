//! Counters: what the hardware would count, at the level of PTX.

mod contention;
mod raw;
mod report;

pub use contention::{Contender, contend};
pub use raw::{AccessCount, RawCounts};
pub use report::{
    AccessCounters, AccessKind, Counters, InstructionCounters, LineCounters, OptimisedAccesses,
};
