//! The context of a device: what every call to the driver happens in.

use super::driver::Driver;
use super::health::Health;
use super::info::{DeviceInfo, attribute};
use crate::ffi::driver::{self as ffi, device_attribute};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use tilewright_core::Error;
#[cfg(feature = "emulated")]
use tilewright_core::ErrorKind;

/// A device's primary context, which is shared with everything else in the process that uses this device.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) driver: Driver,
    pub(crate) info: DeviceInfo,
    pub(crate) health: Health,
    device: ffi::Device,
    handle: ffi::Context,
    pub(crate) allocation: Allocation,
    #[cfg(feature = "emulated")]
    ownership: Ownership,
}

/// How memory is allocated and freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// In the order of streams, from the pool that the device's driver shares among all libraries: nothing waits.
    Pooled,
    /// Now. Freeing waits for the work that may use it.
    Immediate,
}

/// The part of a device's memory that its pool may keep when nobody uses it: one in so many.
const KEPT_PART: u64 = 16;

/// Whose a device is.
#[cfg(feature = "emulated")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ownership {
    /// Everybody's in this process.
    Shared,
    /// An emulated one that goes with its context.
    Own,
}

// SAFETY: the driver's functions may be called from any thread; a context becomes current per thread, by `enter`.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        Self::open_on(Driver::find()?, ordinal).map(Arc::new)
    }

    /// The context of an emulated device that goes with it.
    #[cfg(feature = "emulated")]
    pub(crate) fn open_own(driver: Driver, ordinal: usize) -> Result<Arc<Self>, Error> {
        let mut context = Self::open_on(driver, ordinal)?;
        context.ownership = Ownership::Own;
        Ok(Arc::new(context))
    }

    /// The primary context of a device of this driver.
    fn open_on(driver: Driver, ordinal: usize) -> Result<Self, Error> {
        let (device, info) = DeviceInfo::read(&driver, ordinal)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid for a write, and the device exists.
        let code = unsafe { (driver.functions.cuDevicePrimaryCtxRetain)(&mut handle, device) };
        driver.check(code, || format!("opening {}", info.name))?;
        let allocation = match attribute(&driver, device, device_attribute::MEMORY_POOLS) {
            0 => Allocation::Immediate,
            _ => pooled(&driver, device, info.memory / KEPT_PART),
        };
        Ok(Self {
            allocation,
            driver,
            info,
            health: Health::new(),
            device,
            handle,
            #[cfg(feature = "emulated")]
            ownership: Ownership::Shared,
        })
    }

    /// A context that a fake driver has opened.
    #[cfg(test)]
    pub(super) fn fake(driver: Driver, info: DeviceInfo, handle: ffi::Context, health: Health) -> Arc<Self> {
        Arc::new(Self {
            driver,
            info,
            health,
            device: 0,
            handle,
            allocation: Allocation::Immediate,
            #[cfg(feature = "emulated")]
            ownership: Ownership::Shared,
        })
    }

    /// Turns a code into an error; `doing` is what was tried. A failure that breaks the context is remembered.
    pub(crate) fn check(&self, code: ffi::Code, doing: impl FnOnce() -> String) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(code, doing())) }
    }

    pub(crate) fn error(&self, code: ffi::Code, doing: String) -> Error {
        let error = self.explain(self.driver.error(code, doing));
        self.health.note(code, &error);
        error
    }

    /// What the emulator found, where it executes the kernels.
    #[cfg(feature = "emulated")]
    fn explain(&self, error: Error) -> Error {
        let Some(failure) = self.failure() else { return error };
        match error.kind() {
            ErrorKind::Device { doing, name, number, text, hint } if *number == failure.code.0 => {
                // An error is one line.
                let found = failure.to_string().lines().map(str::trim).collect::<Vec<_>>().join("; ");
                let (doing, name, hint) = (doing.clone(), name.clone(), hint.clone());
                ErrorKind::Device { doing, name, number: *number, text: format!("{text}: {found}"), hint }
                    .into()
            }
            _ => error,
        }
    }

    #[cfg(not(feature = "emulated"))]
    fn explain(&self, error: Error) -> Error {
        error
    }

    /// The last launch that failed on the emulated driver of this process.
    #[cfg(feature = "emulated")]
    pub(crate) fn failure(&self) -> Option<Arc<tilewright_driver::Failure>> {
        self.is_emulated_here().then(|| tilewright_driver::failure(self.handle.addr())).flatten()
    }

    /// How often the host has waited for launches; 0 unless the driver is the emulated one of this process.
    #[cfg(feature = "emulated")]
    pub(crate) fn waits(&self) -> u64 {
        if self.is_emulated_here() { tilewright_driver::waits(self.handle.addr()) } else { 0 }
    }

    /// Whether its kernels are executed by the emulated driver of this process.
    #[cfg(feature = "emulated")]
    pub(crate) fn is_emulated_here(&self) -> bool {
        super::emulated::is_own(&self.driver)
    }

    /// Makes the context current in this thread until the guard is dropped.
    ///
    /// # Errors
    /// `unavailable` where it can no longer be used, `device` when the driver fails.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, Error> {
        self.health.check()?;
        // SAFETY: the context is retained as long as `self` lives.
        let code = unsafe { (self.driver.functions.cuCtxPushCurrent_v2)(self.handle) };
        self.check(code, || format!("using {}", self.info.name))?;
        Ok(Entered { functions: self.driver.functions, thread: PhantomData })
    }

    /// The driver's handle, as a number.
    pub(crate) fn address(&self) -> usize {
        self.handle.expose_provenance()
    }

    /// Free and total bytes of the device's memory.
    pub(crate) fn memory(&self) -> Result<(u64, u64), Error> {
        let entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are valid for a write.
        let code = unsafe { (entered.functions.cuMemGetInfo_v2)(&mut free, &mut total) };
        self.check(code, || "asking for the free memory".into())?;
        Ok((free as u64, total as u64))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.health.is_own() {
            // SAFETY: retained once, in `open`, by this process.
            unsafe { (self.driver.functions.cuDevicePrimaryCtxRelease_v2)(self.device) };
        }
        #[cfg(feature = "emulated")]
        if self.ownership == Ownership::Own {
            tilewright_driver::remove_device(self.info.ordinal);
        }
    }
}

