//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod advice;
mod arguments;
mod bounds;
mod cases;
mod hardware;
mod kernels;
mod plain;
mod races;
mod support;
mod variables;
