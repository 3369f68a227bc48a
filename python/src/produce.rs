//! New arrays for results, of the library that the operands are of.

use crate::{
    array::{Held, Library},
    dlpack, dtype,
    errors::{OrRaise, exception, refuse},
    lent::Lent,
    ndarray, numpy,
    on_gpu::{self, Gpu},
    torch,
};
use pyo3::{exceptions::PyMemoryError, intern, prelude::*, types::PyTuple};
use tilewright::DType;

/// An array of this shape, whose elements are anything, of the library that another is of, and where that is.
pub fn empty<'py>(py: Python<'py>, like: &Held<'py>, shape: &[usize], dtype: DType) -> PyResult<Held<'py>> {
    if let Some(gpu) = like.array.gpu {
        return empty_on_gpu(like, gpu, shape, dtype);
    }
    let bytes = shape.iter().try_fold(dtype.size(), |bytes, &extent| bytes.checked_mul(extent));
    if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) && !shape.contains(&0) {
        return Err(out_of_memory(py, shape, dtype));
    }
    let object = match like.array.library {
        Library::NumPy | Library::ArrayApi(_) => numpy::empty(py, shape, dtype),
        Library::Torch => torch_empty(py, shape, dtype),
        Library::Memory => memory(py, shape, dtype),
    };
    let object = object.map_err(|error| {
        if error.is_instance_of::<PyMemoryError>(py) { out_of_memory(py, shape, dtype) } else { error }
    })?;
    Held::anywhere("the result", &object)
}

fn empty_on_gpu<'py>(like: &Held<'py>, gpu: Gpu, shape: &[usize], dtype: DType) -> PyResult<Held<'py>> {
    let py = like.object.py();
    let object = match like.array.library {
        _ if dlpack::is_immutable(&like.object)? => {
            let lent = py.detach(|| Lent::new(&on_gpu::engine(gpu.ordinal)?, shape, dtype)).or_raise(py)?;
            Bound::new(py, lent)?.into_any()
        }
        Library::Torch => torch::empty(&like.object, (&like.array, gpu), shape, dtype)?,
        _ => on_gpu::empty(&like.object, gpu, shape, dtype)?,
    };
    let made = Held::anywhere("the result", &object)?;
    if made.array.is_read_only {
        let message = format!("a result as a {}, which nobody may write to", made.object.get_type().name()?);
        return refuse(py, "unsupported", &message, "give `out`, or arrays of torch, CuPy or JAX");
    }
    Ok(made)
}

impl<'py> Held<'py> {
    /// The array as the caller's library has it; 0-dimensional ones of NumPy become scalars, as they do there.
    pub fn finish(self, library: &Library) -> PyResult<Bound<'py, PyAny>> {
        let (py, is_scalar) = (self.object.py(), self.array.shape.is_empty());
        match library {
            Library::ArrayApi(namespace) if self.object.is_instance_of::<Lent>() => {
                namespace.bind(py).call_method1(intern!(py, "from_dlpack"), (self.object,))
            }
            _ if self.array.gpu.is_some() => Ok(self.object),
            Library::ArrayApi(namespace) => {
                namespace.bind(py).call_method1(intern!(py, "from_dlpack"), (self.object,))
            }
            Library::NumPy if is_scalar => self.object.get_item(PyTuple::empty(py)),
            _ => Ok(self.object),
        }
    }
}

fn torch_empty<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let torch = py.import(intern!(py, "torch"))?;
    let options = pyo3::types::PyDict::new(py);
    options.set_item(intern!(py, "dtype"), torch.getattr(dtype::python_name(dtype))?)?;
    options.set_item(intern!(py, "device"), intern!(py, "cpu"))?;
    torch.call_method(intern!(py, "empty"), (PyTuple::new(py, shape)?,), Some(&options))
}

/// A `memoryview` of that shape, of memory of its own.
fn memory<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    if shape.contains(&0) || dtype == DType::F16 {
        // `memoryview.cast` refuses no elements, and halves before Python 3.14.
        return numpy::empty(py, shape, dtype);
    }
    let bytes = shape.iter().product::<usize>() * dtype.size();
    cast(&py.import("builtins")?.getattr("bytearray")?.call1((bytes,))?, shape, dtype)
}

fn out_of_memory(py: Python<'_>, shape: &[usize], dtype: DType) -> PyErr {
    let message = format!("a result of shape {shape:?} and type {dtype} does not fit memory");
    exception(py, "out-of-memory", &message, Some("compute it in parts"))
}

/// A copy of an array, of the same library, so that a result may be written where the array lies.
pub fn copy<'py>(Held { object, array }: &Held<'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match &array.library {
        Library::NumPy if ndarray::is_array(object) => object.call_method0(intern!(py, "copy")),
        Library::NumPy => numpy::array_of(object)?.call_method0(intern!(py, "copy")),
        Library::Memory if array.dtype == DType::F16 => {
            numpy::array_of(object)?.call_method0(intern!(py, "copy"))
        }
        Library::Torch => object.call_method0(intern!(py, "clone")),
        Library::ArrayApi(namespace) => {
            let options = pyo3::types::PyDict::new(py);
            options.set_item(intern!(py, "copy"), true)?;
            namespace.bind(py).call_method(intern!(py, "asarray"), (object,), Some(&options))
        }
        Library::Memory => {
            let bytes = memoryview(object)?.call_method0("tobytes")?;
            cast(&bytes, &array.shape, array.dtype)
        }
    }
}

fn memoryview<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("builtins")?.getattr("memoryview")?.call1((object,))
}

/// Bytes as a `memoryview` of that shape and type. Those of foreign formats, such as '<d' of ctypes, are told in Python's own.
fn cast<'py>(bytes: &Bound<'py, PyAny>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let Some(format) = dtype::memoryview_format(dtype) else {
        return refuse(py, "unsupported", &format!("a memoryview of {dtype}"), "give arrays of NumPy");
    };
    memoryview(bytes)?.call_method1("cast", (format, PyTuple::new(py, shape)?))
}
