//! The vendor's products whose algorithm the caller chooses, to measure against. No function here is newer than CUDA 11.
//! Its types and constants are those of `cublasLt.h`, which are part of the library's binary interface.

use super::driver::{Address, Stream};
use std::ffi::{c_int, c_void};

/// `cublasStatus_t`; 0 is success.
pub(crate) type Code = super::cublas::Code;
/// `cublasLtHandle_t`.
pub(crate) type Handle = *mut c_void;
/// `cublasComputeType_t`.
pub(crate) type Compute = c_int;
/// `cudaDataType_t`.
pub(crate) type Type = c_int;

/// `cublasLtMatmulDescOpaque_t`: a description of the arithmetic and the transposes.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Operation([u8; 0]);

/// `cublasLtMatrixLayoutOpaque_t`: how a matrix lies.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Stored([u8; 0]);

/// `cublasLtMatmulPreferenceOpaque_t`: what the heuristics are to keep to.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Preference([u8; 0]);

/// `cublasLtMatmulAlgo_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Algorithm {
    data: [u64; 8],
}

/// `CUBLAS_COMPUTE_32F`.
pub(crate) const COMPUTE_32F: Compute = 68;
/// `CUBLAS_COMPUTE_32F_PEDANTIC`.
pub(crate) const COMPUTE_32F_PEDANTIC: Compute = 69;
/// `CUBLAS_COMPUTE_32F_FAST_TF32`.
pub(crate) const COMPUTE_32F_FAST_TF32: Compute = 77;
/// `CUBLAS_COMPUTE_64F`.
pub(crate) const COMPUTE_64F: Compute = 70;
/// `CUBLAS_COMPUTE_64F_PEDANTIC`.
pub(crate) const COMPUTE_64F_PEDANTIC: Compute = 71;
/// `CUBLAS_COMPUTE_32I`.
pub(crate) const COMPUTE_32I: Compute = 72;
/// `CUBLAS_COMPUTE_32I_PEDANTIC`.
pub(crate) const COMPUTE_32I_PEDANTIC: Compute = 73;
/// `CUDA_R_16F`.
pub(crate) const REAL_16: Type = 2;
/// `CUDA_R_16BF`.
pub(crate) const BRAIN_16: Type = 14;
/// `CUDA_R_32F`.
pub(crate) const REAL_32: Type = 0;
/// `CUDA_R_64F`.
pub(crate) const REAL_64: Type = 1;
/// `CUDA_R_8I`.
pub(crate) const INTEGER_8: Type = 3;
/// `CUDA_R_32I`.
pub(crate) const INTEGER_32: Type = 10;

/// `CUBLASLT_MATMUL_DESC_TRANSA`.
pub(crate) const OPERATION_A: c_int = 3;
/// `CUBLASLT_MATMUL_DESC_TRANSB`.
pub(crate) const OPERATION_B: c_int = 4;

/// `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`.
pub(crate) const MAX_WORKSPACE: c_int = 1;
/// `CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES`, and likewise for B, C and D.
pub(crate) const ALIGNMENT_A: c_int = 5;
pub(crate) const ALIGNMENT_B: c_int = 6;
pub(crate) const ALIGNMENT_C: c_int = 7;
pub(crate) const ALIGNMENT_D: c_int = 8;

/// `cublasLtMatmulHeuristicResult_t`, with a status that may be any number.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suggestion {
    pub(crate) algorithm: Algorithm,
    pub(crate) workspace: usize,
    pub(crate) status: Code,
    pub(crate) waves: f32,
    pub(crate) reserved: [c_int; 4],
}

impl Suggestion {
    /// Room for one.
    pub(crate) const NONE: Self = Self {
        algorithm: Algorithm { data: [0; 8] },
        workspace: 0,
        status: -1,
        waves: 0.0,
        reserved: [0; 4],
    };
}

// The size of `cublasLtMatmulHeuristicResult_t`.
const _: () = assert!(size_of::<Suggestion>() == 96);

tilewright_toolchain::functions! {
    /// The functions of libcublasLt that are used here. Addresses of matrices are on the device, of scalars on the host.
    Functions {
        cublasLtCreate: fn(*mut Handle) -> Code;
        cublasLtDestroy: fn(Handle) -> Code;
        cublasLtGetVersion: fn() -> usize;
        cublasLtMatmulDescCreate: fn(*mut *mut Operation, Compute, Type) -> Code;
        cublasLtMatmulDescDestroy: fn(*mut Operation) -> Code;
        cublasLtMatmulDescSetAttribute: fn(*mut Operation, c_int, *const c_void, usize) -> Code;
        cublasLtMatrixLayoutCreate: fn(*mut *mut Stored, Type, u64, u64, i64) -> Code;
        cublasLtMatrixLayoutDestroy: fn(*mut Stored) -> Code;
        cublasLtMatmulPreferenceCreate: fn(*mut *mut Preference) -> Code;
        cublasLtMatmulPreferenceDestroy: fn(*mut Preference) -> Code;
        cublasLtMatmulPreferenceSetAttribute: fn(*mut Preference, c_int, *const c_void, usize) -> Code;
        cublasLtMatmulAlgoGetHeuristic: fn(Handle, *mut Operation, *mut Stored, *mut Stored, *mut Stored, *mut Stored, *mut Preference, c_int, *mut Suggestion, *mut c_int) -> Code;
        cublasLtMatmul: fn(Handle, *mut Operation, *const c_void, Address, *mut Stored, Address, *mut Stored, *const c_void, Address, *mut Stored, Address, *mut Stored, *const Algorithm, Address, usize, Stream) -> Code;
    }
}
