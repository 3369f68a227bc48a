//! The host's side: allocate, copy, bind arguments, launch, read back.

mod arguments;
mod error;
mod machine;
mod stage;

pub use arguments::Argument;
pub use error::MemoryError;
pub use machine::{DevicePointer, Launch, Machine};
pub use stage::{HostArray, Stage, StagedArgument};
