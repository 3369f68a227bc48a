//! What can go wrong with device memory on the host's side.

/// A copy or allocation that is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Not inside one allocation.
    #[error("{bytes} bytes at device address {address:#x} are not inside one allocation")]
    Outside {
        /// The address.
        address: u64,
        /// The bytes.
        bytes: u64,
    },
    /// No such symbol.
    #[error("the module has no device symbol `{name}`; it has: {known}")]
    NoSymbol {
        /// The name asked for.
        name: String,
        /// The symbols that there are.
        known: String,
    },
    /// More than this process gets from the system.
    #[error("this process has no room for {bytes} bytes")]
    Exhausted {
        /// Asked for.
        bytes: u64,
    },
    /// Larger than a region.
    #[error("an allocation of {bytes} bytes is too large; the limit is {limit}")]
    TooLarge {
        /// Asked for.
        bytes: u64,
        /// Possible.
        limit: u64,
    },
}
