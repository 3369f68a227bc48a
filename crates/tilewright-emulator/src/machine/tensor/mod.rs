//! What Hopper does beside its threads: matrix instructions of warpgroups.

pub mod descriptor;
pub mod wgmma;
