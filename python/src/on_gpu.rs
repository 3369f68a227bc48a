//! Products of arrays on a GPU, where they lie: only addresses come here.

use crate::{
    batch::Products,
    errors::{OrRaise, refuse},
    semiring::Over,
    shape::{Shapes, Stack},
};
use pyo3::{intern, prelude::*, types::PyTuple};
use std::sync::{Mutex, PoisonError};
use tilewright::{
    Backend, DType, Error, SemiringId,
    cuda::{DeviceProduct, Driver, DynDeviceMatrix, Engine},
    kernels::Batch,
};

/// Where an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The number of the device.
    pub ordinal: usize,
    /// The stream that its library works in now; `None` where that is not known.
    pub stream: Option<usize>,
}

/// The driver's handle of the default stream.
const DEFAULT_STREAM: usize = 1;

impl Gpu {
    /// Of an array on a device, of any library.
    pub fn of(object: &Bound<'_, PyAny>, ordinal: usize) -> PyResult<Self> {
        let py = object.py();
        let stream = python(py)?.call_method1(intern!(py, "stream"), (object, ordinal))?.extract()?;
        Ok(Self { ordinal, stream })
    }

    /// The stream in which its elements are ready.
    pub fn ready_in(self) -> usize {
        self.stream.unwrap_or(DEFAULT_STREAM)
    }
}

/// A new array of the library and on the device of another.
pub fn empty<'py>(
    like: &Bound<'py, PyAny>,
    gpu: Gpu,
    shape: &[usize],
    dtype: DType,
) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    let name = crate::dtype::python_name(dtype);
    python(py)?.call_method1(intern!(py, "empty"), (like, gpu.ordinal, PyTuple::new(py, shape)?, name))
}

fn python(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "tilewright._devices"))
}

/// The device that both arrays are on; `None` where they are on this processor.
pub fn common(
    py: Python<'_>,
    [(first, gpu), (name, other)]: [(&str, Option<Gpu>); 2],
) -> PyResult<Option<usize>> {
    let place =
        |gpu: Option<Gpu>| gpu.map_or("on this processor".into(), |gpu| format!("on GPU {}", gpu.ordinal));
    let [ordinal, others] = [gpu, other].map(|gpu| gpu.map(|gpu| gpu.ordinal));
    if ordinal == others {
        return Ok(ordinal);
    }
    let message = format!("{first} is {}, but {name} is {}", place(gpu), place(other));
    refuse(py, "unsupported", &message, "move one of them: a.to(b.device) in torch, cupy.asarray(a)")
}

/// The semiring of a product on a GPU, where there is such a product.
pub fn kernel_semiring(py: Python<'_>, over: &Over, arg: bool, backend: Backend) -> PyResult<SemiringId> {
    let no = |what: &str| {
        refuse(py, "unsupported", &format!("{what} on arrays of a GPU"), "move them to this processor")
    };
    match over {
        _ if arg => no("the winning terms"),
        _ if !matches!(backend, Backend::Auto | Backend::Cuda) => no(&format!("the backend {backend}")),
        Over::BuiltIn(id) => Ok(*id),
        _ => no("a semiring of your own"),
    }
}

/// The engine of a device, which is opened once.
pub fn engine(ordinal: usize) -> Result<Engine, Error> {
    static OPEN: Mutex<Vec<Engine>> = Mutex::new(Vec::new());
    // Before the lock, which another thread of the parent may hold for ever in a forked process.
    Driver::find()?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = open.iter().find(|engine| engine.device().ordinal == ordinal) {
        return Ok(engine.clone());
    }
    let is_shared = Engine::shared_device()?.ordinal == ordinal;
    let engine = if is_shared { Engine::shared()? } else { Engine::open(ordinal)? };
    open.push(engine.clone());
    Ok(engine)
}

/// The device that an address belongs to; the first one for that of no element.
pub fn device_of(address: usize) -> Result<Option<usize>, Error> {
    let first = engine(Engine::shared_device()?.ordinal)?;
    if address == 0 { Ok(Some(first.device().ordinal)) } else { first.device_of(address as u64) }
}

/// Products of stacks on a GPU, and the arrays that they are of.
pub struct Work {
    pub engine: Engine,
    pub semiring: SemiringId,
    /// With as few dimensions as there can be.
    pub products: Products,
    pub arrays: Vec<Gpu>,
}

