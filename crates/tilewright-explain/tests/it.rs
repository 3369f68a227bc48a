//! All tests of this crate, in one program.

mod cases;
mod document;
mod hardware;
mod kernels;
mod plain;
mod races;
mod support;
mod variables;
