//! What one thread alone may use, in an object that any thread may hold.

use pyo3::prelude::*;
use std::{
    mem::ManuallyDrop,
    sync::OnceLock,
    thread::{ThreadId, current},
};

/// A value that belongs to one thread.
pub struct Pinned<T> {
    value: ManuallyDrop<T>,
    home: OnceLock<ThreadId>,
}

// SAFETY: one thread alone reaches the value or drops it: the one that made it, or, of a value that may move, the first that asked for it.
unsafe impl<T> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pinned<T> {}

impl<T> Pinned<T> {
    /// Of this thread.
    pub fn here(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), home: OnceLock::from(current().id()) }
    }

    /// Of the thread that asks for it first: made of something that may move.
    pub fn of_whoever_asks<S: Send>(value: S, wrapped: fn(S) -> T) -> Self {
        Self { value: ManuallyDrop::new(wrapped(value)), home: OnceLock::new() }
    }

    /// The value, in its own thread.
    pub fn get(&self) -> Option<&T> {
        (*self.home.get_or_init(|| current().id()) == current().id()).then_some(&*self.value)
    }
}

impl<T> Drop for Pinned<T> {
    /// Another thread leaks the value.
    fn drop(&mut self) {
        if self.home.get().is_none_or(|&home| home == current().id()) {
            // SAFETY: nothing uses it afterwards; without a home it may be dropped anywhere.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// Calls `work`, which has nothing of Python, in this thread while other threads of Python run.
pub fn detached<T>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    let work = Here(work);
    py.detach(move || Here(work.take()())).take()
}

/// What stays in this thread.
struct Here<T>(T);

// SAFETY: `detach` calls its closure in the thread that calls it.
unsafe impl<T> Send for Here<T> {}

impl<T> Here<T> {
    fn take(self) -> T {
        self.0
    }
}
