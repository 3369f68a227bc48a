//! What can be said on the command line.

mod bench;
mod candidates;
mod check;
mod choice;
mod explain;
mod kernels;
mod meaning;
mod occupancy;
mod paths;
mod ranks;
mod run;
mod sizes;
mod sweep;
mod text;
mod tune;

pub use bench::{Bench, Data, Library, LibraryMath, Order, Where};
pub use check::Check;
pub use choice::KernelChoice;
pub use explain::{Explain, Extent};
pub use kernels::Kernels;
pub use meaning::Meaning;
pub use occupancy::{Gpus, Occupancy};
pub use paths::{Input as PathsInput, Paths};
pub use ranks::Ranks;
pub use run::Run;
pub use sizes::{Size, Sizes};
pub use sweep::{MOST_ROWS, Parameter, Sweep};
pub use text::TextFiles;
pub use tune::Tune;

pub use crate::common::{Common, Format};
use clap::{
    Args, CommandFactory, Parser, Subcommand, ValueHint,
    builder::{PossibleValuesParser, TypedValueParser, ValueParser},
};
use std::{ffi::OsString, path::PathBuf, time::Duration};
use tilewright::{Activation, Backend, DType, Math, SemiringId, files::Format as FileFormat};

/// Multiplies dense matrices over any semiring
#[derive(Debug, Parser)]
#[command(name = "tilewright", version, max_term_width = 100, long_about = FORMULA, after_help = CONVENTIONS)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

const FORMULA: &str = "\
Multiplies dense matrices over any semiring.

C[i,j] = sum over k of A[i,k] x B[k,j], where \"sum\" and \"x\" are those of the semiring: plus and times, min \
and plus for shortest paths, and so on.";

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 ran and a check failed, 2 usage, 3 bad file or data in it, 4 backend or device not \
available, 5 device failure or out of memory; 130, 143 and 129 where SIGINT (Ctrl-C), SIGTERM or SIGHUP ended it.";

const CONVENTIONS: &str = "\
Output: tables are as wide as the terminal or COLUMNS says, 80 columns where neither does. With --format json, an error is \
one line of JSON on stderr: schema, error {code, message, hint, exit_code}.

Environment: TILEWRIGHT_BACKEND and TILEWRIGHT_THREADS stand for --backend and --threads of `mul`; \
TILEWRIGHT_FORCE_ISA (avx512, avx2, neon, portable) forces an instruction set as --kernel does; \
TILEWRIGHT_DEVICE numbers the GPU; TILEWRIGHT_CACHE_DIR and TILEWRIGHT_NO_CACHE=1 move and disable the cache of \
compiled kernels; TILEWRIGHT_NO_REUSE=1 runs machine code as it was compiled; TILEWRIGHT_CUDA_PATH, TILEWRIGHT_NVRTC_PATH, TILEWRIGHT_CUBLAS_PATH, \
TILEWRIGHT_CUBLASLT_PATH, TILEWRIGHT_NCCL_PATH, TILEWRIGHT_PTXAS_PATH and \
TILEWRIGHT_NVDISASM_PATH name libraries and tools of CUDA, `none` to do without one; NO_COLOR and \
CLICOLOR_FORCE are obeyed.";

/// The whole definition: every command says what its exit codes mean.
pub fn command() -> clap::Command {
    with_exit_codes(Cli::command())
}

