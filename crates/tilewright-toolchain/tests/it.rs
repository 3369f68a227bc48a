//! All tests of this crate, in one program.

mod device_code;
mod toolchain;
