//! Who executes: a launch has workers, threads of this process, which take blocks, which take turns among their warps.

pub mod block;
pub mod cluster;
pub mod launch;
pub mod team;
pub mod warp;
pub mod worker;
