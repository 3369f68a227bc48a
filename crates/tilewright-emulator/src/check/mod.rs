//! Checks: what the hardware would not tell.

mod advice;
mod blocks;
mod collector;
mod entry;
mod finding;
mod global;
mod kind;
mod order;
mod pages;
mod present;
#[cfg(test)]
mod quiet;
mod runs;
mod seen;
mod shared;

pub use advice::{INITIALISE_ONCE, Setting, WAIT_FOR_STORE, fix};
pub use blocks::{BlockOrder, Known, locked};
pub use collector::{Collector, Event, Naming, Side};
pub use entry::{Entry, Strength};
pub use finding::{Finding, Party, Severity};
pub use global::{GlobalAccess, GlobalConflict, GlobalShadow, GlobalView};
pub use kind::{FindingKind, Nature};
pub use order::Order;
pub use present::Present;
pub use shared::{Access, Actor, Conflict, Mode, SharedShadow};
