//! Occupancy as a function of one quantity.

use super::{BARRIERS_PER_BLOCK, ConfigurationError, KernelResources, LaunchConfig, Occupancy, Resource};
use crate::{Limits, WARP_SIZE};

/// A quantity of a configuration that can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vary {
    /// Threads per block.
    Threads,
    /// Registers per thread.
    Registers,
    /// Bytes of shared memory per block, static and dynamic together.
    SharedMemory,
    /// Barriers per block.
    Barriers,
}

impl Vary {
    /// The quantity that uses up a resource. The number of blocks is used up by none.
    pub const fn of_resource(resource: Resource) -> Option<Vary> {
        match resource {
            Resource::Warps => Some(Vary::Threads),
            Resource::Registers => Some(Vary::Registers),
            Resource::SharedMemory => Some(Vary::SharedMemory),
            Resource::Barriers => Some(Vary::Barriers),
            Resource::Blocks => None,
        }
    }

    /// The present value.
    pub const fn value(self, kernel: &KernelResources, launch: &LaunchConfig) -> u32 {
        match self {
            Vary::Threads => launch.threads_per_block,
            Vary::Registers => kernel.registers_per_thread,
            Vary::SharedMemory => kernel.static_shared_memory.saturating_add(launch.dynamic_shared_memory),
            Vary::Barriers => kernel.barriers,
        }
    }

    /// The same configuration with another value. Shared memory below the static part shrinks that part; the rest is
    /// dynamic.
    pub fn set(
        self,
        value: u32,
        kernel: &KernelResources,
        launch: &LaunchConfig,
    ) -> (KernelResources, LaunchConfig) {
        let (mut kernel, mut launch) = (*kernel, *launch);
        match self {
            Vary::Threads => launch.threads_per_block = value,
            Vary::Registers => kernel.registers_per_thread = value,
            Vary::SharedMemory => {
                kernel.static_shared_memory = kernel.static_shared_memory.min(value);
                launch.dynamic_shared_memory = value - kernel.static_shared_memory;
            }
            Vary::Barriers => kernel.barriers = value,
        }
        (kernel, launch)
    }

    /// The values at which a GPU with `limits` can take a step, from the least to the most that a block may have: whole
    /// warps, each number of registers, whole allocations of shared memory.
    pub fn values(self, limits: &Limits) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let (first, last, step) = match self {
            Vary::Threads => (WARP_SIZE, limits.max_threads_per_block, WARP_SIZE),
            Vary::Registers => (1, limits.max_registers_per_thread, 1),
            Vary::SharedMemory => (0, limits.shared_memory_per_block_optin, limits.shared_memory_granularity),
            Vary::Barriers => (0, BARRIERS_PER_BLOCK, 1),
        };
        (first / step..=last / step).map(move |index| index * step)
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CurvePoint {
    /// The varied quantity.
    pub value: u32,
    /// The occupancy with that value and everything else as it is.
    pub occupancy: Occupancy,
}

impl Occupancy {
    /// The occupancy as a function of one quantity, at the given `values`; for all of them see [`Vary::values`].
    ///
    /// ```
    /// use tilewright_arch::*;
    ///
    /// let limits = Limits::of(ComputeCapability::new(8, 6))?;
    /// let kernel = KernelResources { registers_per_thread: 37, ..Default::default() };
    /// let curve =
    ///     Occupancy::curve(limits, &kernel, &LaunchConfig::threads(1024), Vary::Threads, [256, 512, 768, 1024])?;
    /// let ratios: Vec<f64> = curve.iter().map(|point| 48.0 * point.occupancy.ratio()).collect();
    /// assert_eq!(ratios, [48.0, 48.0, 48.0, 32.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Occupancy::of`].
    pub fn curve(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
        quantity: Vary,
        values: impl IntoIterator<Item = u32>,
    ) -> Result<Vec<CurvePoint>, ConfigurationError> {
        values
            .into_iter()
            .map(|value| {
                let (kernel, launch) = quantity.set(value, kernel, launch);
                Ok(CurvePoint { value, occupancy: Occupancy::of(limits, &kernel, &launch)? })
            })
            .collect()
    }
}
