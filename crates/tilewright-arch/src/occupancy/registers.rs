//! Blocks per SM by registers.

use super::{GlobalCaching, KernelResources};
use crate::{ComputeCapability, Limits, PartitionedGlobalCaching, WARP_SIZE};

pub(super) struct RegisterLimit {
    /// `None`: the kernel has no registers.
    pub blocks: Option<u32>,
    pub allocated_per_block: u32,
    /// What of the kernel's wish is possible.
    pub caching: GlobalCaching,
}

/// Registers of a warp, in whole allocation units.
pub(super) fn per_warp(limits: &Limits, registers_per_thread: u32) -> u64 {
    (u64::from(registers_per_thread) * u64::from(WARP_SIZE))
        .next_multiple_of(u64::from(limits.register_allocation_unit))
}

/// Warps with this many registers, which are not 0, that fit into one sub-partition.
pub(super) fn warps_per_partition(limits: &Limits, registers_per_thread: u32) -> u32 {
    let warps =
        u64::from(limits.registers_per_sm / limits.sub_partitions) / per_warp(limits, registers_per_thread);
    warps as u32
}

/// Registers that a block must find at once: its warps are dealt to the sub-partitions in whole rounds.
pub(super) fn per_block(limits: &Limits, registers_per_thread: u32, warps: u32) -> u64 {
    per_warp(limits, registers_per_thread)
        .saturating_mul(u64::from(warps.next_multiple_of(register_rounds(limits))))
}

/// Sub-partitions over which the warps of a block are rounded up for the limit per block: 4, on 6.0 too, though it has 2.
fn register_rounds(limits: &Limits) -> u32 {
    const PASCAL_P100: ComputeCapability = ComputeCapability::new(6, 0);
    if limits.compute_capability == PASCAL_P100 { 4 } else { limits.sub_partitions }
}

pub(super) fn limit(limits: &Limits, kernel: &KernelResources, warps: u32) -> RegisterLimit {
    let registers = kernel.registers_per_thread;
    let per_warp = per_warp(limits, registers);
    let allocated_per_block = u32::try_from(per_warp.saturating_mul(u64::from(warps))).unwrap_or(u32::MAX);
    let wish = match limits.partitioned_global_caching {
        PartitionedGlobalCaching::Supported => kernel.global_caching,
        PartitionedGlobalCaching::Unsupported => GlobalCaching::Off,
    };
    let result = |blocks, caching| RegisterLimit { blocks, allocated_per_block, caching };

    if registers == 0 {
        return result(None, wish);
    }
    if registers > limits.accepted_registers_per_thread()
        || per_block(limits, registers, warps) > u64::from(limits.registers_per_block)
    {
        return result(Some(0), wish);
    }
    let partitions = limits.sub_partitions;
    let warps_per_partition = warps_per_partition(limits, registers);
    let unpartitioned = warps_per_partition * partitions / warps;
    if wish == GlobalCaching::Off {
        return result(Some(unpartitioned), wish);
    }
    // A block that uses the partitioned cache stays in one half of the SM.
    let partitioned = 2 * (warps_per_partition * (partitions / 2) / warps);
    if partitioned == 0 && wish == GlobalCaching::PreferPartitioned {
        return result(Some(unpartitioned), GlobalCaching::Off);
    }
    result(Some(partitioned), wish)
}
