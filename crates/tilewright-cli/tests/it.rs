//! All tests of this crate, in one program.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod architecture;
mod arrays;
mod bench;
mod book;
mod browser;
mod check;
mod circles;
mod completion;
mod cooperative;
mod course;
mod distributed;
mod endless;
mod explain;
mod failures;
mod gpus;
mod graphs;
mod json;
mod kernels;
#[path = "../../tilewright-distributed/tests/launchers.rs"]
mod launchers;
mod members;
mod mul;
mod names;
mod occupancy;
mod occupancy_of_kernels;
mod outputs;
mod pages;
mod paths;
mod pipes;
mod plan;
mod process;
mod run;
mod strict;
mod support;
mod terminal;
mod verdicts;
