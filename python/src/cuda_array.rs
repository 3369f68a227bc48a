//! Arrays on a GPU by Numba's "CUDA array interface", versions 2 and 3.

use crate::{
    array::{Array, Library, Memory, Placed},
    dtype,
    errors::{OrRaise, exception, refuse},
    on_gpu::{self, Gpu},
};
use pyo3::{intern, prelude::*};

/// What the interface says.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Interface {
    shape: Vec<usize>,
    typestr: String,
    /// The address, and whether it may only be read.
    data: (usize, bool),
}

/// The array of an object with `__cuda_array_interface__`.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = object.py();
    let described = object.getattr(intern!(py, "__cuda_array_interface__"))?;
    let Interface { shape, typestr, data: (address, is_read_only) } =
        described.extract().map_err(|error| {
            let message = format!("{what} describes itself wrongly by `__cuda_array_interface__`: {error}");
            exception(py, "not-an-array", &message, None)
        })?;
    let optional = |key: &str| described.call_method1(intern!(py, "get"), (key,));
    if !optional("mask")?.is_none() {
        return refuse(
            py,
            "unsupported",
            &format!("{what} has a mask"),
            "fill what is masked with the semiring's zero",
        );
    }
    let Some(dtype) = dtype::of_typestr(&typestr) else {
        return Err(dtype::refused(py, what, &format!("the type '{typestr}'"), None));
    };
    let byte_strides = match optional("strides")?.extract::<Option<Vec<isize>>>()? {
        Some(strides) if strides.len() == shape.len() => strides,
        Some(_) => {
            return refuse(
                py,
                "not-an-array",
                &format!("{what} has other strides than dimensions"),
                "mend its interface",
            );
        }
        None => compact(&shape, dtype.size()),
    };
    let Some(ordinal) = on_gpu::device_of(address).or_raise(py)? else {
        let message = format!("{what} lies at {address:#x}, where no GPU of this process has memory");
        return refuse(py, "unsupported", &message, "give an array that its library keeps on the GPU");
    };
    let placed = Placed {
        address: std::ptr::without_provenance_mut(address),
        dtype,
        shape,
        byte_strides,
        is_read_only,
        gpu: Some(Gpu::of(object, ordinal)?),
    };
    Array::new(what, placed, Library::Memory, Memory::Object(object.clone().unbind()))
}

/// The strides of elements row by row.
fn compact(shape: &[usize], size: usize) -> Vec<isize> {
    let mut strides = vec![size as isize; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d].saturating_mul(shape[d] as isize);
    }
    strides
}
