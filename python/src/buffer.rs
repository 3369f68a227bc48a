//! Python's buffer protocol (PEP 3118).
//!
//! It belongs to the stable interface from 3.11 on, so that PyO3 does not offer it for 3.10. Its functions and `Py_buffer` are the same
//! in both: 3.11 promised what 3.10 has.

use crate::errors::exception;
use pyo3::{ffi::PyObject, prelude::*};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    mem::MaybeUninit,
};

#[repr(C)]
struct PyBuffer {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: isize,
    itemsize: isize,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut isize,
    strides: *mut isize,
    suboffsets: *mut isize,
    internal: *mut c_void,
}

/// `PyBUF_STRIDES | PyBUF_FORMAT`.
const STRIDED_WITH_FORMAT: c_int = 0x10 | 0x08 | 0x04;

unsafe extern "C" {
    fn PyObject_CheckBuffer(object: *mut PyObject) -> c_int;
    fn PyObject_GetBuffer(object: *mut PyObject, view: *mut PyBuffer, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut PyBuffer);
}

/// `PyBUF_MAX_NDIM`.
const MOST_DIMENSIONS: usize = 64;

/// The memory of an object, which stays where it is as long as this.
pub struct Buffer {
    // In a box, since some exporters remember the address of what they filled in.
    view: Box<PyBuffer>,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

// SAFETY: only `drop` calls Python, and it attaches first.
unsafe impl Send for Buffer {}
// SAFETY: the fields are read only.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Whether an object has a buffer.
    pub fn is_offered(object: &Bound<'_, PyAny>) -> bool {
        // SAFETY: the object is alive, and the interpreter is attached.
        unsafe { PyObject_CheckBuffer(object.as_ptr()) != 0 }
    }

    /// The buffer of an object called `what`, with shape, strides and format; writable or not.
    pub fn of(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(MaybeUninit::<PyBuffer>::uninit());
        // SAFETY: the object is alive, the interpreter is attached, and the view is memory for one.
        let code = unsafe { PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), STRIDED_WITH_FORMAT) };
        if code != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: the call filled it in.
        let view = unsafe { view.assume_init() };
        let mut buffer = Self { view, shape: Vec::new(), strides: Vec::new() };
        (buffer.shape, buffer.strides) = buffer.view.extents().map_err(|why| {
            let message = format!("{what} describes its buffer wrongly: {why}");
            exception(object.py(), "not-an-array", &message, Some("give a copy of it: numpy.array(a)"))
        })?;
        Ok(buffer)
    }

    /// The address of the first element.
    pub fn address(&self) -> *mut u8 {
        self.view.buf.cast()
    }

    /// Bytes of an element.
    pub fn item_size(&self) -> usize {
        self.view.itemsize.unsigned_abs()
    }

    /// Whether it must not be written to.
    pub fn is_read_only(&self) -> bool {
        self.view.readonly != 0
    }

    /// What the elements are, in the notation of Python's `struct`.
    pub fn format(&self) -> &CStr {
        if self.view.format.is_null() {
            return c"B";
        }
        // SAFETY: an exporter's format is a string that lives as long as the buffer.
        unsafe { CStr::from_ptr(self.view.format) }
    }

    /// The extents of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The strides of the dimensions in bytes, one for each.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
}

impl PyBuffer {
    /// Shape and strides. Where the exporter leaves them out, the protocol says what they are: without a shape it is one dimension of
    /// as many elements as there are bytes for, and without strides the order is C's.
    fn extents(&self) -> Result<(Vec<usize>, Vec<isize>), &'static str> {
        let dimensions = usize::try_from(self.ndim).ok().filter(|&dimensions| dimensions <= MOST_DIMENSIONS);
        let dimensions = dimensions.ok_or("no object has so many dimensions")?;
        // SAFETY: there is one number for each dimension.
        let offsets = unsafe { numbers(self.suboffsets, dimensions) };
        if offsets.is_some_and(|offsets| offsets.iter().any(|&offset| offset >= 0)) {
            return Err("it has pointers where elements were asked for");
        }
        // SAFETY: as above.
        let shape = match unsafe { numbers(self.shape, dimensions) } {
            Some(shape) => shape.to_vec(),
            None if dimensions == 1 && self.itemsize > 0 && self.len % self.itemsize == 0 => {
                vec![self.len / self.itemsize]
            }
            None => return Err("it has no shape"),
        };
        // SAFETY: as above.
        let strides = match unsafe { numbers(self.strides, dimensions) } {
            Some(strides) => strides.to_vec(),
            None => compact_strides(&shape, self.itemsize, self.len)
                .ok_or("its shape needs another number of bytes")?,
        };
        let shape = shape.into_iter().map(usize::try_from).collect::<Result<_, _>>();
        Ok((shape.map_err(|_| "an extent is negative")?, strides))
    }
}

/// The numbers of the dimensions; `None` where they were left out.
///
/// # Safety
/// An address that is not null is that of as many numbers, which stay as they are as long as the result.
unsafe fn numbers<'a>(first: *const isize, dimensions: usize) -> Option<&'a [isize]> {
    match dimensions {
        0 => Some(&[]),
        _ if first.is_null() => None,
        // SAFETY: the caller's promise.
        _ => Some(unsafe { std::slice::from_raw_parts(first, dimensions) }),
    }
}

/// The strides of C's order, where that takes as many bytes.
fn compact_strides(shape: &[isize], item_size: isize, bytes: isize) -> Option<Vec<isize>> {
    let mut reach = item_size;
    let mut strides = vec![0; shape.len()];
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = reach;
        reach = reach.checked_mul(extent)?;
    }
    (reach == bytes).then_some(strides)
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `of` filled the view in, it is released once, and the interpreter is attached.
        Python::attach(|_| unsafe { PyBuffer_Release(&raw mut *self.view) });
    }
}
