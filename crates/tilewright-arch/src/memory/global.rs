//! Global memory: sectors of 32 bytes, and lines of 128.
//!
//! ```
//! use tilewright_arch::memory::global;
//!
//! let coalesced = std::array::from_fn(|lane| 0x1000 + 4 * lane as u64);
//! let strided = std::array::from_fn(|lane| 0x1000 + 4096 * lane as u64);
//! assert_eq!(global::sectors(&coalesced, u32::MAX, 4), 4);
//! assert_eq!(global::sectors(&strided, u32::MAX, 4), 32);
//! assert_eq!(global::efficiency(32 * 4, 32), 0.125);
//! ```

use super::{
    LaneAddresses, Pieces, WARP_SIZE, common_stride, lanes as active_lanes, misaligned_lanes, shared,
};

/// Bytes of a sector, the unit of traffic between L1 and L2 (a cache line of 128 bytes has four).
pub const SECTOR_BYTES: u32 = 32;

/// Bytes of a line of the caches, of which the address path of L1 looks up each once.
pub const LINE_BYTES: u32 = 128;

/// The sectors that one global atomic (`atom`, `red`) of a warp moves: lanes that meet in an address take turns, so that a
/// sector counts as often as the address in it that most lanes have, summed over sectors.
///
/// `bytes` is what one lane updates; addresses are multiples of it.
///
/// Counters: `l1tex__t_sectors_pipe_lsu_mem_global_op_{atom,red}.sum`; 43 of 44 patterns of 4-byte updates measured on an H200 (the
/// other, of random addresses, had 27 where this gives 25).
pub fn atomic_sectors(addresses: &LaneAddresses, active: u32) -> u32 {
    let mut at: Vec<u64> = active_lanes(active).map(|lane| addresses[lane]).collect();
    at.sort_unstable();
    let sector = |address: u64| address / u64::from(SECTOR_BYTES);
    let same_sector = at.chunk_by(|x, y| sector(*x) == sector(*y));
    same_sector.map(|met| met.chunk_by(u64::eq).map(<[u64]>::len).max().unwrap_or(0) as u32).sum()
}

/// The sectors that one global load or store of a warp touches: the number of distinct aligned 32-byte segments
/// among all bytes of all active lanes.
///
/// `bytes` is what one lane moves (1, 2, 4, 8, 16, or 32 with the 256-bit accesses of compute capability 10.0);
/// any other number is counted by the same definition. No active lane, or no byte: 0 sectors, and the hardware
/// sends no request.
///
/// Counter: `l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum`; 450 of 450 patterns measured on an H200.
#[inline]
pub fn sectors(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    distinct::<SECTOR_BYTES>(addresses, active, bytes)
}

/// The lines of 128 bytes that one global load or store of a warp touches, by the definition of [`sectors`].
///
/// ```
/// use tilewright_arch::memory::global;
/// let row = std::array::from_fn(|lane| 0x1000 + 4 * lane as u64);
/// let column = std::array::from_fn(|lane| 0x1000 + 4096 * lane as u64);
/// assert_eq!((global::lines(&row, u32::MAX, 4), global::lines(&column, u32::MAX, 4)), (1, 32));
/// ```
#[inline]
pub fn lines(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    distinct::<LINE_BYTES>(addresses, active, bytes)
}

/// The passes over the banks of L1 that one global load of a warp takes. The banks are those of shared memory, and each group of
/// lanes takes as many passes as its busiest bank has distinct words; groups do not pair up.
///
/// Counter: `l1tex__data_pipe_lsu_wavefronts`, for loads that hit in L1; measured on an H200.
///
/// ```
/// use tilewright_arch::memory::global;
/// // Rows of 4096 bytes are in one bank, rows of 4100 bytes in 32.
/// let column = |pitch| std::array::from_fn(|lane| 0x1000 + pitch * lane as u64);
/// assert_eq!(global::wavefronts(&column(4096), u32::MAX, 4), 32);
/// assert_eq!(global::wavefronts(&column(4100), u32::MAX, 4), 1);
/// // Four quarters of a warp, whatever they share.
/// assert_eq!(global::wavefronts(&[64; 32], u32::MAX, 16), 4);
/// ```
#[inline]
pub fn wavefronts(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    shared::store(addresses, active, bytes).wavefronts
}

/// The distinct aligned pieces of `PIECE` bytes among all bytes of all active lanes.
#[inline]
fn distinct<const PIECE: u32>(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    let within_a_piece =
        bytes.is_power_of_two() && bytes <= PIECE && misaligned_lanes(addresses, active, bytes) == 0;
    if !within_a_piece {
        return spanned::<PIECE>(addresses, active, bytes);
    }
    let piece = |address: u64| address / u64::from(PIECE);
    match common_stride(addresses, active) {
        // No step passes over a piece ...
        Some(stride) if stride.unsigned_abs() <= u64::from(PIECE) => {
            piece(addresses[0]).abs_diff(piece(addresses[WARP_SIZE - 1])) as u32 + 1
        }
        // ... or every step reaches another one.
        Some(_) => WARP_SIZE as u32,
        None => Pieces::of(addresses, active, PIECE.trailing_zeros())
            .map_or(0, |mut pieces| pieces.distinct().len() as u32),
    }
}

