//! What callers choose beside arrays. What an option cannot be is an error that names it.

use crate::errors::exception;
use pyo3::{
    conversion::FromPyObjectOwned,
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
};

/// A type that options have.
pub trait Choice {
    /// What a caller should give, as a hint says it.
    const WANTED: &'static str;
}

impl Choice for bool {
    const WANTED: &'static str = "True or False";
}

impl Choice for String {
    const WANTED: &'static str = "a text";
}

impl Choice for u32 {
    const WANTED: &'static str = "a whole number from 0 to 4294967295";
}

impl Choice for usize {
    const WANTED: &'static str = "a whole number from 0 on";
}

impl Choice for f64 {
    const WANTED: &'static str = "a number";
}

impl Choice for [u32; 3] {
    const WANTED: &'static str = "a whole number from 0 on, or up to three of them";
}

impl<T: Choice> Choice for Option<T> {
    const WANTED: &'static str = T::WANTED;
}

/// An option by its name.
pub fn read<'py, T>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: Choice + FromPyObjectOwned<'py>,
{
    given.extract().map_err(|error| refused::<T>(name, given, error))
}

/// As [`read`], of something among others by their names.
pub fn item<'py, T>(options: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: Choice + FromPyObjectOwned<'py>,
{
    read(name, &options.get_item(name)?)
}

/// As [`read`], or what stands for none.
pub fn or<'py, T>(none: T, name: &str, given: Option<&Bound<'py, PyAny>>) -> PyResult<T>
where
    T: Choice + FromPyObjectOwned<'py>,
{
    given.map_or(Ok(none), |given| read(name, given))
}

/// Why an option is not what was given: the number is too large or too small, or it is no number at all.
pub fn refused<T: Choice>(name: &str, given: &Bound<'_, PyAny>, error: impl Into<PyErr>) -> PyErr {
    let py = given.py();
    let error = error.into();
    let is_number = error.is_instance_of::<PyOverflowError>(py);
    if !is_number && !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyValueError>(py) {
        // Something else went wrong in the caller's code, as an interruption.
        return error;
    }
    let code = if is_number { "unsupported" } else { "dtype-mismatch" };
    match given.repr() {
        Ok(shown) => exception(py, code, &format!("{name} is {shown}"), Some(&format!("give {}", T::WANTED))),
        Err(error) => error,
    }
}
