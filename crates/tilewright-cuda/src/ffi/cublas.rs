//! The vendor's linear algebra, to measure against. Its types and constants are those of `cublas_api.h`, which are part of the library's binary interface.

use super::driver::{Address, Stream};
use std::ffi::{c_int, c_void};

/// `cublasStatus_t`; 0 is success.
pub(crate) type Code = c_int;
/// `cublasHandle_t`.
pub(crate) type Handle = *mut c_void;
/// `cublasOperation_t`, as the library declares its parameters.
pub(crate) type Operation = c_int;
/// `cublasMath_t`.
pub(crate) type Math = c_int;
/// `CUBLAS_DEFAULT_MATH`.
pub(crate) const DEFAULT_MATH: Math = 0;
/// `CUBLAS_PEDANTIC_MATH`.
pub(crate) const PEDANTIC_MATH: Math = 2;
/// `CUBLAS_TF32_TENSOR_OP_MATH`.
pub(crate) const TF32_MATH: Math = 3;
/// `CUBLAS_OP_N`.
pub(crate) const AS_IS: Operation = 0;
/// `CUBLAS_OP_T`.
pub(crate) const TRANSPOSED: Operation = 1;

tilewright_toolchain::functions! {
    /// The functions of libcublas that are used here. Addresses of matrices are on the device, of scalars on the host.
    Functions {
        cublasCreate_v2: fn(*mut Handle) -> Code;
        cublasDestroy_v2: fn(Handle) -> Code;
        cublasGetVersion_v2: fn(Handle, *mut c_int) -> Code;
        cublasSetStream_v2: fn(Handle, Stream) -> Code;
        cublasSetMathMode: fn(Handle, Math) -> Code;
        cublasSetWorkspace_v2: fn(Handle, Address, usize) -> Code;
        cublasSgemm_v2: fn(Handle, Operation, Operation, c_int, c_int, c_int, *const f32, Address, c_int, Address, c_int, *const f32, Address, c_int) -> Code;
        cublasDgemm_v2: fn(Handle, Operation, Operation, c_int, c_int, c_int, *const f64, Address, c_int, Address, c_int, *const f64, Address, c_int) -> Code;
    }
}
