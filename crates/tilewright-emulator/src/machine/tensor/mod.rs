//! What Hopper does beside its threads: matrix instructions of warpgroups.

pub mod bulk;
pub mod descriptor;
pub mod groups;
pub mod in_flight;
mod meet;
pub mod transfer;
pub mod wgmma;
