//! The options of `bench`.

use super::{KernelChoice, Sizes, dtypes, semirings};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use tilewright::{DType, SemiringId};

const DETAILS: &str = "\
Sizes: 512 is a square product, 16x4096x4096 is MxNxK (A is M x K, B is K x N), 256..4096:256 counts up in steps, \
256..4096 doubles.

How it is measured: operands are random. Every kernel's result is compared with the definition before it is timed. On a GPU \
the device's own clock counts, without transfers; buffers rotate through more memory than the second-level cache holds. \
The kernels take turns, round by round. Repetitions follow without a pause, as in a steady state, \
unless --no-overlap is given. cuBLAS is its default cublasSgemm or cublasDgemm; its math mode is set, and variables that \
override it are reported. Times are medians; the spread is half of the distance between the quartiles. Peaks \
are those at the boost clock.

Examples:
  tilewright bench
  tilewright bench --ladder --sizes 4096 --against cublas --plot ladder.svg
  tilewright bench --semiring min-plus --dtype i32 --sizes 512..8192
  tilewright bench --kernel shared-tile,warp-tile --sizes 1024..4096:1024 --format json";

/// Measure kernels against each other and against what the hardware can do
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Bench {
    /// What add and multiply mean
    #[arg(short, long, default_value = "plus-times", value_parser = semirings(), help_heading = "Product")]
    pub semiring: SemiringId,
    /// The element type; f32 unless given, bool for or-and
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    dtype: Option<DType>,
    /// Which products; 1024,2048,4096 on a GPU and 256,512,1024 without one unless given
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Product")]
    pub sizes: Vec<Sizes>,

    /// Every step from naive to fast: the GPU's kernels, or without a GPU the instruction sets of the processor
    #[arg(long, help_heading = "Contenders")]
    pub ladder: bool,
    /// These kernels and instruction sets alone
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = KernelChoice::parser(), conflicts_with = "ladder", help_heading = "Contenders")]
    pub kernel: Vec<KernelChoice>,
    /// Where to compute
    #[arg(long, value_enum, default_value_t = Where::Auto, help_heading = "Contenders")]
    pub backend: Where,
    /// Measure the vendor's library in the same run (plus-times on f32 and f64)
    #[arg(long, value_enum, value_name = "LIBRARY", help_heading = "Contenders")]
    pub against: Option<Library>,
    /// The arithmetic that is asked of cuBLAS
    #[arg(long, value_enum, value_name = "MODE", requires = "against", help_heading = "Contenders")]
    pub cublas_math: Option<Math>,
    /// Threads of the CPU backend; 0 takes as many as the product can occupy
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Contenders")]
    pub threads: usize,

    /// Samples of each kernel
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Measurement")]
    pub rounds: u32,
    /// On a GPU, time every repetition by itself: none begins before the one before it has ended
    #[arg(long, help_heading = "Measurement")]
    pub no_overlap: bool,
    /// Draw the rates as bars, and on a GPU the roofline (.svg or .png)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Measurement")]
    pub plot: Option<PathBuf>,
}

impl Bench {
    /// The element type that is measured.
    pub fn dtype(&self) -> DType {
        let is_on_floats = self.semiring.dtypes().contains(&DType::F32);
        self.dtype.unwrap_or(if is_on_floats { DType::F32 } else { DType::Bool })
    }
}

/// What to measure on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// The GPU, if there is one, and the processor
    Auto,
    /// The processor alone
    Cpu,
    /// The GPU alone
    Cuda,
}

/// The math mode of cuBLAS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Math {
    /// The fastest of full precision (CUBLAS_DEFAULT_MATH); taken unless given
    #[default]
    Default,
    /// The prescribed precision in every step, whatever the environment says (CUBLAS_PEDANTIC_MATH)
    Pedantic,
}

/// A library to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// NVIDIA's, in the same process
    Cublas,
}
