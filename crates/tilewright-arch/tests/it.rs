//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod atomics;
mod block_size_sample;
mod device_limits;
mod devices;
mod launch;
mod occupancy_advice;
mod occupancy_sample;
mod support;
mod wavefronts;
