//! Tensors of torch on a GPU by their own attributes: a capsule of DLPack takes ten times as long, which is longer than a small product.

use crate::{
    array::{Array, Library, Memory, Placed},
    dtype::python_name,
    on_gpu::{self, Gpu},
};
use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyTuple},
};
use tilewright::DType;

/// What of torch is looked at in every call.
struct Torch {
    tensor: Py<PyAny>,
    strided: Py<PyAny>,
    dtypes: Vec<(Py<PyAny>, DType)>,
    /// The handle of the stream of a device, as torch's own compiler asks for it; not in every build.
    raw_stream: Option<Py<PyAny>>,
}

impl Torch {
    /// That of an object that may be a tensor; `None` before the first tensor.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<&'static Self>> {
        static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
        let py = object.py();
        if let Some(torch) = TORCH.get(py) {
            return Ok(Some(torch));
        }
        if object.get_type().module()? != "torch" {
            return Ok(None);
        }
        TORCH.get_or_try_init(py, || Self::load(py)).map(Some)
    }

    fn load(py: Python<'_>) -> PyResult<Self> {
        let torch = py.import(intern!(py, "torch"))?;
        let known =
            |dtype: &DType| torch.getattr(python_name(*dtype)).ok().map(|known| (known.unbind(), *dtype));
        let raw_stream = torch.getattr("_C")?.getattr_opt("_cuda_getCurrentRawStream")?;
        Ok(Self {
            tensor: torch.getattr("Tensor")?.unbind(),
            strided: torch.getattr("strided")?.unbind(),
            dtypes: DType::ALL.iter().filter_map(known).collect(),
            raw_stream: raw_stream.map(Bound::unbind),
        })
    }

    fn dtype(&self, object: &Bound<'_, PyAny>) -> Option<DType> {
        self.dtypes.iter().find(|(known, _)| known.is(object)).map(|(_, dtype)| *dtype)
    }
}

/// The array of a plain tensor on a GPU; `None` for all else, and where there is something to refuse.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = object.py();
    let Some(torch) = Torch::of(object)? else { return Ok(None) };
    let says = |name: &Bound<'_, pyo3::types::PyString>| object.getattr(name)?.is_truthy();
    if !object.get_type().is(&torch.tensor)
        || !says(intern!(py, "is_cuda"))?
        || says(intern!(py, "requires_grad"))?
        || !object.getattr(intern!(py, "layout"))?.is(&torch.strided)
        || object.call_method0(intern!(py, "is_neg"))?.is_truthy()?
    {
        return Ok(None);
    }
    let Some(dtype) = torch.dtype(&object.getattr(intern!(py, "dtype"))?) else { return Ok(None) };
    let address: usize = object.call_method0(intern!(py, "data_ptr"))?.extract()?;
    let ordinal: usize = object.call_method0(intern!(py, "get_device"))?.extract()?;
    let mut byte_strides: Vec<isize> = object.call_method0(intern!(py, "stride"))?.extract()?;
    byte_strides.iter_mut().for_each(|stride| *stride *= dtype.size() as isize);
    let gpu = match &torch.raw_stream {
        Some(raw_stream) => Gpu { ordinal, stream: Some(raw_stream.bind(py).call1((ordinal,))?.extract()?) },
        None => Gpu::of(object, ordinal)?,
    };
    let placed = Placed {
        address: std::ptr::without_provenance_mut(address),
        dtype,
        shape: object.getattr(intern!(py, "shape"))?.extract()?,
        byte_strides,
        is_read_only: false,
        gpu: Some(gpu),
    };
    Array::new(what, placed, Library::Torch, Memory::Object(object.clone().unbind())).map(Some)
}

/// A new tensor beside another.
pub fn empty<'py>(
    like: &Bound<'py, PyAny>,
    (array, gpu): (&Array, Gpu),
    shape: &[usize],
    dtype: DType,
) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    let Some(torch) = Torch::of(like)? else { return on_gpu::empty(like, gpu, shape, dtype) };
    let shape = PyTuple::new(py, shape)?;
    if array.dtype == dtype {
        return like.call_method1(intern!(py, "new_empty"), (shape,));
    }
    let options = PyDict::new(py);
    let same = torch.dtypes.iter().find(|(_, known)| *known == dtype);
    options.set_item(intern!(py, "dtype"), same.map(|(object, _)| object))?;
    like.call_method(intern!(py, "new_empty"), (shape,), Some(&options))
}
