//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod closure;
mod common;
mod devices;
mod failures;
mod files;
mod launchers;
mod mpi;
mod predecessors;
mod product;
mod simulate;
