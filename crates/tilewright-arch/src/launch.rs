//! Whether a launch can be: one rule for checks before a kernel runs, and for the emulated driver.
//!
//! The order in which limits are looked at is the driver's. On an H100 with driver 580 all refusals but three are `CUDA_ERROR_INVALID_VALUE` (1):
//! too many registers are `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES` (701), clusters `CUDA_ERROR_INVALID_CLUSTER_SIZE` (912), and blocks of a cooperative
//! launch that are not resident at once `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE` (720), also where not even one fits.

use crate::{ConfigurationError, KernelResources, LaunchConfig, Limits, Occupancy, WARP_SIZE};
use std::fmt;

/// Blocks along x, y and z at most (CUDA C++ Programming Guide, "Compute Capabilities").
const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Threads of a block along z at most; along x and y as many as a block has.
const MOST_THREADS_Z: u32 = 64;

/// A grid of blocks, as a host launches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridLaunch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z; `None` for no clusters.
    pub cluster: Option<[u32; 3]>,
    /// The largest clusters that the kernel was allowed.
    pub cluster_limit: ClusterLimit,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared_memory: u32,
    /// Whether blocks may wait for each other.
    pub blocks: Blocks,
}

/// The largest clusters of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClusterLimit {
    /// What every GPU with clusters takes.
    Portable,
    /// What this one takes: `cudaFuncAttributeNonPortableClusterSizeAllowed` is set.
    #[default]
    NonPortable,
}

/// Whether the blocks of a launch may wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// No: they run in any order.
    #[default]
    Independent,
    /// Yes, as in `grid.sync()`: all are on the GPU at once (`cuLaunchCooperativeKernel`).
    Cooperative,
}

impl Blocks {
    /// Those of a launch that is cooperative, or is not.
    pub fn of(is_cooperative: bool) -> Self {
        if is_cooperative { Self::Cooperative } else { Self::Independent }
    }
}

/// Why a launch cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchRefusal {
    /// An extent of the grid is 0 or too large.
    Grid {
        /// As asked for.
        grid: [u32; 3],
    },
    /// An extent of the block is 0 or too large, or the block has too many threads.
    Block {
        /// As asked for.
        block: [u32; 3],
        /// Threads that a block may have.
        limit: u32,
    },
    /// The grid is not made of whole clusters.
    ClustersOfGrid {
        /// Blocks of a cluster.
        cluster: [u32; 3],
        /// Blocks of the grid.
        grid: [u32; 3],
    },
    /// More blocks than are resident at once, in a cooperative launch.
    Cooperative {
        /// Blocks of the grid.
        blocks: u64,
        /// Blocks that an SM holds.
        per_multiprocessor: u32,
        /// Blocks that the GPU holds; `None` if its SMs are not known.
        resident: Option<u64>,
    },
    /// A block does not fit.
    Configuration(ConfigurationError),
}

