//! Best paths by the kernels of a GPU, on one that is here or on the emulator.

#[cfg(feature = "emulator")]
use crate::device::emulator;
use crate::{backend::Backend, choice, device::as_integers};
use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tilewright_arch::Gpu;
use tilewright_core::{Cancel, DType, DynMut, DynRef, Error, ErrorKind, Layout, MatMut, Matrix, SemiringId};
use tilewright_cpu::Options;
use tilewright_cuda::{DeviceRef, DynDeviceMatrix, Engine, InPlace};
use tilewright_kernels::CLOSURE_SIDE;
use tilewright_paths::{
    Device, Plan,
    schedule::{self, Power, Step},
};

/// A GPU that closes and multiplies matrices for [`Paths::device`](super::Paths::device) and [`close_on`](super::close_on). They are copied there once, and their results back.
///
/// It takes the steps of [`schedule`], one after another. Weights are those of the processor bit for bit where sums are exact. Other floats are
/// joined in the same order; the processor leaves out terms that others are better than, before rounding, which may change the last bits.
///
/// ```
/// use tilewright::{Backend, MinPlus, paths::{OnGpu, Paths}};
/// let gpu = OnGpu::open(Backend::Emulator)?;
/// let inf = f32::INFINITY;
/// let roads = tilewright::Matrix::from([[0.0, 3.0, 9.0], [inf, 0.0, 4.0], [1.0, inf, 0.0]]);
/// let paths = Paths::<MinPlus<f32>>::new(&roads)?.device(&gpu);
/// assert_eq!(paths.distances()?[(0, 2)], 7.0);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub struct OnGpu {
    backend: Backend,
    gpu: Gpu,
    /// Nothing after it was given back.
    engine: Option<Engine>,
    times: Mutex<Times>,
}

/// How long the last closure or power took, and the search for last stops after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Times {
    /// Seconds of computing, the device's memory in between included.
    pub seconds: f64,
    /// Seconds of copying to the device and back.
    pub transfer_seconds: f64,
    /// Seconds, among those of computing, in which kernels were chosen, compiled or loaded.
    pub prepare_seconds: f64,
}

/// Terms after which it is looked whether to go on: some milliseconds of a fast GPU, so that waiting for it does not count.
const PATIENCE: f64 = (1_u64 << 38) as f64;

impl OnGpu {
    /// The GPU of [`Backend::Cuda`], or the one that [`Backend::Emulator`] imitates.
    ///
    /// # Errors
    /// `unavailable` where there is none; `unsupported` for other backends.
    pub fn open(backend: Backend) -> Result<Self, Error> {
        let (gpu, engine) = match backend {
            Backend::Cuda => {
                let engine = Engine::shared()?;
                (engine.gpu(), engine)
            }
            #[cfg(feature = "emulator")]
            Backend::Emulator => {
                let gpu = Gpu::default();
                let engine = emulator::take_engine(&gpu)?;
                (gpu, engine)
            }
            other => {
                other.resolve()?;
                let (what, why) = (format!("best paths on the backend {other}"), "it runs no kernels".into());
                return Err(
                    ErrorKind::Unsupported { what, why, hint: "choose cuda or emulator".into() }.into()
                );
            }
        };
        Ok(Self { backend, gpu, engine: Some(engine), times: Mutex::default() })
    }

    /// The GPU that is here, if by an estimate it is faster than what this processor plans to do.
    ///
    /// # Errors
    /// Why not.
    pub fn if_faster(plan: &Plan, dtype: DType) -> Result<Self, String> {
        let here = plan.dense_seconds.min(plan.dijkstra_seconds);
        choice::closes_faster(here, plan.vertices, dtype)?;
        Self::open(Backend::Cuda).map_err(|error| error.to_string())
    }

    /// Seconds that the closure of `n` vertices takes on a GPU, or a product of that size, by an estimate; the way there and back included. Infinity for what it does not compute.
    pub fn seconds_of(gpu: &Gpu, n: usize, dtype: DType) -> f64 {
        choice::seconds_on(gpu, n, dtype)
    }

