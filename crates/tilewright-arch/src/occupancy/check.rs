//! Why a configuration cannot launch.

use super::{BARRIERS_PER_BLOCK, GlobalCaching, KernelResources, LaunchConfig, registers, shared_memory};
use crate::Limits;
use std::fmt;

/// A launch that the hardware or the CUDA runtime would refuse: which limit, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigurationError {
    /// A block has no thread.
    NoThreads,
    /// More threads than a block can have.
    ThreadsPerBlock {
        /// Threads of the block.
        threads: u32,
        /// Threads that it may have.
        limit: u32,
    },
    /// More threads than the kernel was compiled for.
    LaunchBounds {
        /// Threads of the block.
        threads: u32,
        /// Threads in the kernel's launch bounds.
        limit: u32,
    },
    /// More registers than a thread can have.
    RegistersPerThread {
        /// Registers of a thread.
        registers: u32,
        /// Registers that it may have.
        limit: u32,
    },
    /// More registers than a block can have.
    RegistersPerBlock {
        /// Threads of the block.
        threads: u32,
        /// Registers of a thread.
        registers_per_thread: u32,
        /// Registers of the block: those of its warps, in whole rounds over the sub-partitions.
        registers: u64,
        /// Registers that it may have.
        limit: u32,
    },
    /// The block does not fit the half of an SM that a partitioned cache ties it to.
    PartitionedCaching {
        /// Warps of the block.
        warps: u32,
        /// Warps with these registers that half an SM holds.
        limit: u32,
    },
    /// More shared memory than a block can have.
    SharedMemory {
        /// Bytes of the block, static and dynamic, without the reserved part.
        bytes: u64,
        /// Bytes that it may have.
        limit: u32,
        /// Bytes that it may have if it opts in.
        optin_limit: u32,
    },
    /// More static shared memory than a kernel can declare: only dynamic shared memory goes beyond.
    StaticSharedMemory {
        /// Bytes of the kernel.
        bytes: u32,
        /// Bytes that it may declare.
        limit: u32,
    },
    /// More dynamic shared memory than the kernel has opted in to.
    DynamicSharedMemory {
        /// Bytes asked for.
        bytes: u32,
        /// Bytes of the attribute.
        limit: u32,
    },
    /// More barriers than a block can have.
    Barriers {
        /// Barriers of the kernel.
        barriers: u32,
        /// Barriers that it may have.
        limit: u32,
    },
    /// A cluster that is larger than the compute capability allows, or empty.
    ClusterSize {
        /// Blocks of the cluster.
        blocks: u32,
        /// Blocks that it may have.
        limit: u32,
    },
    /// A carve-out that is no percentage.
    Carveout {
        /// What was asked for.
        percent: u32,
    },
}

impl LaunchConfig {
    /// Whether `kernel` can be launched like this on a GPU with `limits`.
    ///
    /// A configuration with 0 blocks in [`Occupancy::of`](super::Occupancy::of) is refused here. So is what that
    /// calculation does not look at: launch bounds, cluster sizes, a 256th register, a 17th barrier.
    ///
    /// ```
    /// use tilewright_arch::{ComputeCapability, ConfigurationError, KernelResources, LaunchConfig, Limits};
    ///
    /// let limits = Limits::of(ComputeCapability::new(8, 6))?;
    /// let kernel = KernelResources { registers_per_thread: 72, ..Default::default() };
    /// let error = LaunchConfig::threads(1024).check(limits, &kernel);
    /// assert!(matches!(error, Err(ConfigurationError::RegistersPerBlock { registers: 73728, limit: 65536, .. })));
    /// # Ok::<(), tilewright_arch::UnknownComputeCapability>(())
    /// ```
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check(&self, limits: &Limits, kernel: &KernelResources) -> Result<(), ConfigurationError> {
        // As the driver does: registers come last of these.
        self.check_threads(limits, kernel)?;
        self.check_shared_memory(limits, kernel)?;
        self.check_registers(limits, kernel)?;
        let barrier_limit = BARRIERS_PER_BLOCK.min(limits.barriers_per_sm);
        if kernel.barriers > barrier_limit {
            return Err(ConfigurationError::Barriers { barriers: kernel.barriers, limit: barrier_limit });
        }
        let cluster_limit = limits.max_cluster_size.non_portable;
        if self.cluster_size == 0 || self.cluster_size > cluster_limit {
            return Err(ConfigurationError::ClusterSize { blocks: self.cluster_size, limit: cluster_limit });
        }
        Ok(())
    }

    fn check_threads(&self, limits: &Limits, kernel: &KernelResources) -> Result<(), ConfigurationError> {
        let threads = self.threads_per_block;
        if threads == 0 {
            Err(ConfigurationError::NoThreads)
        } else if threads > limits.max_threads_per_block {
            Err(ConfigurationError::ThreadsPerBlock { threads, limit: limits.max_threads_per_block })
        } else if threads > kernel.max_threads_per_block {
            Err(ConfigurationError::LaunchBounds { threads, limit: kernel.max_threads_per_block })
        } else {
            Ok(())
        }
    }

