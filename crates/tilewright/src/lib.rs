//! Matrix products over any semiring.

#[cfg(feature = "files")]
pub mod files;

pub use tilewright_core::*;
pub use tilewright_cpu as cpu;
