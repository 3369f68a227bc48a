//! Matrix products over any semiring.

pub use tilewright_core::*;
pub use tilewright_cpu as cpu;
