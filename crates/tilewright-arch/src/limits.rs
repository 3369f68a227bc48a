//! What one multiprocessor (SM) of each compute capability offers.
//!
//! # Sources
//!
//! * *Guide*: CUDA C++ Programming Guide, section "Compute Capabilities", tables "Technical Specifications" and
//!   "Shared Memory Capacity": threads, warps and blocks per SM, registers per SM, block and thread, shared memory.
//! * *Tuning guides* for Maxwell, Pascal, Volta, Turing, Ampere, Ada, Hopper, Blackwell, section "Occupancy": the
//!   same limits; 1 KiB of shared memory reserved per block from 8.0 on; the shared-memory configurations.
//! * *Traits*: `cuda::device::arch_traits` of CCCL (Apache-2.0): all of these limits from 6.0 on, in code.
//! * *Calculator*: the published interface and answers of the occupancy calculator that comes with the CUDA toolkit
//!   (versions 12.9, 13.0 and 13.5): register allocation, sub-partitions, allocation granularity, barriers.
//! * *Attributes*: `cudaDeviceProp` as printed by deviceQuery on real devices.
//!
//! # Where the sources disagree
//!
//! | what | sources | chosen |
//! |---|---|---|
//! | 12.0, blocks per SM | Guide, Traits and Calculator 24; Blackwell tuning guide 32 | 24: three sources against one |
//! | 12.0, shared memory per SM | Blackwell tuning guide 128 KiB; Guide, Traits and Attributes (RTX 5090) 100 KiB | 100 KiB: what a device reports; 128 KiB is the L1 that contains it |
//! | 5.2, registers per block | the old occupancy spreadsheet 32 K; Guide, Attributes (GTX 950, GTX 970M) 64 K | 64 K; 5.3 and 6.2 are the real 32 K parts |
//! | registers per thread | Calculator 256 from 7.0 on; Guide, Traits and the instruction set 255 | 255; the calculation accepts 256 where the Calculator does, [`ConfigurationError`](crate::ConfigurationError) reports it |
//! | 10.3, barriers per SM | Calculator 13.0: 64; 13.5: 32 | 32: the newer one |
//! | 10.7, shared memory | Traits 228 KiB per SM; Calculator 13.5 has a configuration of 328 KiB too | both, as they stand: no such device is on sale, the row is provisional |
//! | 10.1 and 11.0 | 10.1 is the name of 11.0 (Jetson Thor) in CUDA 12.8 and 12.9 | one set of limits under both names |
//! | 7.2, 8.8 | not in Traits | those of 7.0 and of 8.6, as Guide and Calculator have them |
//!
//! Barriers are counted by the Calculator from 9.0 on. Its limits are twice the blocks per SM on 9.0 and 10.0, and
//! equal to the blocks per SM on the others; the earlier rows state the number without using it.

use crate::ComputeCapability;
use std::fmt;

/// Threads of a warp, on every compute capability.
pub const WARP_SIZE: u32 = 32;

const KIB: u32 = 1024;

/// The limits of one compute capability. Sizes are in bytes, registers are 32-bit registers.
///
/// ```
/// use tilewright_arch::{ComputeCapability, Limits};
///
/// let hopper = Limits::of(ComputeCapability::new(9, 0))?;
/// assert_eq!(hopper.max_warps_per_sm(), 64);
/// assert_eq!(hopper.shared_memory_per_block_optin, 227 * 1024);
/// # Ok::<(), tilewright_arch::UnknownComputeCapability>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whose limits these are.
    pub compute_capability: ComputeCapability,
    /// Threads of a block at most.
    pub max_threads_per_block: u32,
    /// Resident threads.
    pub max_threads_per_sm: u32,
    /// Resident blocks.
    pub max_blocks_per_sm: u32,
    /// Registers of an SM.
    pub registers_per_sm: u32,
    /// Registers of a block at most.
    pub registers_per_block: u32,
    /// Registers of a thread at most, by the instruction set.
    pub max_registers_per_thread: u32,
    /// Registers are allocated to a warp in multiples of this.
    pub register_allocation_unit: u32,
    /// Sub-partitions (warp schedulers), each with an equal part of the registers and of the warps.
    pub sub_partitions: u32,
    /// Shared memory of an SM, at its largest configuration.
    pub shared_memory_per_sm: u32,
    /// Static and dynamic shared memory of a block without opting in.
    pub shared_memory_per_block: u32,
    /// The same for kernels that opt in (`cudaFuncAttributeMaxDynamicSharedMemorySize`).
    pub shared_memory_per_block_optin: u32,
    /// Shared memory that the system keeps for itself in every block.
    pub shared_memory_reserved_per_block: u32,
    /// Shared memory is allocated to a block in multiples of this.
    pub shared_memory_granularity: u32,
    /// The sizes that the shared memory of an SM can be set to, in KiB, ascending. Empty: one fixed size.
    pub carveouts_kib: &'static [u32],
    /// Named barriers of an SM; a limit from 9.0 on.
    pub barriers_per_sm: u32,
    /// Whether a kernel can ask for global loads through a partitioned cache.
    pub partitioned_global_caching: PartitionedGlobalCaching,
    /// Blocks of a cluster at most: 8 portably, 16 on request where the GPU allows it, 1 before 9.0.
    pub max_cluster_size: MaxClusterSize,
}

