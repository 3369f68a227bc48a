//! Products as functions that programs of XLA call, on this processor and on GPUs: `tilewright.jax` registers them.

mod api;
mod call;
mod floats;

use crate::{
    gpu_work::{self, Place, Work},
    on_gpu,
    semiring::{self, Over},
};
use api::{CallFrame, Handler, METADATA, MetadataExtension, VERSION};
use call::{Asked, Call, Given};
use floats::DefaultFloats;
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::{NonNull, null_mut},
    sync::{Mutex, OnceLock, PoisonError},
};
use tilewright::{
    Backend, DType, Error, ErrorKind, Joining, Options, Scales, StackMut, StackProduct, StackRef,
    cuda::DeviceProduct,
    stack::{Loops, Shapes},
};

/// The functions for XLA, as capsules by the name of the platform.
#[pyfunction]
pub fn xla_handlers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let handlers = PyDict::new(py);
    for (platform, handler) in [("cpu", here as Handler), ("CUDA", on_gpu_of_xla as Handler)] {
        let Some(pointer) = NonNull::new(handler as *mut std::ffi::c_void) else { continue };
        // SAFETY: a function is there as long as the library, which Python never unloads.
        let capsule = unsafe { PyCapsule::new_with_pointer(py, pointer, c"xla._CUSTOM_CALL_TARGET")? };
        handlers.set_item(platform, capsule)?;
    }
    Ok(handlers)
}

/// # Safety
/// XLA calls it.
unsafe extern "C" fn here(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: the caller's promise.
    unsafe { answer(frame, compute) }
}

/// # Safety
/// XLA calls it, for arrays on a GPU of NVIDIA.
unsafe extern "C" fn on_gpu_of_xla(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: the caller's promise.
    unsafe { answer(frame, launch) }
}

/// # Safety
/// XLA made the frame.
unsafe fn answer(frame: *mut CallFrame, compute: fn(&Call<'_>) -> Result<(), Error>) -> *mut api::Error {
    // SAFETY: the caller's promise.
    let frame = unsafe { &*frame };
    // SAFETY: an extension of this kind is the beginning of such a struct, which is to be filled.
    unsafe {
        if frame.extension.as_ref().is_some_and(|extension| extension.kind == METADATA) {
            let metadata = &mut *(*frame.extension.cast::<MetadataExtension>()).metadata;
            (metadata.version.major, metadata.version.minor) = VERSION;
            metadata.traits = 0;
            return null_mut();
        }
    }
    // SAFETY: it calls a function of that version.
    let call = unsafe { Call::new(frame) };
    let _floats = DefaultFloats::begin();
    // Nothing may unwind into XLA.
    match catch_unwind(AssertUnwindSafe(|| compute(&call))) {
        Ok(Ok(())) => null_mut(),
        Ok(Err(error)) => call.error(&error),
        Err(panic) => {
            let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
                (Some(text), _) => *text,
                (None, Some(text)) => text.as_str(),
                (None, None) => "no text",
            };
            call.failure(&format!("a product panicked, which is an error of Tilewright's: {text}"), 13)
        }
    }
}

/// The product on this processor.
fn compute(call: &Call<'_>) -> Result<(), Error> {
    let mut asked = call.asked()?;
    asked.operands.iter().try_for_each(refuse_other_booleans)?;
    let Asked { over, operands: [a, b], c, winners } = &mut asked;
    // SAFETY: XLA vouches for its arrays until the call returns. Operands are read alone, and results lie apart from them and from each other.
    unsafe {
        products(over, [a, b], c)?.write_to(c.view_mut(), winners.as_mut().map(|k| k.view_mut())).map(drop)
    }
}

/// # Safety
/// Nobody writes the operands as long as this is used, and they are on this processor, or nobody looks at an element.
unsafe fn products<'a>(
    over: &'a Over,
    [a, b]: [&'a Given<'_>; 2],
    c: &Given<'_>,
) -> Result<StackProduct<'a>, Error> {
    // SAFETY: the caller's promise.
    let [a, b] = [a, b].map(|given| unsafe { given.view() });
    let products = match over {
        Over::BuiltIn(id) => StackProduct::new(*id, a, b),
        Over::Text(text) => StackProduct::with_text(text, a, b),
        Over::Functions(_) => Err(functions()),
    };
    // What a program computes does not depend on what else there is.
    Ok(products?.giving(c.dtype)?.options(Options { backend: Backend::Cpu, ..Options::default() }))
}

