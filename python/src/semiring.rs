//! Semirings as Python objects.

use crate::{
    dtype,
    errors::{OrRaise, exception, refuse},
    functions::{self, Functions},
    left::Left,
    matmul::matmul,
    options,
    text::Text,
};
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    types::{PyDict, PyString, PyTuple},
};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use tilewright::{Backend, DType, Error, Joining, SemiringId, Value, expressions::DTYPES};

/// What elements are added and multiplied by.
#[derive(Clone)]
pub enum Over {
    BuiltIn(SemiringId),
    /// Expressions of C.
    Text(Arc<Text>),
    /// Functions that the caller has.
    Functions(Arc<Functions>),
}

/// A semiring: how elements are added and multiplied in a product.
///
/// Parameters
/// ----------
/// name : str, optional
///     One of `Semiring.NAMES`, or a text such as ``'add=fminf(x,y); mul=x+y; zero=inf'``, as of the command line.
/// add, mul : str, numpy.ufunc or compiled function
///     Of a semiring of your own: expressions of C in x and y; or two functions of NumPy, also those of `numba.vectorize`; or two functions of
///     `numba.cfunc` or `ctypes`.
/// zero : number or str
///     The sum of no terms.
/// one : number or str, optional
///     The element that changes no product.
/// where : str or function of an array, optional
///     Which elements it has, such as ``'x >= 0'`` beside expressions, or ``lambda x: x >= 0`` beside functions.
///
/// Raises
/// ------
/// UnsupportedError
///     Of a name that is not known, or of expressions that are no semiring. It tells the law that is broken, with an example.
/// ElementTypeError
///     Of a name that is no text.
///
/// Notes
/// -----
/// Whether they are a semiring is tried on samples before the first product. Functions are called on this processor.
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
/// >>> widest = tilewright.Semiring(add="max(x, y)", mul="min(x, y)", zero="-inf")
/// >>> widest.name
/// 'add=max(x, y); mul=min(x, y); zero=-inf'
/// >>> shortest = tilewright.Semiring(add=numpy.minimum, mul=numpy.add, zero=numpy.inf)
/// >>> (roads @ shortest @ roads)[0]
/// array([0., 3., 7.])
#[pyclass(frozen, module = "tilewright")]
pub struct Semiring(pub Over);

#[pymethods]
impl Semiring {
    #[new]
    #[pyo3(signature = (name=None, /, *, add=None, mul=None, zero=None, one=None, r#where=None))]
    fn new(
        py: Python<'_>,
        name: Option<&Bound<'_, PyAny>>,
        add: Option<&Bound<'_, PyAny>>,
        mul: Option<&Bound<'_, PyAny>>,
        zero: Option<&Bound<'_, PyAny>>,
        one: Option<&Bound<'_, PyAny>>,
        r#where: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name = options::or::<Option<String>>(None, "the name of a semiring", name)?;
        let parts = [("add", add), ("mul", mul), ("zero", zero), ("one", one), ("where", r#where)];
        let (Some(add), Some(mul), Some(zero), None) = (add, mul, zero, &name) else {
            return match &name {
                Some(name) if parts.iter().all(|(_, part)| part.is_none()) => {
                    named(name).or_raise(py).map(Self)
                }
                _ => Err(PyTypeError::new_err("a semiring has a name, or add, mul and zero")),
            };
        };
        let is_text = |part: &Bound<'_, PyAny>| part.is_instance_of::<PyString>();
        if !is_text(add) && !is_text(mul) {
            let given = PyDict::new(py);
            parts.iter().try_for_each(|(key, part)| given.set_item(key, *part))?;
            let functions = Functions::new(&given, functions::zero(zero)?)?;
            return Ok(Self(Over::Functions(Arc::new(functions))));
        }
        if !is_text(add) || !is_text(mul) || r#where.is_some_and(|condition| !is_text(condition)) {
            return refuse(
                py,
                "unsupported",
                "a semiring of expressions and functions",
                "give texts, or functions",
            );
        }
        let given = parts.iter().filter_map(|(key, part)| Some((key, part.as_ref()?)));
        let given: PyResult<Vec<_>> = given.map(|(key, part)| Ok(format!("{key}={}", part.str()?))).collect();
        text(&given?.join("; ")).or_raise(py).map(Self)
    }

    /// The names of all semirings that come with the library.
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

    /// A semiring is no array. Data frames of pandas ask for one in ``frame @ semiring``, and never leave the product to it.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, _) = (slf.py(), copy);
        let numpy = py.import("numpy")?;
        let object = numpy.getattr("dtype")?.call1(("O",))?;
        if dtype.is_some_and(|dtype| dtype.eq(&object).unwrap_or(false)) {
            let array = numpy.call_method1("empty", (PyTuple::empty(py), object))?;
            array.set_item(PyTuple::empty(py), slf)?;
            return Ok(array);
        }
        let hint = "of data frames: semiring.matmul(frame, other), or frame.to_numpy() @ semiring @ other";
        Err(exception(
            py,
            "not-an-array",
            "a semiring is no array, nor can it be multiplied as one",
            Some(hint),
        ))
    }

