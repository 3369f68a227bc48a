//! A parser of PTX up to ISA 9.x.
//!
//! The grammar is read, not the instruction set: an opcode is a word with dots, its operands have one of a few shapes. So an instruction
//! that this crate has never heard of parses, and is refused by name only when it is executed.

pub mod ast;
mod cursor;
mod directives;
mod error;
mod expression;
mod instructions;
mod lexer;
mod module;
mod variables;

pub use error::ParseError;
pub use module::parse;