impl Work {
    /// Computes all of them, in the stream that all arrays are ready in, with memory of A's library. Where there are several streams, or one is not known, it is the
    /// engine's own: work that is put into the arrays' streams from now on waits for it, or this does.
    ///
    /// # Errors
    /// As a product's on a device.
    ///
    /// # Safety
    /// The stacks describe memory of the engine's device, and elements of their types, until the work has been done. C has no element twice, and meets no operand. The
    /// streams are of this device.
    pub unsafe fn run(&self, shapes: &Shapes, a: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, products) = (a.py(), &self.products);
        if shapes.is_empty() {
            return products.check_types(shapes).or_raise(py);
        }
        match self.stream() {
            Some(stream) => products.each(products.is_apart(), |index, count| {
                // SAFETY: the caller's promise.
                unsafe { self.launch_in(stream, a, (index, count.unwrap_or(1))) }
            }),
            // SAFETY: as above.
            None => py.detach(|| unsafe { self.run_beside() }).or_raise(py),
        }
    }

    /// The one stream of all arrays.
    fn stream(&self) -> Option<usize> {
        let (first, others) = self.arrays.split_first()?;
        first.stream.filter(|_| others.iter().all(|other| other.stream == first.stream))
    }

    /// # Safety
    /// As [`Work::run`].
    unsafe fn run_beside(&self) -> Result<(), Error> {
        let Self { engine, products, arrays, .. } = self;
        let mut streams: Vec<usize> = arrays.iter().map(|gpu| gpu.ready_in()).collect();
        streams.sort_unstable();
        streams.dedup();
        // SAFETY: the caller's promise.
        streams.iter().try_for_each(|&stream| unsafe { engine.wait_for(stream) })?;
        let launched = products.each(products.is_apart(), |index, count| {
            // SAFETY: the caller's promise.
            let (product, [a, b, mut c]) = unsafe { self.described((index, count.unwrap_or(1)))? };
            engine.multiply(&product, &a, &b, &mut c).map(drop)
        });
        if launched.is_err() || arrays.iter().any(|gpu| gpu.stream.is_none()) {
            // What was launched before an error ends first.
            return launched.and(engine.synchronize());
        }
        // SAFETY: the caller's promise.
        streams.iter().try_for_each(|&stream| unsafe { engine.let_wait(stream) })
    }

    /// # Safety
    /// As [`Work::run`].
    unsafe fn launch_in(
        &self,
        stream: usize,
        like: &Bound<'_, PyAny>,
        part: (&[usize], usize),
    ) -> PyResult<()> {
        let py = like.py();
        // SAFETY: the caller's promise.
        let (product, [a, b, mut c]) = unsafe { self.described(part) }.or_raise(py)?;
        // SAFETY: as above.
        let plan = py.detach(|| unsafe { self.engine.plan_in(stream, &product, &a, &b, &c) }).or_raise(py)?;
        let workspace = match plan.workspace_bytes().or_raise(py)? {
            0 => None,
            bytes => memory(like, self.engine.device().ordinal, bytes)?,
        };
        let address = workspace.as_ref().map(|(_, address)| *address);
        // SAFETY: as above; the library of A lets go of the workspace behind the work in its stream.
        py.detach(|| unsafe { plan.run(address, &a, &b, &mut c) }).or_raise(py)
    }

    /// The products of `count` matrices that lie in the last dimension of the stack, at an index of the others.
    ///
    /// # Safety
    /// As [`Work::run`].
    unsafe fn described(
        &self,
        (index, count): (&[usize], usize),
    ) -> Result<(DeviceProduct, [DynDeviceMatrix; 3]), Error> {
        let Products { a, b, c, dtype, output, joining, .. } = &self.products;
        let stride = |stack: &Stack| if count > 1 { stack.strides.last().copied().unwrap_or(0) } else { 0 };
        let matrix = |stack: &Stack, dtype: DType| -> Result<DynDeviceMatrix, Error> {
            let (low, high) = stack.layout.span()?.unwrap_or((0, -1));
            let far = stride(stack).saturating_mul(count.saturating_sub(1) as isize);
            let elements = low.saturating_add(far.min(0))..high.saturating_add(far.max(0)).saturating_add(1);
            let address = stack.at(index, dtype.size()).addr().get() as u64;
            // SAFETY: the caller's promise.
            unsafe { self.engine.foreign_unchecked(dtype, stack.layout, address, elements) }
        };
        let batch = Batch { count, a: stride(a), b: stride(b), c: stride(c) };
        let product = DeviceProduct::new(self.semiring).joining(*joining).batch(batch);
        Ok((product, [matrix(a, *dtype)?, matrix(b, *dtype)?, matrix(c, *output)?]))
    }
}

/// Memory of the library of an array, for what is put into its stream now: what keeps it, and its address. `None` where the library has none to give.
fn memory<'py>(
    like: &Bound<'py, PyAny>,
    ordinal: usize,
    bytes: usize,
) -> PyResult<Option<(Bound<'py, PyAny>, u64)>> {
    let py = like.py();
    python(py)?.call_method1(intern!(py, "memory"), (like, ordinal, bytes))?.extract()
}