/// Whether an SM's two halves can each have their own part of the L1 cache (Maxwell and Pascal, except 5.0, 6.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionedGlobalCaching {
    /// There is nothing to ask for.
    Unsupported,
    /// A block may be tied to one half of the SM.
    Supported,
}

/// Blocks of a thread block cluster (CUDA C++ Programming Guide, "Thread Block Clusters").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxClusterSize {
    /// On every GPU that has clusters.
    pub portable: u32,
    /// With `cudaFuncAttributeNonPortableClusterSizeAllowed`.
    pub non_portable: u32,
}

impl Limits {
    /// The limits of `capability`.
    ///
    /// # Errors
    /// [`UnknownComputeCapability`] if it is not in [`Limits::ALL`].
    pub fn of(capability: ComputeCapability) -> Result<&'static Limits, UnknownComputeCapability> {
        Self::ALL
            .iter()
            .find(|limits| limits.compute_capability == capability)
            .ok_or(UnknownComputeCapability { capability })
    }

    /// The limits of `capability`, or where it is not known, those of the last one before it.
    pub fn nearest(capability: ComputeCapability) -> Limits {
        let known = Self::ALL.iter().rfind(|limits| limits.compute_capability <= capability);
        Limits { compute_capability: capability, ..*known.unwrap_or(&MAXWELL) }
    }

    /// Resident warps: `max_threads_per_sm / 32`.
    pub const fn max_warps_per_sm(&self) -> u32 {
        self.max_threads_per_sm / WARP_SIZE
    }

    /// Registers per thread up to which the CUDA toolkit's calculator gives an answer: 256 from 7.0 on, one more than
    /// the instruction set can address.
    pub const fn accepted_registers_per_thread(&self) -> u32 {
        if self.compute_capability.major() < 7 { 255 } else { 256 }
    }

    /// Every known compute capability, ascending: 5.0 to 12.1.
    pub const ALL: &'static [Limits] = &[
        MAXWELL,
        Limits {
            compute_capability: ComputeCapability::new(5, 2),
            shared_memory_per_sm: 96 * KIB,
            partitioned_global_caching: PartitionedGlobalCaching::Supported,
            ..MAXWELL
        },
        Limits {
            compute_capability: ComputeCapability::new(5, 3),
            registers_per_block: 32 * KIB,
            partitioned_global_caching: PartitionedGlobalCaching::Supported,
            ..MAXWELL
        },
        Limits { compute_capability: ComputeCapability::new(6, 0), sub_partitions: 2, ..MAXWELL },
        Limits {
            compute_capability: ComputeCapability::new(6, 1),
            shared_memory_per_sm: 96 * KIB,
            partitioned_global_caching: PartitionedGlobalCaching::Supported,
            ..MAXWELL
        },
        Limits {
            compute_capability: ComputeCapability::new(6, 2),
            registers_per_block: 32 * KIB,
            partitioned_global_caching: PartitionedGlobalCaching::Supported,
            ..MAXWELL
        },
        VOLTA,
        Limits { compute_capability: ComputeCapability::new(7, 2), ..VOLTA },
        Limits {
            compute_capability: ComputeCapability::new(7, 5),
            max_threads_per_sm: 1024,
            max_blocks_per_sm: 16,
            shared_memory_per_sm: 64 * KIB,
            shared_memory_per_block_optin: 64 * KIB,
            carveouts_kib: &[32, 64],
            barriers_per_sm: 32,
            ..VOLTA
        },
        AMPERE,
        AMPERE_CONSUMER,
        Limits {
            compute_capability: ComputeCapability::new(8, 7),
            max_threads_per_sm: 1536,
            max_blocks_per_sm: 16,
            barriers_per_sm: 16,
            ..AMPERE
        },
        Limits { compute_capability: ComputeCapability::new(8, 8), ..AMPERE_CONSUMER },
        ADA,
        HOPPER,
        BLACKWELL,
        THOR,
        Limits { compute_capability: ComputeCapability::new(10, 3), barriers_per_sm: 32, ..BLACKWELL },
        Limits {
            compute_capability: ComputeCapability::new(10, 7),
            max_threads_per_sm: 1024,
            max_blocks_per_sm: 16,
            carveouts_kib: &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228, 328],
            barriers_per_sm: 16,
            ..BLACKWELL
        },
        Limits { compute_capability: ComputeCapability::new(11, 0), ..THOR },
        BLACKWELL_CONSUMER,
        Limits { compute_capability: ComputeCapability::new(12, 1), ..BLACKWELL_CONSUMER },
    ];
}

