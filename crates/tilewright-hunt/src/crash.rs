//! What a touched guard page leads to: the problem is printed before the program ends.

/// Exit code of a finding.
pub const FOUND: i32 = 1;

#[cfg(unix)]
mod system {
    use super::FOUND;
    use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

    static TEXT: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
    static LENGTH: AtomicUsize = AtomicUsize::new(0);

    /// Runs when memory is touched that must not be. Does what a signal handler may.
    extern "C" fn report(_: libc::c_int) {
        const WHAT: &[u8] = b"FOUND: memory outside a matrix was read or written\n";
        // SAFETY: the text lives as long as the program is in `during`; both functions may be called here.
        unsafe {
            libc::write(1, WHAT.as_ptr().cast(), WHAT.len());
            libc::write(1, TEXT.load(Relaxed).cast(), LENGTH.load(Relaxed));
            libc::_exit(FOUND);
        }
    }

    /// Has problems printed from now on.
    pub fn watch() {
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: the handler is a function of the kind that is asked for.
            unsafe { libc::signal(signal, report as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        }
    }

    /// Calls `f`, during which a touched guard page prints `text`.
    pub fn during<R>(text: &str, f: impl FnOnce() -> R) -> R {
        TEXT.store(text.as_ptr().cast_mut(), Relaxed);
        LENGTH.store(text.len(), Relaxed);
        let result = f();
        LENGTH.store(0, Relaxed);
        result
    }
}

#[cfg(not(unix))]
mod system {
    /// There are no guard pages here.
    pub fn watch() {}
    /// Calls `f`.
    pub fn during<R>(_: &str, f: impl FnOnce() -> R) -> R {
        f()
    }
}

pub use system::{during, watch};