impl GridLaunch {
    /// A launch without clusters and dynamic shared memory, whose blocks do not wait for each other.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            cluster: None,
            cluster_limit: ClusterLimit::NonPortable,
            dynamic_shared_memory: 0,
            blocks: Blocks::Independent,
        }
    }

    /// One of its blocks, as occupancy sees it. More threads or blocks of a cluster than 32 bits hold are as many as these hold.
    pub fn configuration(&self) -> LaunchConfig {
        let number = |extent: [u32; 3]| u32::try_from(product(extent)).unwrap_or(u32::MAX);
        LaunchConfig {
            dynamic_shared_memory: self.dynamic_shared_memory,
            cluster_size: self.cluster.map_or(1, number),
            ..LaunchConfig::threads(number(self.block))
        }
    }

    /// Whether `kernel` can be launched like this on a GPU with `limits`. A kernel whose registers are not
    /// known has 0 of them. Where it is not known how many `multiprocessors` the GPU has, of a cooperative
    /// launch only that one block fits is looked at.
    ///
    /// ```
    /// use tilewright_arch::{ComputeCapability, GridLaunch, KernelResources, Limits};
    ///
    /// let limits = Limits::of(ComputeCapability::new(9, 0))?;
    /// let kernel = KernelResources { registers_per_thread: 103, ..Default::default() };
    /// let refusal = GridLaunch::new([1; 3], [1024, 1, 1]).check(limits, &kernel, None).unwrap_err();
    /// assert!(refusal.to_string().starts_with("a block of 1024 threads with 103 registers each takes 106496, 40960 more than"));
    /// assert!(refusal.remedy(limits, &kernel).starts_with("`__launch_bounds__(1024)` holds the compiler to 64 registers"));
    /// # Ok::<(), tilewright_arch::UnknownComputeCapability>(())
    /// ```
    ///
    /// # Errors
    /// The first limit that is exceeded, in the driver's order.
    pub fn check(
        &self,
        limits: &Limits,
        kernel: &KernelResources,
        multiprocessors: Option<u32>,
    ) -> Result<(), LaunchRefusal> {
        if self.grid.iter().zip(MOST_BLOCKS).any(|(&blocks, most)| blocks == 0 || blocks > most) {
            return Err(LaunchRefusal::Grid { grid: self.grid });
        }
        let (threads, limit) = (product(self.block), limits.max_threads_per_block);
        if threads == 0 || threads > limit.into() || self.block[2] > MOST_THREADS_Z {
            return Err(LaunchRefusal::Block { block: self.block, limit });
        }
        // The toolkit's calculator takes more, but no compiler makes it for all GPUs of an architecture.
        let (bytes, limit) = (kernel.static_shared_memory, limits.shared_memory_per_block);
        if bytes > limit {
            return Err(ConfigurationError::StaticSharedMemory { bytes, limit }.into());
        }
        let configuration = self.configuration();
        let checked = configuration.check(limits, kernel);
        self.check_clusters(limits)?;
        if self.blocks == Blocks::Cooperative {
            // Not even one block fits: where that is for its registers, the driver calls it too many.
            let is_for_registers = matches!(
                checked,
                Err(ConfigurationError::RegistersPerBlock { .. }
                    | ConfigurationError::RegistersPerThread { .. })
            );
            if checked.is_ok() || is_for_registers {
                self.check_residency(limits, kernel, &configuration, multiprocessors)?;
            }
        }
        checked.map_err(LaunchRefusal::Configuration)
    }

    fn check_clusters(&self, limits: &Limits) -> Result<(), LaunchRefusal> {
        let Some(cluster) = self.cluster else { return Ok(()) };
        let blocks = self.configuration().cluster_size;
        let limit = match self.cluster_limit {
            ClusterLimit::Portable => limits.max_cluster_size.portable,
            ClusterLimit::NonPortable => limits.max_cluster_size.non_portable,
        };
        if blocks == 0 || blocks > limit {
            return Err(ConfigurationError::ClusterSize { blocks, limit }.into());
        }
        if self.grid.iter().zip(cluster).any(|(blocks, of)| !blocks.is_multiple_of(of)) {
            return Err(LaunchRefusal::ClustersOfGrid { cluster, grid: self.grid });
        }
        Ok(())
    }

    fn check_residency(
        &self,
        limits: &Limits,
        kernel: &KernelResources,
        configuration: &LaunchConfig,
        multiprocessors: Option<u32>,
    ) -> Result<(), LaunchRefusal> {
        let per_multiprocessor = Occupancy::of(limits, kernel, configuration)?.blocks_per_sm;
        let resident = multiprocessors.map(|sms| u64::from(sms) * u64::from(per_multiprocessor));
        let blocks = product(self.grid);
        let fits = per_multiprocessor > 0 && resident.is_none_or(|resident| blocks <= resident);
        if fits { Ok(()) } else { Err(LaunchRefusal::Cooperative { blocks, per_multiprocessor, resident }) }
    }
}

impl From<ConfigurationError> for LaunchRefusal {
    fn from(error: ConfigurationError) -> Self {
        Self::Configuration(error)
    }
}

