//! Why a module cannot become a program.

use crate::parse::ParseError;

/// A PTX module that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The text is not PTX.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A name that nothing declares.
    #[error("PTX line {line}: `{name}` is not declared")]
    Undeclared {
        /// PTX line.
        line: u32,
        /// The name.
        name: String,
    },
    /// A declaration that cannot be honoured.
    #[error("PTX line {line}: `{name}`: {message}")]
    Declaration {
        /// PTX line.
        line: u32,
        /// The name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// Modules of 32-bit addresses.
    #[error("`.address_size {size}` is not supported; compile for 64-bit addresses")]
    AddressSize {
        /// The size.
        size: u32,
    },
    /// More global and constant variables than a device has addresses for, with those of the programs that it holds.
    #[error("the device has no addresses left for {variables} variables")]
    NoRoom {
        /// The variables of this module.
        variables: usize,
    },
}
