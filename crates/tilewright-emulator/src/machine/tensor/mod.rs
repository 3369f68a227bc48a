//! What Hopper does beside its threads: matrix instructions of warpgroups.

pub mod bulk;
pub mod descriptor;
pub mod filled;
pub mod global_side;
pub mod in_flight;
mod map;
mod pending;
mod proxy;
pub mod transfer;
pub mod wgmma;
