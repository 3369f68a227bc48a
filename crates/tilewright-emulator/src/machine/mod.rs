//! The machine: warps of 32 lanes that execute decoded PTX.

mod accesses;
mod arrays;
mod blocks;
pub(crate) mod lanes;
mod steps;
mod tensor;
mod watch;

pub(crate) use accesses::heap::Heap;
pub(crate) use accesses::local::bytes_per_lane;
pub use arrays::sampler::{AddressMode, Coordinates, Filter, Sampler};
pub use arrays::surface::Surface;
pub use arrays::texels::{TexelFormat, TexelRead, Texels};
pub(crate) use arrays::texture::Textures;
pub use arrays::texture::{Texture, TextureShape};
pub use blocks::launch::Report;
pub(crate) use blocks::launch::run;
pub use blocks::options::{BlockOrderPolicy, LaunchError, LaunchOptions, Races, Schedule, UnknownSchedule};
pub(crate) use blocks::worker::Launch as Prepared;
pub use blocks::worker::Watch;
pub use watch::observer::{EventKind, ObservedAccess, ObservedEvent, Observer};
