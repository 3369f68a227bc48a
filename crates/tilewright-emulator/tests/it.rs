//! All tests of this crate but those whose program must be their own.
#![allow(clippy::unwrap_used)] // In helpers, as in tests.

mod alu;
mod architectures;
mod bulk;
mod catalogue;
mod contention;
mod endless;
mod every_tile;
mod execution;
mod faults_found;
mod features;
mod global_copies;
mod groups;
mod hopper;
mod isa;
mod limits;
mod log_plus;
mod meetings;
mod menu;
mod narrowing;
mod neighbours;
mod observed;
mod optimised;
mod parser;
mod proxy_reads;
mod rig;
mod special;
mod spinning;
mod surfaces;
mod tensor_cores;
mod textures;
mod tiles;
mod together;
mod wavefronts;
mod wgmma;
