//! Matrices that the library made, for NumPy to look at where they lie.

use crate::{dtype, errors::refuse};
use pyo3::{prelude::*, types::PyDict};
use tilewright::{DType, DynMatrix};

/// A matrix of the library. `numpy.asarray` makes an array of it without a copy.
#[pyclass(module = "tilewright._native")]
pub struct Owned(DynMatrix);

impl Owned {
    /// For Python.
    pub fn new(matrix: impl Into<DynMatrix>) -> Self {
        Self(matrix.into())
    }

    /// The matrix. Arrays of NumPy look at its memory: who takes it away puts it back.
    pub fn matrix(&mut self) -> &mut DynMatrix {
        &mut self.0
    }
}

#[pymethods]
impl Owned {
    /// See NumPy's "array interface protocol", version 3.
    #[getter]
    fn __array_interface__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut matrix = self.0.as_mut();
        let (layout, dtype) = (matrix.layout(), matrix.dtype());
        let kind = match dtype {
            DType::Bool => "b",
            DType::U8 => "u",
            DType::F16 | DType::F32 | DType::F64 => "f",
            other @ (DType::Bf16 | DType::E4m3 | DType::E5m2) => {
                return refuse(
                    py,
                    "unsupported",
                    &dtype::refused(py, "this", dtype::python_name(other), None).to_string(),
                    "",
                );
            }
            _ => "i",
        };
        let order = if kind == "b" || dtype.size() == 1 {
            "|"
        } else if cfg!(target_endian = "big") {
            ">"
        } else {
            "<"
        };
        let interface = PyDict::new(py);
        let size = dtype.size() as isize;
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{kind}{size}"))?;
        interface.set_item("shape", (layout.rows, layout.cols))?;
        interface.set_item("strides", (layout.row_stride * size, layout.col_stride * size))?;
        interface.set_item("data", (matrix.as_mut_ptr().addr(), false))?;
        Ok(interface)
    }
}
