//! The vendor's linear algebra, to measure against.

use super::driver::{Address, Stream};
use cudarc::cublas::sys;
use std::ffi::c_int;

/// `cublasStatus_t`; 0 is success.
pub(crate) type Code = c_int;
pub(crate) type Handle = sys::cublasHandle_t;
/// `cublasOperation_t`, as the library declares its parameters.
pub(crate) type Operation = c_int;
/// `cublasMath_t`.
pub(crate) type Math = c_int;
pub(crate) const DEFAULT_MATH: Math = sys::cublasMath_t::CUBLAS_DEFAULT_MATH as Math;
pub(crate) const PEDANTIC_MATH: Math = sys::cublasMath_t::CUBLAS_PEDANTIC_MATH as Math;
pub(crate) const AS_IS: Operation = sys::cublasOperation_t::CUBLAS_OP_N as Operation;
pub(crate) const TRANSPOSED: Operation = sys::cublasOperation_t::CUBLAS_OP_T as Operation;

super::functions! {
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
