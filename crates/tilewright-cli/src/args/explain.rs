//! The options of `explain`.

use super::candidates;
use super::{occupancy::bytes, steps, time};
use clap::{Args, ValueHint};
use std::{path::PathBuf, time::Duration};
use tilewright_arch::ComputeCapability;
use tilewright_explain::{CompilerOptions, MathMode, Schedule, Tolerance};

const EXPLAIN_DETAILS: &str = "\
The kernel is run by an emulator of PTX, with all checks on; no GPU is needed. Counts are of PTX instructions; which \
shared-memory accesses ptxas -O3 merges is predicted beside them. A .cu file and the kernels of the catalogue are \
compiled with NVRTC, which comes with the CUDA toolkit and with its \
Python wheels; TILEWRIGHT_NVRTC_PATH names another. `tilewright kernels` lists the catalogue. A file may have a main function and headers of \
the host: they are left out. CUDA's own headers come with the toolkit, or with pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl. Where \
NVRTC does not understand a file, nvcc compiles it, if it is there.

Arguments: NAME=VALUE, where the name is that of the parameter in the source, in PTX, or its number from 0, or that of a variable in global or constant memory, and the \
value one of these.
  256, -1.5, true          a number; also an expression of whole numbers and of other arguments, as in n=M*N, with min, max and ceil_div
  f32[256,256]:random      an array; extents may be expressions. Its type is one of f16, bf16, f32, f64, i8 to i64, u8 to u64, bool, a vector such as float4,
                           complex64 or complex128. Behind the colon stands random, random(LOW,HIGH,seed=N), range, zeros, ones or a number; zeros unless given
  x.npy, x.npz:name        a file: of NumPy with any of these types and any dimension; or one that `mul` reads
  y                        the array of another argument
  [a, f32[8]:ones]         an array of addresses of arrays
  {1, 2.5, {0,1}}          a vector or a struct, in order or by name as in {n=4, data=f32[4]:ones}, where the source defines it
  bytes:00ff12, x.bin      all bytes of a struct
  {1,2,3,4} or 1,2,3,4     a vector such as float4
  texture:f32[64,64]       a texture over an array of one to three dimensions, whose last one goes along x; texels are 1, 2 or 4 channels (u8, uchar4, half2, float4)
                           texture(WORDS):ARRAY says how it is read: clamp, border, wrap or mirror outside (one, or one each for x, y, z), point or linear,
                           normalized coordinates, float for integers read as floats from -1 or 0 to 1, layered for [layers,h,w], cube for [6,n,n]
  surface:f32[8,64]        a surface over an array of one to three dimensions, whose last one goes along x
  tensormap(WORDS):ARRAY   a tensor map for TMA (CUtensorMap) over an array of one to five dimensions, by value or as a pointer. Words, separated by commas, with
                           lists in the order of the array's extents: box=[64,64], swizzle=32, 64 or 128, interleave=16 or 32, shape=[...] and strides=[...] in elements where they are
                           not those of the array, step=[...] for element strides, nan for what lies outside, tf32, ftz; for im2col lower=[...], upper=[...],
                           channels=N, pixels=N
An argument that is no parameter is a size or an array that others speak of. Products of the \
catalogue take M, N, K or matrices A, B, C, and alpha, beta, semiring, dtype; kernels of its gallery the parameters that \
`tilewright kernels` names.

Exit code 1: the kernel ran, and an error was found in it, or an array is not what --expect says. A kernel that has not ended after a minute, or when Ctrl-C is \
pressed, is explained as far as it came, and a finding says where it was: kernel, line, block and threads. A second Ctrl-C \
ends at once. --max-time 0 lets a kernel take as long as it does.

Examples:
  tilewright explain shared-tile --arg M=256 --arg N=256 --arg K=256 --report shared-tile.html
  tilewright explain naive --compare coalesced --gpu a6000
  tilewright explain transpose-tiled --picture 13 banks.svg
  tilewright explain scale.ptx --block 256 --arg x=x.npy --arg n=256 --arg factor=2 --out x=y.npy --expect x=twice.npy --tolerance 1e-6
  tilewright explain program.cu --entry 'scale<float>' -I include -D WIDTH=4 --block 64 --arg x=x.npy --arg factor=2
  tilewright explain scale.cu --grid 4 --block 256 --arg x=f32[1024]:random --arg n=1024 --arg factor=1.5";

