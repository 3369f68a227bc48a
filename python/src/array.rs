//! Arrays of other libraries, as they lie in memory.

use crate::{
    buffer::Buffer,
    cuda_array, dlpack, dtype,
    errors::{exception, refuse},
    ndarray, numpy,
    on_gpu::Gpu,
    torch,
};
use dlpark::python::ImportedDlpack;
use pyo3::{intern, prelude::*};
use std::ptr::NonNull;
use tilewright::{DType, Layout, StackMut, StackRef};

/// An array: nothing is copied, and the memory stays as long as this.
pub struct Array {
    /// The first element; dangling where there is none. Not an address of this processor where the array is on a GPU.
    pub first: NonNull<u8>,
    pub dtype: DType,
    /// The extents of the dimensions.
    pub shape: Vec<usize>,
    /// In elements; 1 for a dimension with fewer than two.
    pub strides: Vec<isize>,
    pub is_read_only: bool,
    /// `None` on this processor.
    pub gpu: Option<Gpu>,
    pub library: Library,
    _memory: Memory,
}

/// An array, and the object that it is of.
pub struct Held<'py> {
    pub object: Bound<'py, PyAny>,
    pub array: Array,
}

impl<'py> Held<'py> {
    /// An array of any library, on this processor or on a GPU.
    pub fn anywhere(what: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self { object: object.clone(), array: Array::anywhere(what, object)? })
    }
}

/// Whose array it is, which is whose the result becomes.
pub enum Library {
    NumPy,
    Torch,
    /// One with the functions of the array API standard; its namespace.
    ArrayApi(Py<PyAny>),
    /// None: something with the buffer protocol.
    Memory,
}

/// What keeps the memory, and lets go of it when it is dropped.
#[expect(dead_code, reason = "nobody looks at it")]
pub enum Memory {
    Buffer(Buffer),
    Dlpack(ImportedDlpack),
    Object(Py<PyAny>),
}

/// Where elements lie, before it is looked at.
pub struct Placed {
    pub address: *mut u8,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub byte_strides: Vec<isize>,
    pub is_read_only: bool,
    pub gpu: Option<Gpu>,
}

impl Array {
    /// An array of any library on this processor, called `what` in messages.
    pub fn of(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = Self::anywhere(what, object)?;
        if array.gpu.is_some() {
            let message = format!("{what} is on a GPU, not in this processor's memory");
            return refuse(object.py(), "unsupported", &message, dlpack::MOVE_IT_HERE);
        }
        Ok(array)
    }

    /// An array of any library, on this processor or on a GPU.
    pub fn anywhere(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if ndarray::is_array(object) {
            return numpy::array(what, object);
        }
        if let Some(array) = torch::array(what, object)? {
            return Ok(array);
        }
        numpy::refuse_other_arrays(what, object)?;
        if object.hasattr(intern!(object.py(), "__dlpack__"))? {
            return dlpack::array(what, object);
        }
        if Buffer::is_offered(object) {
            let buffer = Buffer::of(what, object)?;
            let Some(dtype) = dtype::of_format(buffer.format(), buffer.item_size()) else {
                return Err(dtype::refused_format(object.py(), what, buffer.format()));
            };
            return Self::of_buffer(what, buffer, dtype, Library::Memory);
        }
        if object.hasattr(intern!(object.py(), "__cuda_array_interface__"))? {
            return cuda_array::array(what, object);
        }
        // Images of PIL, for instance.
        if object.hasattr(intern!(object.py(), "__array_interface__"))? {
            return numpy::array(what, &numpy::array_of(object)?);
        }
        Err(no_array(what, object))
    }

    /// The array in a buffer.
    pub fn of_buffer(what: &str, buffer: Buffer, dtype: DType, library: Library) -> PyResult<Self> {
        let placed = Placed {
            address: buffer.address(),
            dtype,
            shape: buffer.shape().to_vec(),
            byte_strides: buffer.strides().to_vec(),
            is_read_only: buffer.is_read_only(),
            gpu: None,
        };
        Self::new(what, placed, library, Memory::Buffer(buffer))
    }

