//! What ``a @ semiring`` is, before the other operand comes.

use crate::semiring::Semiring;
use pyo3::prelude::*;

/// The left half of ``a @ semiring @ b``.
#[pyclass(frozen, module = "tilewright")]
pub struct Left {
    /// What is to come between.
    pub semiring: Py<Semiring>,
    /// The operand on the left.
    pub left: Py<PyAny>,
}

#[pymethods]
impl Left {
    fn __matmul__<'py>(&self, right: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = right.py();
        Semiring::matmul(self.semiring.bind(py), self.left.bind(py), right, None)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<half of a product over {}: `@` the other operand>", self.semiring.get().name(py)?))
    }
}
