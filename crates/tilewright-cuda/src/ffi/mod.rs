//! The CUDA libraries as tables of functions. Nothing else in this crate mentions cudarc.
//!
//! cudarc's bindings are generated from NVIDIA's headers; types, structures and constants of the driver are taken from them. Its loading is
//! not: it panics when a library or one function is missing, it cannot be pointed at a file, and it returns codes as Rust enums.
//! The tables are those of `tilewright_toolchain::table`.

#[cfg(feature = "cublas")]
pub(crate) mod cublas;
#[cfg(feature = "cublas")]
pub(crate) mod cublaslt;
pub(crate) mod driver;
pub(crate) mod nccl;
