//! How the memory units count the accesses of one warp.
//!
//! A warp-level memory instruction is one *request*. Global memory serves it in *sectors*, aligned segments of
//! 32 bytes ([`global`]); shared memory serves it in *wavefronts*, passes over its 32 banks of 4 bytes
//! ([`shared`]). Both are functions of the lane addresses, the active lanes and the width alone, and so they can
//! be computed exactly without a GPU.
//!
//! The rules were checked with Nsight Compute 2025 on an H200 (compute capability 9.0), one instruction per kernel
//! and 900 patterns of addresses, active lanes and widths, against
//! `l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum` and
//! `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum`; 449 of these patterns are part of the tests.
//! NVIDIA documents sectors and wavefronts in the Nsight Compute *Kernel Profiling Guide* (section "Memory
//! Tables") and banks in the CUDA C++ *Programming Guide* (section "Shared Memory").
//!
//! Every function takes the addresses of the 32 lanes (those of inactive lanes are ignored), the mask of active
//! lanes (bit `n` is lane `n`) and the bytes each lane moves. None allocates, none panics.

pub mod global;
pub mod shared;

/// Lanes of a warp.
pub const WARP_SIZE: usize = 32;

/// The byte address that each lane of a warp accesses.
pub type LaneAddresses = [u64; WARP_SIZE];

/// The lanes whose address is not a multiple of the access size, as a mask.
///
/// A vector access of 8 or 16 bytes counts with its whole size, as the PTX ISA demands ("Addresses as Operands":
/// an address must be naturally aligned to the access size; the hardware raises a misaligned-address error).
/// Sizes that are not a power of two, and 0, have no alignment: the result is 0.
///
/// ```
/// let addresses = std::array::from_fn(|lane| 4 * lane as u64);
/// // As 8-byte accesses, the odd lanes are misaligned.
/// assert_eq!(tilewright_arch::memory::misaligned_lanes(&addresses, u32::MAX, 8), 0xaaaa_aaaa);
/// ```
#[inline]
pub fn misaligned_lanes(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    if !bytes.is_power_of_two() {
        return 0;
    }
    let below_alignment = u64::from(bytes - 1);
    let misaligned = addresses
        .iter()
        .enumerate()
        .fold(0, |mask, (lane, address)| mask | (u32::from(address & below_alignment != 0) << lane));
    misaligned & active
}

/// The numbers of the lanes in a mask, ascending.
#[inline]
fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// Up to one number per lane, in a fixed array.
struct PerLane {
    values: [u64; WARP_SIZE],
    len: usize,
}

impl PerLane {
    #[inline]
    fn new() -> Self {
        PerLane { values: [0; WARP_SIZE], len: 0 }
    }

    #[inline]
    fn push(&mut self, value: u64) {
        self.values[self.len] = value;
        self.len += 1;
    }

    /// The numbers in ascending order. Most warps access ascending addresses, so the order is looked at first.
    #[inline]
    fn sorted(&mut self) -> &[u64] {
        let values = &mut self.values[..self.len];
        if !values.is_sorted() {
            values.sort_unstable();
        }
        values
    }
}
