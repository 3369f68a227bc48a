//! The map of the 64-bit address space.

/// log2 of the bytes of a region of global memory.
pub const REGION_SHIFT: u32 = 37;
/// Where in its region an allocation starts: in the middle, so that negative indices stay inside too.
pub const REGION_BASE: u64 = 1 << (REGION_SHIFT - 1);
/// log2 of the bytes of the region of a shared variable, in 32-bit shared addresses.
pub const SHARED_SHIFT: u32 = 24;
/// Where in its region a shared variable starts.
pub const SHARED_BASE: u64 = 1 << (SHARED_SHIFT - 1);
/// Generic addresses of shared memory start here. The windows lie in region 0, where no allocation is.
pub const SHARED_WINDOW: u64 = 1 << 33;
/// Generic addresses of local memory.
pub const LOCAL_WINDOW: u64 = 1 << 34;
/// Generic addresses of the parameters of the entry.
pub const PARAM_WINDOW: u64 = 1 << 35;
/// Addresses of functions.
pub const CODE_WINDOW: u64 = 1 << 36;
/// Bytes of the smallest window.
pub const WINDOW_BYTES: u64 = 1 << 32;

/// The first address of the allocation of region `region`.
pub const fn of_region(region: u64) -> u64 {
    (region << REGION_SHIFT) + REGION_BASE
}

/// Set in the addresses of shared variables of the own block, near their bounds; clear in those of blocks of the cluster by their ranks.
pub const OWN_BLOCK: u64 = SHARED_BASE;
/// Where an address has the rank of a block in its cluster.
pub const RANK_SHIFT: u32 = 18;
/// The offset in such an address: more than a block has of shared memory.
pub const CLUSTER_OFFSET: u64 = (1 << RANK_SHIFT) - 1;
/// What such an address has in place of the upper part of an offset: the rank, and the mark of the own block.
pub const RANK_FIELD: u64 = (SHARED_BASE << 1) - 1 - CLUSTER_OFFSET;

/// An address of the own block as that of the block with this rank.
pub const fn by_rank(address: u64, rank: u32) -> u64 {
    address & !RANK_FIELD | (rank as u64) << RANK_SHIFT
}

/// The rank of the block in an address by rank.
pub const fn rank_of(address: u64) -> Option<u32> {
    let field = address & RANK_FIELD;
    if field & OWN_BLOCK == 0 { Some((field >> RANK_SHIFT) as u32) } else { None }
}

/// The same place in the own block's shared memory.
pub fn without_rank(address: u64) -> u64 {
    if rank_of(address).is_some() { address & !RANK_FIELD | OWN_BLOCK } else { address }
}

/// The window of a generic address, or 0.
pub fn window(at: u64) -> u64 {
    [SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW]
        .into_iter()
        .find(|&window| at.wrapping_sub(window) < WINDOW_BYTES)
        .unwrap_or(0)
}

/// Where the region of shared variable `index` begins.
pub const fn of_shared(index: u64) -> u64 {
    (index << SHARED_SHIFT) + SHARED_BASE
}
