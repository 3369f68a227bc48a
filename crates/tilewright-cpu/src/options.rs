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

/// Terms (`m n k`) below which another thread costs more than it brings.
const TERMS_PER_THREAD: f64 = 1e6;

impl Options<'_> {
    /// How many threads to occupy with so many terms.
    pub(crate) fn threads_for(&self, terms: f64) -> usize {
        if self.threads == 1 {
            return 1;
        }
        let allowed = match self.threads {
            0 => rayon::current_num_threads(),
            threads => threads,
        };
        allowed.min((terms / TERMS_PER_THREAD) as usize).max(1)
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
