//! Counters: what the hardware would count, at the level of PTX.

mod contention;
mod mbarriers;
mod pattern;
mod raw;
mod report;

pub use contention::{Contender, contend};
pub use mbarriers::{MbarrierCounters, MbarrierLine, MbarrierUse, RawMbarriers};
pub use pattern::{Cost, GROUP, Pattern, Shape};
pub use raw::{AccessCount, RawCounts};
pub use report::{
    AccessCounters, AccessKind, Counters, InstructionCounters, LineCounters, OptimisedAccesses,
};
