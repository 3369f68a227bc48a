//! Memory and streams of other libraries in this process. They share the device's primary context with the engine.

use super::Engine;
use crate::device::{DynDeviceMatrix, Order};
use crate::ffi::driver as ffi;
use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;
use tilewright_core::{DType, Error, ErrorKind, Layout};

impl Engine {
    /// A matrix in memory that another library has allocated on this device; nothing is copied, and the memory is not freed. `address` is that of element (0, 0), and
    /// `elements` are those that may be reached, counted from it: more than one matrix where a batch lies there.
    ///
    /// ```
    /// use tilewright_core::{DType, Layout, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// # let theirs = engine.upload(tilewright_core::MatRef::new(&[1.0_f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2))?)?;
    /// # let address = theirs.address();
    /// let layout = Layout::row_major(2, 2);
    /// // SAFETY: the memory holds four floats, and is there until the product has been read.
    /// let a = unsafe { engine.foreign(DType::F32, layout, address, 0..4)? };
    /// let mut c = engine.zeros::<f32>(layout)?;
    /// engine.multiply(&DeviceProduct::new(SemiringId::PlusTimes), &a, &a, &mut c)?;
    /// assert_eq!(c.to_matrix()?.as_slice(), [7.0, 10.0, 15.0, 22.0]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `out-of-bounds` where the layout reaches other elements; `unsupported` where the driver knows of no memory of this device at that address.
    ///
    /// # Safety
    /// The elements are memory of this device and values of their type. They stay until the work that is asked for has been done, and nothing else writes to them
    /// meanwhile, or reads what is written: see [`Engine::wait_for`] and [`Engine::let_wait`].
    pub unsafe fn foreign(
        &self,
        dtype: DType,
        layout: Layout,
        address: u64,
        elements: Range<isize>,
    ) -> Result<DynDeviceMatrix, Error> {
        if !elements.is_empty() && self.device_of(address)? != Some(self.device().ordinal) {
            let what = format!("an array at the address {address:#x}");
            let why = format!("it is not in the memory of device {}", self.device().ordinal);
            let hint = "move it there, or open the device that it is on".into();
            return Err(ErrorKind::Unsupported { what, why, hint }.into());
        }
        // SAFETY: the caller's promise.
        unsafe { self.foreign_unchecked(dtype, layout, address, elements) }
    }

    /// The same, without asking the driver whose memory it is.
    ///
    /// # Errors
    /// `out-of-bounds` where the layout reaches other elements.
    ///
    /// # Safety
    /// As [`Engine::foreign`].
    pub unsafe fn foreign_unchecked(
        &self,
        dtype: DType,
        layout: Layout,
        address: u64,
        elements: Range<isize>,
    ) -> Result<DynDeviceMatrix, Error> {
        // SAFETY: the caller's promise.
        unsafe { DynDeviceMatrix::foreign(self.stream(), (dtype, layout), address, elements) }
    }

    /// The number of the device whose memory has this address; `None` where the driver knows of none.
    ///
    /// # Errors
    /// `unavailable` and `device` where the context cannot be used.
    pub fn device_of(&self, address: u64) -> Result<Option<usize>, Error> {
        let entered = self.context().enter()?;
        let get = entered.functions.cuPointerGetAttribute;
        let (mut kind, mut ordinal): (c_uint, c_int) = (0, -1);
        let (kind_at, ordinal_at): (*mut c_void, *mut c_void) =
            ((&raw mut kind).cast(), (&raw mut ordinal).cast());
        // SAFETY: both pointers are valid for a write of what the attribute is; an address that is not known is an error.
        let codes = unsafe {
            [
                get(kind_at, ffi::POINTER_MEMORY_TYPE, address),
                get(ordinal_at, ffi::POINTER_DEVICE_ORDINAL, address),
            ]
        };
        Ok(usize::try_from(ordinal).ok().filter(|_| codes == [0, 0] && kind == ffi::DEVICE as c_uint))
    }

    /// Waits until all work on this device is done, in streams of other libraries as well.
    ///
    /// # Errors
    /// `device` where a kernel has failed.
    pub fn synchronize_all(&self) -> Result<(), Error> {
        let entered = self.context().enter()?;
        // SAFETY: the context is current.
        let code = unsafe { (entered.functions.cuCtxSynchronize)() };
        self.context().check(code, || "waiting for all work on the device".into())
    }

    /// Lets work that is asked for from now on wait for what is now in a stream of another library, by the handle that the driver knows it by: 0 and 1 are the default
    /// stream, 2 that of the thread.
    ///
    /// # Errors
    /// `device` where the driver refuses it.
    ///
    /// # Safety
    /// The handle is that of a stream of this device, of its primary context.
    pub unsafe fn wait_for(&self, stream: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.stream().order(stream as ffi::Stream, Order::AfterOther) }
    }

    /// Lets what is put into a stream of another library from now on wait for the work that was asked for before.
    ///
    /// # Errors
    /// As [`Engine::wait_for`].
    ///
    /// # Safety
    /// As [`Engine::wait_for`].
    pub unsafe fn let_wait(&self, stream: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.stream().order(stream as ffi::Stream, Order::BeforeOther) }
    }

    /// Lets no kernel that is put into a stream of another library from now on start before those in it have ended.
    ///
    /// Kernels of this library let the next one start early, and are started early (programmatic dependent launch). That is right where each kernel then waits for the one before
    /// it. XLA has kernels that do not.
    ///
    /// # Errors
    /// As [`Engine::wait_for`].
    ///
    /// # Safety
    /// As [`Engine::wait_for`].
    pub unsafe fn end_early_starts(&self, stream: usize) -> Result<(), Error> {
        // An event alone does not end them: behind it, kernels still start early. A wait for another stream does.
        // SAFETY: the caller's promise.
        unsafe { self.wait_for(stream).and_then(|()| self.let_wait(stream)) }
    }
}
