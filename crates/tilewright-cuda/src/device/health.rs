//! Whether a context can still be used: not after a kernel has broken it, and not in a process that was forked from its own.
//!
//! A broken context is not replaced. The driver's manual says of these failures that the process must be ended and started anew to go on using CUDA; on an H200
//! (driver 580) the device cannot be opened again even when everything that was opened has been given back. To reset its primary context, which a process has
//! only once, would besides take the memory of everybody else who uses it, such as PyTorch.

use crate::ffi::driver::Code;
use std::sync::OnceLock;
use tilewright_core::{Error, ErrorKind};

/// What is known of a context's state.
#[derive(Debug)]
pub(crate) struct Health {
    /// The process that opened it.
    process: u32,
    /// The failure that broke it.
    broken: OnceLock<String>,
}

impl Health {
    /// Of a context that this process opens.
    pub(crate) fn new() -> Self {
        Self { process: std::process::id(), broken: OnceLock::new() }
    }

    /// Of a context in a given state.
    #[cfg(test)]
    pub(super) fn of(process: u32, broken: OnceLock<String>) -> Self {
        Self { process, broken }
    }

    /// Takes note of a failure.
    pub(crate) fn note(&self, code: Code, error: &Error) {
        if BREAKING.contains(&code) {
            // The first failure is the cause; later calls return its code again.
            let _ = self.broken.set(error.to_string());
        }
    }

    /// Whether the context may be used by this process, now.
    ///
    /// # Errors
    /// `unavailable` with the reason why not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        same_process(self.process, std::process::id())?;
        match self.broken.get() {
            None => Ok(()),
            Some(failure) => Err(unavailable(
                format!("it has failed in this process: {failure}"),
                "start the program again; until then compute on the processor",
            )),
        }
    }

    /// Whether this process opened it. The driver must not even be told to close what another process has opened.
    pub(crate) fn is_own(&self) -> bool {
        self.process == std::process::id()
    }
}

/// A driver does not work in a process that was forked after it was opened.
///
/// # Errors
/// `unavailable` where the processes differ.
pub(crate) fn same_process(opened: u32, now: u32) -> Result<(), Error> {
    if opened == now {
        return Ok(());
    }
    Err(unavailable(
        format!("this process was forked from process {opened}, which had opened the driver before"),
        "start processes anew where they are to use a GPU (in Python: multiprocessing with \"spawn\")",
    ))
}

fn unavailable(why: String, hint: &str) -> Error {
    ErrorKind::Unavailable { what: "the GPU", why, hint: hint.into() }.into()
}

/// Failures after which every call in the context fails, as the driver's manual says of each.
const BREAKING: [Code; 12] = [
    214, // CUDA_ERROR_ECC_UNCORRECTABLE
    220, // CUDA_ERROR_NVLINK_UNCORRECTABLE
    700, // CUDA_ERROR_ILLEGAL_ADDRESS
    702, // CUDA_ERROR_LAUNCH_TIMEOUT
    709, // CUDA_ERROR_CONTEXT_IS_DESTROYED
    710, // CUDA_ERROR_ASSERT
    714, // CUDA_ERROR_HARDWARE_STACK_ERROR
    715, // CUDA_ERROR_ILLEGAL_INSTRUCTION
    716, // CUDA_ERROR_MISALIGNED_ADDRESS
    717, // CUDA_ERROR_INVALID_ADDRESS_SPACE
    718, // CUDA_ERROR_INVALID_PC
    719, // CUDA_ERROR_LAUNCH_FAILED
];

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(name: &str) -> Error {
        ErrorKind::OutOfMemory { what: Box::leak(name.into()), bytes: 1 }.into()
    }

    #[test]
    fn a_process_that_was_forked_is_told_so() {
        assert!(same_process(17, 17).is_ok());
        let error = same_process(17, 18).expect_err("another process");
        assert!(error.is_unavailable() && error.to_string().contains("forked from process 17"), "{error}");
        assert!(error.hint().expect("a hint").contains("spawn"));
        let parents = Health { process: std::process::id() + 1, broken: OnceLock::new() };
        assert!(!parents.is_own() && parents.check().expect_err("forked").is_unavailable());
    }

    #[test]
    fn an_illegal_address_breaks_a_context_for_good_and_the_first_failure_is_told() {
        let health = Health::new();
        // Full memory, and a launch that cannot be: the context goes on.
        for code in [0, 1, 2, 701, 801] {
            health.note(code, &failure("passing"));
            health.check().expect("as before");
        }
        health.note(700, &failure("the cause"));
        health.note(719, &failure("a consequence"));
        let error = health.check().expect_err("broken");
        assert!(error.is_unavailable() && error.to_string().contains("the cause"), "{error}");
        assert!(error.hint().expect("a hint").contains("start the program again"));
    }
}
