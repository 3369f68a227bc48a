//! Addresses in device memory.

/// An address in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePointer(u64);

impl DevicePointer {
    /// The pointer with this address, such as that of a [`Symbol`](crate::Symbol).
    pub fn from_address(address: u64) -> Self {
        Self(address)
    }

    /// The address, as the kernel sees it.
    pub fn address(self) -> u64 {
        self.0
    }

    /// The pointer `bytes` further on.
    #[must_use]
    pub fn offset(self, bytes: i64) -> Self {
        Self(self.0.wrapping_add_signed(bytes))
    }
}