/// The product in a stream of XLA's.
fn launch(call: &Call<'_>) -> Result<(), Error> {
    let Asked { over, operands: [a, b], c, winners } = call.asked()?;
    // SAFETY: shapes and types are checked, and nobody looks at an element.
    unsafe { products(&over, [&a, &b], &c)? };
    let shapes = Shapes::of(&a.shape, &b.shape)?;
    if let Some(other) = [&c].into_iter().chain(&winners).find(|result| result.shape != shapes.result) {
        let (found, expected) = (other.shape.clone(), shapes.result);
        return Err(ErrorKind::ShapeMismatch { what: "a result", found, expected }.into());
    }
    if let Some(winners) = &winners {
        check_winners(&over, winners.dtype)?;
    }
    if shapes.is_empty() {
        return Ok(());
    }
    let address = c.first.as_ptr().addr();
    let Some(ordinal) = on_gpu::device_of(address)? else {
        let what = format!("an array of XLA at {address:#x}, where no GPU of this process has memory");
        return Err(ErrorKind::Unsupported { what, why: String::new(), hint: "".into() }.into());
    };
    let product = match &over {
        Over::BuiltIn(id) => DeviceProduct::new(*id),
        Over::Text(text) => DeviceProduct::with_own(text.own(a.dtype)?),
        Over::Functions(_) => return Err(functions()),
    };
    let product = product.joining(Joining::Replace);
    let operands = [&a, &b].map(|given| (&given.shape[..], &given.strides[..]));
    let loops =
        Loops::new(&shapes, operands, &c.strides, winners.as_ref().map(|winners| &winners.strides[..]));
    let work = Work {
        engine: on_gpu::engine(ordinal)?,
        product: if winners.is_some() { product.with_arg() } else { product },
        loops: loops.for_launches(),
        places: [&a, &b, &c]
            .into_iter()
            .chain(&winners)
            .map(|given| Place::new(given.first, given.dtype))
            .collect(),
        bias: None,
        scales: Scales::NONE,
        arrays: Vec::new(),
    };
    let stream = call.stream()?;
    // SAFETY: XLA vouches for its arrays and its stream, and keeps what it lends until the work behind it in the stream.
    unsafe {
        // A kernel of XLA that does not wait may end before those in front of it, which ours would not wait for either.
        work.engine.end_early_starts(stream)?;
        let done = work.run_in(stream, &call);
        // Also where some was launched before an error.
        work.engine.end_early_starts(stream)?;
        done
    }
}

/// What products on this processor check themselves.
fn check_winners(over: &Over, found: DType) -> Result<(), Error> {
    let expected = DType::I32;
    match over {
        _ if found != expected => {
            Err(ErrorKind::DTypeMismatch { what: "the arg result", expected, found }.into())
        }
        Over::BuiltIn(id) => gpu_work::check_arg(id.name(), id.is_selective(), &Joining::Replace),
        _ => gpu_work::check_arg("a semiring of your own", false, &Joining::Replace),
    }
}

impl Given<'_> {
    /// # Safety
    /// It is on this processor, unless nobody looks at an element. Nobody writes it as long as the view is used.
    unsafe fn view(&self) -> StackRef<'_> {
        // SAFETY: XLA describes memory of such elements; otherwise the caller's promise.
        unsafe { StackRef::from_raw_parts(self.first, self.dtype, &self.shape, &self.strides) }
    }

    /// # Safety
    /// It is on this processor, and nobody else reads or writes it as long as the view is used.
    unsafe fn view_mut(&mut self) -> StackMut<'_> {
        // SAFETY: as above. Without gaps, no element is there twice.
        unsafe { StackMut::from_raw_parts(self.first, self.dtype, &self.shape, &self.strides) }
    }
}

/// XLA has arrays of others without a copy, which may hold bytes that are no boolean.
fn refuse_other_booleans(given: &Given<'_>) -> Result<(), Error> {
    if given.dtype != DType::Bool {
        return Ok(());
    }
    let elements = given.shape.iter().product();
    // SAFETY: the array has so many bytes, without gaps.
    let bytes = unsafe { std::slice::from_raw_parts(given.first.as_ptr(), elements) };
    if bytes.iter().all(|&byte| byte <= 1) {
        return Ok(());
    }
    let (what, hint) = ("a boolean that is neither 0 nor 1".into(), "compare with 0: a != 0".into());
    Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into())
}

fn functions() -> Error {
    let (what, hint) = ("a semiring of functions in a program of XLA".into(), "give expressions".into());
    ErrorKind::Unsupported { what, why: String::new(), hint }.into()
}

/// A semiring by its name or its text. Texts are read once.
fn known(name: &str) -> Result<Over, Error> {
    if !name.contains('=') {
        return name.parse().map(Over::BuiltIn);
    }
    static TEXTS: OnceLock<Mutex<HashMap<String, Over>>> = OnceLock::new();
    let mut texts = TEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(over) = texts.get(name) {
        return Ok(over.clone());
    }
    let over = semiring::named(name)?;
    texts.insert(name.to_owned(), over.clone());
    Ok(over)
}
