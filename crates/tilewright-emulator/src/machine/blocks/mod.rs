//! Scheduling: the workers of a launch are threads of this process. Each takes blocks and runs their warps in turn.

pub mod block;
pub mod cluster;
pub mod group;
pub mod launch;
pub mod neighbours;
pub mod options;
pub mod schedule;
pub mod team;
pub mod waiting;
pub mod warp;
pub mod worker;
