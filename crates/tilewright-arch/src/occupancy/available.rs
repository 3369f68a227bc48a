//! How much dynamic shared memory a launch may still take.

use super::{ConfigurationError, KernelResources, LaunchConfig, Occupancy, SharedMemoryOptIn, shared_memory};
use crate::Limits;

impl Occupancy {
    /// The dynamic shared memory that each block may have while `blocks` of them stay resident on an SM, in bytes.
    ///
    /// It is the pool divided by the blocks, rounded down to the granularity, at most what a block may have, less the static
    /// and the reserved part. For one block the pool is a block's maximum. `None` if fewer blocks are resident even
    /// without dynamic shared memory, or none were asked for. `launch.dynamic_shared_memory` is ignored.
    ///
    /// Source: `cudaOccupancyAvailableDynamicSMemPerBlock` of CUDA 13.5, which subtracts the reserved part (13.0 does
    /// not).
    ///
    /// # Errors
    /// Those of [`Occupancy::of`].
    pub fn available_dynamic_shared_memory(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
        blocks: u32,
    ) -> Result<Option<u32>, ConfigurationError> {
        let bare = LaunchConfig { dynamic_shared_memory: 0, ..*launch };
        if blocks == 0 || Occupancy::of(limits, kernel, &bare)?.blocks_per_sm < blocks {
            return Ok(None);
        }
        let reserved = limits.shared_memory_reserved_per_block;
        let maximum = reserved
            + match kernel.shared_memory_opt_in {
                SharedMemoryOptIn::Off => limits.shared_memory_per_block,
                SharedMemoryOptIn::AsNeeded | SharedMemoryOptIn::Bytes(_) => {
                    limits.shared_memory_per_block_optin
                }
            };
        let pool = if blocks == 1 { maximum } else { shared_memory::nonempty_pool(limits, launch)? };
        let granularity = limits.shared_memory_granularity;
        let share = (pool / blocks / granularity * granularity).min(maximum);
        let available = share.saturating_sub(reserved).saturating_sub(kernel.static_shared_memory);
        Ok(Some(shared_memory::dynamic_maximum(kernel).map_or(available, |maximum| available.min(maximum))))
    }
}
