//! What an NVIDIA GPU is, as data and pure functions, without a device.
//!
//! * [`ComputeCapability`] and [`Limits`]: what a multiprocessor (SM) of each generation offers.
//! * [`Occupancy`]: how many blocks of a kernel it holds at once, and what limits them.
//! * [`BlockSize`]: the block size with the highest occupancy; [`clusters`]: a bound on resident clusters.
//! * [`Device`]: GPUs by name, with their clocks, memory and peaks; [`Rate`]: kinds of arithmetic; [`Roofline`].
//! * [`memory`]: sectors of a global access, wavefronts of a shared load or store, alignment.

mod block_size;
mod capability;
pub mod clusters;
mod device;
mod limits;
pub mod memory;
pub mod occupancy;
mod rates;
mod roofline;

pub use block_size::{BlockSize, DynamicSharedMemory, SquareBlock};
pub use capability::{ComputeCapability, ParseComputeCapabilityError};
pub use device::{Device, DeviceClass, DeviceLookupError, Gpcs, TensorCores};
pub use limits::{Limits, MaxClusterSize, PartitionedGlobalCaching, UnknownComputeCapability, WARP_SIZE};
pub use occupancy::{
    Allocation, BlockLimits, CachePreference, Carveout, ConfigurationError, CurvePoint, Cut, GlobalCaching,
    KernelResources, LaunchConfig, Occupancy, Resource, ResourceSet, SharedMemoryOptIn, Vary,
};
pub use rates::Rate;
pub use roofline::{Bound, Roofline, product_intensity};