fn with_exit_codes(command: clap::Command) -> clap::Command {
    let text = match command.get_after_help() {
        Some(text) => format!("{text}\n\n{EXIT_CODES}"),
        None => EXIT_CODES.to_owned(),
    };
    command.after_help(text).mut_subcommands(with_exit_codes)
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Mul(Box<Mul>),
    Paths(Box<Paths>),
    Bench(Box<Bench>),
    Tune(Box<Tune>),
    Explain(Box<Explain>),
    Run(Box<Run>),
    Check(Box<Check>),
    Occupancy(Box<Occupancy>),
    Gpus(Gpus),
    Kernels(Kernels),
    /// Show what this machine can do, and check that it does it right
    Doctor,
    /// Show or empty the caches of compiled kernels and files
    Cache {
        /// What to do with it
        #[command(subcommand)]
        action: CacheAction,
    },
    /// Print a shell's completion script
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands to a directory
    Man {
        /// Write tilewright.1, tilewright-mul.1 and so on here
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum CacheAction {
    /// Say where it is and how much it holds
    Info,
    /// Remove every entry
    Clear,
}

impl Command {
    /// Whether there is a format for rows.
    pub fn prints_rows(&self) -> bool {
        match self {
            Self::Occupancy(_) | Self::Gpus(_) | Self::Bench(_) => true,
            Self::Paths(paths) => paths.from.is_some() || paths.pairs.is_some(),
            _ => false,
        }
    }
}

const MUL_DETAILS: &str = "\
Files: .npy, .npz (FILE.npz:MEMBER), .csv, .mtx (Matrix Market), .safetensors (FILE.safetensors:TENSOR). `-` is standard \
input, read as --format-in says, and standard output. What is between the cells of a .csv file shows in its first line, or \
--delimiter says it; --skip-rows passes over a header; --decimal-comma reads 12,5 as a number. An empty cell is the semiring's zero, which is said; \
under plus-times it is refused. Entries \
that a sparse .mtx file leaves out are the semiring's zero: infinity for min-plus, 0 for plus-times; entries \
without a value are 1. In integers, infinity is the extreme value of the type, which min-plus and max-plus \
read as \"no path\".

Shapes: vectors and stacks are multiplied as by NumPy's matmul. A vector is a row on the left and a column on the right. \
Dimensions in front of a matrix's are broadcast: (5, 2, 3) and (3, 4) are five products.

Types: a stored type is kept. Two that differ are promoted as NumPy does, unsigned integers take the narrowest type that \
holds them, and under or-and every number but 0 is true; each of these is said. Numbers in text files (.csv, .mtx) take the type of the other operand, or i64 \
when all are whole and the semiring knows i64, otherwise f64 (bool for or-and). i8, u8 and i16 products are summed \
in i32, f16 and bf16 products in f32.

Conversions are the same from every format. Floats round to nearest. A number that the type cannot hold is refused: one \
beyond the range of a float, which would become infinite; a fraction or one out of range in integers. With min-plus and \
the like, the extreme integers of a stored type are infinite in every type, and no number becomes one of them.

Outputs: a file is replaced as a whole. FILE.safetensors:TENSOR and FILE.npz:MEMBER replace or add that one and keep the \
others. Programs on one machine that write such a file take turns; .FILE.lock stands beside it while one writes.

Many ranks: mpiexec -n 4 tilewright mul ... --distributed 2x2 deals blocks of the matrices to four processes, which read and write .npy files or folders of blocks. Where C is small and \
k long, each takes a part of the terms. MPI is found when the command runs: that of the mpiexec, or the library that TILEWRIGHT_MPI_PATH names. With --backend cuda each takes a GPU of its \
machine. --devices 0,1 needs no mpiexec: the ranks are GPUs of one process. GPUs send blocks to each other by NCCL where it is found, otherwise by copies.

Semirings of your own: `add` and `mul` are expressions of C in x and y: + - * /, comparisons, && || !, a ? b : c, numbers, inf, \
min, max, fminf, fmaxf, abs, fabsf; `zero` is the identity of add. `one`, the identity of mul, and `where`, a condition on \
elements x such as where=x>=0, may be left out. Numbers have the element type: exactly, on integers, where inf and -inf are the \
largest and the smallest. The laws of a semiring are tried on samples first, and one that does not \
hold is shown with a counter-example. They are computed on f32, f64, i32 and i64; on GPUs and the emulator with NVRTC.

Arg results: --arg-out gives for each element the smallest k whose term was selected, as i64; -1 where no \
term was.

Names: the first line and the first column of a .csv file may name columns and rows; the first cell is empty, or no cell of the \
line is a number. Where both operands have names, the columns of A must be the rows of B, C has names in .csv files, and the arg \
result in one names its terms, nothing for none. --labels names the rows and columns of square matrices.

With --verify, a result that fails the check is not written.

Backends: cuda runs the kernels of `tilewright kernels` on a GPU. emulator runs the same kernels without one: it executes \
their PTX on this processor, thousands of times slower, and fails where a kernel races, leaves its arrays or diverges at a \
barrier. It imitates an H200 unless --gpu names another GPU. Kernels that the catalogue has no PTX of need NVRTC; without it \
others take their place, and -v says which.

Examples:
  tilewright mul a.npy b.npy -o c.npy
  tilewright mul roads.csv roads.csv --semiring min-plus --arg-out via.npy --verify
  tilewright mul a.npy b.npy --alpha 0.5 --beta 2 --accumulate c0.npy -o c.npy --format json
  sort roads.csv | tilewright mul - b.npy --format-in csv -o - --format-out npy > c.npy
  tilewright mul km.csv km.csv -s min-plus --labels airports.csv:iata --from HNL --to BOS
  tilewright mul a.npy b.npy -s 'add=fmaxf(x,y); mul=x*y; zero=0; where=x>=0' --backend cuda
  tilewright mul a.npy b.npy --plan --gpu h200
  tilewright mul a.npy b.npy --backend emulator --kernel shared-tile-ragged --verify
  mpiexec -n 4 tilewright mul a.npy b.npy --semiring min-plus --distributed 2x2 -o c.npy";

/// Multiply two matrices in files: C = A x B
///
/// Prints shape, time and a corner of C, or writes C with -o.
#[derive(Args, Debug)]
#[command(after_help = MUL_DETAILS)]
pub struct Mul {
    /// The left matrix, m x k
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub a: OsString,
    /// The right matrix, k x n
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub b: OsString,
    /// Write C to this file; `-` writes to stdout, CSV unless --format-out says more
    #[arg(short, long, value_name = "C", value_hint = ValueHint::FilePath)]
    pub output: Option<OsString>,

    #[command(flatten)]
    pub text: TextFiles,
    /// What is written to `-` and to files of other extensions
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Files")]
    pub format_out: Option<FileFormat>,
    /// Names of rows and columns of square matrices: one a line, or those in a column of a .csv file
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath, help_heading = "Files")]
    pub labels: Option<OsString>,

    /// Print one element of C: that of this row, by name, or by number from 0
    #[arg(long, value_name = "ROW", requires = "to", conflicts_with = "plan", help_heading = "Element")]
    pub from: Option<String>,
    /// The column of this element. Of a selective semiring its term is printed, too
    #[arg(long, value_name = "COLUMN", requires = "from", help_heading = "Element")]
    pub to: Option<String>,

    /// What add and multiply mean: a name, or the text of a semiring of your own, as in 'add=fminf(x,y); mul=x+y; zero=inf'
    #[arg(short, long, default_value = "plus-times", value_parser = meaning::MeaningParser, help_heading = "Product")]
    pub semiring: Meaning,
    /// Use the transpose of A
    #[arg(long, help_heading = "Product")]
    pub transpose_a: bool,
    /// Use the transpose of B
    #[arg(long, help_heading = "Product")]
    pub transpose_b: bool,
    /// Convert both matrices to this element type
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    pub dtype: Option<DType>,
    /// The element type of the result where there is a choice: f32 for f16 and bf16, f16 or bf16 for e4m3 and e5m2 (plus-times)
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    pub result_type: Option<DType>,
    /// Join the product with this matrix: C = C0 + A x B
    #[arg(long, value_name = "C0", value_hint = ValueHint::FilePath, help_heading = "Product")]
    pub accumulate: Option<OsString>,
    /// Multiply the product by this number (plus-times)
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = factor, help_heading = "Product")]
    pub alpha: Option<f64>,
    /// Multiply C0 by this number (plus-times)
    #[arg(
        long,
        value_name = "Y",
        allow_hyphen_values = true,
        value_parser = factor,
        requires = "accumulate",
        help_heading = "Product"
    )]
    pub beta: Option<f64>,
    /// Add these elements to the columns of the product, one to each (plus-times on floats)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Product")]
    pub bias: Option<OsString>,
    /// Apply this function to each element at last (plus-times on floats); gelu is the approximation by tanh
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = activations(), help_heading = "Product")]
    pub activation: Activation,
    /// Multiply A by scales first (plus-times on e4m3 and e5m2): f32 of 1 x 1, m x 1, m x k/128 or m/128 x k/128, rounded up
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Product")]
    pub scale_a: Option<OsString>,
    /// Multiply B by scales first: f32 of 1 x 1, 1 x n, k/128 x n or k/128 x n/128, rounded up
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Product")]
    pub scale_b: Option<OsString>,
    /// Write which k each element came from (selective semirings)
    #[arg(long, value_name = "K", value_hint = ValueHint::FilePath, help_heading = "Product")]
    pub arg_out: Option<OsString>,

    /// Where to compute
    #[arg(
        long,
        default_value = "auto",
        env = "TILEWRIGHT_BACKEND",
        hide_env_values = true,
        value_parser = backends(),
        help_heading = "Computation"
    )]
    pub backend: Backend,
    /// The instruction set of the CPU backend, or the kernel of cuda and emulator; the best there is unless given
    #[arg(long, value_name = "NAME", value_parser = KernelChoice::parser(), help_heading = "Computation")]
    pub kernel: Option<KernelChoice>,
    /// How plus-times computes: full; on f32 tf32, which rounds A and B to 10 bits after the point where tensor cores are faster; on floats of 8 bits fast, where tensor cores keep 13 bits of sums
    #[arg(long, value_name = "MATH", default_value = "full", value_parser = maths(), help_heading = "Computation")]
    pub math: Math,
    /// Use at most N threads; 0 takes as many as the product can occupy
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        env = "TILEWRIGHT_THREADS",
        hide_env_values = true,
        help_heading = "Computation"
    )]
    pub threads: usize,
    /// End a launch of the emulator after so many steps: warp instructions, those that a guard skips among them
    #[arg(long, value_name = "N", value_parser = steps(), help_heading = "Computation")]
    pub max_steps: Option<u64>,
    /// End a launch of the emulator after so much time; 0: no limit. Unless this or --max-steps is given, it is a minute, and a second more for each
    /// million terms
    #[arg(long, value_name = "SECONDS", value_parser = time, help_heading = "Computation")]
    pub max_time: Option<Duration>,
    /// Compare the result with the definition, in a sample of rows when it is large
    #[arg(long, help_heading = "Computation")]
    pub verify: bool,

    /// Print how the product would be computed, and do not compute it
    #[arg(long, help_heading = "Plan")]
    pub plan: bool,
    /// Plan for this GPU, or emulate it: it need not be here, such as h200 or a6000; see `tilewright gpus`
    #[arg(long, value_name = "NAME", add = candidates::gpus(), help_heading = "Plan")]
    pub gpu: Option<String>,

    #[command(flatten)]
    pub ranks: Ranks,
}