    /// Where it is: [`Backend::Cuda`] or [`Backend::Emulator`].
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        self.gpu.name
    }

    /// How long the last closure or power took, and the search for last stops after it.
    pub fn times(&self) -> Times {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the engine.
    #[cfg_attr(not(feature = "emulator"), allow(unused_variables))] // A GPU is watched by who launches.
    fn run<T>(&self, options: &Options<'_>, f: impl FnOnce(&Engine) -> Result<T, Error>) -> Result<T, Error> {
        let Some(engine) = &self.engine else { return Err(gone()) };
        match self.backend {
            #[cfg(feature = "emulator")]
            Backend::Emulator => emulator::watched(engine, options, || f(engine)),
            _ => f(engine),
        }
    }

    fn note(&self, note: impl FnOnce(&mut Times)) {
        note(&mut self.times.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The result of `f`, whose seconds are added to those of the transfer.
    fn transfer<T>(&self, f: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let began = Instant::now();
        let result = f();
        self.note(|times| times.transfer_seconds += began.elapsed().as_secs_f64());
        result
    }

    /// Tells of work after so many terms.
    fn patience(&self) -> f64 {
        if self.backend == Backend::Emulator { 0.0 } else { PATIENCE }
    }

    fn took(&self, computing: Duration) {
        self.note(|times| times.seconds += computing.as_secs_f64());
    }
}

impl Device for OnGpu {
    fn seconds(&self, n: usize, dtype: DType) -> f64 {
        Self::seconds_of(&self.gpu, n, dtype)
    }

    fn close(
        &self,
        semiring: SemiringId,
        d: DynMut<'_>,
        options: &Options<'_>,
    ) -> Result<Option<usize>, Error> {
        self.note(|times| *times = Times::default());
        self.run(options, |engine| {
            let mut on_device = self.transfer(|| upload(engine, d.as_ref()))?;
            let computing = Instant::now();
            let mut paths = InPlace::new(engine, &mut on_device, semiring, 0.0)?;
            let mut untold = 0.0;
            for step in schedule::steps_of_blocks(d.layout().rows, CLOSURE_SIDE) {
                untold += step.terms();
                match step {
                    Step::Close { pivot } => paths.close(pivot)?,
                    Step::Pass { pivot, others } => paths.pass(pivot, others)?,
                }
                if untold > self.patience() {
                    if let Some(vertex) = paths.gain()? {
                        return Ok(Some(vertex));
                    }
                    options.cancel.map_or(Ok(()), Cancel::check)?;
                    tell(options, untold);
                    untold = 0.0;
                }
            }
            let gain = paths.gain()?;
            self.took(computing.elapsed());
            self.note(|times| times.prepare_seconds += paths.prepare_time().as_secs_f64());
            tell(options, untold);
            if gain.is_none() {
                self.transfer(|| on_device.copy_to(d))?;
            }
            Ok(gain)
        })
    }

    fn last_stops(
        &self,
        semiring: SemiringId,
        w: DynRef<'_>,
        d: DynRef<'_>,
        stops: &mut Matrix<u32>,
        options: &Options<'_>,
    ) -> Result<Option<Vec<bool>>, Error> {
        let n = d.layout().rows;
        let found = self.run(options, |engine| {
            let (w, d) = self.transfer(|| Ok((upload(engine, w)?, upload(engine, d)?)))?;
            let computing = Instant::now();
            let Some(found) = engine.last_stops(semiring, &w, &d)? else { return Ok(None) };
            engine.synchronize()?;
            self.took(computing.elapsed());
            let found = DeviceRef::from(&found);
            let unsure = self.transfer(|| {
                let integers = MatMut::from(stops);
                found.window(0, 0, n, n)?.copy_to(as_integers(integers).into())?;
                found.window(n, 0, 1, n)?.to_matrix()
            })?;
            Ok(unsure.as_ref().typed::<i32>().map(|row| (0..n).map(|i| row.get(0, i) != Some(0)).collect()))
        });
        match found {
            // The processor needs no room beside what is there.
            Err(error) if matches!(error.code(), "device-memory" | "unavailable" | "unsupported") => Ok(None),
            found => found,
        }
    }

    fn power(
        &self,
        semiring: SemiringId,
        base: DynMut<'_>,
        exponent: u32,
        options: &Options<'_>,
    ) -> Result<(), Error> {
        self.note(|times| *times = Times::default());
        self.run(options, |engine| {
            let n = base.layout().rows;
            let layout = Layout::row_major(n, n);
            let mut b = self.transfer(|| upload(engine, base.as_ref()))?;
            let product = |x: &DynDeviceMatrix, y: &DynDeviceMatrix| {
                options.cancel.map_or(Ok(()), Cancel::check)?;
                let mut z = engine.zeros_dyn(x.dtype(), layout)?;
                let preparing = Instant::now();
                let chosen = engine.chosen(engine.request(semiring, x, y, &z)?, None)?;
                let prepared = engine.prepare_chosen(&chosen)?;
                let computing = Instant::now();
                self.note(|times| times.prepare_seconds += (computing - preparing).as_secs_f64());
                prepared.run(x, y, &mut z)?;
                engine.synchronize()?;
                self.took(computing.elapsed());
                tell(options, (n as f64).powi(3));
                Ok::<_, Error>(z)
            };
            // Until the next square, the power that has begun is `b` itself.
            let (mut has_begun, mut power) = (false, None);
            for step in schedule::power(exponent) {
                match step {
                    Power::Begin => has_begun = true,
                    Power::Append => power = Some(product(power.as_ref().unwrap_or(&b), &b)?),
                    Power::Square => {
                        let square = product(&b, &b)?;
                        let before = std::mem::replace(&mut b, square);
                        power = power.or(has_begun.then_some(before));
                    }
                }
            }
            self.transfer(|| power.as_ref().unwrap_or(&b).copy_to(base))
        })
    }
}

/// A copy on the device whose rows lie one after another.
fn upload(engine: &Engine, d: DynRef<'_>) -> Result<DynDeviceMatrix, Error> {
    let Layout { cols, row_stride, col_stride, .. } = d.layout();
    if col_stride == 1 && row_stride >= cols as isize {
        return engine.upload_dyn(d);
    }
    engine.upload_dyn(d.to_matrix()?.as_ref())
}

fn tell(options: &Options<'_>, terms: f64) {
    if let Some(progress) = options.progress {
        progress(terms as u64);
    }
}

fn gone() -> Error {
    ErrorKind::Unavailable { what: "the GPU", why: "it was given back".into(), hint: "".into() }.into()
}

impl Drop for OnGpu {
    fn drop(&mut self) {
        #[cfg(feature = "emulator")]
        if let (Backend::Emulator, Some(engine)) = (self.backend, self.engine.take()) {
            emulator::give_back(&self.gpu, engine);
        }
    }
}

impl fmt::Debug for OnGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnGpu")
            .field("backend", &self.backend)
            .field("gpu", &self.gpu.name)
            .finish_non_exhaustive()
    }
}
