//! Best paths between all pairs of vertices, over any selective semiring.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod schedule;

mod block;
mod blocks;
mod closure;
mod cycle;
mod isa;
mod options;
mod pass;
mod range;
mod semiring;
mod share;
mod sparse;
mod thin;
mod tile;

pub use closure::{bytes_beside, close};
pub use options::Options;
pub use semiring::PathSemiring;
