//! Closures and products of matrices that are spread over many processes.
//!
//! A [`Group`] is a number of ranks that compute together: threads of one process ([`threads`]), or processes that MPI has started ([`Mpi`]), which is found
//! at run time. A [`Grid`] arranges them in rows and columns, a [`DistMatrix`] is dealt to them in blocks, [`Closure`] finds best paths and [`multiply`] products.
//!
//! ```
//! use tilewright::{Options, SemiringId, Value};
//! use tilewright_distributed::{DistMatrix, Grid, Shape, multiply, threads};
//! let all = threads::run(4, |group| {
//!     let grid = Grid::new(group, Shape { rows: 2, cols: 2 })?;
//!     let a = DistMatrix::from_fn(&grid, 9, 9, 2, |i, j| (i + j) as f32)?;
//!     let c = multiply(SemiringId::MaxPlus, &a, &a, &Options::default())?;
//!     c.gather().map(|c| c.as_ref().get(1, 2))
//! });
//! assert!(all.into_iter().all(|c| c.is_ok_and(|c| c == Some(Value::Float(19.0)))));
//! ```
//!
//! With the feature `cuda` a rank has a GPU: module `devices`.
//!
//! The algorithms know nothing of a transport: whoever implements the methods of [`Group`] has them all.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cuda")]
pub mod devices;
pub mod store;
pub mod threads;

mod axis;
mod buffer;
mod checkpoint;
mod closure;
mod fault;
mod grid;
mod group;
mod join;
mod matrix;
mod mpi;
mod predecessors;
mod prepare;
mod product;
mod site;
mod step;
mod volume;
mod watch;

pub use axis::Axis;
pub use buffer::Buffer;
pub use checkpoint::{Checkpoints, Resumed};
pub use closure::{Closure, Order};
pub use grid::{Grid, Shape};
pub use group::{Group, Pending};
pub use matrix::{Block, DistMatrix};
pub use mpi::{Abort, Mpi, VARIABLE as MPI_VARIABLE, launched};
pub use predecessors::WithPredecessors;
pub use product::{multiply, multiply_thin, terms};
pub use volume::{
    best_grid, closure_bytes, closure_memory, default_block, default_block_of_gpus, predecessor_bytes,
    predecessor_memory, product_bytes, product_memory,
};
pub use watch::{Patience, Watched};
