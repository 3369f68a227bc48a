//! What a caller may choose, and what was done.

use crate::isa::Isa;
use core::fmt;

/// How to compute a product. The default chooses everything itself.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Threads to use at most; 0 takes as many as the product can occupy.
    pub threads: usize,
    /// The instruction set to use; `None` takes `TILEWRIGHT_FORCE_ISA` or the best this processor has.
    pub isa: Option<Isa>,
    /// Called from worker threads with the number of terms (`m n k` in all) just finished.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("isa", &self.isa)
            .finish_non_exhaustive()
    }
}

/// How a product was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The instruction set used.
    pub isa: Isa,
    /// The micro-kernel: semiring, element type, instruction set and register tile.
    pub kernel: String,
    /// Threads that took part.
    pub threads: usize,
}
