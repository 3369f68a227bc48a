//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod document;
#[path = "../../tilewright-explain/tests/plain/mod.rs"]
mod plain;
mod refused;
#[path = "../../tilewright-explain/tests/support/mod.rs"]
mod support;
