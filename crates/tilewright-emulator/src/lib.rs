//! Executes PTX on the CPU, counts what the hardware counts, and finds what it hides.

pub mod alu;
pub mod isa;
pub mod parse;
mod program;

pub use program::{Parameter, Program, ProgramError, SourceLine, Symbol};
