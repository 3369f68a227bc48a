//! What a product takes; `tilewright.bench` makes tables of it.

use crate::{
    array::Array,
    errors::{OrRaise, refuse},
    interrupt::{self, Takes},
    options,
    semiring::{self, Over},
};
use pyo3::{prelude::*, types::PyDict};
use tilewright::{Backend, DynMut, DynProduct, DynRef, ExpressionProduct, Options};

/// Computes a product of matrices once, and says what was done: the backend, the kernel, threads, and seconds with and without transfers.
#[pyfunction]
pub fn measure<'py>(
    py: Python<'py>,
    matrices: (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>),
    semiring: &Bound<'py, PyAny>,
    backend: &Bound<'py, PyAny>,
    threads: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let over = semiring::of(Some(semiring))?;
    let backend: Backend = options::read::<String>("backend", backend)?.parse().or_raise(py)?;
    let threads: Option<usize> = options::read("threads", threads)?;
    let (a, b, c) = matrices;
    let (a, b, c) = (Array::of("A", &a)?, Array::of("B", &b)?, Array::of("C", &c)?);
    let place = |array: &Array| (array.first, array.dtype, array.layout(true));
    let (a_at, b_at, c_at) = (place(&a), place(&b), place(&c));
    // SAFETY: the arrays keep their memory until the end of this function, and C is the caller's own.
    let (a, b, c) = unsafe {
        (
            DynRef::from_raw_parts(a_at.0, a_at.1, a_at.2),
            DynRef::from_raw_parts(b_at.0, b_at.1, b_at.2),
            DynMut::from_raw_parts(c_at.0, c_at.1, c_at.2),
        )
    };
    let report = interrupt::run(py, Takes::Long, |cancel| {
        let options =
            Options { backend, threads: threads.unwrap_or(0), cancel: Some(cancel), ..Options::default() };
        match &over {
            Over::BuiltIn(id) => DynProduct::new(*id, a, b)?.options(options).write_to(c, None).map(Some),
            Over::Text(text) => ExpressionProduct::new(text, a, b)?.write_to(c, &options).map(Some),
            Over::Functions(_) => Ok(None),
        }
    })?;
    let Some(report) = report.or_raise(py)? else {
        return refuse(
            py,
            "unsupported",
            "the time of functions",
            "give a semiring by its name or by expressions",
        );
    };
    let told = PyDict::new(py);
    told.set_item("backend", report.backend.to_string())?;
    told.set_item("kernel", report.kernel.to_string())?;
    told.set_item("threads", report.threads)?;
    told.set_item("seconds", report.seconds)?;
    told.set_item("transfer_seconds", report.transfer_seconds)?;
    told.set_item("prepare_seconds", report.prepare_seconds)?;
    Ok(told)
}
