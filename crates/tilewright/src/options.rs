//! What a caller may choose about the computation, and what was done.

use crate::{backend::Backend, plan::Gpu};
use core::fmt;
use std::time::Instant;
use tilewright_cpu::Isa;
use tilewright_kernels::Kernel;

/// How to compute a product; never what it is. The default chooses everything itself.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Where to compute.
    pub backend: Backend,
    /// Threads to use at most; 0 takes as many as the product can occupy.
    pub threads: usize,
    /// The instruction set of the CPU backend; `None` takes `TILEWRIGHT_FORCE_ISA` or the best there is.
    pub isa: Option<Isa>,
    /// The kernel of [`Backend::Cuda`] and [`Backend::Emulator`]; `None` takes the fastest that computes the product.
    pub kernel: Option<&'static Kernel>,
    /// The GPU that [`Backend::Emulator`] imitates; `None` takes [`Gpu::EMULATED`].
    pub gpu: Option<&'a Gpu>,
    /// Most warp instructions of one launch of [`Backend::Emulator`]. `None` takes
    /// [`LaunchOptions::STEPS`](tilewright_emulator::LaunchOptions::STEPS) and, beside them, as many as the product has terms, which no kernel
    /// comes to.
    pub max_steps: Option<u64>,
    /// Called, possibly from several threads, with the number of terms (`m n k` in all) just finished.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl<'a> Options<'a> {
    pub(crate) fn cpu(&self) -> tilewright_cpu::Options<'a> {
        tilewright_cpu::Options { threads: self.threads, isa: self.isa, progress: self.progress }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("backend", &self.backend)
            .field("threads", &self.threads)
            .field("isa", &self.isa)
            .field("kernel", &self.kernel)
            .field("gpu", &self.gpu.map(|gpu| &gpu.name))
            .field("max_steps", &self.max_steps)
            .finish_non_exhaustive()
    }
}

/// How a product was computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The backend that did the work.
    pub backend: Backend,
    /// The kernel that it ran.
    pub kernel: String,
    /// Threads that took part.
    pub threads: usize,
    /// Wall time of the product alone, without files and transfers; on the emulator, that of this processor.
    pub seconds: f64,
    /// Wall time of moving matrices to and from a device; 0 on this processor.
    pub transfer_seconds: f64,
    /// Wall time of opening a device, and of compiling or loading kernels; 0 on this processor.
    pub prepare_seconds: f64,
    /// Why [`Backend::Auto`] chose this backend, or which GPU [`Backend::Emulator`] imitated; otherwise empty.
    pub why: String,
}

impl Report {
    /// What this processor did since `start`.
    pub(crate) fn here(backend: Backend, kernel: String, threads: usize, start: Instant) -> Self {
        let seconds = start.elapsed().as_secs_f64();
        let why = String::new();
        Self { backend, kernel, threads, seconds, transfer_seconds: 0.0, prepare_seconds: 0.0, why }
    }
}
