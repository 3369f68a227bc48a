//! Arrays of other libraries by DLPack.

use crate::{
    array::{Array, Library, Memory, Placed},
    dtype,
    errors::{exception, refuse},
    on_gpu::Gpu,
};
use dlpark::{
    DlpackFlags,
    ffi::{DLDevice, DLDeviceType},
    python::{DlpackStream, ImportRequest, StreamArg, consumer::stream},
};
use pyo3::{intern, prelude::*};

/// What to do with an array that is somewhere else.
pub const MOVE_IT_HERE: &str = "move it here, by a.cpu() in torch or a.get() in CuPy";

/// A stream of CUDA in which an array is to be ready.
struct Ready(usize);

// SAFETY: the handle is that of a stream which the array's library works in now, or of the default stream.
unsafe impl DlpackStream for Ready {
    fn as_python_arg(&self, _: Python<'_>, _: DLDevice) -> PyResult<StreamArg> {
        Ok(stream::cuda(std::ptr::without_provenance_mut(self.0)))
    }
}

/// The array of an object with `__dlpack__`.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = object.py();
    let library = library(object)?;
    if matches!(library, Library::Torch) && object.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        let message = format!("{what} requires a gradient, which no product has");
        return refuse(py, "unsupported", &message, "give a.detach()");
    }
    let request = ImportRequest::new(object.as_borrowed())?;
    let gpu = request.device().map_or(Ok(None), |device| gpu_of(what, object, device))?;
    let ready = gpu.map(|gpu| Ready(gpu.ready_in()));
    let tensor = request.import(ready.as_ref().map(|ready| ready as &dyn DlpackStream), None)?;
    let is_read_only = tensor.flags().contains(DlpackFlags::READ_ONLY) || is_immutable(object)?;
    let placed = {
        let view = tensor.validate().map_err(|error| malformed(py, what, &error.to_string()))?;
        let Some(dtype) = dtype::of_dlpack(view.dtype()) else {
            return Err(dtype::refused(py, what, &format!("{:?}", view.dtype()), None));
        };
        let strides = view.strides_or_compact().map_err(|error| malformed(py, what, &error.to_string()))?;
        Placed {
            address: view.data_ptr().cast_mut().cast::<u8>().wrapping_add(view.byte_offset() as usize),
            dtype,
            shape: view.shape().iter().map(|&extent| extent.unsigned_abs() as usize).collect(),
            byte_strides: strides.iter().map(|&stride| stride as isize * dtype.size() as isize).collect(),
            is_read_only,
            gpu: gpu_of(what, object, view.device())?,
        }
    };
    Array::new(what, placed, library, Memory::Dlpack(tensor))
}

/// The GPU that a device is; `None` for this processor.
fn gpu_of(what: &str, object: &Bound<'_, PyAny>, device: DLDevice) -> PyResult<Option<Gpu>> {
    match device.device_type {
        DLDeviceType::CPU | DLDeviceType::CUDAHOST => Ok(None),
        DLDeviceType::CUDA | DLDeviceType::CUDAMANAGED => {
            Gpu::of(object, usize::try_from(device.device_id).unwrap_or(0)).map(Some)
        }
        other => {
            let message =
                format!("{what} is on a device of DLPack's kind {}, which is no GPU of NVIDIA's", other.0);
            refuse(object.py(), "unsupported", &message, MOVE_IT_HERE)
        }
    }
}

fn malformed(py: Python<'_>, what: &str, why: &str) -> PyErr {
    exception(py, "not-an-array", &format!("{what} describes itself wrongly by DLPack: {why}"), None)
}

/// Arrays of JAX, Arrow and Polars never change, though DLPack is not told so.
pub fn is_immutable(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(matches!(&*package(object)?, "jax" | "jaxlib" | "pyarrow" | "polars"))
}

/// The package that the array's class belongs to.
fn package(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?.to_string();
    Ok(module.split('.').next().unwrap_or_default().to_owned())
}

/// Whose array it is.
fn library(object: &Bound<'_, PyAny>) -> PyResult<Library> {
    let py = object.py();
    if package(object)? == "torch" {
        return Ok(Library::Torch);
    }
    match object.getattr_opt(intern!(py, "__array_namespace__"))? {
        Some(namespace) => Ok(Library::ArrayApi(namespace.call0()?.unbind())),
        None => Ok(Library::NumPy),
    }
}
