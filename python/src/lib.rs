//! The native part of the Python package `tilewright`: arrays of other libraries become views, errors become exceptions.

mod array;
mod batch;
mod buffer;
mod dlpack;
mod dtype;
mod errors;
mod interrupt;
mod matmul;
mod numpy;
mod produce;
mod semiring;
mod shape;

use pyo3::prelude::*;

/// What `tilewright` is made of; users import that.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::matmul::matmul;
    #[pymodule_export]
    use super::semiring::Semiring;
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
