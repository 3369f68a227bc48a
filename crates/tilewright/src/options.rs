//! What a caller may choose about the computation, and what was done.

mod report;

pub use report::{Ran, Report, Why};

use crate::backend::Backend;
#[cfg(feature = "emulator")]
use crate::plan::Gpu;
use core::fmt;
#[cfg(feature = "emulator")]
use std::time::Duration;
use tilewright_core::{Cancel, Error, Math};
use tilewright_cpu::Isa;
#[cfg(feature = "cuda")]
use tilewright_kernels::Kernel;

/// How to compute a product; never what it is, but for the precision of [`Options::math`]. The default chooses everything itself.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Where to compute.
    pub backend: Backend,
    /// Threads to use at most; 0 takes as many as the product can occupy.
    pub threads: usize,
    /// The instruction set of the CPU backend; `None` takes `TILEWRIGHT_FORCE_ISA` or the best there is.
    pub isa: Option<Isa>,
    /// The precision that plus-times on f32 may give up.
    pub math: Math,
    /// The kernel of [`Backend::Cuda`] and [`Backend::Emulator`]; `None` takes the fastest that computes the product.
    #[cfg(feature = "cuda")]
    pub kernel: Option<&'static Kernel>,
    /// The GPU that [`Backend::Emulator`] imitates; `None` takes [`Gpu::default`].
    #[cfg(feature = "emulator")]
    pub gpu: Option<&'a Gpu>,
    /// Most warp instructions of one launch of [`Backend::Emulator`]; `None` for any number.
    #[cfg(feature = "emulator")]
    pub max_steps: Option<u64>,
    /// Most time of one launch of [`Backend::Emulator`]; [`Duration::MAX`] for any. `None` takes any where `max_steps` is given. Otherwise
    /// it takes [`LaunchOptions::TIME`](tilewright_emulator::LaunchOptions::TIME) and a microsecond for each term, which no kernel comes to.
    #[cfg(feature = "emulator")]
    pub max_time: Option<Duration>,
    /// Called, possibly from several threads, with the number of terms (`m n k` in all) just finished. Where that takes long, it is 0 at times.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Ends the product early when another thread says so. Its error is `cancelled` then, and C is undefined: on this processor, parts
    /// of it have been written. A GPU finishes the kernel that it executes. [`Backend::Emulator`] says where it was.
    pub cancel: Option<&'a Cancel>,
}

impl<'a> Options<'a> {
    /// Whether to go on.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        self.cancel.map_or(Ok(()), Cancel::check)
    }

    pub(crate) fn cpu(&self) -> tilewright_cpu::Options<'a> {
        tilewright_cpu::Options {
            threads: self.threads,
            isa: self.isa,
            progress: self.progress,
            cancel: self.cancel,
            ..tilewright_cpu::Options::default()
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Options");
        fields.field("backend", &self.backend).field("threads", &self.threads);
        fields.field("isa", &self.isa).field("math", &self.math);
        #[cfg(feature = "cuda")]
        fields.field("kernel", &self.kernel);
        #[cfg(feature = "emulator")]
        fields.field("gpu", &self.gpu.map(|gpu| &gpu.name));
        #[cfg(feature = "emulator")]
        fields.field("max_steps", &self.max_steps).field("max_time", &self.max_time);
        fields.finish_non_exhaustive()
    }
}
