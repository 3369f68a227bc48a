//! The options of `occupancy` and `gpus`.

use super::candidates;
use super::sweep::Sweep;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use tilewright_arch::ComputeCapability;

const OCCUPANCY_DETAILS: &str = "\
Sizes are bytes, or KiB as in 48K or 48KiB.

Sweeps: PARAMETER=VALUES, where the parameter is threads, regs, smem, dynamic-smem, barriers, cluster, carveout or \
cc, and the values are numbers and ranges: 32..1024:32 (both ends included; steps of 1 unless given), 64,128,256. \
cc=all takes every architecture. Several sweeps give every combination, the last one running fastest.

Kernels: a .cu file is compiled with NVRTC, a .ptx file assembled with ptxas, a .cubin file read as it is; a name \
such as shared-tile means a kernel of the catalogue, with the threads and the shared memory it is launched with for a \
product of 1024 x 1024 matrices. No GPU is needed. Both tools come with the CUDA toolkit and with its Python wheels; \
TILEWRIGHT_NVRTC_PATH and TILEWRIGHT_PTXAS_PATH name others. --regs, --smem, --barriers and --max-threads \
replace what the file says.

Sources and quirks of the numbers are in the documentation of the crate tilewright-arch.

Examples:
  tilewright occupancy --gpu a6000 --threads 1024 --regs 37 --smem 8K
  tilewright occupancy --cc 9.0 --regs 64 --dynamic-smem-per-thread 8 --best
  tilewright occupancy --gpu h200 --threads 256 --regs 96 --chart occupancy.svg
  tilewright occupancy --gpu h200 --regs 40 --sweep threads=32..1024:32 --format csv
  tilewright occupancy --kernel matmul.cu --threads 256 --sweep cc=all
  tilewright occupancy --kernel shared-tile --gpu a6000";

/// Say how many blocks of a kernel a multiprocessor holds, and what limits them
///
/// Exact for every NVIDIA architecture from 5.0 to 12.1; no GPU is needed.
#[derive(Args, Clone, Debug)]
#[command(after_help = OCCUPANCY_DETAILS)]
pub struct Occupancy {
    /// The GPU by name, such as h200, a6000 or "RTX 4090"; an H200 unless given; see `tilewright gpus`
    #[arg(long, value_name = "NAME", conflicts_with = "cc", add = candidates::gpus(), help_heading = "GPU")]
    pub gpu: Option<String>,
    /// The compute capability, such as 8.6 or sm_90
    #[arg(long, value_name = "X.Y", add = candidates::capabilities(), help_heading = "GPU")]
    pub cc: Option<ComputeCapability>,

    /// Read registers, shared memory, barriers and launch bounds from this file, or take a kernel of the catalogue
    #[arg(long, value_name = "FILE|NAME", add = candidates::kernels_and_files(), help_heading = "Kernel")]
    pub kernel: Option<PathBuf>,
    /// Which kernel of the file
    #[arg(long, value_name = "NAME", requires = "kernel", help_heading = "Kernel")]
    pub entry: Option<String>,
    /// Registers per thread
    #[arg(short, long, value_name = "R", help_heading = "Kernel")]
    pub regs: Option<u32>,
    /// Static shared memory per block
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Kernel")]
    pub smem: Option<u32>,
    /// Named barriers; the CUDA runtime counts 1 for every kernel
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub barriers: Option<u32>,
    /// Threads per block that the kernel was compiled for (__launch_bounds__)
    #[arg(long, value_name = "T", value_parser = positive(), help_heading = "Kernel")]
    pub max_threads: Option<u32>,

    /// Threads per block
    #[arg(short, long, value_name = "T", value_parser = positive(), help_heading = "Launch")]
    pub threads: Option<u32>,
    /// Dynamic shared memory per block
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Launch")]
    pub dynamic_smem: Option<u32>,
    /// Dynamic shared memory for each thread of the block, added to the former
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Launch")]
    pub dynamic_smem_per_thread: Option<u32>,
    /// Blocks per cluster
    #[arg(long, value_name = "N", value_parser = positive(), default_value = "1", help_heading = "Launch")]
    pub cluster: u32,
    /// Percentage of the L1 cache's largest shared memory to set aside; the driver's choice unless given
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(0..=100), help_heading = "Launch")]
    pub carveout: Option<u32>,

    /// Find the block size with the highest occupancy; used for the rest unless --threads is given
    #[arg(long, help_heading = "Results")]
    pub best: bool,
    /// Draw occupancy against threads, registers and shared memory, or against what --sweep varies (.svg or .png)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Results")]
    pub chart: Option<PathBuf>,
    /// A row for each value of a parameter; may be repeated
    #[arg(long, value_name = "PARAMETER=VALUES", conflicts_with = "best", help_heading = "Results")]
    pub sweep: Vec<Sweep>,
}

const GPUS_DETAILS: &str = "\
Rates are peaks at the boost clock, without sparsity. A ridge point is the arithmetic intensity, in FLOP per byte of \
memory traffic, from which a kernel can reach the peak.

Examples:
  tilewright gpus
  tilewright gpus h200
  tilewright gpus --cc 8.6 --format csv
  tilewright gpus h200 --chart roofline.svg";

/// List the GPUs that `occupancy` knows, or describe one
#[derive(Args, Debug)]
#[command(after_help = GPUS_DETAILS)]
pub struct Gpus {
    /// Describe this one: limits, peaks and ridge points
    #[arg(value_name = "NAME", conflicts_with = "cc", add = candidates::gpus())]
    pub name: Option<String>,
    /// Only those of this compute capability
    #[arg(long, value_name = "X.Y", add = candidates::capabilities())]
    pub cc: Option<ComputeCapability>,
    /// Draw the roofline of the one (.svg or .png)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "name")]
    pub chart: Option<PathBuf>,
}

fn positive() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// `8192`, `48K` or `48KiB`.
pub fn bytes(text: &str) -> Result<u32, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, unit) = match ["kib", "kb", "k"].iter().find_map(|suffix| lower.strip_suffix(suffix)) {
        Some(digits) => (digits, 1024),
        None => (lower.strip_suffix('b').unwrap_or(&lower), 1),
    };
    let number = digits.trim_end().parse::<u32>().ok();
    number.and_then(|n| n.checked_mul(unit)).ok_or_else(|| "expected bytes, or KiB as in 48K".into())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_bytes_or_kib() {
        let sizes = ["0", "8192", "8192B", "48K", "48 KiB", "100kb"].map(|text| bytes(text).unwrap());
        assert_eq!(sizes, [0, 8192, 8192, 49152, 49152, 102_400]);
        for text in ["", "K", "-1", "1.5K", "8M", "4294967296", "4194304K"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
