//! The options of `bench`.

use super::{
    KernelChoice, Sizes, dtypes,
    meaning::{Meaning, MeaningParser},
};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use tilewright::{DType, Math, SemiringId};

const DETAILS: &str = "\
Sizes: 512 is a square product, 16x4096x4096 is MxNxK (A is M x K, B is K x N), 256..4096:256 counts up in steps, \
256..4096 doubles.

How it is measured: operands are random: floats in [-1, 1), integers from -1000 to 1000, which lie close enough together for \
16 bits under min-plus and max-plus, unless --data says otherwise. Every kernel's result is compared with the definition before it is timed. On a GPU \
the device's own clock counts, without transfers; buffers rotate through more memory than the second-level cache holds. \
The kernels take turns, round by round. Repetitions follow without a pause, as in a steady state, \
unless --no-overlap is given. Times are medians; the spread is half of the distance between the quartiles. Peaks \
are those at the boost clock.

NVIDIA's libraries: `--against cublas,cublaslt` measures both. Their arithmetic is set, and variables that override it are \
reported. Each may work in as much memory as the kernels beside it take, and in 32 MiB at least. cuBLAS is tried with that and with what it \
takes by itself (32 MiB on Hopper), and the faster counts: more memory makes it pick another algorithm, which may be slower. The memory that a \
contender takes beyond A, B and C stands in its row.

Calls: --calls measures products of matrices that are on a GPU, each of which was computed before. Three medians are given: how long the host is busy \
until a call returns, while others are in the queue; how long it takes until a result is there, on a device that had nothing to do; and what the device \
takes for one of many that follow without a pause. `--against cublas` calls cublasSgemm or cublasDgemm in turn.

Examples:
  tilewright bench
  tilewright bench --ladder --sizes 4096 --against cublas --plot ladder.svg
  tilewright bench --kernel simt --against cublas,cublaslt --orders nn,nt,tn,tt --no-overlap
  tilewright bench --semiring min-plus --dtype i32 --sizes 512..8192
  tilewright bench --semiring min-plus --data non-negative
  tilewright bench --semiring 'add=fmaxf(x,y); mul=fminf(x,y); zero=-inf' --sizes 4096
  tilewright bench --calls --against cublas
  tilewright bench --calls --semiring max-plus --sizes 128 --batch 64
  tilewright bench --kernel shared-tile,warp-tile --sizes 1024..4096:1024 --format json";

/// Measure kernels against each other and against what the hardware can do
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Bench {
    /// What add and multiply mean: a name, or the text of a semiring of your own, as in 'add=fminf(x,y); mul=x+y; zero=inf'
    #[arg(short, long, default_value = "plus-times", value_parser = MeaningParser, help_heading = "Product")]
    pub semiring: Meaning,
    /// The element type; f32 unless given, bool for or-and
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    dtype: Option<DType>,
    /// The element type of the result where there is a choice: f32 for f16 and bf16, f16 or bf16 for e4m3 and e5m2 (plus-times)
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    pub result_type: Option<DType>,
    /// Which products; 1024,2048,4096 on a GPU, 16 to 4096 with --calls, and 256,512,1024 without a GPU unless given
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Product")]
    pub sizes: Vec<Sizes>,
    /// How A and B lie, in this order: n by rows, t by columns, as the transpose of a matrix by rows
    #[arg(
        long,
        value_enum,
        value_name = "ORDER,...",
        value_delimiter = ',',
        default_value = "nn",
        help_heading = "Product"
    )]
    pub orders: Vec<Order>,
    /// Which elements; signed unless given, non-negative for max-times and min-times
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Product")]
    pub data: Option<Data>,

    /// Every step from naive to fast: the GPU's kernels, or without a GPU the instruction sets of the processor
    #[arg(long, help_heading = "Contenders")]
    pub ladder: bool,
    /// These kernels and instruction sets alone
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = KernelChoice::parser(), conflicts_with = "ladder", help_heading = "Contenders")]
    pub kernel: Vec<KernelChoice>,
    /// Where to compute
    #[arg(long, value_enum, default_value_t = Where::Auto, help_heading = "Contenders")]
    pub backend: Where,
    /// Measure the vendor's libraries in the same run (plus-times on f32 and f64, cublaslt on f16, bf16 and i8 as well)
    #[arg(long, value_enum, value_name = "LIBRARY,...", value_delimiter = ',', help_heading = "Contenders")]
    pub against: Vec<Library>,
    /// How plus-times computes: full; on f32 tf32, which rounds A and B to 10 bits after the point where tensor cores are faster; on floats of 8 bits fast, where tensor cores keep 13 bits of sums
    #[arg(long, value_name = "MATH", default_value = "full", value_parser = super::maths(), help_heading = "Product")]
    pub math: Math,
    /// The arithmetic that is asked of the libraries
    #[arg(long, value_enum, value_name = "MODE", requires = "against", help_heading = "Contenders")]
    pub cublas_math: Option<LibraryMath>,
    /// Threads of the CPU backend; 0 takes as many as the product can occupy
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Contenders")]
    pub threads: usize,

    /// On a GPU, time calls instead of kernels: until a call returns, and until its result is there
    #[arg(long, conflicts_with_all = ["ladder", "kernel", "plot", "no_overlap"], help_heading = "Measurement")]
    pub calls: bool,
    /// With --calls: so many products of a size in one call
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), requires = "calls", conflicts_with_all = ["orders", "against"], help_heading = "Measurement")]
    pub batch: u32,
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

/// The elements of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Of both signs: floats in [-1, 1), integers from -1000 to 1000
    Signed,
    /// Floats in [0, 1), integers from 0 to 1000
    NonNegative,
    /// As signed, but integers so far apart that no narrower type holds them
    Wide,
    /// All the same, so that min-plus and max-plus can leave out no term
    Equal,
}

impl Data {
    /// What is measured unless something else is asked for.
    pub const fn of(semiring: SemiringId) -> Self {
        match semiring {
            SemiringId::MaxTimes | SemiringId::MinTimes => Self::NonNegative,
            _ => Self::Signed,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::NonNegative => "non-negative",
            Self::Wide => "wide",
            Self::Equal => "equal",
        }
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

/// How A and B lie in memory; C lies by rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// A and B by rows
    Nn,
    /// A by rows, B by columns
    Nt,
    /// A by columns, B by rows
    Tn,
    /// A and B by columns
    Tt,
}

impl Order {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nn => "nn",
            Self::Nt => "nt",
            Self::Tn => "tn",
            Self::Tt => "tt",
        }
    }

    /// Whether A, and whether B, lies by columns.
    pub const fn by_columns(self) -> [bool; 2] {
        [matches!(self, Self::Tn | Self::Tt), matches!(self, Self::Nt | Self::Tt)]
    }
}

/// The arithmetic of cuBLAS and cuBLASLt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LibraryMath {
    /// The fastest of full precision (CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F); taken unless given
    Default,
    /// f32 may be rounded to tf32 (CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_FAST_TF32); taken with --math tf32 unless given
    Tf32,
    /// The prescribed precision in every step, whatever the environment says (CUBLAS_PEDANTIC_MATH, CUBLAS_COMPUTE_32F_PEDANTIC)
    Pedantic,
}

/// A library to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// NVIDIA's cublasSgemm and cublasDgemm, which pick the algorithm by themselves
    Cublas,
    /// NVIDIA's cuBLASLt: of at most 32 algorithms that its heuristics name, the one that is the fastest here when tried
    Cublaslt,
}

impl Library {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cublas => "cublas",
            Self::Cublaslt => "cublaslt",
        }
    }
}
