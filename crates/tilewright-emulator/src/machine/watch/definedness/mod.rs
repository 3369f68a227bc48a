//! Which bits of registers and memory have no value.
//!
//! A bit without a value may be loaded, moved and computed with. It is a fault where it decides something: a branch, an address, what global
//! memory holds. So the shadow of a warp's registers has a bit for each of theirs, and instructions compute with both. A warp has a shadow only
//! while it holds such a bit; all others pay for one test of a pointer.

mod begin;
mod decide;
mod exchange;
mod flow;
mod track;
mod unwritten;

pub use begin::begin_undefined;
pub use decide::Decision;
pub use unwritten::bits_of;
