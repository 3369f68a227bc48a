//! The driver's objects, each as a value that frees itself: contexts, streams, events, memory, matrices, modules.

mod context;
mod driver;
#[cfg(feature = "emulated")]
mod emulated;
#[cfg(test)]
mod fake;
mod health;
mod info;
mod matrix;
mod memory;
mod module;
mod page_locked;
mod pool;
mod staging;
mod stream;
mod tensor_map;
mod transfer;
mod view;

pub use driver::{Driver, DriverKind};
pub use info::DeviceInfo;
pub use matrix::{DeviceMatrix, DynDeviceMatrix};
pub use memory::Pinned;
pub use module::FunctionAttributes;
pub use transfer::device_layout;
pub use view::{DeviceMut, DeviceRef};

#[cfg(test)]
pub(crate) use fake::{healthy as fake_stream, info as fake_info};

pub(crate) use context::{Allocation, Context, Entered};
pub(crate) use memory::DeviceMemory;
pub(crate) use module::{Function, Module, Start, Texture};
pub(crate) use stream::{Event, Order, Priority, Stream};
pub(crate) use tensor_map::encode as encode_tensor_map;