/// Lets the device's pool keep so many bytes at least: what is freed is allocated again without the operating system.
fn pooled(driver: &Driver, device: ffi::Device, keep: u64) -> Allocation {
    let (mut pool, mut keeps) = (ptr::null_mut(), 0_u64);
    let (keeps_at, functions) = ((&raw mut keeps).cast(), driver.functions);
    // SAFETY: the pointers are valid for a write of what is asked for, and the device exists. A pool is a device's own and is never freed.
    let known = unsafe {
        (functions.cuDeviceGetDefaultMemPool)(&mut pool, device) == 0
            && (functions.cuMemPoolGetAttribute)(pool, ffi::POOL_KEEPS, keeps_at) == 0
    };
    match known {
        // Other libraries may have asked for more. A pool that keeps less is slower, and nothing worse.
        true if keeps < keep => {
            // SAFETY: as above; what is written is a 64-bit integer.
            unsafe { (functions.cuMemPoolSetAttribute)(pool, ffi::POOL_KEEPS, (&raw const keep).cast()) };
            Allocation::Pooled
        }
        true => Allocation::Pooled,
        false => Allocation::Immediate,
    }
}

/// A context that is current in this thread, and the functions that need one.
pub(crate) struct Entered<'a> {
    /// Not `Send`: the context is current in one thread.
    thread: PhantomData<(&'a Context, *const ())>,
    pub(crate) functions: &'static ffi::Functions,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: the pointer is valid for a write. The context was pushed by `enter` in this thread: the guard is not `Send`.
        unsafe { (self.functions.cuCtxPopCurrent_v2)(&mut popped) };
    }
}
