//! The library's errors as Python's exceptions.

use pyo3::{prelude::*, sync::PyOnceLock, types::PyType};
use tilewright::{Error, ErrorKind, Setting};

/// The class in `tilewright._errors` for an error with this code.
fn class_name(code: &str) -> &'static str {
    match code {
        "inner-mismatch"
        | "result-mismatch"
        | "batch-mismatch"
        | "layout-overflow"
        | "out-of-bounds"
        | "aliased"
        | "window-out-of-bounds"
        | "not-square"
        | "ragged-rows"
        | "read-only"
        | "dimensions" => "ShapeError",
        "dtype-mismatch" | "not-an-array" => "ElementTypeError",
        "unsupported" => "UnsupportedError",
        "outside-domain" | "conversion" | "environment" => "DomainError",
        "negative-cycle" => "NegativeCycleError",
        "out-of-memory" | "device-memory" => "OutOfMemoryError",
        "unavailable" => "UnavailableError",
        "compilation" => "CompilationError",
        "io" | "bad-file" => "FileError",
        _ => "DeviceError",
    }
}

/// The exception for an error of the library.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let hint = error.kind().hint().map(|hint| hint.said(keywords)).filter(|hint| !hint.is_empty());
    let exception = exception(py, error.code(), &error.to_string(), hint.as_deref());
    if let ErrorKind::NegativeCycle { cycle, .. } = error.kind() {
        // An exception without the attribute is still the exception.
        let _ = exception.value(py).setattr("cycle", cycle.clone());
    }
    exception
}

/// Settings as keywords of this package's functions.
pub fn keywords(setting: Setting, value: &str) -> Option<String> {
    Some(match setting {
        Setting::Entry => "entry".into(),
        Setting::Argument => format!("{value} in args"),
        Setting::Launch => {
            format!("give what is missing with block and args; on the command line that is {value}")
        }
        // `explain` alone has a limit.
        Setting::MaxTime
        | Setting::MaxSteps
        | Setting::Delimiter
        | Setting::SkipRows
        | Setting::DecimalComma
        | Setting::Comments
        | Setting::Columns
        | Setting::Trim
        | Setting::NamedTable
        | Setting::Devices => return None,
    })
}

/// An exception with a code of this package, such as `not-an-array`, or of the library.
pub fn exception(py: Python<'_>, code: &str, message: &str, hint: Option<&str>) -> PyErr {
    match class(py, class_name(code)).and_then(|class| class.call1((message, code, hint))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// As [`exception`], as the result of something that did not work.
pub fn refuse<T>(py: Python<'_>, code: &str, message: &str, hint: &str) -> PyResult<T> {
    Err(exception(py, code, message, Some(hint)))
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("tilewright._errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(name)?.cast_into::<PyType>()?)
}

/// Turns errors of the library into exceptions.
pub trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, &error))
    }
}
