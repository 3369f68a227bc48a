//! Occupancy: how many blocks of a kernel are resident on one multiprocessor (SM), and what limits them.
//!
//! # The calculation
//!
//! Each resource of the SM allows a number of blocks; the smallest one wins. With `W = ceil(threads / 32)` warps per
//! block, all divisions rounded down unless said otherwise:
//!
//! * **Warps:** `max warps / W`; 0 above 1,024 threads.
//! * **Blocks:** a constant of the compute capability.
//! * **Registers:** a warp gets `r = 32 * registers` rounded up to 256, from one of the SM's 4 sub-partitions (2 on
//!   6.0). Each sub-partition holds `q = (registers per SM / sub-partitions) / r` warps, so
//!   `q * sub-partitions / W` blocks. 0 if the block's warps, rounded up to whole rounds over the sub-partitions, exceed the
//!   registers of a block.
//! * **Shared memory:** a block gets `A` = static + dynamic + reserved (1 KiB from 8.0 on), rounded up to the
//!   granularity; the limit is `pool / A`. The pool is the SM's shared memory at the preferred configuration, or at the
//!   smallest configuration that holds one block if that is larger. 0 if `A` exceeds what a block may have: 48 KiB, or
//!   the opt-in maximum, plus the reserved part.
//! * **Barriers**, from 9.0 on: `barriers per SM / barriers of the kernel`.
//!
//! Sources: CUDA C++ Programming Guide ("Hardware Multithreading", "Compute Capabilities"), the tuning guides
//! ("Occupancy", "Unified Shared Memory/L1/Texture Cache"), and the answers of the calculator in the CUDA toolkit, with
//! which every number here agrees (see below).
//!
//! # Agreement with the CUDA toolkit, and its quirks
//!
//! [`Occupancy::of`] gives the numbers of the CUDA 13.5 toolkit's `cudaOccMaxActiveBlocksPerMultiprocessor` in every
//! field: blocks, each limit, limiting factors, allocations. What may surprise is kept and named:
//!
//! * A configuration that cannot launch is not an error but 0 blocks; [`LaunchConfig::check`] says why it cannot.
//! * When barriers lower the number of blocks, the resources that limited it before stay in `limited_by`
//!   ([`Occupancy::binding`] leaves them out). The runtime counts one barrier for every kernel.
//! * 256 registers per thread are accepted from 7.0 on, though the instruction set ends at 255.
//! * On 6.0, a kernel whose block exceeds the registers when its warps are rounded up to 4 sub-partitions (as on 6.1) has
//!   the register limit 0, though 6.0 has 2.
//! * From 8.0 on a kernel without shared memory is still limited by it, through the reserved 1 KiB per block; before,
//!   it has no limit.
//! * The carve-out percentage is of all shared memory, in whole bytes, rounded up to the next configuration; it wins over
//!   the cache preference; a preference too small for one block is overridden. Before 7.0 both are ignored.
//! * A carve-out above 100 % is an error from 7.0 on and ignored before.
//! * Opting in counts only if the kernel could need more than 48 KiB in all, reserved part included.
//! * The allocations are reported even if they exceed the limits.
//!
//! # The courses' simple formula
//!
//! See [`thread_occupancy`].

mod available;
mod check;
mod cuts;
mod registers;
mod resources;
mod shared_memory;
mod vary;

pub use check::ConfigurationError;
pub use cuts::Cut;
pub use resources::{
    CachePreference, Carveout, GlobalCaching, KernelResources, LaunchConfig, SharedMemoryOptIn,
};
pub use vary::{CurvePoint, Vary};

use crate::{Limits, WARP_SIZE};
use std::fmt;

/// Named barriers of a block (PTX ISA, `barrier`: barriers 0 to 15).
const BARRIERS_PER_BLOCK: u32 = 16;

/// A resource of an SM that resident blocks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Warps, that is, threads.
    Warps,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// Blocks.
    Blocks,
    /// Named barriers.
    Barriers,
}

impl Resource {
    /// Every resource.
    pub const ALL: [Resource; 5] =
        [Resource::Warps, Resource::Registers, Resource::SharedMemory, Resource::Blocks, Resource::Barriers];

