//! Blocks per SM by shared memory.

use super::resources::requested_shared_memory;
use super::{
    CachePreference, Carveout, ConfigurationError, KernelResources, LaunchConfig, SharedMemoryOptIn,
};
use crate::Limits;

pub(super) struct SharedMemoryLimit {
    /// `None`: the kernel has no shared memory.
    pub blocks: Option<u32>,
    pub allocated_per_block: u32,
}

pub(super) fn limit(
    limits: &Limits,
    kernel: &KernelResources,
    launch: &LaunchConfig,
) -> Result<SharedMemoryLimit, ConfigurationError> {
    let preferred = preferred_pool(limits, launch)?;
    let allocated = allocated_per_block(limits, kernel, launch.dynamic_shared_memory);
    let blocks = if allocated > u64::from(block_maximum(limits, kernel, launch.dynamic_shared_memory))
        || dynamic_maximum(kernel).is_some_and(|maximum| launch.dynamic_shared_memory > maximum)
    {
        Some(0)
    } else {
        // At most a block's maximum: 32 bits hold it.
        pool(limits, preferred, allocated as u32).checked_div(allocated as u32)
    };
    let allocated_per_block = u32::try_from(allocated).unwrap_or(u32::MAX);
    Ok(SharedMemoryLimit { blocks, allocated_per_block })
}

/// Bytes that a block takes: static, dynamic and reserved, rounded up.
pub(super) fn allocated_per_block(limits: &Limits, kernel: &KernelResources, dynamic: u32) -> u64 {
    requested_shared_memory(limits, kernel, dynamic)
        .next_multiple_of(u64::from(limits.shared_memory_granularity))
}

/// Bytes that a block may take, the reserved part included.
pub(super) fn block_maximum(limits: &Limits, kernel: &KernelResources, dynamic: u32) -> u32 {
    let could_need = match kernel.shared_memory_opt_in {
        SharedMemoryOptIn::AsNeeded => requested_shared_memory(limits, kernel, dynamic),
        SharedMemoryOptIn::Bytes(maximum) => requested_shared_memory(limits, kernel, maximum),
        SharedMemoryOptIn::Off => 0,
    };
    let maximum = if could_need > u64::from(limits.shared_memory_per_block) {
        limits.shared_memory_per_block_optin
    } else {
        limits.shared_memory_per_block
    };
    maximum + limits.shared_memory_reserved_per_block
}

/// The dynamic shared memory that the kernel has opted in to, where that is a limit of its own.
pub(super) fn dynamic_maximum(kernel: &KernelResources) -> Option<u32> {
    match kernel.shared_memory_opt_in {
        SharedMemoryOptIn::Bytes(maximum) => Some(maximum),
        SharedMemoryOptIn::AsNeeded | SharedMemoryOptIn::Off => None,
    }
}

/// Shared memory of the SM in the configuration that holds blocks of `allocated` bytes.
fn pool(limits: &Limits, preferred: u32, allocated: u32) -> u32 {
    if preferred >= allocated {
        preferred
    } else {
        configuration(limits, allocated).unwrap_or(limits.shared_memory_per_sm)
    }
}

/// The configuration that the launch prefers, in bytes.
pub(super) fn preferred_pool(limits: &Limits, launch: &LaunchConfig) -> Result<u32, ConfigurationError> {
    if limits.carveouts_kib.is_empty() {
        return Ok(limits.shared_memory_per_sm);
    }
    let percent = match (launch.carveout, launch.cache_preference) {
        (Carveout::Percent(percent), _) => percent,
        (Carveout::Default, CachePreference::L1) => 0,
        (Carveout::Default, CachePreference::Equal) => 50,
        (Carveout::Default, CachePreference::SharedMemory | CachePreference::None) => 100,
    };
    if percent > 100 {
        return Err(ConfigurationError::Carveout { percent });
    }
    let bytes = percent * limits.shared_memory_per_sm / 100;
    Ok(configuration(limits, bytes).unwrap_or(limits.shared_memory_per_sm))
}

/// The smallest configuration of at least `bytes`.
fn configuration(limits: &Limits, bytes: u32) -> Option<u32> {
    limits.carveouts_kib.iter().map(|kib| kib * 1024).find(|&size| size >= bytes)
}

/// The preferred configuration, or the smallest one that is not empty.
pub(super) fn nonempty_pool(limits: &Limits, launch: &LaunchConfig) -> Result<u32, ConfigurationError> {
    let preferred = preferred_pool(limits, launch)?;
    Ok(pool(limits, preferred, 1))
}
