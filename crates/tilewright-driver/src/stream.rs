//! Streams. Work is done when it is put into one, so that the order of work in and among streams is the order of the calls.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use crate::abi::{Handle, HostFunction, STREAM_LEGACY, STREAM_PER_THREAD, StreamCallback};
use crate::call::{Call, put};
use crate::code::Code;
use crate::context::Context;
use crate::objects;

/// A stream that a program has made.
#[derive(Debug)]
pub(crate) struct Stream {
    pub context: Arc<Context>,
    flags: c_uint,
    priority: c_int,
}

impl objects::Kind for Stream {
    fn owner(&self) -> Option<Handle> {
        Some(self.context.id)
    }
}

/// The context of a stream; that of the thread for the streams that every context has.
///
/// # Errors
/// Without such a stream, and the failure of a context that has failed.
pub(crate) fn context(stream: Handle) -> Result<Arc<Context>, Code> {
    let current = Context::current()?;
    match stream {
        0 | STREAM_LEGACY | STREAM_PER_THREAD => Ok(current),
        handle => {
            let stream = objects::get::<Stream>(handle)?;
            stream.context.check()?;
            Ok(stream.context.clone())
        }
    }
}

/// Whether work can be put into a stream.
///
/// # Errors
/// As [`context`].
pub(crate) fn check(stream: Handle) -> Call {
    context(stream).map(drop)
}

/// `cuStreamCreate`.
pub(crate) unsafe fn create(out: *mut Handle, flags: c_uint) -> Call {
    // SAFETY: the caller's promise.
    unsafe { create_with_priority(out, flags, 0) }
}

/// `cuStreamCreateWithPriority`. All have the same one.
pub(crate) unsafe fn create_with_priority(out: *mut Handle, flags: c_uint, _priority: c_int) -> Call {
    let context = Context::current()?;
    if flags > 1 || out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let handle = objects::new_handle();
    objects::insert(handle, Arc::new(Stream { context, flags, priority: 0 }));
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuStreamDestroy`: what is in it has been done.
pub(crate) fn destroy(handle: Handle) -> Call {
    if matches!(handle, 0 | STREAM_LEGACY | STREAM_PER_THREAD) {
        return Err(Code::INVALID_HANDLE);
    }
    let stream = objects::remove::<Stream>(handle)?;
    stream.context.check()
}

/// `cuStreamSynchronize`.
pub(crate) fn synchronize(stream: Handle) -> Call {
    context(stream).map(|context| context.wait())
}

/// `cuStreamQuery`.
pub(crate) fn query(handle: Handle) -> Call {
    check(handle)
}

/// `cuStreamGetCtx`.
pub(crate) unsafe fn get_context(handle: Handle, out: *mut Handle) -> Call {
    let context = context(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, context.id) }
}

/// `cuStreamGetDevice`.
pub(crate) unsafe fn get_device(handle: Handle, out: *mut c_int) -> Call {
    let context = context(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, context.device.ordinal.into()) }
}

/// `cuStreamGetId`.
pub(crate) unsafe fn get_id(handle: Handle, out: *mut u64) -> Call {
    check(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle as u64) }
}

/// `cuStreamGetFlags`.
pub(crate) unsafe fn get_flags(handle: Handle, out: *mut c_uint) -> Call {
    check(handle)?;
    let flags = objects::get::<Stream>(handle).map_or(0, |stream| stream.flags);
    // SAFETY: the caller's promise.
    unsafe { put(out, flags) }
}

/// `cuStreamGetPriority`.
pub(crate) unsafe fn get_priority(handle: Handle, out: *mut c_int) -> Call {
    check(handle)?;
    let priority = objects::get::<Stream>(handle).map_or(0, |stream| stream.priority);
    // SAFETY: the caller's promise.
    unsafe { put(out, priority) }
}

/// `cuStreamIsCapturing`: none ever does.
pub(crate) unsafe fn is_capturing(handle: Handle, out: *mut c_int) -> Call {
    check(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, 0) }
}

/// `cuStreamAttachMemAsync`: managed memory is always everybody's.
pub(crate) fn attach_memory(handle: Handle, address: u64) -> Call {
    check(handle)?;
    crate::host::range(address).map(drop).ok_or(Code::INVALID_VALUE)
}

/// `cuLaunchHostFunc`: what is in front of it has been done.
pub(crate) unsafe fn launch_host_function(handle: Handle, function: HostFunction, data: *mut c_void) -> Call {
    check(handle)?;
    let function = function.ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { function(data) };
    Ok(())
}

/// `cuStreamAddCallback`.
pub(crate) unsafe fn add_callback(handle: Handle, callback: StreamCallback, data: *mut c_void) -> Call {
    check(handle)?;
    let callback = callback.ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { callback(handle, Code::SUCCESS.0, data) };
    Ok(())
}
