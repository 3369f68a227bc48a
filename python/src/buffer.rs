//! Python's buffer protocol (PEP 3118).
//!
//! It belongs to the stable interface from 3.11 on, so that PyO3 does not offer it for 3.10. Its functions and `Py_buffer` are the same
//! in both: 3.11 promised what 3.10 has.

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

/// The memory of an object, which stays where it is as long as this.
// In a box, since some exporters remember the address of what they filled in.
pub struct Buffer(Box<PyBuffer>);

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

    /// The buffer of an object, with strides and format; writable or not.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(MaybeUninit::<PyBuffer>::uninit());
        // SAFETY: the object is alive, the interpreter is attached, and the view is memory for one.
        let code = unsafe { PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), STRIDED_WITH_FORMAT) };
        if code != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: the call filled it in.
        Ok(Self(unsafe { view.assume_init() }))
    }

    /// The address of the first element.
    pub fn address(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    /// Bytes of an element.
    pub fn item_size(&self) -> usize {
        self.0.itemsize.unsigned_abs()
    }

    /// Whether it must not be written to.
    pub fn is_read_only(&self) -> bool {
        self.0.readonly != 0
    }

    /// What the elements are, in the notation of Python's `struct`.
    pub fn format(&self) -> &CStr {
        if self.0.format.is_null() {
            return c"B";
        }
        // SAFETY: an exporter's format is a string that lives as long as the buffer.
        unsafe { CStr::from_ptr(self.0.format) }
    }

    /// The extents of the dimensions.
    pub fn shape(&self) -> &[isize] {
        self.numbers(self.0.shape)
    }

    /// The strides of the dimensions in bytes.
    pub fn strides(&self) -> &[isize] {
        self.numbers(self.0.strides)
    }

    fn numbers(&self, first: *const isize) -> &[isize] {
        let dimensions = usize::try_from(self.0.ndim).unwrap_or(0);
        if dimensions == 0 || first.is_null() {
            return &[];
        }
        // SAFETY: an exporter gives one number for each dimension, and keeps them as long as the buffer.
        unsafe { std::slice::from_raw_parts(first, dimensions) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `of` filled the view in, it is released once, and the interpreter is attached.
        Python::attach(|_| unsafe { PyBuffer_Release(&raw mut *self.0) });
    }
}
