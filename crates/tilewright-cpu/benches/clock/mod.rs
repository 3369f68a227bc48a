//! Time that this process has computed for, so that other programs on the machine do not count.

/// Seconds of processor time of all threads of this process.
#[cfg(unix)]
pub fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time` alone.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } != 0;
    assert!(!failed, "this system does not tell the processor time of a process");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds that have passed: other systems tell no more.
#[cfg(not(unix))]
pub fn seconds() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGUN.elapsed().as_secs_f64()
}
