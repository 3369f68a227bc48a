//! Streams, in which work runs in order, and events, which mark a point in it.

use super::context::Context;
use super::page_locked::Staging;
use super::pool::Kept;
use crate::ffi::driver as ffi;
use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_core::Error;

/// A queue of work on a device.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    handle: ffi::Stream,
    /// What was put in last: failures of kernels show up later, when something waits.
    last: Mutex<Arc<str>>,
    /// Memory for later.
    pub(super) kept: Mutex<Kept>,
    pub(super) staging: Staging,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above; work of several threads enters the stream in some order.
unsafe impl Sync for Stream {}

/// Which kernels have their blocks started first, where those of several streams wait for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    Usual,
    First,
}

impl Priority {
    /// As the driver counts: the least number goes first, and numbers that a device does not have become its nearest one.
    const fn number(self) -> c_int {
        match self {
            Self::Usual => 0,
            Self::First => -100,
        }
    }
}

impl Stream {
    pub(crate) fn new(context: Arc<Context>) -> Result<Arc<Self>, Error> {
        Self::with_priority(context, Priority::Usual)
    }

    pub(crate) fn with_priority(context: Arc<Context>, priority: Priority) -> Result<Arc<Self>, Error> {
        let mut handle = ptr::null_mut();
        let entered = context.enter()?;
        let create = entered.functions.cuStreamCreateWithPriority;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { create(&mut handle, ffi::STREAM_NON_BLOCKING, priority.number()) };
        context.check(code, || "creating a stream".into())?;
        drop(entered);
        Ok(Arc::new(Self {
            context,
            handle,
            last: Mutex::new("opening the device".into()),
            kept: Mutex::default(),
            staging: Staging::default(),
        }))
    }

    pub(crate) fn handle(&self) -> ffi::Stream {
        self.handle
    }

    /// Notes what has been put into the stream.
    pub(crate) fn note(&self, what: &Arc<str>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(what);
    }

    /// Frees memory that is kept for later, and says whether there was any.
    pub(super) fn free_kept(&self) -> bool {
        let all = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take_all();
        if all.is_empty() || self.synchronize().is_err() {
            return false;
        }
        let Ok(entered) = self.context.enter() else { return false };
        for address in &all {
            // SAFETY: allocated by `DeviceMemory`, which has let go of it, and work that used it has ended.
            unsafe { (entered.functions.cuMemFree_v2)(*address) };
        }
        true
    }

    /// Copies rows from one place of the device to another: where they begin, how far they are apart, how wide a row is and how many there are.
    ///
    /// # Safety
    /// The rows must be memory of this context on either side as long as work in the stream runs, and have nothing in common.
    pub(crate) unsafe fn copy_rows(
        &self,
        (source, source_pitch): (ffi::Address, usize),
        (target, target_pitch): (ffi::Address, usize),
        (width, height): (usize, usize),
    ) -> Result<(), Error> {
        let side = |device, pitch| ffi::Side { memory: ffi::DEVICE, host: ptr::null_mut(), device, pitch };
        let copy = ffi::rows(side(source, source_pitch), side(target, target_pitch), width, height);
        let entered = self.context.enter()?;
        // SAFETY: the caller's promise.
        let code = unsafe { (entered.functions.cuMemcpy2DAsync_v2)(&copy, self.handle) };
        self.context.check(code, || format!("copying {height} rows of {width} bytes on the device"))
    }

    /// Waits until all work in the stream is done.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the stream lives as long as `self`.
        let code = unsafe { (entered.functions.cuStreamSynchronize)(self.handle) };
        self.context.check(code, || self.waiting())
    }

    /// What is being done where the device is waited for.
    pub(crate) fn waiting(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        format!("waiting for the device after {last}")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.free_kept();
        self.free_staging();
        if let Ok(entered) = self.context.enter() {
            // SAFETY: created in `new`; the driver waits for the work before it frees the stream.
            unsafe { (entered.functions.cuStreamDestroy_v2)(self.handle) };
        }
    }
}

impl Stream {
    /// Lets what is put into one of two streams from now on wait for what is in the other one now; one of them is this, the other one is somebody else's.
    ///
    /// # Safety
    /// The other one is a stream of this context, or a handle that stands for a default stream.
    pub(crate) unsafe fn order(self: &Arc<Self>, other: ffi::Stream, order: Order) -> Result<(), Error> {
        let (first, then) = match order {
            Order::AfterOther => (other, self.handle),
            Order::BeforeOther => (self.handle, other),
        };
        let mark = Event::with_flags(self, ffi::EVENT_WITHOUT_TIME)?;
        let entered = self.context.enter()?;
        // SAFETY: the event lives, and the caller vouches for the stream.
        let code = unsafe { (entered.functions.cuEventRecord)(mark.handle, first) };
        self.context.check(code, || "recording an event in another stream".into())?;
        // SAFETY: as above; the driver keeps the event until it has happened.
        let code = unsafe { (entered.functions.cuStreamWaitEvent)(then, mark.handle, 0) };
        self.context.check(code, || "joining streams".into())
    }
}

/// Which of two streams waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    AfterOther,
    BeforeOther,
}

/// A point in a stream whose time is taken by the device.
#[derive(Debug)]
pub(crate) struct Event {
    stream: Arc<Stream>,
    handle: ffi::Event,
}

impl Event {
    /// One that takes the time.
    pub(crate) fn new(stream: &Arc<Stream>) -> Result<Self, Error> {
        Self::with_flags(stream, 0)
    }

    fn with_flags(stream: &Arc<Stream>, flags: c_uint) -> Result<Self, Error> {
        let (context, mut handle) = (&stream.context, ptr::null_mut());
        let entered = context.enter()?;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (entered.functions.cuEventCreate)(&mut handle, flags) };
        context.check(code, || "creating an event".into())?;
        Ok(Self { stream: Arc::clone(stream), handle })
    }

    /// Marks the end of what is in the stream now.
    pub(crate) fn record(&self) -> Result<(), Error> {
        let entered = self.stream.context.enter()?;
        // SAFETY: event and stream live, in the same context.
        let code = unsafe { (entered.functions.cuEventRecord)(self.handle, self.stream.handle) };
        self.stream.context.check(code, || "recording an event".into())
    }

    /// Whether it has happened; nothing waits.
    pub(crate) fn has_happened(&self) -> Result<bool, Error> {
        let entered = self.stream.context.enter()?;
        // SAFETY: the event lives.
        let code = unsafe { (entered.functions.cuEventQuery)(self.handle) };
        if code == ffi::NOT_READY {
            return Ok(false);
        }
        self.stream.context.check(code, || self.stream.waiting()).map(|()| true)
    }

    /// Seconds from `start` to this event; waits until it has happened.
    pub(crate) fn seconds_since(&self, start: &Self) -> Result<f64, Error> {
        let entered = self.stream.context.enter()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: the event lives.
        let code = unsafe { (entered.functions.cuEventSynchronize)(self.handle) };
        self.stream.context.check(code, || "waiting for an event".into())?;
        // SAFETY: both events live, and the pointer is valid for a write.
        let code =
            unsafe { (entered.functions.cuEventElapsedTime)(&mut milliseconds, start.handle, self.handle) };
        self.stream.context.check(code, || "reading the time between events".into())?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(entered) = self.stream.context.enter() {
            // SAFETY: created in `new`; the driver keeps it until it has happened.
            unsafe { (entered.functions.cuEventDestroy_v2)(self.handle) };
        }
    }
}
