//! The engine: a device, a stream of work, the kernels that were compiled for it, and recipes that run there.

mod beside;
mod code;
mod code_sources;
mod compile;
#[cfg(test)]
mod every_tile;
mod foreign;
mod in_place;
mod loaded;
mod multiply;
mod operands;
mod parameters;
mod peers;
mod planned;
mod plans;
mod prepared;
mod product;
mod reuse;
mod shared_memory_limit;
mod timing;
mod trees;

pub use beside::Mark;
pub use code::{CodeArrays, CodeLaunch, CodeModule};
pub use compile::Origin;
pub use in_place::InPlace;
pub use loaded::LoadedKernel;
pub use multiply::DeviceProduct;
pub use peers::PeerAddress;
pub use planned::Planned;
pub use plans::Chosen;
pub use prepared::{Prepared, PreparedKernel};
pub use product::With;
pub use reuse::OperandReuse;
pub use timing::{Competitor, Pace, Repetitions, Timing, sets_beyond_cache};

use crate::device::{Context, DeviceInfo, DeviceMatrix, Driver, DriverKind, DynDeviceMatrix, Pinned, Stream};
use crate::tunings::Tunings;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tilewright_arch::Gpu;
use tilewright_core::{DType, DynRef, Element, Error, ErrorKind, Layout, MatRef};
use tilewright_kernels::{Form, Request};
use tilewright_toolchain::CubinCache;

/// A GPU that is ready to compute. Clones share the device's stream and the kernels that were compiled.
///
/// Work runs in the order in which it is asked for; functions that return data wait for it.
///
/// ```
/// use tilewright_core::{MatRef, Layout, SemiringId};
/// use tilewright_cuda::{DeviceInfo, Engine};
///
/// # fn main() -> Result<(), tilewright_core::Error> {
/// if DeviceInfo::all().is_ok() {
///     let engine = Engine::open(0)?;
///     let (inf, layout) = (f32::INFINITY, Layout::row_major(2, 2));
///     let roads = engine.upload(MatRef::new(&[0.0, 3.0, inf, 0.0], layout)?)?;
///     let mut distance = engine.zeros::<f32>(layout)?;
///     let kernel = tilewright_kernels::find("coalesced")?;
///     engine.product(kernel, SemiringId::MinPlus, &roads, &roads, &mut distance)?;
///     assert_eq!(distance.to_matrix()?.as_ref().get(0, 1), Some(3.0));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    stream: Arc<Stream>,
    gpu: Gpu,
    cache: Option<CubinCache>,
    /// Where ways that were measured are kept; `None` where there are none.
    tunings: OnceLock<Option<Tunings>>,
    compiler: OnceLock<tilewright_toolchain::compilers::Found>,
    /// Kernels that have all they need from their parameters. Engines beside this one launch the same.
    kernels: Arc<compile::Kept>,
    /// Those with variables or textures, which are set in the order of the stream.
    bound: compile::Kept,
    plans: Mutex<plans::Plans>,
    /// Variables of a module, workspaces, and the launches that use them belong together.
    launching: Mutex<()>,
    reuses_operands: OnceLock<bool>,
}

static SHARED: Mutex<Option<Engine>> = Mutex::new(None);
const DEVICE_VARIABLE: &str = "TILEWRIGHT_DEVICE";

/// The device that the variable's value says.
fn device_from(value: Option<String>) -> Result<usize, Error> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(0) };
    value.parse().map_err(|_| {
        let expected = "the number of a device, counted from 0".into();
        ErrorKind::Environment { name: DEVICE_VARIABLE, value, expected }.into()
    })
}

