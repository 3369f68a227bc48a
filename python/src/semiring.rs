//! Semirings as Python objects.

use crate::{
    dtype,
    errors::{OrRaise, refuse},
    matmul::matmul,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyString, PyTuple},
};
use tilewright::{SemiringId, Value};

/// A semiring: how elements are added and multiplied in a product.
///
/// Parameters
/// ----------
/// name : str
///     One of `Semiring.NAMES`.
///
/// Examples
/// --------
/// >>> import numpy, tilewright
/// >>> roads = numpy.array([[0.0, 3.0, numpy.inf], [3.0, 0.0, 4.0], [numpy.inf, 4.0, 0.0]])
/// >>> roads @ tilewright.min_plus @ roads
/// array([[0., 3., 7.],
///        [3., 0., 4.],
///        [7., 4., 0.]])
/// >>> tilewright.min_plus.zero
/// inf
#[pyclass(frozen, eq, hash, module = "tilewright")]
#[derive(PartialEq, Eq, Hash)]
pub struct Semiring(SemiringId);

#[pymethods]
impl Semiring {
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        name.parse().map(Self).or_raise(py)
    }

    /// The names of all semirings.
    #[classattr]
    #[pyo3(name = "NAMES")]
    fn names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, SemiringId::ALL.iter().map(|id| id.name()))
    }

    /// NumPy leaves `array @ semiring` to the semiring.
    #[classattr]
    #[pyo3(name = "__array_ufunc__")]
    fn array_ufunc(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    /// The name, as in ``matmul(a, b, semiring=name)``.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The sum of no terms, and what an absent element is. Integers have their extreme value where this is an infinity.
    #[getter]
    fn zero<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.0.zero())
    }

    /// The element that changes no product.
    #[getter]
    fn one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.0.one())
    }

    /// The element types it is defined on, as NumPy names them.
    #[getter]
    fn dtypes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.dtypes().iter().map(|&dtype| dtype::python_name(dtype)))
    }

    /// ``tilewright.matmul(a, b, semiring=self, ...)``.
    #[pyo3(signature = (a, b, /, **options))]
    fn matmul<'py>(
        slf: &Bound<'py, Self>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let options = options.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
        options.set_item("semiring", slf)?;
        pyo3::wrap_pyfunction!(matmul, py)?.call((a, b), Some(&options))
    }

    fn __rmatmul__(slf: &Bound<'_, Self>, left: &Bound<'_, PyAny>) -> Left {
        Left { semiring: slf.get().0, left: left.clone().unbind() }
    }

    fn __repr__(&self) -> String {
        format!("Semiring('{}')", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (&'static str,)) {
        (slf.get_type().into_any(), (slf.get().0.name(),))
    }
}

/// The left half of ``a @ semiring @ b``.
#[pyclass(frozen, module = "tilewright")]
pub struct Left {
    semiring: SemiringId,
    left: Py<PyAny>,
}

#[pymethods]
impl Left {
    fn __matmul__<'py>(&self, right: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = right.py();
        let options = PyDict::new(py);
        options.set_item("semiring", Semiring(self.semiring))?;
        pyo3::wrap_pyfunction!(matmul, py)?.call((self.left.bind(py), right), Some(&options))
    }

    fn __repr__(&self) -> String {
        format!("<half of a product over {}: `@` the other operand>", self.semiring)
    }
}

/// The semiring that an argument names, or is; plus-times where there is none.
pub fn of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<SemiringId> {
    let Some(argument) = argument else { return Ok(SemiringId::PlusTimes) };
    if let Ok(name) = argument.cast::<PyString>() {
        return name.to_cow()?.parse().or_raise(argument.py());
    }
    if let Ok(semiring) = argument.cast::<Semiring>() {
        return Ok(semiring.get().0);
    }
    let message = format!("{} is no semiring", argument.repr()?);
    refuse(
        argument.py(),
        "not-an-array",
        &message,
        "give a name, such as 'min-plus', or a tilewright.Semiring",
    )
}

/// A value as Python has it.
pub fn number(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Float(x) => x.into_pyobject(py)?.into_any(),
        Value::Int(x) => x.into_pyobject(py)?.into_any(),
        Value::Bool(x) => x.into_pyobject(py)?.to_owned().into_any(),
        other => other.to_f64().into_pyobject(py)?.into_any(),
    })
}
