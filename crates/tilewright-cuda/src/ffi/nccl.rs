//! NCCL: the functions that are used, which it has since 2.18 at the latest. Types and constants are those of `nccl.h`.

use super::driver::{Address, Stream};
use std::ffi::{c_char, c_int, c_void};

/// `ncclResult_t`; 0 is success.
pub(crate) type Code = c_int;
/// `ncclComm_t`.
pub(crate) type Handle = *mut c_void;
/// `ncclUint8`.
pub(crate) const BYTES: c_int = 1;
/// `ncclInProgress`.
pub(crate) const IN_PROGRESS: Code = 7;

/// `ncclUniqueId`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Id(pub(crate) [u8; 128]);

tilewright_toolchain::functions! {
    /// The functions of libnccl that are used here.
    Functions {
        ncclGetVersion: fn(*mut c_int) -> Code;
        ncclGetUniqueId: fn(*mut Id) -> Code;
        ncclCommInitRank: fn(*mut Handle, c_int, Id, c_int) -> Code;
        ncclCommDestroy: fn(Handle) -> Code;
        ncclCommAbort: fn(Handle) -> Code;
        ncclCommGetAsyncError: fn(Handle, *mut Code) -> Code;
        ncclBroadcast: fn(Address, Address, usize, c_int, c_int, Handle, Stream) -> Code;
        ncclGetErrorString: fn(Code) -> *const c_char;
    }
}