/// The names are listed in help and completions, and the library turns them into values.
fn named<T>(names: Vec<&'static str>) -> ValueParser
where
    T: std::str::FromStr<Err = tilewright::Error> + Clone + Send + Sync + 'static,
{
    ValueParser::new(PossibleValuesParser::new(names).try_map(|name| name.parse::<T>()))
}

/// A factor: a number, or an infinity that is written as one.
fn factor(text: &str) -> Result<f64, String> {
    let x: f64 = text.parse().map_err(|_| "a number is expected, such as 0.5 or -inf".to_owned())?;
    if x.is_nan() {
        return Err("NaN would make every element NaN".into());
    }
    if x.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err("it is beyond the range of f64; write inf where infinity is meant".into());
    }
    Ok(x)
}

/// A number of steps.
fn steps() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

/// A limit of time in seconds; 0 is none.
fn time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.ok_or("seconds are expected, such as 300 or 0.5; 0 sets no limit")?;
    Ok(if seconds.is_zero() { Duration::MAX } else { seconds })
}

fn semirings() -> ValueParser {
    named::<SemiringId>(SemiringId::ALL.iter().map(|s| s.name()).collect())
}
fn dtypes() -> ValueParser {
    named::<DType>(DType::ALL.iter().map(|d| d.name()).collect())
}
/// File formats by their extensions.
fn formats() -> ValueParser {
    let names = FileFormat::ALL.iter().map(|format| format.extension());
    let find = |name: String| {
        FileFormat::ALL.iter().copied().find(|f| f.extension() == name).ok_or("no such format")
    };
    ValueParser::new(PossibleValuesParser::new(names).try_map(find))
}
fn maths() -> ValueParser {
    named::<Math>(Math::ALL.iter().map(|math| math.name()).collect())
}
fn activations() -> ValueParser {
    named::<Activation>(Activation::ALL.iter().map(|activation| activation.name()).collect())
}
fn backends() -> ValueParser {
    named::<Backend>(Backend::ALL.iter().map(|b| b.name()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn factors_are_numbers_and_infinities() {
        assert_eq!([factor("0.5"), factor("-inf"), factor("1e3")], [Ok(0.5), Ok(f64::NEG_INFINITY), Ok(1e3)]);
        assert!(factor("nan").unwrap_err().contains("every element"));
        assert!(factor("1e999").unwrap_err().contains("beyond"));
        assert!(factor("two").is_err() && factor("--verify").is_err());
    }
}
