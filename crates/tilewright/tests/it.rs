//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

#[cfg(all(feature = "emulator", feature = "paths"))]
mod cuda;
#[cfg(feature = "emulator")]
mod emulator;
#[cfg(all(feature = "emulator", feature = "paths"))]
mod log_plus;
#[cfg(feature = "paths")]
mod paths;
mod stacks;
mod support;
#[cfg(feature = "emulator")]
mod user_semirings;
