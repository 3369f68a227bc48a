//! Accesses to memory: they find the data of each lane, and move it.

pub mod asynchronous;
pub mod atomics;
pub mod checked;
pub mod matrices;
pub mod mbarrier;
pub mod moves;
pub mod plain;
pub mod single;
pub mod surface;
pub mod texture;
pub mod tiles;
