//! Kernels that products and best paths are computed with, a folder for each family: its text, its tiles, what they cost, and its recipe. `tensor_cores` has what families of tensor cores share.

pub(crate) mod closure;
pub(crate) mod dmma;
pub(crate) mod log_plus;
pub(crate) mod mma;
pub(crate) mod simt;
pub(crate) mod tensor_cores;
pub(crate) mod trees;
pub(crate) mod wgmma;
