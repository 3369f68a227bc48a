//! Numbers of 1, 2, 4 or 8 bytes in emulated memory.

use super::cells::{Atomic, Words};

/// Reads 1, 2, 4 or 8 bytes.
pub fn read(data: *mut u8, bytes: u32) -> u64 {
    // SAFETY: callers have checked bounds and alignment.
    unsafe {
        match bytes {
            1 => Atomic::read::<1>(data),
            2 => Atomic::read::<2>(data),
            4 => Atomic::read::<4>(data),
            _ => Atomic::read::<8>(data),
        }
    }
}

/// Writes 1, 2, 4 or 8 bytes.
pub fn write(data: *mut u8, bytes: u32, value: u64) {
    // SAFETY: as for `read`.
    unsafe {
        match bytes {
            1 => Atomic::write::<1>(data, value),
            2 => Atomic::write::<2>(data, value),
            4 => Atomic::write::<4>(data, value),
            _ => Atomic::write::<8>(data, value),
        }
    }
}
