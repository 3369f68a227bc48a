//! How this thread's processor computes with floats: XLA's threads take subnormal numbers for zero, and compiled Rust must not run so.

/// The state that a thread begins with, until this is dropped.
pub struct DefaultFloats {
    before: State,
}

impl DefaultFloats {
    pub fn begin() -> Self {
        let before = state();
        set(DEFAULT);
        Self { before }
    }
}

impl Drop for DefaultFloats {
    fn drop(&mut self) {
        set(self.before);
    }
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use std::arch::asm;

    pub type State = u32;
    /// All exceptions masked, rounding to nearest, subnormal numbers as they are.
    pub const DEFAULT: State = 0x1F80;

    pub fn state() -> State {
        let mut found: State = 0;
        // SAFETY: it writes four bytes where they are.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut found, options(nostack, preserves_flags)) };
        found
    }

    pub fn set(state: State) {
        // SAFETY: the state is the default one, or was read before.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const state, options(nostack, preserves_flags, readonly))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    use std::arch::asm;

    pub type State = u64;
    pub const DEFAULT: State = 0;

    pub fn state() -> State {
        let found: State;
        // SAFETY: it reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) found, options(nomem, nostack, preserves_flags)) };
        found
    }

    pub fn set(state: State) {
        // SAFETY: the state is the default one, or was read before.
        unsafe { asm!("msr fpcr, {}", in(reg) state, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    pub type State = ();
    pub const DEFAULT: State = ();

    pub fn state() {}

    pub fn set((): State) {}
}

use processor::{DEFAULT, State, set, state};
