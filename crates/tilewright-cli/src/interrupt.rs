//! Signals that end the program: no file is left half written.

use std::sync::{
    Once,
    atomic::{AtomicBool, AtomicU8, Ordering},
};
use tilewright::{Cancel, files};

static ENDING: AtomicBool = AtomicBool::new(false);
/// Whether someone will end the work by itself.
static DEFERRED: AtomicBool = AtomicBool::new(false);
/// Whether that was asked for.
static ASKED: Cancel = Cancel::new();
/// The number of the signal that came first; 0 before one comes.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// Ctrl-C.
const SIGINT: u8 = 2;

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
    static WATCHED: Once = Once::new();
    WATCHED.call_once(begin);
}

#[cfg(unix)]
fn begin() {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        iterator::Signals,
    };
    // `nohup` has a hang-up ignored, and so it stays.
    let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    // A process that may not watch its signals still computes.
    let Ok(mut signals) = Signals::new(watched.collect::<Vec<_>>()) else { return };
    std::thread::spawn(move || signals.forever().for_each(|signal| receive(signal as u8)));
}

#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zero bytes are a valid `sigaction`, and nothing but the present one is asked for.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
fn begin() {
    // As above.
    let _ = ctrlc::set_handler(|| receive(SIGINT));
}

/// What the thread that waits for signals does with one.
fn receive(signal: u8) {
    let _ = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if DEFERRED.load(Ordering::SeqCst) && !ASKED.flag().swap(true, Ordering::SeqCst) {
        return;
    }
    ENDING.store(true, Ordering::SeqCst);
    files::remove_temporaries();
    std::process::exit(code().into());
}

/// The exit code of a run that a signal ended: 128 and the number of the signal, as shells have it.
pub fn code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 128 + SIGINT,
        signal => 128 + signal,
    }
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
