//! The context of a device: what every call to the driver happens in.

use super::driver::Driver;
use super::info::DeviceInfo;
use crate::ffi::driver as ffi;
use std::ptr;
use std::sync::Arc;
use tilewright_core::Error;

/// A device's primary context, which is shared with everything else in the process that uses this device.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) driver: Driver,
    pub(crate) info: DeviceInfo,
    device: ffi::Device,
    handle: ffi::Context,
}

// SAFETY: the driver's functions may be called from any thread; a context becomes current per thread, by `enter`.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        let driver = Driver::find()?;
        let (device, info) = DeviceInfo::read(&driver, ordinal)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid for a write, and the device exists.
        let code = unsafe { (driver.functions.cuDevicePrimaryCtxRetain)(&mut handle, device) };
        driver.check(code, || format!("opening {}", info.name))?;
        Ok(Arc::new(Self { driver, info, device, handle }))
    }

    /// Makes the context current in this thread until the guard is dropped.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, Error> {
        // SAFETY: the context is retained as long as `self` lives.
        let code = unsafe { (self.driver.functions.cuCtxPushCurrent_v2)(self.handle) };
        self.driver.check(code, || format!("using {}", self.info.name))?;
        Ok(Entered { context: self, functions: self.driver.functions })
    }

    /// Free and total bytes of the device's memory.
    pub(crate) fn memory(&self) -> Result<(u64, u64), Error> {
        let entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for a write.
        let code = unsafe { (entered.functions.cuMemGetInfo_v2)(&mut free, &mut total) };
        self.driver.check(code, || "asking for the free memory".into())?;
        Ok((free as u64, total as u64))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once, in `open`.
        let code = unsafe { (self.driver.functions.cuDevicePrimaryCtxRelease_v2)(self.device) };
        self.driver.ignore(code);
    }
}

/// A context that is current in this thread, and the functions that need one.
pub(crate) struct Entered<'a> {
    context: &'a Context,
    pub(crate) functions: &'static ffi::Functions,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: the pointer is valid for a write. The context was pushed by `enter` in this thread: the guard holds a reference
        // to raw handles and cannot be sent to another one.
        let code = unsafe { (self.functions.cuCtxPopCurrent_v2)(&mut popped) };
        self.context.driver.ignore(code);
    }
}
