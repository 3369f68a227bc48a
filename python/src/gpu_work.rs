//! Products of stacks on a GPU, where they lie: only addresses come here.

use crate::{
    array::Array,
    errors::{OrRaise, refuse},
    on_gpu::{self, Gpu},
    semiring::Over,
};
use pyo3::prelude::*;
use std::ptr::NonNull;
use tilewright::{
    Backend, DType, Error, ErrorKind, Joining, Layout, Scales, Value,
    cuda::{DeviceProduct, DeviceRef, DynDeviceMatrix, Engine, With},
    kernels::Batch,
    stack::{Loops, Part},
};

/// What kernels compute for a product, where there are such kernels.
pub fn product(
    py: Python<'_>,
    over: &Over,
    dtype: DType,
    (joining, arg): (Joining<Value>, bool),
    backend: Backend,
) -> PyResult<DeviceProduct> {
    if !matches!(backend, Backend::Auto | Backend::Cuda) {
        let message = format!("the backend {backend} on arrays of a GPU");
        return refuse(
            py,
            "unsupported",
            &message,
            "leave out `backend`, or move the arrays to this processor",
        );
    }
    let product = match over {
        Over::BuiltIn(id) => {
            if arg {
                check_arg(id.name(), id.is_selective(), &joining).or_raise(py)?;
            }
            DeviceProduct::new(*id)
        }
        Over::Text(text) => DeviceProduct::with_own(text.own(dtype).or_raise(py)?),
        Over::Functions(functions) => {
            let message = format!("the functions {} on arrays of a GPU", functions.name(py)?);
            let hint = "give expressions: Semiring(add='fminf(x,y)', mul='x+y', zero='inf'), or move the arrays to this processor";
            return refuse(py, "unsupported", &message, hint);
        }
    };
    let product = product.joining(joining);
    Ok(if arg { product.with_arg() } else { product })
}

/// Refuses winning terms where there are none, in the words of products on this processor.
pub fn check_arg(semiring: &str, is_selective: bool, joining: &Joining<Value>) -> Result<(), Error> {
    let (why, hint) = match joining {
        _ if !is_selective => {
            ("no single k wins a sum", "min-plus, max-plus and the other selective semirings have one")
        }
        Joining::Scale { .. } => ("alpha and beta leave no winner", "replace or accumulate"),
        _ => return Ok(()),
    };
    let what = format!("an arg result of {semiring}");
    Err(ErrorKind::Unsupported { what, why: why.into(), hint: hint.into() }.into())
}

/// Products of stacks on a GPU, and the arrays that they are of.
pub struct Work {
    pub engine: Engine,
    /// What is computed of each two matrices.
    pub product: DeviceProduct,
    /// With as few launches as there can be.
    pub loops: Loops,
    /// A, B, C and the winning terms, as in the loops.
    pub places: Vec<Place>,
    /// The bias, and its layout.
    pub bias: Option<(Place, Layout)>,
    /// Scales of A and B.
    pub scales: Scales<(Place, Layout)>,
    pub arrays: Vec<Gpu>,
}

/// Where an array begins on the device.
#[derive(Clone, Copy)]
pub struct Place {
    address: usize,
    dtype: DType,
}

impl From<&Array> for Place {
    fn from(array: &Array) -> Self {
        Self::new(array.first, array.dtype)
    }
}

impl Place {
    /// That of an array's first element.
    pub fn new(first: NonNull<u8>, dtype: DType) -> Self {
        Self { address: first.as_ptr().addr(), dtype }
    }
}

/// Who has products put into a stream.
pub trait Caller {
    type Failure;
    /// What keeps memory for what is put into the stream before it is dropped.
    type Memory;

    /// Does work that needs nothing of the caller's, so that others may go on meanwhile.
    fn away<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Self::Failure>;

    /// So many bytes on the device, and their address; `None` where there are none to lend.
    fn memory(&self, bytes: usize) -> Result<Option<(Self::Memory, u64)>, Self::Failure>;
}

/// An array's library in Python.
struct OfLibrary<'a, 'py> {
    like: &'a Bound<'py, PyAny>,
    ordinal: usize,
}

impl<'py> Caller for OfLibrary<'_, 'py> {
    type Failure = PyErr;
    type Memory = Bound<'py, PyAny>;

    fn away<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
        let py = self.like.py();
        py.detach(work).or_raise(py)
    }

    fn memory(&self, bytes: usize) -> PyResult<Option<(Bound<'py, PyAny>, u64)>> {
        on_gpu::memory(self.like, self.ordinal, bytes)
    }
}

/// What one launch computes.
struct Launch {
    product: DeviceProduct,
    operands: [DynDeviceMatrix; 2],
    c: DynDeviceMatrix,
    arg: Option<DynDeviceMatrix>,
    read: Read,
}

/// What is read besides A and B.
struct Read {
    bias: Option<DynDeviceMatrix>,
    scales: Scales<DynDeviceMatrix>,
}

impl Read {
    fn with(&self) -> With<'_> {
        With {
            bias: self.bias.as_ref().map(DeviceRef::from),
            scales: self.scales.as_ref().map(DeviceRef::from),
        }
    }
}

impl Work {
    /// Computes all of them, in the stream that all arrays are ready in, with memory of A's library. Where there are several streams, or one is not known, it is the
    /// engine's own: work that is put into the arrays' streams from now on waits for it, or this does.
    ///
    /// # Errors
    /// As a product's on a device.
    ///
    /// # Safety
    /// Places and loops describe memory of the engine's device, and elements of their types, until the work has been done. C and the winners have no element twice,
    /// and meet no operand. The streams are of this device.
    pub unsafe fn run(&self, a: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = a.py();
        let library = OfLibrary { like: a, ordinal: self.engine.device().ordinal };
        match self.stream() {
            // SAFETY: the caller's promise.
            Some(stream) => unsafe { self.run_in(stream, &library) },
            // SAFETY: as above.
            None => py.detach(|| unsafe { self.run_beside() }).or_raise(py),
        }
    }

