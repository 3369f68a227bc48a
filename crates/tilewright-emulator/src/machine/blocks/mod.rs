//! Scheduling: the workers of a launch are threads of this process. Each takes blocks and runs their warps in turn.

mod barriers;
mod block;
mod group;
pub mod launch;
mod meet;
mod pool;
mod schedule;
mod waiting;
