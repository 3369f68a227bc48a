//! Products in the streams of other libraries, on their memory.

use super::plans::Chosen;
use super::product::{Beside, With, bindings};
use super::{DeviceProduct, Engine};
use crate::device::{Allocation, DeviceMemory, DeviceMut, DeviceRef, DynDeviceMatrix};
use crate::ffi::driver as ffi;
use std::ffi::c_uint;
use tilewright_core::{Error, ErrorKind};

/// A product whose kernel is chosen and compiled, for a stream of another library.
#[derive(Debug, Clone)]
pub struct Planned {
    engine: Engine,
    chosen: Chosen,
    /// The driver's handle.
    stream: usize,
}

impl Engine {
    /// What [`Engine::multiply`] would do with these matrices, to be done in a stream of another library, by the handle that the driver knows it by: 0 and 1 are the
    /// default stream, 2 that of the thread. A product that was asked for before is found; another one is chosen and compiled now.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// let l = Layout::row_major(2, 2);
    /// let a = engine.upload(MatRef::new(&[1, 2, 3, 4], l)?)?;
    /// let mut c = engine.zeros::<i32>(l)?;
    /// engine.synchronize()?; // what the other stream reads is there
    /// let product = DeviceProduct::new(SemiringId::PlusTimes);
    /// // SAFETY: 0 is the default stream, and it is waited for before the memory goes.
    /// unsafe {
    ///     engine.plan_in(0, &product, &a, &a, &*c)?.run(None, &a, &a, &mut *c)?;
    ///     engine.wait_for(0)?;
    /// }
    /// assert_eq!(c.to_matrix()?.as_slice(), [7, 10, 15, 22]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::multiply`]; `unsupported` where the stream is being captured and the product is not known yet.
    ///
    /// # Safety
    /// The handle is that of a stream of this device, of its primary context, as long as what is returned is used.
    pub unsafe fn plan_in<'a>(
        &self,
        stream: usize,
        product: &DeviceProduct,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceRef<'a>>,
    ) -> Result<Planned, Error> {
        let request = self.request_of(product, a.into(), b.into(), c.into())?;
        // SAFETY: the caller's promise.
        if self.known_plan(&request).is_none() && unsafe { self.is_capturing(stream)? } {
            let hint = "compute one such product before the capture";
            return Err(not_captured("its kernel is not loaded yet", hint));
        }
        Ok(Planned { engine: self.clone(), chosen: self.chosen(request, None)?, stream })
    }

    /// Whether work that is put into a stream becomes part of a graph.
    ///
    /// # Safety
    /// As [`Engine::plan_in`].
    unsafe fn is_capturing(&self, stream: usize) -> Result<bool, Error> {
        let entered = self.context().enter()?;
        let mut status: c_uint = 0;
        // SAFETY: the pointer is valid for a write, and the caller vouches for the stream.
        let code = unsafe { (entered.functions.cuStreamIsCapturing)(stream as ffi::Stream, &mut status) };
        self.context().check(code, || "asking whether a stream is captured".into())?;
        Ok(status != 0)
    }
}

fn not_captured(why: &str, hint: &str) -> Error {
    let what = "this product in a graph that is captured".into();
    ErrorKind::Unsupported { what, why: why.into(), hint: hint.into() }.into()
}

impl Planned {
    /// The bytes that the kernels need beside the matrices; often 0.
    ///
    /// # Errors
    /// `out-of-memory` for more than there can be.
    pub fn workspace_bytes(&self) -> Result<usize, Error> {
        self.chosen.0.workspace_bytes()
    }

    /// Puts the product into the stream, and returns before it has been done. `workspace` is the address of so much memory as is needed, from a multiple of 256 on; without,
    /// it is allocated and freed in the stream.
    ///
    /// # Errors
    /// As [`Prepared::run`](super::Prepared::run); `device-memory` where there is not enough for a workspace; `unsupported` in a stream that is captured where the driver
    /// allocates no memory in streams.
    ///
    /// # Safety
    /// The matrices and the workspace stay until the work in the stream has been done, and nothing outside it writes to them meanwhile, or reads what is written.
    pub unsafe fn run<'a>(
        &self,
        workspace: Option<u64>,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.run_all(workspace, (a.into(), b.into(), c.into()), Beside::default()) }
    }

    /// As [`Planned::run`], of a product that was asked for [with its winning terms](DeviceProduct::with_arg), which are written as by
    /// [`Engine::multiply_with_arg`].
    ///
    /// # Errors
    /// As [`Planned::run`].
    ///
    /// # Safety
    /// As [`Planned::run`], for the winning terms as well.
    pub unsafe fn run_with_arg<'a>(
        &self,
        workspace: Option<u64>,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
        arg: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe {
            self.run_all(
                workspace,
                (a.into(), b.into(), c.into()),
                Beside { with: With::default(), arg: Some(arg) },
            )
        }
    }

    /// As [`Planned::run`], of a product that was asked for with [a bias](DeviceProduct::epilogue) or with [scales](DeviceProduct::scales), which are these.
    ///
    /// # Errors
    /// As [`Planned::run`]; for another bias and other scales than were asked for, too.
    ///
    /// # Safety
    /// As [`Planned::run`], for the bias and the scales as well, which C does not meet.
    pub unsafe fn run_with<'a>(
        &self,
        workspace: Option<u64>,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
        with: With<'a>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.run_all(workspace, (a.into(), b.into(), c.into()), Beside { with, arg: None }) }
    }

    /// # Safety
    /// As [`Planned::run`].
    unsafe fn run_all(
        &self,
        workspace: Option<u64>,
        (a, b, c): (DeviceRef<'_>, DeviceRef<'_>, DeviceMut<'_>),
        beside: Beside<'_>,
    ) -> Result<(), Error> {
        let Self { engine, chosen: Chosen(plan), stream } = self;
        let bytes = plan.workspace_bytes()?;
        let can_allocate = engine.context().allocation == Allocation::Pooled;
        if !plan.goes_anywhere() || (bytes > 0 && workspace.is_none() && !can_allocate) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_beside((a, b, c), beside) };
        }
        let bound = bindings(engine, &plan.recipe, (a, b, c.as_ref()), beside)?;
        let order = *stream as ffi::Stream;
        let own = match workspace {
            Some(_) => None,
            // SAFETY: the caller's promise; it is freed behind the work.
            None => Some(unsafe { DeviceMemory::new_in(engine.stream(), order, "a workspace", bytes)? }),
        };
        let address = workspace.or(own.as_ref().map(DeviceMemory::address)).unwrap_or(0);
        // SAFETY: the matrices have been found to be those of the recipe, and the caller vouches for stream and memory.
        unsafe { plan.launch(engine, order, &bound, address) }
    }

    /// In the engine's stream, in order with the other one.
    ///
    /// # Safety
    /// As [`Planned::run`].
    unsafe fn run_beside(
        &self,
        (a, b, c): (DeviceRef<'_>, DeviceRef<'_>, DeviceMut<'_>),
        beside: Beside<'_>,
    ) -> Result<(), Error> {
        let Self { engine, chosen, stream } = self;
        // SAFETY: the caller's promise.
        if unsafe { engine.is_capturing(*stream)? } {
            return Err(not_captured(
                "it needs memory, which this driver cannot allocate in a stream",
                "compute it outside",
            ));
        }
        // SAFETY: as above.
        unsafe { engine.wait_for(*stream)? };
        let ran = engine.prepare_chosen(chosen).and_then(|prepared| prepared.run_all(a, b, c, beside));
        // SAFETY: as above.
        ran.and(unsafe { engine.let_wait(*stream) })
    }
}
