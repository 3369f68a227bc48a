//! Events. Their times are those of this process: they say nothing about a GPU.

use std::ffi::c_uint;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::abi::Handle;
use crate::call::{Call, locked, put};
use crate::code::Code;
use crate::context::Context;
use crate::{objects, stream};

/// `CU_EVENT_BLOCKING_SYNC`, `CU_EVENT_DISABLE_TIMING` and `CU_EVENT_INTERPROCESS`.
const FLAGS: c_uint = 7;
const DISABLE_TIMING: c_uint = 2;

/// A point in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    pub context: Arc<Context>,
    flags: c_uint,
    /// When it was recorded last, which is when the work in front of it had been done.
    recorded: Mutex<Option<Instant>>,
}

impl objects::Kind for Event {
    fn owner(&self) -> Option<Handle> {
        Some(self.context.id)
    }
}

/// `cuEventCreate`.
pub(crate) unsafe fn create(out: *mut Handle, flags: c_uint) -> Call {
    let context = Context::current()?;
    if flags & !FLAGS != 0 || out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let handle = objects::new_handle();
    objects::insert(handle, Arc::new(Event { context, flags, recorded: Mutex::default() }));
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuEventDestroy`.
pub(crate) fn destroy(handle: Handle) -> Call {
    objects::remove::<Event>(handle)?.context.check()
}

/// `cuEventRecord`: event and stream must be of one context.
pub(crate) fn record(handle: Handle, order: Handle) -> Call {
    let context = stream::context(order)?;
    let event = objects::get::<Event>(handle)?;
    if !Arc::ptr_eq(&event.context, &context) {
        return Err(Code::INVALID_HANDLE);
    }
    *locked(&event.recorded) = Some(Instant::now());
    Ok(())
}

/// `cuStreamWaitEvent`.
pub(crate) fn wait(order: Handle, handle: Handle, _flags: c_uint) -> Call {
    stream::check(order)?;
    objects::get::<Event>(handle).map(drop)
}

/// `cuEventQuery`: one that was never recorded marks the end of no work.
pub(crate) fn query(handle: Handle) -> Call {
    objects::get::<Event>(handle)?.context.check()
}

/// `cuEventSynchronize`.
pub(crate) fn synchronize(handle: Handle) -> Call {
    query(handle)?;
    objects::get::<Event>(handle).map(|event| event.context.wait())
}

/// `cuEventElapsedTime`: milliseconds of this process's clock.
pub(crate) unsafe fn elapsed(out: *mut f32, start: Handle, end: Handle) -> Call {
    let (start, end) = (objects::get::<Event>(start)?, objects::get::<Event>(end)?);
    start.context.check()?;
    let is_timed = |event: &Event| event.flags & DISABLE_TIMING == 0;
    if !is_timed(&start) || !is_timed(&end) || !Arc::ptr_eq(&start.context, &end.context) {
        return Err(Code::INVALID_HANDLE);
    }
    let time = |event: &Event| locked(&event.recorded).ok_or(Code::INVALID_HANDLE);
    let (start, end) = (time(&start)?, time(&end)?);
    let seconds = match end.checked_duration_since(start) {
        Some(after) => after.as_secs_f64(),
        None => -start.duration_since(end).as_secs_f64(),
    };
    // SAFETY: the caller's promise.
    unsafe { put(out, (1e3 * seconds) as f32) }
}
