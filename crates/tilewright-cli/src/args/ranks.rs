//! Options of commands that many ranks compute together.

use clap::Args;
use std::time::Duration;
use tilewright_distributed::Shape;

/// Where blocks of matrices lie.
#[derive(Args, Debug)]
pub struct Ranks {
    /// Compute with all ranks that mpiexec has started, in this grid, such as 2x4; files are .npy, or folders of blocks
    #[arg(long, value_name = "RxC", value_parser = clap::value_parser!(Shape), help_heading = "Many ranks")]
    pub distributed: Option<Shape>,
    /// Rows and columns of the blocks that ranks have in turn; by the size of the matrix unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20), requires = "distributed", help_heading = "Many ranks")]
    pub block: Option<u32>,
    /// End all ranks with exit code 5 when one has waited so long for others; ten steps and no less than 60 are sound. For ever unless given
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "distributed", help_heading = "Many ranks")]
    pub deadline: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|deadline| !deadline.is_zero()).ok_or_else(|| "give seconds, more than 0".to_owned())
}
