//! NVRTC, the run-time compiler. No function here is newer than CUDA 11.1.

use std::ffi::{c_char, c_int, c_void};

/// `nvrtcProgram`: a handle.
pub(super) type Program = *mut c_void;
/// `nvrtcResult`; 0 is success.
pub(super) type Code = c_int;

crate::functions! {
    /// The functions of libnvrtc that are used here.
    Functions {
        nvrtcVersion: fn(*mut c_int, *mut c_int) -> Code;
        nvrtcGetErrorString: fn(Code) -> *const c_char;
        nvrtcGetNumSupportedArchs: fn(*mut c_int) -> Code;
        nvrtcGetSupportedArchs: fn(*mut c_int) -> Code;
        nvrtcCreateProgram: fn(*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Code;
        nvrtcDestroyProgram: fn(*mut Program) -> Code;
        nvrtcAddNameExpression: fn(Program, *const c_char) -> Code;
        nvrtcGetLoweredName: fn(Program, *const c_char, *mut *const c_char) -> Code;
        nvrtcCompileProgram: fn(Program, c_int, *const *const c_char) -> Code;
        nvrtcGetProgramLogSize: fn(Program, *mut usize) -> Code;
        nvrtcGetProgramLog: fn(Program, *mut c_char) -> Code;
        nvrtcGetCUBINSize: fn(Program, *mut usize) -> Code;
        nvrtcGetCUBIN: fn(Program, *mut c_char) -> Code;
        nvrtcGetPTXSize: fn(Program, *mut usize) -> Code;
        nvrtcGetPTX: fn(Program, *mut c_char) -> Code;
    }
}
