//! What an NVIDIA GPU is, as data and pure functions, without a device.
//!
//! * [`ComputeCapability`] and [`Limits`]: what a multiprocessor (SM) of each generation offers.
//! * [`Occupancy`]: how many blocks of a kernel it holds at once, and what limits them.
//! * [`memory`]: sectors of a global access, wavefronts of a shared load or store, alignment.

mod capability;
mod limits;
pub mod memory;
pub mod occupancy;

pub use capability::{ComputeCapability, ParseComputeCapabilityError};
pub use limits::{Limits, MaxClusterSize, PartitionedGlobalCaching, UnknownComputeCapability, WARP_SIZE};
pub use occupancy::{
    CachePreference, Carveout, ConfigurationError, GlobalCaching, KernelResources, LaunchConfig, Occupancy,
    Resource, ResourceSet, SharedMemoryOptIn,
};
