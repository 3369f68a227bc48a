//! Signals that end the program: no file is left half written.

use crate::failure::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use tilewright::{Cancel, files};

static ENDING: AtomicBool = AtomicBool::new(false);
/// Whether someone will end the work by itself.
static DEFERRED: AtomicBool = AtomicBool::new(false);
/// Whether that was asked for.
static ASKED: Cancel = Cancel::new();

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail like one to a full disk, which cleans up behind it.
///
/// The signal would otherwise end the process at once.
pub fn fail_at_the_size_limit() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal installs no handler.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}

/// From here on an interrupt (SIGINT, SIGTERM or SIGHUP) removes unfinished files and ends the process.
///
/// Files are written beside their target and renamed when complete, so the old file is whole at any time.
pub fn watch() {
    let end = || {
        if DEFERRED.load(Ordering::SeqCst) && !ASKED.flag().swap(true, Ordering::SeqCst) {
            return;
        }
        ENDING.store(true, Ordering::SeqCst);
        files::remove_temporaries();
        std::process::exit(INTERRUPTED.into());
    };
    // A process that may not watch its signals still computes.
    let _ = ctrlc::set_handler(end);
}

/// As long as it lives, the first interrupt only asks for an end; the second brings it.
pub struct Deferred;

impl Deferred {
    pub fn new() -> Self {
        DEFERRED.store(true, Ordering::SeqCst);
        Self
    }

    /// Becomes true when an end is asked for.
    pub fn asked(&self) -> &'static Cancel {
        &ASKED
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        DEFERRED.store(false, Ordering::SeqCst);
    }
}

/// Whether an end was asked for.
pub fn was_asked() -> bool {
    ASKED.is_cancelled()
}

/// Waits for the end when an interrupt is about to bring it.
///
/// A write whose temporary file is taken away fails; that is not what the user should be told.
pub fn settle() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}
