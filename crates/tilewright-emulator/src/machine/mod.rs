//! The machine: warps of 32 lanes that execute decoded PTX.

mod access;
mod atomics;
mod barriers;
mod block;
mod calls;
mod checked;
mod copies;
mod costs;
mod exchange;
mod faults;
mod frame;
mod heap;
mod interpret;
pub(crate) mod isa;
mod launch;
mod moves;
mod observer;
mod printf;
mod rare;
mod scalar;
mod shadows;
mod team;
mod texture;
mod transfer;
mod vector;
mod warp;
mod worker;

pub(crate) use heap::Heap;
pub(crate) use launch::run;
pub use launch::{BlockOrderPolicy, LaunchError, LaunchOptions, Races, Report};
pub use observer::{ObservedAccess, Observer};
pub(crate) use texture::Textures;
pub use texture::{AddressMode, Coordinates, Filter, Texture};
pub(crate) use worker::Launch as Prepared;
