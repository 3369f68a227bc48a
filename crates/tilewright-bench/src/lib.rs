//! What the benchmarks share: cases, random matrices, contenders, statistics, tables.
//!
//! `benches/compare.rs` measures every library in the same run and writes the tables of `BENCHMARKS.md`;
//! `benches/products.rs` is the criterion suite; `benches/peak_memory.rs` measures memory,
//! `benches/threads.rs` what several threads gain.

pub mod blas;
pub mod case;
pub mod contender;
pub mod field;
pub mod libraries;
pub mod machine;
pub mod matrices;
pub mod numpy;
pub mod report;
pub mod rounds;
pub mod statistics;
pub mod worker;

/// What can go wrong in a benchmark: a text for its user.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
