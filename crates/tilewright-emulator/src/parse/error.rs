//! What is wrong with a PTX text, and where.

/// A PTX text that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What was expected or is wrong.
    pub message: String,
}
