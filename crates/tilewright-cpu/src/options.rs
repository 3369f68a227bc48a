//! What a caller may choose, and what was done.

use crate::isa::Isa;
use core::fmt;
use tilewright_core::{Cancel, DynRef, Epilogue, Error, Scales};

/// How to compute a product. The default chooses everything itself.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Threads to use at most; 0 takes as many as the product can occupy.
    pub threads: usize,
    /// The instruction set to use; `None` takes `TILEWRIGHT_FORCE_ISA` or the best this processor has.
    pub isa: Option<Isa>,
    /// The best instructions for integers of 8 and 16 bits that may be used, where this processor has them beside `isa`.
    pub dots: Dots,
    /// Called from worker threads with the number of terms (`m n k` in all) just finished.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Ends the product early when another thread says so; C is undefined then.
    pub cancel: Option<&'a Cancel>,
    /// What follows the product, under plus-times on floats: a bias and an activation.
    pub epilogue: Epilogue<DynRef<'a>>,
    /// Scales of A and B, under plus-times on floats of 8 bits.
    pub scales: Scales<DynRef<'a>>,
}

/// Instructions that add several products of integers of 8 or 16 bits under plus-times, which not every processor with an [`Isa`] has.
/// Results are the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dots {
    /// None.
    Plain,
    /// SDOT and UDOT of AArch64: four products of bytes.
    DotProd,
    /// AVX-512 VNNI or AVX-VNNI: four products of bytes, or two of 16 bits.
    Vnni,
    /// Tiles of AMX, on Linux, beside AVX-512; VNNI for what they do not fit.
    #[default]
    Amx,
}

/// Terms (`m n k`) below which another thread costs more than it brings.
const TERMS_PER_THREAD: f64 = 1e6;

impl Options<'_> {
    /// Whether to go on; looked at before every block.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        self.cancel.map_or(Ok(()), Cancel::check)
    }

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
            .field("dots", &self.dots)
            .field("epilogue", &self.epilogue.name())
            .field("scales", &self.scales.name())
            .finish_non_exhaustive()
    }
}

/// How a product was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The instruction set used.
    pub isa: Isa,
    /// The micro-kernel.
    pub kernel: KernelName,
    /// Threads that took part.
    pub threads: usize,
}

/// The name of a micro-kernel: semiring, element type, instruction set and register tile, as in
/// `min-plus f32 avx512 12x32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelName {
    /// [`tilewright_core::Semiring::NAME`].
    pub semiring: &'static str,
    /// The type of A's and B's elements.
    pub element: &'static str,
    /// The instruction set.
    pub isa: Isa,
    /// Rows and columns of the register tile.
    pub tile: (usize, usize),
    /// Whether it also tells which term won.
    pub arg: bool,
    /// Whether elements are narrowed to 16 bits: they are integers that lie close together.
    pub narrow: bool,
    /// Whether rows of A are sorted, and end where no other term can win. Results are the same bits.
    pub pruned: bool,
    /// Whether elements are packed into bits: they are booleans.
    pub bits: bool,
    /// Which instructions add several products, of integers of 8 or 16 bits.
    pub dots: Dots,
}

impl KernelName {
    /// A kernel that does nothing special.
    pub(crate) fn new(semiring: &'static str, element: &'static str, isa: Isa, tile: (usize, usize)) -> Self {
        let [arg, narrow, pruned, bits] = [false; 4];
        Self { semiring, element, isa, tile, arg, narrow, pruned, bits, dots: Dots::Plain }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { semiring, element, isa, tile: (rows, cols), arg, narrow, pruned, bits, dots } = self;
        let arg = if *arg { "+arg" } else { "" };
        let narrow = if *narrow { " narrowed to 16 bits" } else { "" };
        let pruned = if *pruned { " pruned" } else { "" };
        let bits = if *bits { " on bits" } else { "" };
        let dots = match dots {
            Dots::Plain => "",
            Dots::DotProd => " by dotprod",
            Dots::Vnni => " by vnni",
            Dots::Amx => " by amx",
        };
        write!(f, "{semiring}{arg} {element} {isa} {rows}x{cols}{narrow}{pruned}{bits}{dots}")
    }
}
