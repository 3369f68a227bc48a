//! Page-locked buffers of the host that a stream keeps for copies.

use crate::ffi::driver as ffi;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The idle buffers of a stream: those that were given back first come first.
#[derive(Debug, Default)]
pub(super) struct Staging(Mutex<VecDeque<Buffer>>);

/// Page-locked memory for a piece.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) memory: *mut c_void,
    /// Recorded behind the last copy from or to it.
    pub(super) done: ffi::Event,
}

// SAFETY: memory that belongs to this value alone, and a handle that the driver takes from any thread.
unsafe impl Send for Buffer {}

impl Staging {
    pub(super) fn lock(&self) -> MutexGuard<'_, VecDeque<Buffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
