//! Ctrl-C during work that this thread must do itself.

use pyo3::prelude::*;
use std::{
    sync::{Mutex, PoisonError},
    thread::{ThreadId, current},
    time::{Duration, Instant},
};
use tilewright::{Cancel, Error};

/// How often Python's signal handlers get their turn.
const LOOK: Duration = Duration::from_millis(50);

/// Looks whether a signal handler raises an exception, in the thread that made it.
pub struct Watch {
    caller: ThreadId,
    pub cancel: Cancel,
    looked: Mutex<Instant>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub fn new() -> Self {
        let looked = Mutex::new(Instant::now());
        Self { caller: current().id(), cancel: Cancel::new(), looked, raised: Mutex::new(None) }
    }

    /// Looks, now and then.
    pub fn look(&self) {
        if current().id() != self.caller {
            return;
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < LOOK {
            return;
        }
        *looked = Instant::now();
        drop(looked);
        self.keep(Python::attach(|py| py.check_signals()));
    }

    /// Keeps an exception, and ends the work.
    pub fn keep(&self, done: PyResult<()>) {
        if let Err(exception) = done {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
            self.cancel.cancel();
        }
    }

    /// The exception that ended the work, before the error that it became.
    pub fn result<T>(self, py: Python<'_>, done: Result<T, Error>) -> PyResult<T> {
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (raised, done) {
            (Some(exception), _) => Err(exception),
            (None, done) => done.map_err(|error| crate::errors::raise(py, &error)),
        }
    }
}
