//! The structs of XLA's foreign function interface, as its header `xla/ffi/api/c_api.h` has them, up to version 0.1.
//!
//! Later versions only add fields behind these, and functions behind those of [`Api`].

use std::ffi::{c_char, c_int, c_void};

/// The version that these structs are of. XLA refuses a handler that states an older one than it supports, or a newer one than its own.
pub const VERSION: (c_int, c_int) = (0, 1);
/// The extension of a call that asks for [`Metadata`] and for nothing else.
pub const METADATA: c_int = 1;
/// The kind of an attribute that is a text.
pub const STRING: c_int = 4;

pub type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut Error;

/// An error of XLA's, which it makes and frees.
pub enum Error {}
/// What XLA knows of a call.
pub enum Context {}

#[repr(C)]
pub struct Extension {
    pub size: usize,
    pub kind: c_int,
    pub next: *mut Extension,
}

#[repr(C)]
pub struct Version {
    pub size: usize,
    pub extension: *mut Extension,
    pub major: c_int,
    pub minor: c_int,
}

#[repr(C)]
pub struct Metadata {
    pub size: usize,
    pub version: Version,
    pub traits: u32,
}

#[repr(C)]
pub struct MetadataExtension {
    pub base: Extension,
    pub metadata: *mut Metadata,
}

/// An array without gaps, by rows.
#[repr(C)]
pub struct Buffer {
    pub size: usize,
    pub extension: *mut Extension,
    pub dtype: c_int,
    pub data: *mut c_void,
    pub rank: i64,
    pub dims: *const i64,
}

/// Operands, or results.
#[repr(C)]
pub struct Buffers {
    pub size: usize,
    pub extension: *mut Extension,
    pub count: i64,
    pub kinds: *const c_int,
    pub buffers: *const *const Buffer,
}

/// A text without a zero behind it.
#[repr(C)]
pub struct Span {
    pub first: *const c_char,
    pub length: usize,
}

#[repr(C)]
pub struct Attributes {
    pub size: usize,
    pub extension: *mut Extension,
    pub count: i64,
    pub kinds: *const c_int,
    pub names: *const *const Span,
    pub values: *const *const c_void,
}

#[repr(C)]
pub struct CallFrame {
    pub size: usize,
    pub extension: *mut Extension,
    pub api: *const Api,
    pub context: *mut Context,
    pub stage: c_int,
    pub operands: Buffers,
    pub results: Buffers,
    pub attributes: Attributes,
}

/// What `error_create` takes.
#[repr(C)]
pub struct NewError {
    pub size: usize,
    pub extension: *mut Extension,
    pub message: *const c_char,
    pub code: c_int,
}

/// What `error_message` takes, and gives.
#[repr(C)]
pub struct ErrorMessage {
    pub size: usize,
    pub extension: *mut Extension,
    pub error: *mut Error,
    pub message: *const c_char,
    /// Later versions tell it.
    pub code: c_int,
}

/// What `error_destroy` takes.
#[repr(C)]
pub struct OldError {
    pub size: usize,
    pub extension: *mut Extension,
    pub error: *mut Error,
}

/// What `stream_get` takes, and gives.
#[repr(C)]
pub struct StreamOf {
    pub size: usize,
    pub extension: *mut Extension,
    pub context: *mut Context,
    pub stream: *mut c_void,
}

/// What `memory_allocate` takes, and gives.
#[repr(C)]
pub struct NewMemory {
    pub size: usize,
    pub extension: *mut Extension,
    pub context: *mut Context,
    pub bytes: usize,
    pub alignment: usize,
    pub data: *mut c_void,
}

/// What `memory_free` takes. XLA uses the memory again behind what is in the stream by then.
#[repr(C)]
pub struct OldMemory {
    pub size: usize,
    pub extension: *mut Extension,
    pub context: *mut Context,
    pub bytes: usize,
    pub data: *mut c_void,
}

/// XLA's functions.
#[repr(C)]
pub struct Api {
    pub size: usize,
    pub extension: *mut Extension,
    pub version: Version,
    pub internal: *const c_void,
    pub error_create: unsafe extern "C" fn(*mut NewError) -> *mut Error,
    pub error_message: unsafe extern "C" fn(*mut ErrorMessage),
    pub error_destroy: unsafe extern "C" fn(*mut OldError),
    pub handler_register: *const c_void,
    pub stream_get: unsafe extern "C" fn(*mut StreamOf) -> *mut Error,
    pub type_register: *const c_void,
    pub context_get: *const c_void,
    pub state_set: *const c_void,
    pub state_get: *const c_void,
    pub memory_allocate: unsafe extern "C" fn(*mut NewMemory) -> *mut Error,
    pub memory_free: unsafe extern "C" fn(*mut OldMemory) -> *mut Error,
}
