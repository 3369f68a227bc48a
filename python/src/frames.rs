//! Data frames and series of pandas: `tilewright._frames` knows what their names mean.

use crate::ndarray;
use pyo3::{intern, prelude::*, types::PyDict};

/// Whether an object is of pandas, which is not imported for that.
pub fn is_frame(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    !ndarray::is_array(object)
        && class.name().is_ok_and(|name| name == "DataFrame" || name == "Series")
        && class.module().is_ok_and(|module| module.to_string_lossy().split('.').next() == Some("pandas"))
}

/// Their product.
pub fn matmul<'py>(
    [a, b]: [&Bound<'py, PyAny>; 2],
    out: Option<&Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    py.import("tilewright._frames")?.call_method1(intern!(py, "matmul"), (a, b, out, options))
}
