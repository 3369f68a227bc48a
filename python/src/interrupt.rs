//! Work without the interpreter, which Ctrl-C ends.

use pyo3::prelude::*;
use std::{
    panic::resume_unwind,
    sync::{
        OnceLock,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Release},
        },
    },
    thread::{Builder, current, park_timeout, scope},
    time::Duration,
};
use tilewright::Cancel;

/// How often Python's signal handlers get their turn while work is done.
const LOOK: Duration = Duration::from_millis(50);
/// As that of a main thread; other threads have less by default.
const STACK: usize = 8 << 20;

/// The process that loaded this.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Remembers the process; to be called when the module is loaded.
pub fn remember_process() {
    LOADED_BY.get_or_init(std::process::id);
}

/// Whether this process was forked from the one that loaded this. The pool's threads are not here then, and work that waits for them must not be begun.
pub fn is_forked() -> bool {
    LOADED_BY.get().is_some_and(|&process| process != std::process::id())
}

/// How long work takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Less than to let other Python threads run.
    NoTime,
    /// Nobody would interrupt it.
    Milliseconds,
    /// It may be long.
    Long,
}

/// Calls `work` while other Python threads run. Work that takes long is done by another thread, and cancelled where a signal handler raises an
/// exception, such as `KeyboardInterrupt`; that exception is what comes back.
pub fn run<T: Send>(py: Python<'_>, takes: Takes, work: impl FnOnce(&Cancel) -> T + Send) -> PyResult<T> {
    let cancel = Cancel::new();
    match takes {
        Takes::NoTime => return Ok(work(&cancel)),
        Takes::Milliseconds => return Ok(py.detach(|| work(&cancel))),
        Takes::Long => {}
    }
    // A thread ends some time after its work, and nobody wakes the caller then.
    let is_done = AtomicBool::new(false);
    let (caller, cancel, is_done) = (current(), &cancel, &is_done);
    let mut work = Some(work);
    let mut interruption = None;
    let finished = scope(|scope| {
        let work = &mut work;
        let worker = Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            let done = work.take().map(|work| work(cancel));
            is_done.store(true, Release);
            caller.unpark();
            done
        });
        let Ok(worker) = worker else { return Ok(None) };
        while !is_done.load(Acquire) && !worker.is_finished() {
            py.detach(|| park_timeout(LOOK));
            if let Err(exception) = py.check_signals() {
                cancel.cancel();
                interruption.get_or_insert(exception);
                break;
            }
        }
        py.detach(|| worker.join())
    });
    match (finished, interruption) {
        (Err(panic), _) => resume_unwind(panic),
        (_, Some(exception)) => Err(exception),
        (Ok(Some(done)), None) => Ok(done),
        // No thread could be started: the caller's does it.
        (Ok(None), None) => match work {
            Some(work) => Ok(py.detach(|| work(cancel))),
            None => Err(pyo3::exceptions::PyRuntimeError::new_err("a thread ended without its work")),
        },
    }
}
