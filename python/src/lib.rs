//! The native part of the Python package `tilewright`: arrays of other libraries become views, errors become exceptions.

mod array;
mod buffer;
mod checks;
mod cuda_array;
mod distributed;
mod dlpack;
mod dtype;
mod errors;
mod explain;
mod frames;
mod functions;
mod gpu;
mod gpu_work;
mod interrupt;
mod left;
mod lent;
mod matmul;
mod measure;
mod ndarray;
mod numpy;
mod on_gpu;
mod options;
mod owned;
mod paths;
mod produce;
mod semiring;
mod text;
mod torch;
mod xla;

use pyo3::prelude::*;

/// What `tilewright` is made of; users import that.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::distributed::{
        Ranks, default_grid, dist_closure, dist_gather, dist_load, dist_matmul, dist_predecessors, dist_save,
        dist_zeros, ranks_of_calls, ranks_of_communicator, ranks_of_devices, ranks_of_mpi, ranks_of_threads,
    };
    #[pymodule_export]
    use super::explain::{explain_kernel, kernel_names};
    #[pymodule_export]
    use super::gpu::{best_block_of, gpu_table, occupancy_of};
    #[pymodule_export]
    use super::matmul::matmul;
    #[pymodule_export]
    use super::measure::measure;
    #[pymodule_export]
    use super::owned::Owned;
    #[pymodule_export]
    use super::paths::{path_types, paths_of_edges, paths_of_matrix};
    #[pymodule_export]
    use super::semiring::Semiring;
    #[pymodule_export]
    use super::xla::xla_handlers;
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::interrupt::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
