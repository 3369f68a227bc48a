//! Kernels that products and best paths are computed with, a folder for each family: its text, its tiles, what they cost, and its recipe. `tensor_cores` has what families of tensor cores share.

pub(crate) mod closure;
pub(crate) mod dmma;
pub(crate) mod log_plus;
pub(crate) mod mma;
pub(crate) mod simt;
pub(crate) mod tensor_cores;
pub(crate) mod trees;
pub(crate) mod wgmma;

use crate::{kernel::Kernel, request::Request, way::Way};

/// A family that chooses among ways.
pub(crate) struct Choosing {
    pub kernel: &'static Kernel,
    /// The ways of a product, the fastest first.
    pub ways: fn(&'static Kernel, &Request) -> Vec<Way>,
    pub tile_name: fn([u32; 6]) -> Option<String>,
}
