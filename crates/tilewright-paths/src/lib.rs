//! Best paths between all pairs of vertices, over any selective semiring: shortest ([`MinPlus`](tilewright_core::MinPlus)), widest
//! ([`MaxMin`](tilewright_core::MaxMin)), most reliable ([`MaxTimes`](tilewright_core::MaxTimes)), and which there are at all ([`OrAnd`](tilewright_core::OrAnd)).
//!
//! [`Paths`] takes a dense matrix of weights or a [`Graph`] of few edges, and gives the weights of all best paths, predecessors and routes. [`close`] works in
//! place, for matrices that fit memory once.
//!
//! ```
//! use tilewright_core::{Matrix, MinPlus};
//! use tilewright_paths::Paths;
//! let inf = f64::INFINITY;
//! let roads = Matrix::from([[0.0, 3.0, 9.0], [3.0, 0.0, 4.0], [inf, 4.0, 0.0]]);
//! let (distances, predecessors) = Paths::<MinPlus<f64>>::new(&roads)?.with_predecessors()?;
//! assert_eq!(distances[(0, 2)], 7.0);
//! assert_eq!(predecessors.route(0, 2).map(Vec::from_iter), Some(vec![0, 1, 2]));
//! # Ok::<(), tilewright_core::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod schedule;

mod block;
mod blocks;
mod closure;
mod cycle;
mod device;
mod graph;
mod heap;
mod isa;
mod length;
mod options;
mod pass;
mod paths;
mod plan;
mod potentials;
mod queue;
mod range;
mod reach;
mod route;
mod scan;
mod search;
mod semiring;
mod share;
mod solve;
mod solver;
mod sources;
mod sparse;
mod steps;
mod thin;
mod tile;
mod tree;
mod weigh;
mod wide;

pub use closure::{bytes_beside, close, close_on};
pub use device::Device;
pub use graph::Graph;
pub use paths::Paths;
pub use plan::{Method, Plan};
pub use route::{Predecessors, Route};
pub use semiring::PathSemiring;
pub use tilewright_cpu::Options;
pub use tree::NO_PREDECESSOR;
