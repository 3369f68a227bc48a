//! The vendor's products whose algorithm the caller chooses, to measure against. No function here is newer than CUDA 11.

use super::driver::{Address, Stream};
use cudarc::cublaslt::sys;
use std::ffi::{c_int, c_void};

/// `cublasStatus_t`; 0 is success.
pub(crate) type Code = super::cublas::Code;
pub(crate) type Handle = sys::cublasLtHandle_t;
/// A description of the arithmetic and the transposes.
pub(crate) type Operation = sys::cublasLtMatmulDescOpaque_t;
/// How a matrix lies.
pub(crate) type Stored = sys::cublasLtMatrixLayoutOpaque_t;
/// What the heuristics are to keep to.
pub(crate) type Preference = sys::cublasLtMatmulPreferenceOpaque_t;
pub(crate) type Algorithm = sys::cublasLtMatmulAlgo_t;
/// `cublasComputeType_t`.
pub(crate) type Compute = c_int;
/// `cudaDataType_t`.
pub(crate) type Type = c_int;

pub(crate) const COMPUTE_32F: Compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F as Compute;
pub(crate) const COMPUTE_32F_PEDANTIC: Compute =
    sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_PEDANTIC as Compute;
pub(crate) const COMPUTE_64F: Compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_64F as Compute;
pub(crate) const COMPUTE_64F_PEDANTIC: Compute =
    sys::cublasComputeType_t::CUBLAS_COMPUTE_64F_PEDANTIC as Compute;
pub(crate) const REAL_32: Type = sys::cudaDataType_t::CUDA_R_32F as Type;
pub(crate) const REAL_64: Type = sys::cudaDataType_t::CUDA_R_64F as Type;

pub(crate) const OPERATION_A: c_int =
    sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA as c_int;
pub(crate) const OPERATION_B: c_int =
    sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSB as c_int;

pub(crate) const MAX_WORKSPACE: c_int =
    sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as c_int;
pub(crate) const ALIGNMENT_A: c_int =
    sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES as c_int;
pub(crate) const ALIGNMENT_B: c_int =
    sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES as c_int;
pub(crate) const ALIGNMENT_C: c_int =
    sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES as c_int;
pub(crate) const ALIGNMENT_D: c_int =
    sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES as c_int;

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

const _: () = assert!(size_of::<Suggestion>() == size_of::<sys::cublasLtMatmulHeuristicResult_t>());

super::functions! {
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