    /// The name or the text, as in ``matmul(a, b, semiring=name)``.
    #[getter]
    pub fn name(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Over::BuiltIn(id) => Ok(id.name().to_owned()),
            Over::Text(text) => Ok(text.text().to_owned()),
            Over::Functions(functions) => functions.name(py),
        }
    }

    /// The sum of no terms, and what an absent element is. Integers have their extreme value where this is an infinity.
    #[getter]
    fn zero<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Over::BuiltIn(id) => number(py, id.zero()),
            Over::Text(text) => exact(py, [DType::F64, DType::I64].map(|dtype| text.zero_value(dtype))),
            Over::Functions(functions) => functions.object(py).getattr(intern!(py, "zero")),
        }
    }

    /// The element that changes no product; None where it was not given.
    #[getter]
    fn one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Over::BuiltIn(id) => number(py, id.one()),
            Over::Text(text) => exact(py, [DType::F64, DType::I64].map(|dtype| text.one_value(dtype))),
            Over::Functions(functions) => functions.object(py).getattr(intern!(py, "one")),
        }
    }

    /// The element types it is defined on, as NumPy names them.
    #[getter]
    fn dtypes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = |dtypes: &mut dyn Iterator<Item = DType>| -> PyResult<Bound<'py, PyTuple>> {
            PyTuple::new(py, dtypes.map(dtype::python_name).collect::<Vec<_>>())
        };
        match &self.0 {
            Over::BuiltIn(id) => names(&mut id.dtypes().iter().copied()),
            Over::Text(text) => names(&mut DTYPES.iter().copied().filter(|&dtype| text.check(dtype).is_ok())),
            Over::Functions(functions) => {
                Ok(functions.object(py).call_method0(intern!(py, "dtypes"))?.cast_into::<PyTuple>()?)
            }
        }
    }

    /// ``tilewright.matmul(a, b, semiring=self, ...)``.
    ///
    /// Parameters
    /// ----------
    /// a, b : array
    ///     As for `matmul`.
    /// **options
    ///     Those of `matmul`.
    ///
    /// Returns
    /// -------
    /// array, or a pair of arrays
    ///
    /// Raises
    /// ------
    /// ShapeError, ElementTypeError, UnsupportedError, DomainError, UnavailableError, OutOfMemoryError
    ///     As `matmul`.
    ///
    /// Examples
    /// --------
    /// >>> import numpy, tilewright
    /// >>> tilewright.max_plus.matmul(numpy.array([[1.0, 5.0]]), numpy.array([[0.0], [2.0]]))
    /// array([[7.]])
    #[pyo3(signature = (a, b, /, **options))]
    pub fn matmul<'py>(
        slf: &Bound<'py, Self>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let options = options.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
        if options.contains(intern!(py, "semiring"))? {
            let message = "the semiring is given twice: as the object, and as the argument `semiring`";
            return Err(PyTypeError::new_err(message));
        }
        options.set_item("semiring", slf)?;
        pyo3::wrap_pyfunction!(matmul, py)?.call((a, b), Some(&options))
    }

    fn __rmatmul__(slf: &Bound<'_, Self>, left: &Bound<'_, PyAny>) -> Left {
        Left { semiring: slf.clone().unbind(), left: left.clone().unbind() }
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        match (&self.0, &other.0) {
            (Over::BuiltIn(one), Over::BuiltIn(other)) => Ok(one == other),
            (Over::Text(one), Over::Text(other)) => Ok(one == other),
            (Over::Functions(one), Over::Functions(other)) => one.object(py).eq(other.object(py)),
            _ => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        match &self.0 {
            Over::BuiltIn(id) => id.hash(&mut hasher),
            Over::Text(text) => text.text().hash(&mut hasher),
            Over::Functions(functions) => functions.object(py).hash()?.hash(&mut hasher),
        }
        Ok(hasher.finish())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Over::Functions(functions) => Ok(format!("Semiring({})", functions.name(py)?)),
            _ => Ok(format!("Semiring('{}')", self.name(py)?)),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, class) = (slf.py(), slf.get_type().into_any());
        match &slf.get().0 {
            Over::Functions(functions) => {
                let make = py.import("copyreg")?.getattr("__newobj_ex__")?;
                let given = functions.object(py).call_method0(intern!(py, "given"))?;
                Ok((make, (class, PyTuple::empty(py), given).into_pyobject(py)?))
            }
            _ => Ok((class, (slf.get().name(py)?,).into_pyobject(py)?)),
        }
    }
}

