//! What a caller may choose, never what the answer is.

use core::fmt;
use tilewright_core::{Cancel, Error};
use tilewright_cpu::Isa;

/// How to compute best paths. The default chooses everything itself.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Threads to use at most; 0 takes as many as there is work for.
    pub threads: usize,
    /// The instruction set; `None` takes `TILEWRIGHT_FORCE_ISA` or the best this processor has.
    pub isa: Option<Isa>,
    /// Called, possibly from several threads, with the amount of work just finished, in the unit of [`Plan::work`](crate::Plan::work).
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Ends the work early when another thread says so. The error is `cancelled` then, and what was to be written is undefined.
    pub cancel: Option<&'a Cancel>,
}

impl<'a> Options<'a> {
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        self.cancel.map_or(Ok(()), Cancel::check)
    }

    pub(crate) fn tell(&self, work: f64) {
        if let Some(progress) = self.progress {
            progress(work as u64);
        }
    }

    pub(crate) fn cpu(&self) -> tilewright_cpu::Options<'a> {
        tilewright_cpu::Options {
            threads: self.threads,
            isa: self.isa,
            progress: self.progress,
            cancel: self.cancel,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("isa", &self.isa)
            .finish_non_exhaustive()
    }
}
