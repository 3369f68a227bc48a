//! Executes PTX on the CPU, counts what the hardware counts, and finds what it hides.

pub mod alu;
pub mod isa;
