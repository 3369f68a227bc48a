//! The host's side: allocate, copy, bind arguments, launch, read back.

mod arguments;
mod budget;
mod context;
mod error;
mod launch;
mod machine;
mod pointer;

pub use arguments::Argument;
pub use context::Context;
pub use error::MemoryError;
pub use launch::Launch;
pub use machine::Machine;
pub use pointer::DevicePointer;
