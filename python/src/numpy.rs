//! NumPy, where it is loaded; nothing here loads it for a caller who does not use it.

use crate::{
    array::{Array, Library},
    buffer::Buffer,
    dtype,
    errors::{exception, refuse},
    ndarray,
};
use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyTuple, PyType},
};
use tilewright::DType;

/// An array of NumPy.
pub fn array(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    if let Some(array) = ndarray::array(what, object) {
        return array;
    }
    if let Ok(buffer) = Buffer::of(what, object)
        && let Some(dtype) = dtype::of_format(buffer.format(), buffer.item_size())
    {
        return Array::of_buffer(what, buffer, dtype, Library::NumPy);
    }
    // The buffer protocol has no type of ml_dtypes, which therefore offers no buffer.
    let py = object.py();
    let described = object.getattr(intern!(py, "dtype"))?;
    let is_native = described.getattr(intern!(py, "isnative"))?.is_truthy()?;
    let name = described.getattr(intern!(py, "name"))?.to_string();
    let of_ml_dtypes =
        OF_ML_DTYPES.into_iter().find(|&(dtype, _)| is_native && dtype::python_name(dtype) == name);
    let Some((dtype, words)) = of_ml_dtypes else {
        let is_record = !described.getattr(intern!(py, "fields"))?.is_none();
        let (found, hint) = match is_native || is_record {
            true => (format!("type {described}"), None),
            false => (
                format!("{name} of the other byte order"),
                Some("turn their bytes round: a.astype(a.dtype.newbyteorder('='))"),
            ),
        };
        return Err(dtype::refused(py, what, &found, hint));
    };
    let words = object.call_method1(intern!(py, "view"), (words,))?;
    Array::of_buffer(what, Buffer::of(what, &words)?, dtype, Library::NumPy)
}

/// The types that NumPy has from ml_dtypes, and what their words are without it.
const OF_ML_DTYPES: [(DType, &str); 3] =
    [(DType::Bf16, "uint16"), (DType::E4m3, "uint8"), (DType::E5m2, "uint8")];

/// The elements of another library's object as an array of NumPy, where they lie.
pub fn array_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let is_offered = object.hasattr(intern!(py, "__dlpack__"))?;
    py.import("numpy")?.call_method1(if is_offered { "from_dlpack" } else { "asarray" }, (object,))
}

/// Arrays whose class changes what their elements mean. Those of `numpy.memmap` only lie in a file.
pub fn refuse_other_arrays(what: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, class) = (object.py(), object.get_type());
    let bases = class.mro();
    let is_ours = |base: &Bound<'_, PyAny>| {
        base.cast::<PyType>().is_ok_and(|base| {
            base.name().is_ok_and(|name| name == "ndarray")
                && base.module().is_ok_and(|module| module == "numpy")
        })
    };
    if !bases.iter().any(|base| is_ours(&base)) {
        return Ok(());
    }
    let name = class.name()?.to_string();
    let hint = match name.as_str() {
        "memmap" => return Ok(()),
        "MaskedArray" => "fill what is masked with the semiring's zero: a.filled(numpy.inf) for min-plus",
        _ => "give the array itself: numpy.asarray(a)",
    };
    let message = format!("{what} is a {name}: a product of its elements alone may not be what is meant");
    Err(exception(py, "not-an-array", &message, Some(hint)))
}

/// `numpy.empty(shape, dtype)`.
pub fn empty<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let empty = EMPTY.import(py, "numpy", "empty")?;
    empty.call1((PyTuple::new(py, shape)?, element_type(py, dtype)?))
}

/// What NumPy calls the type; some are those of ml_dtypes.
fn element_type<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    static TYPES: PyOnceLock<Vec<(DType, Py<PyAny>)>> = PyOnceLock::new();
    let is_of_ml_dtypes = |dtype| OF_ML_DTYPES.iter().any(|&(known, _)| known == dtype);
    if is_of_ml_dtypes(dtype) {
        return py.import(intern!(py, "ml_dtypes"))?.getattr(dtype::python_name(dtype));
    }
    let types = TYPES.get_or_try_init(py, || {
        let make = py.import("numpy")?.getattr("dtype")?;
        let others = DType::ALL.iter().filter(|&&other| !is_of_ml_dtypes(other));
        others
            .map(|&other| Ok((other, make.call1((dtype::python_name(other),))?.unbind())))
            .collect::<PyResult<_>>()
    })?;
    match types.iter().find(|(known, _)| *known == dtype) {
        Some((_, object)) => Ok(object.bind(py).clone()),
        None => refuse(py, "unsupported", &format!("an array of {dtype}"), "choose another element type"),
    }
}
