//! What an array of NumPy holds, read where it lies. The buffer protocol tells the same, and makes a text of the type for each call.
//!
//! The structures are those of NumPy's C interface (`PyArrayObject_fields`, the first members of `PyArray_Descr`), which have been the same since
//! NumPy 1.7. The first array that is seen is read both ways, and if they differ in anything, this one is never taken.

use crate::{
    array::{Array, Library, Memory, Placed},
    buffer::Buffer,
    dtype,
};
use pyo3::{
    ffi::{PyObject, PyTypeObject},
    prelude::*,
    sync::PyOnceLock,
    types::PyType,
};
use std::ffi::{c_char, c_int, c_long, c_void};
use tilewright::DType;

#[repr(C)]
struct Fields {
    object: PyObject,
    data: *mut c_void,
    dimensions: c_int,
    shape: *const isize,
    strides: *const isize,
    base: *mut PyObject,
    descriptor: *const Descriptor,
    flags: c_int,
}

#[repr(C)]
struct Descriptor {
    object: PyObject,
    scalar: *mut PyTypeObject,
    kind: c_char,
    code: c_char,
    order: c_char,
    former_flags: c_char,
    number: c_int,
}

/// `NPY_ARRAY_WRITEABLE`.
const WRITABLE: c_int = 0x0400;
/// `NPY_MAXDIMS` of NumPy 2.
const MOST_DIMENSIONS: c_int = 64;

/// The class of NumPy's arrays.
static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
/// Whether arrays of that class can be read where they lie.
static IS_READABLE: PyOnceLock<bool> = PyOnceLock::new();

/// Whether an object is an array of NumPy, of that class itself.
pub fn is_array(object: &Bound<'_, PyAny>) -> bool {
    let (py, class) = (object.py(), object.get_type());
    if let Some(known) = CLASS.get(py) {
        return class.is(known);
    }
    // NumPy is not imported for those who do not use it; whoever calls a class so has it.
    let is_named_so = class.name().is_ok_and(|name| name == "ndarray")
        && class.module().is_ok_and(|module| module == "numpy");
    let is_it = is_named_so
        && py.import("numpy").and_then(|numpy| numpy.getattr("ndarray")).is_ok_and(|known| class.is(&known));
    if is_it {
        let _ = CLASS.set(py, class.unbind());
    }
    is_it
}

/// An array of NumPy of one of our types in this processor's byte order; `None` for others, and where its memory is not as it is known here.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> Option<PyResult<Array>> {
    let is_readable = IS_READABLE.get_or_init(object.py(), || has_a_lock(object.py()) && is_as_known(object));
    if !is_readable {
        return None;
    }
    // SAFETY: the object is an array of NumPy's own class, whose memory was compared; the interpreter is attached, so that no other thread
    // changes it meanwhile.
    let placed = unsafe { read(object) }?;
    Some(Array::new(what, placed, Library::NumPy, Memory::Object(object.clone().unbind())))
}

/// Without a global lock, another thread may change an array while it is read.
fn has_a_lock(py: Python<'_>) -> bool {
    let asked = py.import("sys").and_then(|sys| sys.call_method0("_is_gil_enabled"));
    asked.is_err() || asked.is_ok_and(|enabled| enabled.is_truthy().unwrap_or(false))
}

/// Whether this array looks the same through the buffer protocol.
fn is_as_known(object: &Bound<'_, PyAny>) -> bool {
    let Ok(buffer) = Buffer::of("an array", object) else { return false };
    let fields = object.as_ptr().cast::<Fields>();
    // SAFETY: objects of the class have at least these two members, whatever they mean.
    let (data, dimensions) = unsafe { ((*fields).data, (*fields).dimensions) };
    if data.cast() != buffer.address() || usize::try_from(dimensions) != Ok(buffer.shape().len()) {
        return false;
    }
    // SAFETY: address and number of dimensions are those of the array, so that the structure is the one described above.
    let Some(placed) = (unsafe { read(object) }) else { return false };
    dtype::of_format(buffer.format(), buffer.item_size()) == Some(placed.dtype)
        && placed.shape == buffer.shape()
        && placed.byte_strides == buffer.strides()
        && placed.is_read_only == buffer.is_read_only()
}

/// # Safety
/// The object must have the structure of `Fields`, and nobody may change it meanwhile.
unsafe fn read(object: &Bound<'_, PyAny>) -> Option<Placed> {
    // SAFETY: the caller's promise; an array keeps its descriptor.
    let (fields, descriptor) = unsafe {
        let fields = &*object.as_ptr().cast::<Fields>();
        (fields, fields.descriptor.as_ref()?)
    };
    let order = descriptor.order as u8;
    let is_native =
        matches!(order, b'=' | b'|') || order == if cfg!(target_endian = "little") { b'<' } else { b'>' };
    let dtype = of_number(descriptor.number).filter(|_| is_native)?;
    if !(0..=MOST_DIMENSIONS).contains(&fields.dimensions) {
        return None;
    }
    let numbers = |first: *const isize| match fields.dimensions as usize {
        0 => &[][..],
        // SAFETY: there is one number for each dimension.
        count => unsafe { std::slice::from_raw_parts(first, count) },
    };
    Some(Placed {
        address: fields.data.cast(),
        dtype,
        shape: numbers(fields.shape).iter().map(|extent| extent.unsigned_abs()).collect(),
        byte_strides: numbers(fields.strides).to_vec(),
        is_read_only: fields.flags & WRITABLE == 0,
        gpu: None,
    })
}

/// `NPY_TYPES`.
fn of_number(number: c_int) -> Option<DType> {
    Some(match number {
        0 => DType::Bool,
        1 => DType::I8,
        2 => DType::U8,
        3 => DType::I16,
        5 => DType::I32,
        7 if size_of::<c_long>() == 4 => DType::I32,
        7 | 9 => DType::I64,
        11 => DType::F32,
        12 => DType::F64,
        23 => DType::F16,
        _ => return None,
    })
}
