//! What an NVIDIA GPU is, as data and pure functions, without a device.
//!
//! * [`Gpu`]: one GPU with all that kernels, plans and drivers ask of it; [`Architecture`]: what is compiled
//!   for it.
//! * [`ComputeCapability`] and [`Limits`]: what a multiprocessor (SM) of each generation offers ([`limits`]).
//! * [`GridLaunch`]: whether a launch can be, and why not ([`launch`]).
//! * [`Occupancy`]: how many blocks of a kernel it holds at once, what limits them and what to change ([`occupancy`]).
//! * [`BlockSize`]: the block size with the highest occupancy; [`clusters`]: a bound on resident clusters.
//! * [`Device`]: GPUs by name, with clocks, memory and peaks ([`device`]); [`Rate`]: the kinds of arithmetic
//!   ([`rates`]); [`Instruction`]: the kinds of instructions ([`instructions`]); [`Roofline`]: what arithmetic and memory
//!   together allow.
//! * [`Part`] and [`PartCosts`]: what kernels keep busy, and what work costs it ([`parts`]).
//! * [`memory`]: sectors and lines of a global access, wavefronts of a shared load or store, alignment.
//!
//! ```
//! use tilewright_arch::{Device, KernelResources, LaunchConfig, Occupancy};
//!
//! let gpu = Device::find("a6000")?;
//! let kernel = KernelResources { registers_per_thread: 37, static_shared_memory: 8192, ..Default::default() };
//! let launch = LaunchConfig::threads(1024);
//!
//! let occupancy = Occupancy::of(gpu.limits()?, &kernel, &launch)?;
//! assert_eq!((occupancy.blocks_per_sm, occupancy.warps_per_sm), (1, 32));
//! assert_eq!(occupancy.limited_by.to_string(), "warps, registers");
//!
//! let cut = Occupancy::cuts(gpu.limits()?, &kernel, &launch)?[0];
//! assert_eq!((cut.from, cut.to, cut.after.ratio()), (1024, 768, 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod architecture;
mod block_size;
mod capability;
pub mod clusters;
pub mod device;
mod gpu;
pub mod instructions;
pub mod launch;
pub mod limits;
pub mod memory;
pub mod occupancy;
pub mod parts;
pub mod rates;
mod roofline;

pub use architecture::{Architecture, InstructionSet};
pub use block_size::{BlockSize, DynamicSharedMemory, SquareBlock};
pub use capability::{ComputeCapability, ParseComputeCapabilityError};
pub use device::{Device, DeviceClass, DeviceLookupError, Gpcs, TensorCores};
pub use gpu::Gpu;
pub use instructions::Instruction;
pub use launch::{Blocks, ClusterLimit, GridLaunch, LaunchRefusal};
pub use limits::{Limits, MaxClusterSize, PartitionedGlobalCaching, UnknownComputeCapability, WARP_SIZE};
pub use occupancy::{
    Allocation, BlockLimits, CachePreference, Carveout, ConfigurationError, CurvePoint, Cut, GlobalCaching,
    KernelResources, LaunchConfig, Occupancy, Resource, ResourceSet, SharedMemoryOptIn, Vary,
};
pub use parts::{Part, PartCosts};
pub use rates::Rate;
pub use roofline::{Bound, Roofline, product_intensity};
