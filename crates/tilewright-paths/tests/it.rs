//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod about_nothing;
mod closure;
mod common;
mod paths;