/// Run a CUDA kernel without a GPU, and say how it uses the memory of one
///
/// Occupancy and its limiter, sectors and wavefronts of every memory access, instruction mix, arithmetic intensity,
/// races and other faults, each with a likely fix.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXPLAIN_DETAILS)]
pub struct Explain {
    /// A kernel of the catalogue, a .cu or a .ptx file
    #[arg(value_name = "KERNEL", add = candidates::kernels_and_files())]
    pub kernel: PathBuf,
    /// Explain this kernel, too, and put both side by side: of the catalogue, of a file, or of one of several in a file as FILE:KERNEL. Each takes the
    /// arguments that it knows; a file is launched in the same way, and a product of the catalogue needs M, N and K
    #[arg(long, value_name = "KERNEL", add = candidates::kernels_and_files())]
    pub compare: Option<PathBuf>,
    /// Write a page with pictures; it needs no network
    #[arg(long, value_name = "F.html", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Write a picture of the lanes of the accesses of a line, as SVG; of those to one array with LINE:ARRAY. A line of another file than the
    /// kernel's own is FILE:LINE
    #[arg(long, value_names = ["LINE[:ARRAY]", "F.svg"], num_args = 2, help_heading = "Output")]
    pub picture: Option<Vec<String>>,
    /// Write a picture of the barriers in shared memory (mbarrier) as SVG: their phases, arrivals and copies, and which warps wait, in the order
    /// of execution
    #[arg(long, value_name = "F.svg", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub timeline: Option<PathBuf>,

    /// Write an array after the launch to a file: .npy, .npz, .csv, .mtx or .safetensors; once for each
    #[arg(long = "out", value_name = "NAME=FILE", value_parser = argument, help_heading = "Results")]
    pub outputs: Vec<(String, String)>,
    /// What an array should hold after the launch: a file or f32[256]:1.5; once for each. The exit code is 1 where it differs
    #[arg(long = "expect", value_name = "NAME=VALUE", value_parser = argument, help_heading = "Results")]
    pub expected: Vec<(String, String)>,
    /// How far an element may be from the expected one: |found - expected| <= T * max(1, |expected|); 0 unless given
    #[arg(long, value_name = "T", value_parser = tolerance, requires = "expected", allow_negative_numbers = true, help_heading = "Results")]
    pub tolerance: Option<Tolerance>,
    /// Report the elements of an array after the launch: all in JSON, the first in text; once for each
    #[arg(long = "values", value_name = "NAME", help_heading = "Results")]
    pub values: Vec<String>,