const MAXWELL: Limits = Limits {
    compute_capability: ComputeCapability::new(5, 0),
    max_threads_per_block: 1024,
    max_threads_per_sm: 2048,
    max_blocks_per_sm: 32,
    registers_per_sm: 64 * KIB,
    registers_per_block: 64 * KIB,
    max_registers_per_thread: 255,
    register_allocation_unit: 256,
    sub_partitions: 4,
    shared_memory_per_sm: 64 * KIB,
    shared_memory_per_block: 48 * KIB,
    shared_memory_per_block_optin: 48 * KIB,
    shared_memory_reserved_per_block: 0,
    shared_memory_granularity: 256,
    carveouts_kib: &[],
    barriers_per_sm: 64,
    partitioned_global_caching: PartitionedGlobalCaching::Unsupported,
    max_cluster_size: MaxClusterSize { portable: 1, non_portable: 1 },
};

const VOLTA: Limits = Limits {
    compute_capability: ComputeCapability::new(7, 0),
    shared_memory_per_sm: 96 * KIB,
    shared_memory_per_block_optin: 96 * KIB,
    carveouts_kib: &[0, 8, 16, 32, 64, 96],
    ..MAXWELL
};

const AMPERE: Limits = Limits {
    compute_capability: ComputeCapability::new(8, 0),
    shared_memory_per_sm: 164 * KIB,
    shared_memory_per_block_optin: 163 * KIB,
    shared_memory_reserved_per_block: KIB,
    shared_memory_granularity: 128,
    carveouts_kib: &[0, 8, 16, 32, 64, 100, 132, 164],
    ..VOLTA
};

const AMPERE_CONSUMER: Limits = Limits {
    compute_capability: ComputeCapability::new(8, 6),
    max_threads_per_sm: 1536,
    max_blocks_per_sm: 16,
    shared_memory_per_sm: 100 * KIB,
    shared_memory_per_block_optin: 99 * KIB,
    carveouts_kib: &[0, 8, 16, 32, 64, 100],
    barriers_per_sm: 16,
    ..AMPERE
};

const ADA: Limits = Limits {
    compute_capability: ComputeCapability::new(8, 9),
    max_blocks_per_sm: 24,
    barriers_per_sm: 24,
    ..AMPERE_CONSUMER
};

const HOPPER: Limits = Limits {
    compute_capability: ComputeCapability::new(9, 0),
    shared_memory_per_sm: 228 * KIB,
    shared_memory_per_block_optin: 227 * KIB,
    carveouts_kib: &[0, 8, 16, 32, 64, 100, 132, 164, 196, 228],
    max_cluster_size: MaxClusterSize { portable: 8, non_portable: 16 },
    ..AMPERE
};

const BLACKWELL: Limits = Limits { compute_capability: ComputeCapability::new(10, 0), ..HOPPER };

const THOR: Limits = Limits {
    compute_capability: ComputeCapability::new(10, 1),
    max_threads_per_sm: 1536,
    max_blocks_per_sm: 24,
    barriers_per_sm: 24,
    max_cluster_size: MaxClusterSize { portable: 8, non_portable: 8 },
    ..HOPPER
};

const BLACKWELL_CONSUMER: Limits = Limits {
    compute_capability: ComputeCapability::new(12, 0),
    max_cluster_size: MaxClusterSize { portable: 8, non_portable: 8 },
    ..ADA
};

/// A compute capability that is not in [`Limits::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownComputeCapability {
    /// What was asked for.
    pub capability: ComputeCapability,
}

impl fmt::Display for UnknownComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no limits are known for compute capability {}; known are", self.capability)?;
        for (index, limits) in Limits::ALL.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { "" } else { "," }, limits.compute_capability)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownComputeCapability {}
