//! The machine: warps of 32 lanes that execute decoded PTX.

mod accesses;
mod arrays;
mod blocks;
pub(crate) mod lanes;
mod state;
mod steps;
mod tensor;
mod watch;

pub use arrays::sampler::{AddressMode, Coordinates, Filter, Sampler};
pub use arrays::surface::Surface;
pub use arrays::texels::{TexelFormat, TexelRead, Texels};
pub(crate) use arrays::texture::Textures;
pub use arrays::texture::{Texture, TextureShape};
pub use blocks::launch::Report;
pub(crate) use blocks::launch::run;
pub(crate) use state::heap::Heap;
pub(crate) use state::local::bytes_per_lane;
pub use state::observer::{EventKind, ObservedAccess, ObservedEvent, Observer};
pub use state::options::{BlockOrderPolicy, LaunchError, LaunchOptions, Races, Schedule, UnknownSchedule};
pub(crate) use state::worker::Launch as Prepared;
pub use state::worker::Watch;
