//! All tests of this crate, in one program.

mod calls;
mod catalogue;
mod common;
mod device;
mod device_code;
mod engines;
mod epilogue;
mod libraries;
mod misuse;
mod repetitions;
mod scales;
mod shipped;
mod speed;
mod tensor_maps;
mod toolchain;
