//! Closures and products on many ranks; `tilewright.distributed` makes Python's classes and functions of these.

mod called;
mod gpu;
mod matrix;
mod pinned;
mod ranks;
mod watch;

pub use matrix::{
    default_grid, dist_closure, dist_gather, dist_load, dist_matmul, dist_predecessors, dist_save, dist_zeros,
};
pub use ranks::{
    Ranks, ranks_of_calls, ranks_of_communicator, ranks_of_devices, ranks_of_mpi, ranks_of_threads,
};
