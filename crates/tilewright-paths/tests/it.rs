//! All tests of this crate, in one program.

mod about_nothing;
mod closure;
mod common;
mod paths;