    /// Which kernel of the file, or which instance of a template, such as 'scale<float>'; a part of the name is enough if only one has it
    #[arg(long, value_name = "NAME", help_heading = "Launch")]
    pub entry: Option<String>,
    /// Blocks; 1 unless given
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extent, help_heading = "Launch")]
    pub grid: Option<Extent>,
    /// Threads of a block
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extent, help_heading = "Launch")]
    pub block: Option<Extent>,
    /// Blocks of a cluster, which reach each other's shared memory; what the kernel was compiled for unless given
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = extent, help_heading = "Launch")]
    pub cluster: Option<Extent>,
    /// Blocks may wait for each other, as in `grid.sync()`: all of them are on the GPU at once
    #[arg(long, help_heading = "Launch")]
    pub cooperative: bool,
    /// Dynamic shared memory per block
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Launch")]
    pub dynamic_smem: Option<u32>,
    /// An argument, or a variable of the module; once for each
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = argument, help_heading = "Launch")]
    pub arguments: Vec<(String, String)>,
    /// End a launch after so many steps: warp instructions, those that a guard skips among them
    #[arg(long, value_name = "N", value_parser = steps(), help_heading = "Launch")]
    pub max_steps: Option<u64>,
    /// End a launch after so much time; 0: no limit. Unless this or --max-steps is given, it is 60
    #[arg(long, value_name = "SECONDS", value_parser = time, help_heading = "Launch")]
    pub max_time: Option<Duration>,
    /// When bulk copies are done: late, as somebody waits for them, early, or random:SEED. A right kernel gives the same results
    #[arg(long, value_name = "WHEN", default_value_t, help_heading = "Launch")]
    pub schedule: Schedule,
    /// Report as well what the hardware of today forgives: bulk copies that overwrite what a thread has read without fence.proxy.async
    #[arg(long, help_heading = "Launch")]
    pub strict: bool,

    #[command(flatten)]
    pub compiler: Compiler,

    /// The GPU that occupancy and roofline are for, such as h200, a6000 or "RTX 4090"; an H200 unless given
    #[arg(long, value_name = "NAME", conflicts_with = "cc", add = candidates::gpus(), help_heading = "GPU")]
    pub gpu: Option<String>,
    /// The compute capability in its place, such as 8.6 or sm_90; there is no roofline then
    #[arg(long, value_name = "X.Y", add = candidates::capabilities(), help_heading = "GPU")]
    pub cc: Option<ComputeCapability>,
}

/// How a file is compiled; the names are those of nvcc.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Compiler")]
pub struct Compiler {
    /// Look for headers here, after the directory of the file and before CUDA's own
    #[arg(short = 'I', long = "include-path", value_name = "DIR", value_hint = ValueHint::DirPath)]
    include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', long = "define-macro", value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// The version of C++; c++17 unless given
    #[arg(long = "std", value_name = "VERSION", value_parser = ["c++11", "c++14", "c++17", "c++20"])]
    standard: Option<String>,
    /// Compute functions such as sinf and divisions by approximations of the hardware
    #[arg(long = "use_fast_math", alias = "use-fast-math")]
    fast_math: bool,
    /// Options of the assembler, such as -maxrregcount=32, which registers depend on
    #[arg(long = "ptxas-options", value_name = "OPTIONS", value_delimiter = ',', allow_hyphen_values = true)]
    ptxas: Vec<String>,
}

impl Compiler {
    pub fn options(&self) -> CompilerOptions {
        CompilerOptions {
            include: self.include.clone(),
            define: self.define.clone(),
            standard: self.standard.clone(),
            math: if self.fast_math { MathMode::Fast } else { MathMode::Precise },
            ptxas: self.ptxas.clone(),
        }
    }
}

/// Three extents. (Of a type of its own, because clap takes an array for several values.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent(pub [u32; 3]);

impl std::str::FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        extent(text)
    }
}

/// `16`, `16,16` or `16x16x2`.
fn extent(text: &str) -> Result<Extent, String> {
    let mut extent = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > extent.len() {
        return Err("there are three extents at most".into());
    }
    for (place, part) in extent.iter_mut().zip(parts) {
        *place =
            part.trim().parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("'{part}' is no extent"))?;
    }
    Ok(Extent(extent))
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    let number = text.parse().ok().and_then(Tolerance::new);
    number.ok_or_else(|| format!("'{text}' is no finite number from 0 on"))
}

fn argument(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("an argument is NAME=VALUE")?;
    match (name.trim(), value.trim()) {
        ("", _) | (_, "") => Err("an argument is NAME=VALUE".into()),
        (name, value) => Ok((name.into(), value.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_and_arguments() {
        assert_eq!(extent("16"), Ok(Extent([16, 1, 1])));
        assert_eq!(extent("16, 8"), Ok(Extent([16, 8, 1])));
        assert_eq!(extent("4x3x2"), Ok(Extent([4, 3, 2])));
        for wrong in ["", "0", "1,2,3,4", "a", "-1", "4294967296"] {
            assert!(extent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(argument("a=f32[4]:1"), Ok(("a".into(), "f32[4]:1".into())));
        assert!(argument("a").is_err() && argument("=1").is_err() && argument("a=").is_err());
    }
}
