//! The options of `tune`.

use super::{Order, Sizes, dtypes, semirings};
use clap::Args;
use tilewright::{DType, Math, SemiringId};

const DETAILS: &str = "\
Production kernels have several tiles, and can split sums; that without tensor cores also packs operands. Models of cost choose among these; they are fitted to \
one GPU and to large products. This command measures the ways that the model puts first, with random operands, and keeps the fastest \
for this product. `mul` then takes it, and `mul --plan` shows it.

A way is kept if it is at least 1 % faster than that of the model; otherwise that of the model is kept. It counts for the same sizes, \
orders, semiring, type and arithmetic on the same GPU with the same driver and the same kernels, and is looked up when a product is computed. Tunings are kept beside \
the compiled kernels: see `tilewright cache`.

Examples:
  tilewright tune 1000
  tilewright tune 512..4096 128x8192x8192 --semiring min-plus --dtype f32
  tilewright tune 4096 --dtype bf16 --orders nt
  tilewright tune --list
  tilewright tune --clear";

/// Measure the ways to compute a product on this GPU, and keep the fastest
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Tune {
    /// Which products: 512 is square, 16x4096x4096 is MxNxK, 256..4096 doubles
    #[arg(value_name = "SHAPE", required_unless_present_any = ["list", "clear"])]
    pub sizes: Vec<Sizes>,
    /// What add and multiply mean
    #[arg(short, long, default_value = "plus-times", value_parser = semirings(), help_heading = "Product")]
    pub semiring: SemiringId,
    /// The element type; f32 unless given, bool for or-and
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Product")]
    dtype: Option<DType>,
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
    /// How plus-times computes: full; on f32 tf32, which rounds A and B to 10 bits after the point where tensor cores are faster; on floats of 8 bits fast, where tensor cores keep 13 bits of sums
    #[arg(long, value_name = "MATH", default_value = "full", value_parser = super::maths(), help_heading = "Product")]
    pub math: Math,

    /// Measure so many ways of each product
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Measurement")]
    pub ways: u32,
    /// Samples of each way; those that fall behind after two have no more
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Measurement")]
    pub rounds: u32,

    /// Show what is kept; this needs no GPU
    #[arg(long, conflicts_with_all = ["sizes", "clear"], help_heading = "What is kept")]
    pub list: bool,
    /// Remove what is kept; this needs no GPU
    #[arg(long, conflicts_with = "sizes", help_heading = "What is kept")]
    pub clear: bool,
}

impl Tune {
    /// The element type that is measured.
    pub fn dtype(&self) -> DType {
        let is_on_floats = self.semiring.dtypes().contains(&DType::F32);
        self.dtype.unwrap_or(if is_on_floats { DType::F32 } else { DType::Bool })
    }
}
