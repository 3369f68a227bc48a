//! Ctrl-C: no file is left half written.

use crate::failure::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use tilewright::files;

static ENDING: AtomicBool = AtomicBool::new(false);

/// From here on an interrupt removes unfinished files and ends the process.
///
/// Files are written beside their target and renamed when complete, so the old file is whole at any time.
pub fn watch() {
    let end = || {
        ENDING.store(true, Ordering::SeqCst);
        files::remove_temporaries();
        std::process::exit(INTERRUPTED.into());
    };
    // A process that may not watch its signals still computes.
    let _ = ctrlc::set_handler(end);
}

/// Waits for the end when an interrupt is about to bring it.
///
/// A write whose temporary file is taken away fails; that is not what the user should be told.
pub fn settle() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}
