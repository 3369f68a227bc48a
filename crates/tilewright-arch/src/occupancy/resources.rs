//! What a kernel needs and how it is launched.

use crate::{Limits, WARP_SIZE};

/// What a compiled kernel needs: `cudaFuncAttributes`, or the output of `ptxas -v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelResources {
    /// Registers of a thread (`numRegs`).
    pub registers_per_thread: u32,
    /// Bytes of static shared memory of a block (`sharedSizeBytes`).
    pub static_shared_memory: u32,
    /// Threads of a block that the kernel was compiled for (`maxThreadsPerBlock`, `__launch_bounds__`).
    pub max_threads_per_block: u32,
    /// Named barriers ("used N barriers"). The CUDA runtime counts 1 for every kernel, and so does the default.
    pub barriers: u32,
    /// How much dynamic shared memory the kernel has opted in to.
    pub shared_memory_opt_in: SharedMemoryOptIn,
    /// Whether global loads ask for a partitioned cache.
    pub global_caching: GlobalCaching,
}

impl Default for KernelResources {
    /// A kernel that needs no register and no shared memory, has one barrier, takes blocks of any size and opts in
    /// to the shared memory that a launch asks for.
    fn default() -> Self {
        KernelResources {
            registers_per_thread: 0,
            static_shared_memory: 0,
            max_threads_per_block: 1024,
            barriers: 1,
            shared_memory_opt_in: SharedMemoryOptIn::AsNeeded,
            global_caching: GlobalCaching::Off,
        }
    }
}

/// The dynamic shared memory that a kernel may be launched with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SharedMemoryOptIn {
    /// The attribute below is raised to what each launch asks for.
    #[default]
    AsNeeded,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize` is set to this many bytes.
    Bytes(u32),
    /// The kernel does not opt in: 48 KiB in all, static and dynamic.
    Off,
}

/// Global loads through a cache in two partitions, one for each half of the SM (compute capabilities 5.2, 5.3, 6.1,
/// 6.2; the CUDA runtime does not ask for it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GlobalCaching {
    /// Not asked for.
    #[default]
    Off,
    /// Asked for, unless it would keep the kernel from running.
    PreferPartitioned,
    /// Asked for in any case.
    RequirePartitioned,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_memory: u32,
    /// Blocks of a cluster; 1 for none. It does not change the occupancy of one SM.
    pub cluster_size: u32,
    /// How much of the L1 cache to use as shared memory.
    pub carveout: Carveout,
    /// The older way to say so; counts only with [`Carveout::Default`].
    pub cache_preference: CachePreference,
}

impl LaunchConfig {
    /// Blocks of this many threads, without dynamic shared memory, cluster or preference.
    pub const fn threads(threads_per_block: u32) -> Self {
        LaunchConfig {
            threads_per_block,
            dynamic_shared_memory: 0,
            cluster_size: 1,
            carveout: Carveout::Default,
            cache_preference: CachePreference::None,
        }
    }

    /// `ceil(threads / 32)`: the hardware runs whole warps.
    pub const fn warps_per_block(&self) -> u32 {
        self.threads_per_block.div_ceil(WARP_SIZE)
    }
}

/// `cudaFuncAttributePreferredSharedMemoryCarveout`: shared memory as a percentage of the SM's maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Carveout {
    /// The driver's choice: as large as needed.
    #[default]
    Default,
    /// 0 to 100; rounded up to the next configuration of the SM.
    Percent(u32),
}

/// `cudaFuncSetCacheConfig`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CachePreference {
    /// No preference.
    #[default]
    None,
    /// As much shared memory as possible.
    SharedMemory,
    /// As much L1 as possible.
    L1,
    /// Half and half.
    Equal,
}

/// Shared memory of a block in bytes, wide enough for any input.
pub(super) fn requested_shared_memory(limits: &Limits, kernel: &KernelResources, dynamic: u32) -> u64 {
    u64::from(kernel.static_shared_memory)
        + u64::from(limits.shared_memory_reserved_per_block)
        + u64::from(dynamic)
}
