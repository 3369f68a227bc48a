//! Options of commands that many ranks compute together.

use crate::failure::Failure;
use clap::{ArgGroup, Args};
use std::{path::PathBuf, time::Duration};
use tilewright_distributed::{Shape, best_grid};

/// Where blocks of matrices lie.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("ranks").args(["distributed", "devices"]).multiple(true))]
pub struct Ranks {
    /// Compute with all ranks that mpiexec has started, in this grid, such as 2x4; files are .npy, or folders of blocks
    #[arg(long, value_name = "RxC", value_parser = clap::value_parser!(Shape), help_heading = "Many ranks")]
    pub distributed: Option<Shape>,
    /// Compute with these GPUs of this machine in one process, such as 0,1, which are the ranks
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Many ranks")]
    pub devices: Option<Vec<usize>>,
    /// Rows and columns of the blocks that ranks have in turn; by the size of the matrix unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20), requires = "ranks", help_heading = "Many ranks")]
    pub block: Option<u32>,
    /// End all ranks with exit code 5 when one has waited so long for others; ten steps and no less than 60 are sound. For ever unless given
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "distributed", help_heading = "Many ranks")]
    pub deadline: Option<Duration>,
    /// Write what each GPU did and when, as JSON for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE", requires = "ranks", help_heading = "Many ranks")]
    pub trace: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|deadline| !deadline.is_zero()).ok_or_else(|| "give seconds, more than 0".to_owned())
}

impl Ranks {
    /// The grid, where there are many ranks.
    ///
    /// # Errors
    /// A usage error for GPUs that are named twice, or not as many as the grid has ranks.
    pub fn shape(&self) -> Result<Option<Shape>, Failure> {
        let Some(devices) = &self.devices else { return Ok(self.distributed) };
        if let Some(twice) = (1..devices.len()).find(|&at| devices[..at].contains(&devices[at])) {
            let what = format!("--devices names {} twice", devices[twice]);
            return Err(Failure::usage(what, "a GPU is one rank"));
        }
        let count = devices.len();
        // Of all grids of as many ranks the one by which a square matrix is sent least.
        let shape = self.distributed.unwrap_or_else(|| best_grid(count, (1, 1, 1)));
        if shape.ranks() != count {
            let what = format!("--distributed {shape} with {count} --devices");
            return Err(Failure::usage(what, format!("name {} GPUs, or another grid", shape.ranks())));
        }
        Ok(Some(shape))
    }
}
