//! All tests of this crate, in one program.

mod calls;
mod catalogue;
mod common;
mod device;
mod engines;
mod epilogue;
mod libraries;
mod misuse;
mod repetitions;
mod scales;
mod shipped;
mod speed;
mod tensor_maps;