    /// Puts all of them into one stream, with memory of the caller's.
    ///
    /// # Errors
    /// As a product's on a device.
    ///
    /// # Safety
    /// As [`Work::run`], for this stream.
    pub unsafe fn run_in<C: Caller>(&self, stream: usize, caller: &C) -> Result<(), C::Failure> {
        self.loops.each(true, |part| {
            // SAFETY: the caller's promise.
            unsafe { self.launch_in(stream, caller, part) }
        })
    }

    /// The one stream of all arrays.
    fn stream(&self) -> Option<usize> {
        let (first, others) = self.arrays.split_first()?;
        first.stream.filter(|_| others.iter().all(|other| other.stream == first.stream))
    }

    /// # Safety
    /// As [`Work::run`].
    unsafe fn run_beside(&self) -> Result<(), Error> {
        let Self { engine, loops, arrays, .. } = self;
        let mut streams: Vec<usize> = arrays.iter().map(|gpu| gpu.ready_in()).collect();
        streams.sort_unstable();
        streams.dedup();
        // SAFETY: the caller's promise.
        streams.iter().try_for_each(|&stream| unsafe { engine.wait_for(stream) })?;
        let launched = loops.each(true, |part| {
            // SAFETY: the caller's promise.
            let Launch { product, operands: [a, b], mut c, mut arg, read } = unsafe { self.launch(part)? };
            match &mut arg {
                Some(arg) => engine.multiply_with_arg(&product, &a, &b, &mut c, arg).map(drop),
                None => engine.multiply_with(&product, &a, &b, &mut c, read.with()).map(drop),
            }
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
    unsafe fn launch_in<C: Caller>(
        &self,
        stream: usize,
        caller: &C,
        part: Part<'_>,
    ) -> Result<(), C::Failure> {
        // SAFETY: the caller's promise.
        let (launch, plan, bytes) = caller.away(|| unsafe {
            let launch = self.launch(part)?;
            let [a, b] = &launch.operands;
            let plan = self.engine.plan_in(stream, &launch.product, a, b, &launch.c)?;
            let bytes = plan.workspace_bytes()?;
            Ok((launch, plan, bytes))
        })?;
        let Launch { operands: [a, b], mut c, mut arg, read, .. } = launch;
        let workspace = if bytes == 0 { None } else { caller.memory(bytes)? };
        let address = workspace.as_ref().map(|(_, address)| *address);
        // SAFETY: as above; the workspace is let go behind the work in its stream.
        caller.away(|| unsafe {
            match &mut arg {
                Some(arg) => plan.run_with_arg(address, &a, &b, &mut c, arg),
                None => plan.run_with(address, &a, &b, &mut c, read.with()),
            }
        })
    }

    /// The products of a part, which are launched together.
    ///
    /// # Safety
    /// As [`Work::run`].
    unsafe fn launch(&self, part: Part<'_>) -> Result<Launch, Error> {
        let matrix = |which: usize, layout: Layout| -> Result<DynDeviceMatrix, Error> {
            let far = part.stride(which).saturating_mul(part.count.saturating_sub(1) as isize);
            // SAFETY: the caller's promise.
            unsafe { self.matrix(self.places[which], part.offset(which), layout, far) }
        };
        // SAFETY: as above. One for all products.
        let read = |(place, layout): (Place, Layout)| unsafe { self.matrix(place, 0, layout, 0) };
        let batch = Batch { count: part.count, a: part.stride(0), b: part.stride(1), c: part.stride(2) };
        Ok(Launch {
            product: self.product.batch(batch),
            operands: [matrix(0, part.layout(0))?, matrix(1, part.layout(1))?],
            c: matrix(2, part.layout(2))?,
            arg: self.places.get(3).map(|_| matrix(3, dense(&part, 3)?)).transpose()?,
            read: Read { bias: self.bias.map(read).transpose()?, scales: self.scales.try_map(read)? },
        })
    }

    /// Matrices from one `offset` elements behind a place on, to one that is `far` elements further.
    ///
    /// # Safety
    /// As [`Work::run`].
    unsafe fn matrix(
        &self,
        Place { address, dtype }: Place,
        offset: isize,
        layout: Layout,
        far: isize,
    ) -> Result<DynDeviceMatrix, Error> {
        let (low, high) = layout.span()?.unwrap_or((0, -1));
        let elements = low.saturating_add(far.min(0))..high.saturating_add(far.max(0)).saturating_add(1);
        let address = address.wrapping_add_signed(offset.wrapping_mul(dtype.size() as isize)) as u64;
        // SAFETY: the caller's promise.
        unsafe { self.engine.foreign_unchecked(dtype, layout, address, elements) }
    }
}

/// The layout of winning terms as kernels write them: by rows without gaps, one matrix after another.
fn dense(part: &Part<'_>, which: usize) -> Result<Layout, Error> {
    let Layout { rows, cols, row_stride, col_stride } = part.layout(which);
    let is_dense = (rows < 2 || row_stride == cols as isize)
        && (cols < 2 || col_stride == 1)
        && (part.count < 2 || part.stride(which) == (rows * cols) as isize);
    if !is_dense {
        let what = "winning terms with gaps, or not by rows".into();
        let why = "kernels write them one after another".into();
        let hint = "give arrays of a library whose new arrays lie by rows".into();
        return Err(ErrorKind::Unsupported { what, why, hint }.into());
    }
    Ok(Layout::row_major(rows, cols))
}