/// The same for accesses that may each touch several pieces.
fn spanned<const PIECE: u32>(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    let mut ascending = [u64::MAX; WARP_SIZE];
    for (place, lane) in active_lanes(active).enumerate() {
        ascending[place] = addresses[lane];
    }
    ascending.sort_unstable();

    let piece = |address: u64| address / u64::from(PIECE);
    let (mut count, mut first_uncounted) = (0, 0);
    for &address in ascending.iter().take(active.count_ones() as usize).filter(|_| bytes > 0) {
        let first = piece(address).max(first_uncounted);
        let end = piece(address.saturating_add(u64::from(bytes - 1))) + 1;
        count += end.saturating_sub(first) as u32;
        first_uncounted = first_uncounted.max(end);
    }
    count
}

/// The sectors that the same lanes would need if their data lay packed and aligned:
/// `ceil(active lanes * bytes / 32)`.
///
/// Nsight Compute's source page calls it `memory_l2_theoretical_sectors_global_ideal`. A broadcast needs fewer.
#[inline]
pub fn ideal_sectors(active: u32, bytes: u32) -> u32 {
    u64::from(active.count_ones() * bytes.min(1 << 26)).div_ceil(u64::from(SECTOR_BYTES)) as u32
}

/// The part of the moved bytes that was asked for: `bytes requested / (32 * sectors)`.
///
/// `bytes_requested` counts the bytes of every active lane (`active lanes * bytes`, summed over the requests), and
/// so a broadcast, where many lanes ask for the same bytes, gives more than 1, as nvprof's `gld_efficiency` did.
/// Without sectors there is nothing to waste: 1.
#[inline]
pub fn efficiency(bytes_requested: u64, sectors: u64) -> f64 {
    if sectors == 0 {
        return 1.0;
    }
    bytes_requested as f64 / (f64::from(SECTOR_BYTES) * sectors as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;

    #[test]
    fn unit_stride_needs_one_sector_per_32_bytes() {
        for (bytes, aligned, shifted) in
            [(1, 1, 2), (2, 2, 3), (4, 4, 5), (8, 8, 9), (16, 16, 17), (32, 32, 33)]
        {
            let addresses = |base: u64| from_fn(|lane| base + u64::from(bytes) * lane as u64);
            assert_eq!(sectors(&addresses(0x100), u32::MAX, bytes), aligned);
            assert_eq!(sectors(&addresses(0x101), u32::MAX, bytes), shifted);
            assert_eq!(ideal_sectors(u32::MAX, bytes), aligned);
        }
    }

    #[test]
    fn lines_are_counted_by_the_same_definition() {
        let unit = |base: u64| from_fn(|lane| base + 4 * lane as u64);
        assert_eq!([0, 4, 32, 124].map(|shift| lines(&unit(0x1000 + shift), u32::MAX, 4)), [1, 2, 2, 2]);
        let wide = from_fn(|lane| 0x1000 + 16 * lane as u64);
        assert_eq!((lines(&wide, u32::MAX, 16), lines(&wide, 0xff, 16)), (4, 1));
        assert_eq!(lines(&from_fn(|lane| 132 * (lane as u64 * 13 % 32)), u32::MAX, 4), 32);
        // Eight sectors of four rows each.
        assert_eq!(lines(&from_fn(|lane| 4096 * (lane as u64 / 8) + 4 * (lane as u64 % 8)), u32::MAX, 4), 4);
        assert_eq!((lines(&[126; 32], u32::MAX, 4), lines(&[0; 32], 0, 4)), (2, 0));
    }

    #[test]
    fn order_of_the_lanes_does_not_matter() {
        let forward = from_fn(|lane| 36 * lane as u64);
        let backward = from_fn(|lane| 36 * (31 - lane as u64));
        let shuffled = from_fn(|lane| 36 * (lane as u64 * 13 % 32));
        assert_eq!(sectors(&forward, u32::MAX, 8), 32 + 4);
        assert_eq!(sectors(&backward, u32::MAX, 8), 36);
        assert_eq!(sectors(&shuffled, u32::MAX, 8), 36);
    }

    #[test]
    fn broadcast_is_one_sector_and_more_than_efficient() {
        assert_eq!(sectors(&[64; 32], u32::MAX, 4), 1);
        assert_eq!(sectors(&[62; 32], u32::MAX, 4), 2);
        assert_eq!(efficiency(128, 1), 4.0);
        assert_eq!(efficiency(0, 0), 1.0);
    }

    #[test]
    fn nothing_active_is_nothing_moved() {
        assert_eq!(sectors(&[0; 32], 0, 4), 0);
        assert_eq!(sectors(&[0; 32], u32::MAX, 0), 0);
        assert_eq!(ideal_sectors(0, 4), 0);
    }

    #[test]
    fn the_end_of_the_address_space_is_no_overflow() {
        assert_eq!(sectors(&[u64::MAX; 32], u32::MAX, 16), 1);
        assert_eq!(sectors(&[0; 32], u32::MAX, u32::MAX), 1 << 27);
        // Strides that wrap around: past the end, and between two addresses.
        assert_eq!(sectors(&from_fn(|lane| (4 * lane as u64).wrapping_sub(64)), u32::MAX, 4), 4);
        assert_eq!(sectors(&from_fn(|lane| (lane as u64) << 63), u32::MAX, 4), 2);
        assert_eq!(ideal_sectors(1, 33), 2);
    }
}
