//! All tests of this crate, in one program.

mod c;
mod library;
mod rust;
