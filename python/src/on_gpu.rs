//! Where arrays on a GPU are, and what is asked of their libraries.

use crate::{array::Held, errors::refuse};
use pyo3::{intern, prelude::*, types::PyTuple};
use std::sync::{Mutex, PoisonError};
use tilewright::{
    DType, Error,
    cuda::{Driver, Engine},
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

/// A copy of an array on a GPU, of the same library and made in its order of work.
pub fn copy<'py>(Held { object, array }: &Held<'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let ordinal = array.gpu.map(|gpu| gpu.ordinal);
    python(py)?.call_method1(intern!(py, "copy"), (object, ordinal))
}

/// Memory of the library of an array, for what is put into its stream now: what keeps it, and its address. `None` where the library has none to give.
pub fn memory<'py>(
    like: &Bound<'py, PyAny>,
    ordinal: usize,
    bytes: usize,
) -> PyResult<Option<(Bound<'py, PyAny>, u64)>> {
    let py = like.py();
    python(py)?.call_method1(intern!(py, "memory"), (like, ordinal, bytes))?.extract()
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

/// The engines that are open.
static OPEN: Mutex<Vec<Engine>> = Mutex::new(Vec::new());

/// The engine of a device, which is opened once.
pub fn engine(ordinal: usize) -> Result<Engine, Error> {
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
    Driver::find()?;
    // Any of them knows; to look for the shared device takes longer than a small product.
    let known = OPEN.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
    match known.filter(|_| address != 0) {
        Some(any) => any.device_of(address as u64),
        None => {
            let first = engine(Engine::shared_device()?.ordinal)?;
            if address == 0 { Ok(Some(first.device().ordinal)) } else { first.device_of(address as u64) }
        }
    }
}
