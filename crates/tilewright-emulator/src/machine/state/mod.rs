//! What executes a kernel, as data: workers, the blocks that they have, their warps, and what these hold.

pub mod cluster;
pub mod contests;
pub mod copies;
pub mod groups;
pub mod heap;
pub mod in_flight;
pub mod local;
pub mod observer;
pub mod options;
pub mod source;
pub mod step;
pub mod team;
pub mod tile;
pub mod transfer;
pub mod undefined;
pub mod waiting;
pub mod warp;
pub mod worker;
