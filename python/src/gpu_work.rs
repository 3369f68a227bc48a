//! Products of stacks on a GPU, where they lie: only addresses come here.

use crate::{
    batch::Products,
    errors::{OrRaise, raise, refuse},
    on_gpu::{self, Gpu},
    semiring::Over,
    shape::{Shapes, Stack},
};
use pyo3::prelude::*;
use tilewright::{
    Backend, DType, Error, ErrorKind, Joining, Layout, Value,
    cuda::{DeviceProduct, DynDeviceMatrix, Engine},
    kernels::Batch,
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
fn check_arg(semiring: &str, is_selective: bool, joining: &Joining<Value>) -> Result<(), Error> {
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
    pub products: Products,
    pub arrays: Vec<Gpu>,
}

/// What one launch computes.
struct Part {
    product: DeviceProduct,
    operands: [DynDeviceMatrix; 2],
    c: DynDeviceMatrix,
    arg: Option<DynDeviceMatrix>,
    bias: Option<DynDeviceMatrix>,
}

impl Work {
    /// Computes all of them, in the stream that all arrays are ready in, with memory of A's library. Where there are several streams, or one is not known, it is the
    /// engine's own: work that is put into the arrays' streams from now on waits for it, or this does.
    ///
    /// # Errors
    /// As a product's on a device.
    ///
    /// # Safety
    /// The stacks describe memory of the engine's device, and elements of their types, until the work has been done. C and the winners have no element twice, and meet
    /// no operand. The streams are of this device.
    pub unsafe fn run(&self, shapes: &Shapes, a: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, products) = (a.py(), &self.products);
        products.check_types(shapes).or_raise(py)?;
        if shapes.is_empty() {
            return Ok(());
        }
        match self.stream() {
            Some(stream) => products.each(true, |index, count| {
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
        let launched = products.each(true, |index, count| {
            // SAFETY: the caller's promise.
            let mut part = unsafe { self.part((index, count.unwrap_or(1)))? };
            let ([a, b], c) = (&part.operands, &mut part.c);
            match (&mut part.arg, &part.bias) {
                (Some(arg), _) => engine.multiply_with_arg(&part.product, a, b, c, arg).map(drop),
                (None, Some(bias)) => engine.multiply_with_bias(&part.product, a, b, c, bias).map(drop),
                (None, None) => engine.multiply(&part.product, a, b, c).map(drop),
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
    unsafe fn launch_in(
        &self,
        stream: usize,
        like: &Bound<'_, PyAny>,
        part: (&[usize], usize),
    ) -> PyResult<()> {
        let py = like.py();
        // SAFETY: the caller's promise.
        let Part { product, operands: [a, b], mut c, mut arg, bias } =
            unsafe { self.part(part) }.map_err(|error| raise(py, &error))?;
        // SAFETY: as above.
        let plan = py.detach(|| unsafe { self.engine.plan_in(stream, &product, &a, &b, &c) }).or_raise(py)?;
        let workspace = match plan.workspace_bytes().or_raise(py)? {
            0 => None,
            bytes => on_gpu::memory(like, self.engine.device().ordinal, bytes)?,
        };
        let address = workspace.as_ref().map(|(_, address)| *address);
        // SAFETY: as above; the library of A lets go of the workspace behind the work in its stream.
        let run = || unsafe {
            match (&mut arg, &bias) {
                (Some(arg), _) => plan.run_with_arg(address, &a, &b, &mut c, arg),
                (None, Some(bias)) => plan.run_with_bias(address, &a, &b, &mut c, bias),
                (None, None) => plan.run(address, &a, &b, &mut c),
            }
        };
        py.detach(run).or_raise(py)
    }

    /// The products of `count` matrices that lie in the last dimension of the stack, at an index of the others.
    ///
    /// # Safety
    /// As [`Work::run`].
    unsafe fn part(&self, (index, count): (&[usize], usize)) -> Result<Part, Error> {
        let Products { a, b, c, arg, epilogue, dtype, output, .. } = &self.products;
        let stride = |stack: &Stack| if count > 1 { stack.strides.last().copied().unwrap_or(0) } else { 0 };
        let matrix = |stack: &Stack, layout: Layout, dtype: DType| -> Result<DynDeviceMatrix, Error> {
            let (low, high) = layout.span()?.unwrap_or((0, -1));
            let far = stride(stack).saturating_mul(count.saturating_sub(1) as isize);
            let elements = low.saturating_add(far.min(0))..high.saturating_add(far.max(0)).saturating_add(1);
            let address = stack.at(index, dtype.size()).addr().get() as u64;
            // SAFETY: the caller's promise.
            unsafe { self.engine.foreign_unchecked(dtype, layout, address, elements) }
        };
        let winners = |stack: &Stack| matrix(stack, dense(stack, stride(stack), count)?, DType::I32);
        // One for all products.
        let bias = |bias: &Stack| -> Result<DynDeviceMatrix, Error> {
            let (low, high) = bias.layout.span()?.unwrap_or((0, -1));
            let (address, elements) = (bias.first.addr().get() as u64, low..high.saturating_add(1));
            // SAFETY: the caller's promise.
            unsafe { self.engine.foreign_unchecked(*output, bias.layout, address, elements) }
        };
        let batch = Batch { count, a: stride(a), b: stride(b), c: stride(c) };
        Ok(Part {
            product: self.product.batch(batch),
            operands: [matrix(a, a.layout, *dtype)?, matrix(b, b.layout, *dtype)?],
            c: matrix(c, c.layout, *output)?,
            arg: arg.as_ref().map(winners).transpose()?,
            bias: epilogue.bias.as_ref().map(bias).transpose()?,
        })
    }
}

/// The layout of winning terms as kernels write them: by rows without gaps, one matrix after another.
fn dense(stack: &Stack, stride: isize, count: usize) -> Result<Layout, Error> {
    let Layout { rows, cols, row_stride, col_stride } = stack.layout;
    let is_dense = (rows < 2 || row_stride == cols as isize)
        && (cols < 2 || col_stride == 1)
        && (count < 2 || stride == (rows * cols) as isize);
    if !is_dense {
        let what = "winning terms with gaps, or not by rows".into();
        let why = "kernels write them one after another".into();
        let hint = "give arrays of a library whose new arrays lie by rows".into();
        return Err(ErrorKind::Unsupported { what, why, hint }.into());
    }
    Ok(Layout::row_major(rows, cols))
}