    fn check_registers(&self, limits: &Limits, kernel: &KernelResources) -> Result<(), ConfigurationError> {
        let (registers, warps) = (kernel.registers_per_thread, self.warps_per_block());
        if registers > limits.max_registers_per_thread {
            let limit = limits.max_registers_per_thread;
            return Err(ConfigurationError::RegistersPerThread { registers, limit });
        }
        let needed = registers::per_block(limits, registers, warps);
        if needed > u64::from(limits.registers_per_block) {
            let limit = limits.registers_per_block;
            return Err(ConfigurationError::RegistersPerBlock {
                threads: self.threads_per_block,
                registers_per_thread: registers,
                registers: needed,
                limit,
            });
        }
        let outcome = registers::limit(limits, kernel, warps);
        if outcome.caching == GlobalCaching::RequirePartitioned && outcome.blocks == Some(0) {
            let limit = registers::warps_per_partition(limits, registers) * (limits.sub_partitions / 2);
            return Err(ConfigurationError::PartitionedCaching { warps, limit });
        }
        Ok(())
    }

    fn check_shared_memory(
        &self,
        limits: &Limits,
        kernel: &KernelResources,
    ) -> Result<(), ConfigurationError> {
        let dynamic = self.dynamic_shared_memory;
        shared_memory::preferred_pool(limits, self)?;
        if let Some(limit) = shared_memory::dynamic_maximum(kernel).filter(|&limit| dynamic > limit) {
            return Err(ConfigurationError::DynamicSharedMemory { bytes: dynamic, limit });
        }
        let limit = shared_memory::block_maximum(limits, kernel, dynamic);
        if shared_memory::allocated_per_block(limits, kernel, dynamic) > u64::from(limit) {
            let (bytes, most) = (kernel.static_shared_memory, limits.shared_memory_per_block);
            if bytes > most {
                return Err(ConfigurationError::StaticSharedMemory { bytes, limit: most });
            }
            return Err(ConfigurationError::SharedMemory {
                bytes: u64::from(kernel.static_shared_memory) + u64::from(dynamic),
                limit: limit - limits.shared_memory_reserved_per_block,
                optin_limit: limits.shared_memory_per_block_optin,
            });
        }
        Ok(())
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ConfigurationError as E;
        match *self {
            E::NoThreads => write!(f, "a block needs at least one thread"),
            E::ThreadsPerBlock { threads, limit } => {
                write!(f, "{threads} threads per block exceed the limit of {limit} by {}", threads - limit)
            }
            E::LaunchBounds { threads, limit } => write!(
                f,
                "{threads} threads per block exceed the kernel's launch bounds of {limit} by {}",
                threads - limit
            ),
            E::RegistersPerThread { registers, limit } => {
                write!(
                    f,
                    "{registers} registers per thread exceed the limit of {limit} by {}",
                    registers - limit
                )
            }
            E::RegistersPerBlock { threads, registers_per_thread, registers, limit } => write!(
                f,
                "a block of {threads} threads with {registers_per_thread} registers each takes {registers}, {} more than the \
                 limit of {limit}",
                registers - u64::from(limit)
            ),
            E::PartitionedCaching { warps, limit } => write!(
                f,
                "a block of {warps} warps does not fit the half of an SM that partitioned global caching ties it to, \
                 which holds {limit} with these registers"
            ),
            E::SharedMemory { bytes, limit, optin_limit } => {
                let excess = bytes - u64::from(limit);
                write!(
                    f,
                    "a block takes {bytes} bytes of shared memory, {excess} more than the limit of {limit}"
                )?;
                if limit < optin_limit && bytes <= u64::from(optin_limit) {
                    write!(f, "; opting in raises the limit to {optin_limit}")?;
                }
                Ok(())
            }
            E::StaticSharedMemory { bytes, limit } => write!(
                f,
                "{bytes} bytes of static shared memory exceed the {limit} that a kernel can declare by {}",
                bytes - limit
            ),
            E::DynamicSharedMemory { bytes, limit } => write!(
                f,
                "{bytes} bytes of dynamic shared memory exceed the {limit} that the kernel has opted in to by {}",
                bytes - limit
            ),
            E::Barriers { barriers, limit } => {
                write!(f, "{barriers} barriers exceed the limit of {limit} by {}", barriers - limit)
            }
            E::ClusterSize { blocks: 0, .. } => write!(f, "a cluster needs at least one block"),
            E::ClusterSize { blocks, limit: 1 } => {
                write!(f, "clusters (here of {blocks} blocks) need compute capability 9.0 or later")
            }
            E::ClusterSize { blocks, limit } => {
                write!(f, "a cluster of {blocks} blocks exceeds the limit of {limit} by {}", blocks - limit)
            }
            E::Carveout { percent } => {
                write!(f, "a carve-out of {percent} % is out of range: it is a percentage, 0 to 100")
            }
        }
    }
}

impl std::error::Error for ConfigurationError {}