impl Over {
    /// Refuses what only the library's own semirings have.
    pub fn check_wishes(
        &self,
        py: Python<'_>,
        joining: &Joining<Value>,
        arg: bool,
        backend: Backend,
    ) -> PyResult<()> {
        if matches!(self, Self::BuiltIn(_)) {
            return Ok(());
        }
        let no = |what: &str, hint: &str| {
            refuse(py, "unsupported", &format!("{what} over a semiring of your own"), hint)
        };
        if arg {
            return no("the winning terms", "one of Semiring.NAMES tells them");
        }
        if matches!(joining, Joining::Scale { .. }) {
            return no("alpha and beta", "they are for plus-times; accumulate=True joins with `out`");
        }
        if matches!(self, Self::Functions(_)) && !matches!(backend, Backend::Auto | Backend::Cpu) {
            return no(
                &format!("the backend {backend}"),
                "functions are called on this processor; expressions may do elsewhere",
            );
        }
        Ok(())
    }

    /// The types that results may have, the one that they have by themselves first.
    pub fn outputs(&self, py: Python<'_>, dtype: DType) -> PyResult<Vec<DType>> {
        let Self::BuiltIn(id) = self else { return Ok(vec![dtype]) };
        let own = id.output(dtype).or_raise(py)?;
        Ok([&[own], id.other_outputs(dtype)].concat())
    }
}

/// A semiring by its name, or by its text.
pub fn named(name: &str) -> Result<Over, Error> {
    if name.contains('=') { text(name) } else { name.parse().map(Over::BuiltIn) }
}

fn text(text: &str) -> Result<Over, Error> {
    text.parse().map(|text| Over::Text(Arc::new(text)))
}

/// The semiring that an argument names, or is; plus-times where there is none.
pub fn of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Over> {
    let Some(argument) = argument else { return Ok(Over::BuiltIn(SemiringId::PlusTimes)) };
    if let Ok(name) = argument.cast::<PyString>() {
        return named(&name.to_cow()?).or_raise(argument.py());
    }
    if let Ok(semiring) = argument.cast::<Semiring>() {
        return Ok(semiring.get().0.clone());
    }
    let message = format!("{} is no semiring", argument.repr()?);
    refuse(
        argument.py(),
        "not-an-array",
        &message,
        "give a name, such as 'min-plus', or a tilewright.Semiring",
    )
}

/// As [`of`], where only those of the library will do; `what` needs one.
pub fn built_in(what: &str, argument: &Bound<'_, PyAny>) -> PyResult<SemiringId> {
    match of(Some(argument))? {
        Over::BuiltIn(id) => Ok(id),
        _ => {
            let message = format!("{what} over a semiring of your own");
            let hint = format!(
                "one of {}",
                SemiringId::ALL.iter().map(|id| id.name()).collect::<Vec<_>>().join(", ")
            );
            refuse(argument.py(), "unsupported", &message, &hint)
        }
    }
}

/// A number of a text: as a float, unless it is an integer that no float is. None where there is none.
fn exact(py: Python<'_>, [float, whole]: [Option<Value>; 2]) -> PyResult<Bound<'_, PyAny>> {
    match (float, whole) {
        (Some(Value::Float(x)), Some(Value::Int(n))) if x.is_finite() && x as i128 != i128::from(n) => {
            number(py, Value::Int(n))
        }
        (Some(x), _) => number(py, x),
        _ => Ok(py.None().into_bound(py)),
    }
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
