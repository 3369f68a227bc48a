//! Reading and writing emulated memory.
//!
//! Global memory is shared by the threads that execute blocks, and a kernel may race on it: every access is an atomic of relaxed order.
//! Shared and local memory belong to one thread of this process at a time and are plain.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A way to read and write naturally aligned words.
pub trait Words {
    /// Reads `BYTES` (1, 2, 4 or 8) bytes.
    ///
    /// # Safety
    /// `at` must be valid for reads of that many bytes and aligned to them.
    unsafe fn read<const BYTES: u32>(at: *mut u8) -> u64;

    /// Writes the low `BYTES` bytes of `value`.
    ///
    /// # Safety
    /// `at` must be valid for writes of that many bytes and aligned to them.
    unsafe fn write<const BYTES: u32>(at: *mut u8, value: u64);
}

/// Memory that other threads may access at the same time.
pub struct Atomic;

/// Memory of one thread.
pub struct Plain;

impl Words for Atomic {
    #[inline(always)]
    unsafe fn read<const BYTES: u32>(at: *mut u8) -> u64 {
        // SAFETY: the caller promises validity and alignment; emulated global memory is only ever accessed through atomics
        // while a kernel runs.
        unsafe {
            match BYTES {
                1 => AtomicU8::from_ptr(at).load(Relaxed).into(),
                2 => AtomicU16::from_ptr(at.cast()).load(Relaxed).into(),
                4 => AtomicU32::from_ptr(at.cast()).load(Relaxed).into(),
                _ => AtomicU64::from_ptr(at.cast()).load(Relaxed),
            }
        }
    }

    #[inline(always)]
    unsafe fn write<const BYTES: u32>(at: *mut u8, value: u64) {
        // SAFETY: as for `read`.
        unsafe {
            match BYTES {
                1 => AtomicU8::from_ptr(at).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(at.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(at.cast()).store(value as u32, Relaxed),
                _ => AtomicU64::from_ptr(at.cast()).store(value, Relaxed),
            }
        }
    }
}

impl Words for Plain {
    #[inline(always)]
    unsafe fn read<const BYTES: u32>(at: *mut u8) -> u64 {
        // SAFETY: the caller promises validity and alignment.
        unsafe {
            match BYTES {
                1 => at.read().into(),
                2 => at.cast::<u16>().read().into(),
                4 => at.cast::<u32>().read().into(),
                _ => at.cast::<u64>().read(),
            }
        }
    }

    #[inline(always)]
    unsafe fn write<const BYTES: u32>(at: *mut u8, value: u64) {
        // SAFETY: as for `read`.
        unsafe {
            match BYTES {
                1 => at.write(value as u8),
                2 => at.cast::<u16>().write(value as u16),
                4 => at.cast::<u32>().write(value as u32),
                _ => at.cast::<u64>().write(value),
            }
        }
    }
}
