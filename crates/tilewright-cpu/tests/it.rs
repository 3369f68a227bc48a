//! All tests of this crate but those whose program must be their own.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod batches;
mod bits;
mod cancel;
mod common;
mod dots;
mod edges;
mod environment;
mod epilogue;
mod few_terms;
mod long_sums;
mod narrow;
mod orders;
mod panics;
mod properties;
mod prune;
mod reentrancy;
mod scales;
mod semantics;
mod signalling_nan;
mod user_semirings;
mod views;
mod winners;
