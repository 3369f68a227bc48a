//! What an NVIDIA GPU is, as data and pure functions, without a device.
//!
//! * [`memory`]: sectors of a global access, wavefronts of a shared load or store, alignment.

pub mod memory;
