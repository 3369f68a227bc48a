//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod convert;
mod edges;
mod mutations;
mod read;
mod write;
