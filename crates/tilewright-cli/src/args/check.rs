//! The options of `check`.

use super::candidates;
use clap::{Args, ValueHint};
use std::path::PathBuf;

const DETAILS: &str = "\
The manifest is a TOML file: kernels, their arguments, what arrays hold afterwards, bounds of registers, occupancy and traffic, for several \
GPUs and sizes. docs/check.md describes it; --schema prints its JSON Schema. Kernels are run by the emulator of `explain`, with all checks, on all \
cores; no GPU is needed. What has not changed since the last run is taken from the cache: sources with the headers that they include, files of \
arrays, launches, GPU, compiler and this program.

A check fails where an error is found that is not suppressed, a bound is broken, or a result is not the expected one. With --baseline it fails where \
findings are new, or numbers worse than in the baseline; what it knows is told, and passes. Findings that several checks have are reported once in SARIF.

Exit codes: 0 all passed, 1 some failed, 2 the manifest has faults: each is printed with its line and key.

Examples:
  tilewright check
  tilewright check kernels/ --sarif check.sarif --junit check.xml --github
  tilewright check --write-baseline baseline.json
  tilewright check --baseline baseline.json --gpu h200 --gpu a6000";

/// Run the kernels of a project without a GPU, and fail where one is wrong, slower than allowed, or worse than before
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Check {
    /// A manifest, or a directory that has a tilewright.toml
    #[arg(value_name = "FILE.toml|DIR", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub manifest: PathBuf,
    /// Only checks whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Check for this GPU in place of those of the manifest; once for each
    #[arg(long = "gpu", value_name = "NAME", add = candidates::gpus())]
    pub gpus: Vec<String>,
    /// Checks that run at the same time; as many as there are cores unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Run all, also what has not changed
    #[arg(long)]
    pub no_cache: bool,

    /// Write a report for test viewers
    #[arg(long, value_name = "F.xml", value_hint = ValueHint::FilePath, help_heading = "Reports")]
    pub junit: Option<PathBuf>,
    /// Write findings for code scanning, as SARIF 2.1.0
    #[arg(long, value_name = "F.sarif", value_hint = ValueHint::FilePath, help_heading = "Reports")]
    pub sarif: Option<PathBuf>,
    /// Print annotations for GitHub Actions
    #[arg(long, help_heading = "Reports")]
    pub github: bool,
    /// Print the JSON Schema of manifests, and do nothing else
    #[arg(long, help_heading = "Reports")]
    pub schema: bool,

    /// Fail on what is worse than in this file
    #[arg(long, value_name = "F.json", value_hint = ValueHint::FilePath, help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Write findings and numbers to this file, for --baseline
    #[arg(long, value_name = "F.json", value_hint = ValueHint::FilePath, help_heading = "Baseline")]
    pub write_baseline: Option<PathBuf>,
}