    /// Its name in reports: `warps`, `registers`, `shared_memory`, `blocks`, `barriers`.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::Warps => "warps",
            Resource::Registers => "registers",
            Resource::SharedMemory => "shared_memory",
            Resource::Blocks => "blocks",
            Resource::Barriers => "barriers",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceSet {
    bits: u8,
}

impl ResourceSet {
    /// Whether `resource` is in the set.
    pub const fn contains(self, resource: Resource) -> bool {
        self.bits & (1 << resource as u8) != 0
    }

    /// Whether no resource is in the set.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The resources in the set, in the order of [`Resource::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Resource> {
        Resource::ALL.into_iter().filter(move |&resource| self.contains(resource))
    }

    /// As the limiting factors of the CUDA toolkit: warps 1, registers 2, shared memory 4, blocks 8, barriers 16.
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    fn insert(&mut self, resource: Resource) {
        self.bits |= 1 << resource as u8;
    }
}

impl fmt::Display for ResourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, resource) in self.iter().enumerate() {
            write!(f, "{}{resource}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The blocks per SM that each resource alone allows. `None`: the kernel needs nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockLimits {
    /// By resident warps.
    pub warps: u32,
    /// By resident blocks.
    pub blocks: u32,
    /// By registers.
    pub registers: Option<u32>,
    /// By shared memory.
    pub shared_memory: Option<u32>,
    /// By barriers.
    pub barriers: Option<u32>,
}

impl BlockLimits {
    /// The limit by `resource`.
    pub const fn get(&self, resource: Resource) -> Option<u32> {
        match resource {
            Resource::Warps => Some(self.warps),
            Resource::Registers => self.registers,
            Resource::SharedMemory => self.shared_memory,
            Resource::Blocks => Some(self.blocks),
            Resource::Barriers => self.barriers,
        }
    }

    fn with(&self, resources: impl Iterator<Item = Resource>, blocks: u32) -> ResourceSet {
        let mut set = ResourceSet::default();
        resources
            .filter(|&resource| self.get(resource) == Some(blocks))
            .for_each(|resource| set.insert(resource));
        set
    }
}

/// What a resident block takes from the SM, after rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allocation {
    /// Registers.
    pub registers_per_block: u32,
    /// Bytes of shared memory, the reserved part included.
    pub shared_memory_per_block: u32,
}

/// How many blocks of a kernel are resident on one SM, and what limits them.
///
/// ```
/// use tilewright_arch::{ComputeCapability, KernelResources, LaunchConfig, Limits, Occupancy, Resource};
///
/// // The RTX A6000 (compute capability 8.6).
/// let limits = Limits::of(ComputeCapability::new(8, 6))?;
/// let kernel = KernelResources { registers_per_thread: 37, static_shared_memory: 8192, ..Default::default() };
/// let occupancy = Occupancy::of(limits, &kernel, &LaunchConfig::threads(1024))?;
///
/// assert_eq!(occupancy.blocks_per_sm, 1);
/// assert_eq!((occupancy.warps_per_sm, occupancy.max_warps_per_sm), (32, 48));
/// assert!(occupancy.limited_by.iter().eq([Resource::Warps, Resource::Registers]));
/// assert_eq!(occupancy.limits.shared_memory, Some(11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occupancy {
    /// Resident blocks; 0 if the configuration cannot launch.
    pub blocks_per_sm: u32,
    /// Resident warps.
    pub warps_per_sm: u32,
    /// Warps that the SM could hold.
    pub max_warps_per_sm: u32,
    /// The blocks that each resource alone allows.
    pub limits: BlockLimits,
    /// The resources that limit the blocks, as the CUDA toolkit reports them (see [`Occupancy::binding`]).
    pub limited_by: ResourceSet,
    /// What a block takes.
    pub allocated: Allocation,
    /// How global loads are cached: what was asked for, or off where that is not possible.
    pub global_caching: GlobalCaching,
}

