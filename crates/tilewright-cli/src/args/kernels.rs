//! The options of `kernels`.

use super::candidates;
use clap::{ArgGroup, Args};

const DETAILS: &str = "\
Families: the kernels of the ladder lead from the naive product to a fast one, each by one idea; those of the gallery \
show one property of the hardware each; production kernels are what products are computed with.

Examples:
  tilewright kernels
  tilewright kernels shared-tile
  tilewright kernels shared-tile --source
  tilewright kernels shared-tile --ptx > shared_tile.ptx";

/// List the GPU kernels, or describe one
#[derive(Args, Debug)]
#[command(after_help = DETAILS, group(ArgGroup::new("text").args(["source", "ptx"]).requires("name")))]
pub struct Kernels {
    /// Describe this one: what it teaches, what it takes, what it refuses
    #[arg(value_name = "NAME", add = candidates::kernels())]
    pub name: Option<String>,
    /// Print its source instead
    #[arg(long)]
    pub source: bool,
    /// Print its PTX instead, of its first semiring and element type
    #[arg(long)]
    pub ptx: bool,
}
