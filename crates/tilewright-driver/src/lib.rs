//! CUDA's driver functions on an emulator: devices, contexts, memory, modules, streams, events and launches, without a GPU.
//!
//! A program that knows nothing of this gets it as a library, `libcuda.so.1`, which the crate `tilewright-libcuda` makes. In this process functions are
//! found by [`function`], devices are made by [`add_device`], and [`observe`] tells of launches. [`nccl_function`] has those of NCCL that Tilewright calls.
//!
//! What holds:
//!
//! * Modules are PTX, by itself or in a fatbin. Machine code is not executed.
//! * A call that puts work into a stream does the work. What CUDA leaves open about the order of work in several streams is decided by the order of calls.
//!   A kernel that fails is told, as with a GPU, by the calls behind its launch; [`failure`] has the findings.
//! * Fresh memory holds no zeros but NaN; freed memory is not given out again for long.
//! * Times of events are those of this process, and say nothing about a GPU. Registers of kernels are an estimate.
//! * A context that has failed stays so until it is destroyed. Its device goes on in other contexts.
//! * Devices have memory of their own. Copies go between them; kernels do not reach the memory of another one.

mod abi;
mod call;
mod code;
mod context;
mod copy;
mod device;
mod devrt;
mod event;
mod failure;
mod functions;
mod heap;
mod host;
mod image;
mod init;
mod launch;
mod link;
mod memory;
mod missing;
mod module;
mod nccl;
mod objects;
mod occupancy;
mod peer;
mod pool;
mod primary;
mod settings;
mod stream;
mod tensor_map;
mod texture;
mod watch;

pub use abi::Handle;
pub use code::Code;
pub use context::{failure, remove_device, waits};
pub use device::{TooManyDevices, add_device};
pub use failure::Failure;
pub use functions::{api, function};
#[doc(hidden)]
pub use init::say_farewell;
pub use memory::name_memory;
#[doc(hidden)]
pub use missing::missing_api;
pub use nccl::nccl_function;
pub use settings::{InvalidVariable, Messages, NewerPtx, Settings, configure};
pub use watch::{Launched, Watcher, observe};

#[doc(hidden)]
pub mod types {
    //! The types of the C interface, for the library that exports it.
    pub use crate::abi::*;
}
