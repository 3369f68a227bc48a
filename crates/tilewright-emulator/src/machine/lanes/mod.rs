//! Registers of 32 lanes, and what is done to all of them at once.

pub mod addresses;
pub mod frame;
pub mod host_isa;
pub mod numbers;
pub mod scalar;
pub mod vector;
