//! All tests of this crate, in one program.

mod conversions;
mod flights;
mod interop;
mod laws;
