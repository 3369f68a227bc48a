//! Emulated memories and the addresses of a warp.

mod budget;
mod cells;
mod footprint;
mod global;
mod lanes;
mod scalar;
mod shared;

pub use budget::{Budget, Use};
pub use cells::{Atomic, Plain, Words};
pub use footprint::{Footprint, Piece};
pub use global::{Access, GlobalMemory};
pub use lanes::{Addresses, each_lane, lanes};
pub use scalar::{read, write};
pub use shared::{SharedLayout, SharedMemory};

/// Part of a memory that one pointer may reach.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Address of its first byte, as the program sees it.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// Its first byte, as this process sees it.
    pub data: *mut u8,
    /// Whether a kernel may write it.
    pub writable: bool,
}
