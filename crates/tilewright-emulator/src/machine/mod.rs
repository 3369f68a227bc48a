//! The machine: warps of 32 lanes that execute decoded PTX.

mod accesses;
mod blocks;
pub(crate) mod lanes;
mod steps;
mod watch;

pub(crate) use accesses::heap::Heap;
pub(crate) use accesses::local::bytes_per_lane;
pub use accesses::sampler::{AddressMode, Coordinates, Filter, Sampler};
pub use accesses::surface::Surface;
pub use accesses::texels::{TexelFormat, TexelRead, Texels};
pub(crate) use accesses::texture::Textures;
pub use accesses::texture::{Texture, TextureShape};
pub(crate) use blocks::launch::run;
pub use blocks::launch::{BlockOrderPolicy, LaunchError, LaunchOptions, Races, Report};
pub(crate) use blocks::worker::Launch as Prepared;
pub use blocks::worker::Watch;
pub use watch::observer::{ObservedAccess, Observer};
