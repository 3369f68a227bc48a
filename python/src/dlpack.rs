//! Arrays of other libraries by DLPack.

use crate::{
    array::{Array, Library, Memory, Placed},
    dtype,
    errors::{exception, refuse},
};
use dlpark::{DlpackFlags, ffi::DLDeviceType, python::ImportRequest};
use pyo3::{intern, prelude::*};

/// What to do with an array on a GPU.
pub const ON_A_GPU: &str = "arrays on a GPU are not taken yet: move it here, a.cpu() in torch or a.get() in CuPy, and a large product still goes to the GPU";

/// The array of an object with `__dlpack__`.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = object.py();
    let library = library(object)?;
    if matches!(library, Library::Torch) && object.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        let message = format!("{what} requires a gradient, which no product has");
        return refuse(py, "unsupported", &message, "give a.detach()");
    }
    let request = ImportRequest::new(object.as_borrowed())?;
    if let Ok(device) = request.device()
        && device.device_type != DLDeviceType::CPU
    {
        let message = format!("{what} is on a device, not in this processor's memory");
        return refuse(py, "unsupported", &message, ON_A_GPU);
    }
    let tensor = request.import(None, None)?;
    let is_read_only = tensor.flags().contains(DlpackFlags::READ_ONLY);
    let placed = {
        let view = tensor.validate().map_err(|error| malformed(py, what, &error.to_string()))?;
        if view.device().device_type != DLDeviceType::CPU {
            let message = format!("{what} is on a device, not in this processor's memory");
            return refuse(py, "unsupported", &message, ON_A_GPU);
        }
        let Some(dtype) = dtype::of_dlpack(view.dtype()) else {
            return Err(dtype::refused(py, what, &format!("{:?}", view.dtype())));
        };
        let strides = view.strides_or_compact().map_err(|error| malformed(py, what, &error.to_string()))?;
        Placed {
            address: view.data_ptr().cast_mut().cast::<u8>().wrapping_add(view.byte_offset() as usize),
            dtype,
            shape: view.shape().iter().map(|&extent| extent.unsigned_abs() as usize).collect(),
            byte_strides: strides.iter().map(|&stride| stride as isize * dtype.size() as isize).collect(),
            is_read_only,
        }
    };
    Array::new(what, placed, library, Memory::Dlpack(tensor))
}

fn malformed(py: Python<'_>, what: &str, why: &str) -> PyErr {
    exception(py, "not-an-array", &format!("{what} describes itself wrongly by DLPack: {why}"), None)
}

/// Whose array it is.
fn library(object: &Bound<'_, PyAny>) -> PyResult<Library> {
    let py = object.py();
    if object.get_type().module()?.to_string().split('.').next() == Some("torch") {
        return Ok(Library::Torch);
    }
    match object.getattr_opt(intern!(py, "__array_namespace__"))? {
        Some(namespace) => Ok(Library::ArrayApi(namespace.call0()?.unbind())),
        None => Ok(Library::NumPy),
    }
}