impl Occupancy {
    /// The occupancy of `kernel`, launched as `launch`, on an SM with `limits`.
    ///
    /// Does not allocate. Formula and sources: see the [module](self).
    ///
    /// # Errors
    /// [`ConfigurationError::NoThreads`] and [`ConfigurationError::Carveout`]. A configuration that exceeds a limit
    /// has 0 blocks instead; [`LaunchConfig::check`] says what it exceeds.
    pub fn of(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
    ) -> Result<Occupancy, ConfigurationError> {
        if launch.threads_per_block == 0 {
            return Err(ConfigurationError::NoThreads);
        }
        let warps = launch.warps_per_block();
        let shared_memory = shared_memory::limit(limits, kernel, launch)?;
        let registers = registers::limit(limits, kernel, warps);
        let block_limits = BlockLimits {
            warps: warp_limit(limits, launch.threads_per_block, registers.caching),
            blocks: limits.max_blocks_per_sm,
            registers: registers.blocks,
            shared_memory: shared_memory.blocks,
            barriers: barrier_limit(limits, kernel.barriers),
        };

        let without_barriers =
            [Resource::Warps, Resource::Registers, Resource::SharedMemory, Resource::Blocks];
        let smallest = |resources: &[Resource]| {
            resources.iter().filter_map(|&resource| block_limits.get(resource)).fold(u32::MAX, u32::min)
        };
        let before_barriers = smallest(&without_barriers);
        let blocks_per_sm = smallest(&Resource::ALL);
        let mut limited_by = block_limits.with(without_barriers.into_iter(), before_barriers);
        if block_limits.barriers.is_some_and(|limit| limit <= before_barriers) {
            limited_by.insert(Resource::Barriers);
        }

        Ok(Occupancy {
            blocks_per_sm,
            warps_per_sm: blocks_per_sm * warps,
            max_warps_per_sm: limits.max_warps_per_sm(),
            limits: block_limits,
            limited_by,
            allocated: Allocation {
                registers_per_block: registers.allocated_per_block,
                shared_memory_per_block: shared_memory.allocated_per_block,
            },
            global_caching: registers.caching,
        })
    }

    /// Resident warps as a part of those that the SM could hold, 0 to 1.
    pub fn ratio(&self) -> f64 {
        f64::from(self.warps_per_sm) / f64::from(self.max_warps_per_sm)
    }

    /// The resources whose limit equals the resident blocks: raising any other limit changes nothing.
    pub fn binding(&self) -> ResourceSet {
        self.limits.with(Resource::ALL.into_iter(), self.blocks_per_sm)
    }
}

/// The simple formula of many courses: `blocks per SM * threads per block / max threads per SM`.
///
/// `blocks_per_sm` is what `cudaOccupancyMaxActiveBlocksPerMultiprocessor` returns, here
/// [`Occupancy::blocks_per_sm`]. Counted for a whole device, the same quotient has the number of SMs above and below:
/// `blocks on the device * threads / (max threads per SM * SMs)`.
///
/// The formula differs from [`Occupancy::ratio`] where a block is not a whole number of warps: the hardware keeps whole
/// warps, so 33 threads fill the place of 64, and the simple formula gives about half. For multiples of 32 both agree. The
/// formula takes the blocks as given. Where a course puts the device property `maxBlocksPerMultiProcessor` in their
/// place, the kernel's registers and shared memory are left out, and the result is no occupancy: it can exceed 1.
///
/// ```
/// use tilewright_arch::{ComputeCapability, Limits, occupancy::thread_occupancy};
///
/// let limits = Limits::of(ComputeCapability::new(8, 6))?;
/// assert_eq!(thread_occupancy(limits, 1, 1024), 1024.0 / 1536.0);
/// # Ok::<(), tilewright_arch::UnknownComputeCapability>(())
/// ```
pub fn thread_occupancy(limits: &Limits, blocks_per_sm: u32, threads_per_block: u32) -> f64 {
    f64::from(blocks_per_sm) * f64::from(threads_per_block) / f64::from(limits.max_threads_per_sm)
}

fn warp_limit(limits: &Limits, threads: u32, caching: GlobalCaching) -> u32 {
    let warps = threads.div_ceil(WARP_SIZE);
    if threads > limits.max_threads_per_block {
        0
    } else if caching == GlobalCaching::Off {
        limits.max_warps_per_sm() / warps
    } else {
        2 * (limits.max_warps_per_sm() / 2 / warps)
    }
}

fn barrier_limit(limits: &Limits, barriers: u32) -> Option<u32> {
    if limits.compute_capability.major() < 9 { None } else { limits.barriers_per_sm.checked_div(barriers) }
}