impl LaunchRefusal {
    /// What makes the launch possible, with its numbers.
    pub fn remedy(&self, limits: &Limits, kernel: &KernelResources) -> String {
        use ConfigurationError as E;
        match *self {
            Self::Grid { .. } => {
                "let blocks take several pieces of the work in a loop, or spread them over x".into()
            }
            Self::Block { limit, .. } => format!("use at most {limit} threads per block, and more blocks"),
            Self::ClustersOfGrid { .. } => "round the grid up to whole clusters, and guard the work".into(),
            Self::Cooperative { per_multiprocessor: 0, .. } => {
                "make the block smaller, so that one fits: fewer threads, registers or bytes of shared memory"
                    .into()
            }
            Self::Cooperative { resident, .. } => format!(
                "launch at most {} blocks (cudaOccupancyMaxActiveBlocksPerMultiprocessor times the SMs), and let each take several \
                 pieces of the work in a loop",
                resident.unwrap_or_default()
            ),
            Self::Configuration(error) => match error {
                E::NoThreads => "give the block a thread".into(),
                E::ThreadsPerBlock { limit, .. } => format!("use at most {limit} threads per block"),
                E::LaunchBounds { threads, limit } => format!(
                    "use at most {limit} threads per block, or compile the kernel for more: `__launch_bounds__({threads})`"
                ),
                E::RegistersPerThread { limit, .. } => {
                    format!("compile the kernel with at most {limit} registers per thread")
                }
                E::RegistersPerBlock { threads, registers_per_thread, limit, .. } => {
                    registers_or_threads(limits, threads, registers_per_thread, limit)
                }
                E::PartitionedCaching { .. } => {
                    "do not ask for the partitioned cache, or use fewer threads".into()
                }
                E::StaticSharedMemory { bytes, limit } => {
                    let most = limits.shared_memory_per_block_optin;
                    let take = format!(
                        "declare it `extern __shared__`, allow it with cudaFuncSetAttribute(kernel, \
                         cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes}), and give {bytes} bytes as the launch's third number"
                    );
                    if bytes <= most {
                        take
                    } else {
                        format!(
                            "use smaller arrays: at most {limit} bytes, or {most} as dynamic shared memory"
                        )
                    }
                }
                E::SharedMemory { bytes, optin_limit, limit }
                    if limit < optin_limit && bytes <= optin_limit.into() =>
                {
                    allow_dynamic(bytes.saturating_sub(kernel.static_shared_memory.into()))
                }
                E::SharedMemory { limit, .. } => {
                    format!("use at most {limit} bytes of shared memory per block")
                }
                E::DynamicSharedMemory { bytes, .. }
                    if u64::from(bytes) + u64::from(kernel.static_shared_memory)
                        <= limits.shared_memory_per_block_optin.into() =>
                {
                    allow_dynamic(bytes.into())
                }
                E::DynamicSharedMemory { .. } => format!(
                    "use at most {} bytes of shared memory per block",
                    limits.shared_memory_per_block_optin
                ),
                E::Barriers { limit, .. } => format!("use at most {limit} barriers"),
                E::ClusterSize { limit: 1, .. } => {
                    "leave out the cluster, or choose a GPU from 9.0 on".into()
                }
                E::ClusterSize { limit, .. } => format!("use at most {limit} blocks per cluster"),
                E::Carveout { .. } => "give a percentage from 0 to 100".into(),
            },
        }
    }
}

fn allow_dynamic(bytes: u64) -> String {
    format!(
        "allow it before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes})"
    )
}

/// Registers are freed by either.
fn registers_or_threads(limits: &Limits, threads: u32, registers_per_thread: u32, limit: u32) -> String {
    let fits = |threads: u32, registers: u32| {
        let kernel = KernelResources { registers_per_thread: registers, ..KernelResources::default() };
        LaunchConfig::threads(threads).check(limits, &kernel).is_ok()
    };
    let registers = (1..registers_per_thread).rev().find(|&registers| fits(threads, registers));
    let fewer = (1..threads.div_ceil(WARP_SIZE)).rev().map(|warps| warps * WARP_SIZE);
    let fewer = fewer.into_iter().find(|&threads| fits(threads, registers_per_thread));
    let bounds = registers.map(|registers| {
        format!("`__launch_bounds__({threads})` holds the compiler to {registers} registers (what is beyond is spilled)")
    });
    let smaller = fewer.map(|threads| format!("launch blocks of at most {threads} threads"));
    match (bounds, smaller) {
        (Some(bounds), Some(smaller)) => format!("{bounds}; or {smaller}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => format!("use at most {limit} registers per block"),
    }
}

impl fmt::Display for LaunchRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        match *self {
            Self::Grid { grid } => {
                let [x, y, z] = MOST_BLOCKS;
                write!(f, "a grid of {} blocks: extents go from 1 to {x}, {y} and {z}", by(grid))
            }
            Self::Block { block, limit } => write!(
                f,
                "a block of {} threads: it has 1 to {limit} in all, and at most {MOST_THREADS_Z} along z",
                by(block)
            ),
            Self::ClustersOfGrid { cluster, grid } => {
                write!(f, "a grid of {} blocks is no multiple of clusters of {}", by(grid), by(cluster))
            }
            Self::Cooperative { per_multiprocessor: 0, .. } => {
                write!(
                    f,
                    "a cooperative launch needs all blocks on the GPU at once, and an SM holds none of them"
                )
            }
            Self::Cooperative { blocks, per_multiprocessor, resident } => write!(
                f,
                "a cooperative launch needs all {blocks} blocks on the GPU at once, which holds {}: {per_multiprocessor} per SM",
                resident.unwrap_or_default()
            ),
            Self::Configuration(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LaunchRefusal {}

fn product(extent: [u32; 3]) -> u64 {
    extent.iter().fold(1, |all: u64, &one| all.saturating_mul(one.into()))
}