    /// The array that `memory` keeps, where products can read it.
    pub fn new(what: &str, placed: Placed, library: Library, memory: Memory) -> PyResult<Self> {
        let Placed { address, dtype, shape, byte_strides, is_read_only, gpu } = placed;
        let size = dtype.size() as isize;
        let is_empty = shape.contains(&0);
        if shape.len() != byte_strides.len() || address.is_null() && !is_empty {
            let message = format!("{what} describes itself wrongly: elements without an address");
            return Python::attach(|py| refuse(py, "not-an-array", &message, "give a copy of it"));
        }
        let is_apart = |(&extent, &stride): (&usize, &isize)| extent > 1 && stride % size != 0;
        let is_crooked =
            !address.addr().is_multiple_of(dtype.size()) || shape.iter().zip(&byte_strides).any(is_apart);
        if is_crooked && !is_empty {
            return Python::attach(|py| {
                let message =
                    format!("{what} has elements at addresses that are no multiples of {size} bytes");
                refuse(py, "unsupported", &message, "give a copy of it")
            });
        }
        let strides = shape.iter().zip(&byte_strides);
        let strides = strides.map(|(&extent, &stride)| if extent > 1 { stride / size } else { 1 }).collect();
        let first = NonNull::new(address).filter(|_| !is_empty).unwrap_or(DANGLING);
        Ok(Self { first, dtype, shape, strides, is_read_only, gpu, library, _memory: memory })
    }

    /// That of a vector or a matrix; a vector is one row where `is_row`, otherwise one column.
    pub fn layout(&self, is_row: bool) -> Layout {
        match (&self.shape[..], &self.strides[..]) {
            (&[rows, cols, ..], &[row, col, ..]) => Layout::strided(rows, cols, row, col),
            (&[length], &[stride]) if is_row => Layout::strided(1, length, 1, stride),
            (&[length], &[stride]) => Layout::strided(length, 1, stride, 1),
            _ => Layout::row_major(1, 1),
        }
    }

    /// The array, to be read.
    ///
    /// # Safety
    /// It is on this processor, unless nobody looks at an element. Nobody writes it as long as the view is used.
    pub unsafe fn view(&self) -> StackRef<'_> {
        // SAFETY: the array describes memory that it keeps, of such elements; otherwise the caller's promise.
        unsafe { StackRef::from_raw_parts(self.first, self.dtype, &self.shape, &self.strides) }
    }

    /// The array, to be written.
    ///
    /// # Safety
    /// It is on this processor, has no element twice, and nobody else reads or writes it as long as the view is used.
    pub unsafe fn view_mut(&self) -> StackMut<'_> {
        // SAFETY: as above.
        unsafe { StackMut::from_raw_parts(self.first, self.dtype, &self.shape, &self.strides) }
    }

    /// A byte that is neither 0 nor 1 is no boolean to us, though NumPy can be made to hold it. On a GPU nobody looks.
    pub fn refuse_other_booleans(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        if self.dtype != DType::Bool
            || self.gpu.is_some()
            || self.shape.contains(&0)
            || !self.has_other_bytes(self.first.as_ptr(), 0)
        {
            return Ok(());
        }
        let message = format!("{what} holds a boolean that is neither 0 nor 1");
        refuse(py, "outside-domain", &message, "compare with 0: a != 0")
    }

    fn has_other_bytes(&self, at: *const u8, dimension: usize) -> bool {
        let (Some(&extent), Some(&stride)) = (self.shape.get(dimension), self.strides.get(dimension)) else {
            // SAFETY: the address is that of an element.
            return unsafe { at.read() } > 1;
        };
        if dimension + 1 == self.shape.len() && stride == 1 {
            // SAFETY: the last dimension lies in one piece.
            return unsafe { std::slice::from_raw_parts(at, extent) }.iter().any(|&byte| byte > 1);
        }
        // SAFETY: every index below the extent is that of an element; a boolean has one byte.
        (0..extent as isize).any(|i| self.has_other_bytes(unsafe { at.offset(i * stride) }, dimension + 1))
    }
}

/// An address that suits every element type, of no element.
pub const DANGLING: NonNull<u8> = NonNull::<u64>::dangling().cast();

/// What stands for something that is no array of ours.
fn no_array(what: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let py = object.py();
    let class = object.get_type();
    let module = class.module().map(|name| name.to_string()).unwrap_or_default();
    let name = class.name().map(|name| name.to_string()).unwrap_or_default();
    let message = format!("{what} is a {name}, and no array");
    let root = module.split('.').next().unwrap_or_default();
    let hint = match (root, name.as_str()) {
        ("scipy", _) => {
            "make it dense: W.toarray(), and mind what an element that is not stored means to the semiring"
        }
        ("pandas" | "polars", _) => "give its array: frame.to_numpy()",
        ("builtins", "list" | "tuple") => "make an array of it: numpy.asarray(a, dtype=numpy.float64)",
        ("jax", _) => {
            "arrays have no elements inside jax.jit and its like: give them to tilewright.jax.matmul"
        }
        ("multiprocessing", _) => "give the array in it, with its lock held: a.get_obj()",
        _ => "give an array of NumPy or torch, or anything with `__dlpack__` or the buffer protocol",
    };
    exception(py, "not-an-array", &message, Some(hint))
}
