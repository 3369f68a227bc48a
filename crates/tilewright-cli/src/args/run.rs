//! The options of `run`.

use super::{steps, time};
use clap::{Args, ValueHint};
use std::{ffi::OsString, path::PathBuf, time::Duration};
use tilewright_explain::Schedule;

const DETAILS: &str = "\
The program finds an emulated driver, libcuda.so.1, where it would find NVIDIA's. Its kernels are executed as PTX, with all checks on, and a kernel \
with an error fails as it would on a GPU. Programs are run that call the driver's functions by themselves: in C, in Rust with cudarc, in Python with \
Numba, PyCUDA or cuda-python. Modules must be PTX or hold some (nvcc: -gencode arch=compute_80,code=compute_80). Programs that are linked with NVIDIA's \
runtime library (libcudart) do not run, and are told so.

What was launched is said on stderr at the end. With --format json it is one object on stdout, and what the program prints there goes to stderr.

Exit code 1: an error was found in a kernel. Otherwise it is the program's own; 128 and the number of the signal that ended it.

Examples:
  tilewright run -- ./program 1024
  tilewright run --gpu a6000 --report launches.html -- python3 program.py";

/// Run a program that uses CUDA's driver, without a GPU, and say what its kernels did
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Run {
    /// A GPU to imitate, such as h200, a6000 or "RTX 4090"; once for each that the program is to find. An H200 unless given
    #[arg(long = "gpu", value_name = "NAME")]
    pub gpus: Vec<String>,
    /// Write a page with the kernels, their counters and findings
    #[arg(long, value_name = "F.html", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// End a launch after so many steps: warp instructions, those that a guard skips among them
    #[arg(long, value_name = "N", value_parser = steps(), help_heading = "Launches")]
    pub max_steps: Option<u64>,
    /// End a launch after so much time; 0: no limit. Unless this or --max-steps is given, it is 60
    #[arg(long, value_name = "SECONDS", value_parser = time, help_heading = "Launches")]
    pub max_time: Option<Duration>,
    /// When bulk copies are done: late, as somebody waits for them, early, or random:SEED. A right kernel gives the same results
    #[arg(long, value_name = "WHEN", default_value_t, help_heading = "Launches")]
    pub schedule: Schedule,
    /// Report as well what the hardware of today forgives: bulk copies that overwrite what a thread has read without fence.proxy.async
    #[arg(long, help_heading = "Launches")]
    pub strict: bool,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, last = true, value_hint = ValueHint::CommandWithArguments)]
    pub program: Vec<OsString>,
}