impl Engine {
    /// Opens the device with this number, with the user's cache of compiled kernels.
    ///
    /// # Errors
    /// `unavailable` without a driver or such a device, `device` when it cannot be opened.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        Self::with_cache(ordinal, CubinCache::of_user())
    }

    /// Opens the device with this number, with this cache or none.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn with_cache(ordinal: usize, cache: Option<CubinCache>) -> Result<Self, Error> {
        Ok(Self::of(Stream::new(Context::open(ordinal)?)?, cache))
    }

    /// An engine on a device of its own that the emulator imitates: kernels are executed as PTX, with all checks, where they are launched. It shares nothing with other
    /// engines, and goes with its last clone.
    ///
    /// # Errors
    /// `unavailable` where there are too many of them, `environment` where the emulator's settings make no sense.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// use tilewright_cuda::Engine;
    /// let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// let engine = Engine::emulated(gpu.into())?;
    /// let layout = Layout::row_major(2, 2);
    /// let a = engine.upload(MatRef::new(&[1.0_f32, 2.0, 3.0, 4.0], layout)?)?;
    /// let mut c = engine.zeros::<f32>(layout)?;
    /// engine.product(tilewright_kernels::find("naive")?, SemiringId::PlusTimes, &a, &a, &mut c)?;
    /// assert_eq!(c.to_matrix()?.as_slice(), [7.0, 10.0, 15.0, 22.0]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    #[cfg(feature = "emulated")]
    pub fn emulated(gpu: Gpu) -> Result<Self, Error> {
        // First of all, so that the devices that the driver has by itself keep their numbers.
        let driver = Driver::emulated()?;
        let ordinal = tilewright_driver::add_device(gpu).map_err(|error| ErrorKind::Unavailable {
            what: "another emulated GPU",
            why: error.to_string(),
            hint: "let go of engines that are not needed".into(),
        })?;
        let context = Context::open_own(driver, ordinal);
        // Without a context nobody else gives the device back.
        let context = context.inspect_err(|_| tilewright_driver::remove_device(ordinal))?;
        Ok(Self::of(Stream::new(context)?, None))
    }

    /// The last launch that failed on the emulated driver of this process, with what was found.
    #[cfg(feature = "emulated")]
    pub fn failure(&self) -> Option<Arc<tilewright_driver::Failure>> {
        self.context().failure()
    }

    /// How often this process has waited for launches on the emulated driver: see `tilewright_driver::waits`.
    #[cfg(feature = "emulated")]
    pub fn waits(&self) -> u64 {
        self.context().waits()
    }

    /// Who executes the kernels.
    pub fn driver_kind(&self) -> DriverKind {
        self.context().driver.kind()
    }

    fn of(stream: Arc<Stream>, cache: Option<CubinCache>) -> Self {
        Self::with_kernels(stream, cache, Arc::default())
    }

    fn with_kernels(stream: Arc<Stream>, cache: Option<CubinCache>, kernels: Arc<compile::Kept>) -> Self {
        let (tunings, compiler, bound, plans) = Default::default();
        let (launching, reuses_operands) = Default::default();
        let gpu = stream.context.info.gpu();
        Self(Arc::new(Inner {
            stream,
            gpu,
            cache,
            tunings,
            compiler,
            kernels,
            bound,
            plans,
            launching,
            reuses_operands,
        }))
    }

    /// An engine whose driver does nothing.
    #[cfg(test)]
    pub(crate) fn fake() -> Self {
        Self::of(crate::device::fake_stream(), None)
    }

    /// The engine of this process: the device that `TILEWRIGHT_DEVICE` numbers, or the first one, opened once. After a kernel has broken the device's context,
    /// by an illegal address for instance, it stays unavailable until the process ends: CUDA does not recover in the same process. Products that may be computed
    /// on the processor are computed there from then on.
    ///
    /// # Errors
    /// As [`Engine::open`]; `environment` when the variable is no number; `unavailable` after a kernel has broken the device's context,
    /// and in a process that was forked from one that had opened it.
    pub fn shared() -> Result<Self, Error> {
        // Before the lock, which another thread of the parent may hold for ever in a forked process.
        Driver::find()?;
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = shared.as_ref() {
            engine.context().health.check()?;
            return Ok(engine.clone());
        }
        let engine = Self::open(device_from(std::env::var(DEVICE_VARIABLE).ok())?)?;
        Ok(shared.insert(engine).clone())
    }

    /// The device that [`Engine::shared`] opens or has opened; this does not open it.
    ///
    /// # Errors
    /// `unavailable` without a driver or such a device; `environment` when the variable is no number.
    pub fn shared_device() -> Result<DeviceInfo, Error> {
        DeviceInfo::of(device_from(std::env::var(DEVICE_VARIABLE).ok())?)
    }

    /// Whether [`Engine::shared`] has been opened: the first call takes a fraction of a second, later ones nothing.
    pub fn is_shared_open() -> bool {
        // Who holds the lock is opening it.
        SHARED.try_lock().is_ok_and(|shared| shared.is_some())
    }

    /// What the device is.
    pub fn device(&self) -> &DeviceInfo {
        &self.context().info
    }

    /// The device as recipes know it.
    pub fn gpu(&self) -> Gpu {
        self.0.gpu
    }

    /// The same product in the way that `tilewright tune` has found to be the fastest on this device, if it has measured it. An engine that has
    /// no cache of compiled kernels knows of none, and neither does one whose driver is emulated.
    pub fn tuned(&self, request: Request) -> Request {
        let is_free = request.form == Form::Specialised
            && request.own.is_none()
            && (request.tile, request.pack, request.splits) == (None, None, None);
        let asks_more = request.arg || !request.epilogue.is_none() || !request.scales.is_none();
        if !is_free || asks_more || self.0.cache.is_none() || self.driver_kind() == DriverKind::Emulator {
            return request;
        }
        // Asked once: most users have none.
        let known = || Tunings::of_user().filter(|tunings| tunings.info().entries > 0);
        let Some(tunings) = self.0.tunings.get_or_init(known) else { return request };
        match tunings.find(&request, self.device(), self.context().driver.version()) {
            Some(way) => way.ask(request),
            None => request,
        }
    }

    /// Free and total bytes of the device's memory.
    ///
    /// # Errors
    /// `device` when the driver fails.
    pub fn memory(&self) -> Result<(u64, u64), Error> {
        self.context().memory()
    }

    /// Copies a matrix to the device. Dense matrices, of either order and any signs, and broadcast ones keep their strides; gaps
    /// between rows or columns are left out; anything else is packed by rows.
    ///
    /// # Errors
    /// `device-memory` with what was asked for and what is free, `device` when the copy fails.
    pub fn upload<T: Element>(&self, source: MatRef<'_, T>) -> Result<DeviceMatrix<T>, Error> {
        DeviceMatrix::upload(&self.0.stream, source.into())
    }

    /// As [`Engine::upload`], of a matrix whose element type is known at run time.
    ///
    /// # Errors
    /// As [`Engine::upload`].
    pub fn upload_dyn(&self, source: DynRef<'_>) -> Result<DynDeviceMatrix, Error> {
        DynDeviceMatrix::upload(&self.0.stream, source)
    }

    /// A matrix of zeros on the device, with the strides of `layout`.
    ///
    /// # Errors
    /// `aliased` when two indices address one element; as [`Engine::upload`].
    pub fn zeros<T: Element>(&self, layout: Layout) -> Result<DeviceMatrix<T>, Error> {
        DeviceMatrix::zeros(&self.0.stream, layout)
    }

    /// As [`Engine::zeros`], of a type that is known at run time.
    ///
    /// # Errors
    /// As [`Engine::zeros`].
    pub fn zeros_dyn(&self, dtype: DType, layout: Layout) -> Result<DynDeviceMatrix, Error> {
        DynDeviceMatrix::zeros(&self.0.stream, dtype, layout)
    }

    /// Page-locked memory on the host for `length` elements, all zero: copies from and to it run at the full rate of the bus.
    ///
    /// # Errors
    /// `out-of-memory` when there is not so much.
    pub fn pinned<T: Element>(&self, length: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(&self.0.stream, length)
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// `device` when a kernel has failed; the message names what was launched last.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.stream.synchronize()
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.0.stream
    }

    fn context(&self) -> &Arc<Context> {
        &self.0.stream.context
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("device", &self.device().name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_the_first_unless_a_number_is_given() {
        assert_eq!(device_from(None).expect("the first"), 0);
        assert_eq!(device_from(Some(String::new())).expect("the first"), 0);
        assert_eq!(device_from(Some("3".into())).expect("a number"), 3);
        assert_eq!(device_from(Some("-1".into())).expect_err("no number").code(), "environment");
    }
}
