//! How the memory units count the accesses of one warp.
//!
//! A warp-level memory instruction is one *request*. Global memory serves it in *sectors*, aligned segments of
//! 32 bytes ([`global`]); shared memory serves it in *wavefronts*, passes over its 32 banks of 4 bytes
//! ([`shared`]). Both are functions of the lane addresses, the active lanes and the width alone, and so they can
//! be computed exactly without a GPU.
//!
//! The rules were checked with Nsight Compute on an H200 (compute capability 9.0), one instruction per kernel
//! and 900 patterns of addresses, active lanes and widths, against
//! `l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum` and
//! `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum`; 449 of these patterns are part of the tests.
//! NVIDIA documents sectors and wavefronts in the Nsight Compute *Kernel Profiling Guide* (section "Memory
//! Tables") and banks in the CUDA C++ *Programming Guide* (section "Shared Memory").
//!
//! Every function takes the addresses of the 32 lanes (those of inactive lanes are ignored), the mask of active
//! lanes (bit `n` is lane `n`) and the bytes each lane moves. Counting does not allocate, and nothing panics.

pub mod global;
pub mod shared;

/// Lanes of a warp.
pub const WARP_SIZE: usize = crate::WARP_SIZE as usize;

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
    // Nearly always nothing is misaligned, and the union of the low bits shows it at once.
    if addresses.iter().fold(0, |union, address| union | address) & below_alignment == 0 {
        return 0;
    }
    let misaligned = addresses
        .iter()
        .enumerate()
        .fold(0, |mask, (lane, address)| mask | (u32::from(address & below_alignment != 0) << lane));
    misaligned & active
}

/// The distance between the addresses of neighbouring lanes, if it is the same for all of a whole warp and the addresses
/// do not wrap around. This is the usual case, and closed formulas follow from it.
#[inline]
fn common_stride(addresses: &LaneAddresses, active: u32) -> Option<i64> {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    // No early exit: the loop becomes a few vector instructions.
    let deviation = addresses
        .iter()
        .zip(&addresses[1..])
        .fold(0, |union, (this, next)| union | (next.wrapping_sub(*this) ^ stride));
    if active != u32::MAX || deviation != 0 {
        return None;
    }
    let stride = stride as i64;
    let span = stride.checked_mul(WARP_SIZE as i64 - 1)?;
    addresses[0].checked_add_signed(span).map(|_| stride)
}

/// The aligned pieces of `1 << shift` bytes that a warp accesses, in the order of the lanes, without immediate
/// repetitions. Neighbouring lanes mostly access the same piece or the next one, so that few are left, in order.
struct Pieces {
    values: [u64; WARP_SIZE],
    len: usize,
    order: Order,
}

#[derive(PartialEq)]
enum Order {
    Ascending,
    Mixed,
}

impl Pieces {
    /// `None` if no lane is active.
    #[inline]
    fn of(addresses: &LaneAddresses, active: u32, shift: u32) -> Option<Pieces> {
        if active == 0 {
            return None;
        }
        let (first_lane, count) = (active.trailing_zeros(), active.count_ones());
        let first = addresses[first_lane as usize] >> shift;
        let mut values = [0; WARP_SIZE];
        values[0] = first;
        let (mut last, mut previous, mut descents) = (0, first, 0);
        // Branch-free: a repetition is overwritten by the next piece.
        let mut push = |address: u64| {
            let piece = address >> shift;
            last += usize::from(piece != previous);
            values[last % WARP_SIZE] = piece;
            descents |= u32::from(piece < previous);
            previous = piece;
        };
        if active >> first_lane == u32::MAX >> (u32::BITS - count) {
            // A whole warp, a group of it or the start of a row: no gaps.
            addresses[first_lane as usize..][1..count as usize].iter().for_each(|&address| push(address));
        } else {
            lanes(active).skip(1).for_each(|lane| push(addresses[lane]));
        }
        let order = if descents == 0 { Order::Ascending } else { Order::Mixed };
        Some(Pieces { values, len: last + 1, order })
    }

    #[inline]
    fn as_slice(&self) -> &[u64] {
        &self.values[..self.len]
    }

    /// The distinct pieces, ascending.
    #[inline]
    fn distinct(&mut self) -> &[u64] {
        if self.order == Order::Mixed {
            self.sort();
        }
        self.as_slice()
    }

    fn sort(&mut self) {
        let values = &mut self.values[..self.len];
        values.sort_unstable();
        let mut last = 0;
        for index in 1..values.len() {
            last += usize::from(values[index] != values[last]);
            values[last] = values[index];
        }
        self.len = last + 1;
        self.order = Order::Ascending;
    }
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
