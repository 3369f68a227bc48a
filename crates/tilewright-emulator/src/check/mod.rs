//! Checks: what the hardware would not tell.

mod collector;
mod entry;
mod finding;
mod global;
mod order;
mod shared;

pub use collector::{Collector, Event, Naming, Side};
pub use entry::Strength;
pub use finding::{Finding, FindingKind, Party, Severity};
pub use global::{BlockOrder, GlobalConflict, GlobalShadow, Known, Present};
pub use order::Order;
pub use shared::{Access, Actor, Conflict, Mode, SharedShadow};
