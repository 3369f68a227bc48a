//! Shared memory: wavefronts over 32 banks of 4 bytes.
//!
//! A warp's access is served in groups of at most 128 bytes: all 32 lanes for accesses of up to 4 bytes, two
//! half-warps for 8 bytes, four quarter-warps for 16 bytes. A group takes as many wavefronts as the busiest bank
//! has distinct 32-bit words (bank = address / 4 mod 32); lanes that access the same word share it. The
//! request takes the sum over its groups that have an active lane.
//!
//! Loads, but not stores, pair up the groups of 8- and 16-byte accesses (one group of 32 lanes, two of 16) if
//! lanes `n` and `n ^ 1` have the same address wherever both are active, or lanes `n` and `n ^ 2` have.
//!
//! ```
//! use tilewright_arch::memory::shared;
//!
//! // A column of a 32 x 32 array of f32: every word in the same bank.
//! let column = std::array::from_fn(|lane| 4 * 32 * lane as u64);
//! let access = shared::load(&column, u32::MAX, 4);
//! assert_eq!((access.wavefronts, access.ideal, access.conflicts()), (32, 1, 31));
//!
//! // Rows padded to 33 words: no conflict.
//! let padded = std::array::from_fn(|lane| 4 * 33 * lane as u64);
//! assert_eq!(shared::load(&padded, u32::MAX, 4).conflicts(), 0);
//! ```

use super::{LaneAddresses, Order, Pieces, WARP_SIZE, common_stride, lanes};

/// Number of banks.
pub const BANKS: u32 = 32;

/// Bytes of a bank's word.
pub const BANK_BYTES: u32 = 4;

/// What one shared-memory request of a warp costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wavefronts {
    /// Passes over the banks. 0 if no lane is active.
    pub wavefronts: u32,
    /// The passes that the same request would take without bank conflicts: its groups with an active lane.
    pub ideal: u32,
}

impl Wavefronts {
    /// The passes that bank conflicts add: `wavefronts - ideal`.
    #[inline]
    pub const fn conflicts(self) -> u32 {
        self.wavefronts - self.ideal
    }
}

/// The wavefronts of one shared load of `bytes` per lane (1, 2, 4, 8 or 16).
///
/// Addresses are taken as naturally aligned (see [`super::misaligned_lanes`]; the hardware refuses others), that
/// is, rounded down. Other widths count as the next power of two; 0 bytes cost nothing.
///
/// Counter: `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`; 225 of 225 patterns measured on an H200.
#[inline]
pub fn load(addresses: &LaneAddresses, active: u32, bytes: u32) -> Wavefronts {
    request(addresses, active, bytes, load_group_lanes(addresses, active, bytes))
}

/// The wavefronts of one shared store of `bytes` per lane (1, 2, 4, 8 or 16). Stores to the same word count once.
///
/// Addresses and widths as in [`load`].
///
/// Counter: `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum`; 225 of 225 patterns measured on an H200.
#[inline]
pub fn store(addresses: &LaneAddresses, active: u32, bytes: u32) -> Wavefronts {
    request(addresses, active, bytes, Unit::of(bytes).group_lanes())
}

/// The wavefront that serves each lane of a shared load, from 0; `None` for inactive lanes. The highest number is
/// [`Wavefronts::wavefronts`] less one.
///
/// The groups of lanes follow one another. Which word of a busy bank goes first is not documented; here it is the one of
/// the lowest lane.
///
/// ```
/// use tilewright_arch::memory::shared;
/// // A stride of 16 words: even lanes meet in bank 0, odd ones in bank 16.
/// let schedule = shared::load_schedule(&std::array::from_fn(|lane| 64 * lane as u64), u32::MAX, 4);
/// assert_eq!(schedule[..4], [Some(0), Some(0), Some(1), Some(1)]);
/// assert_eq!(schedule[31], Some(15));
/// ```
pub fn load_schedule(addresses: &LaneAddresses, active: u32, bytes: u32) -> [Option<u32>; WARP_SIZE] {
    schedule(addresses, active, bytes, load_group_lanes(addresses, active, bytes))
}

/// The wavefront that serves each lane of a shared store, as in [`load_schedule`].
pub fn store_schedule(addresses: &LaneAddresses, active: u32, bytes: u32) -> [Option<u32>; WARP_SIZE] {
    schedule(addresses, active, bytes, Unit::of(bytes).group_lanes())
}

/// The naturally aligned piece that one lane accesses, at least a bank's word: two pieces conflict exactly if they
/// differ and lie at the same offset modulo the width of all banks.
#[derive(Clone, Copy)]
struct Unit {
    /// log2 of the bytes.
    shift: u32,
}

impl Unit {
    const WORD: Unit = Unit { shift: 2 };

    #[inline]
    fn of(bytes: u32) -> Unit {
        Unit { shift: bytes.clamp(BANK_BYTES, 16).next_power_of_two().trailing_zeros() }
    }

    /// Lanes whose units fill the 128 bytes of all banks; also the number of places a unit can have in the banks.
    #[inline]
    fn group_lanes(self) -> u32 {
        (BANKS * BANK_BYTES) >> self.shift
    }

    /// The bits of an address that are offsets within a unit.
    #[inline]
    fn offset_mask(self) -> i64 {
        (1 << self.shift) - 1
    }

    /// How many lanes of a group share a place if neighbours are `stride` bytes apart, a multiple of the unit: the lanes
    /// step over as many places as the largest power of two in the stride, and come round so many times.
    #[inline]
    fn stride_conflict(self, stride: i64, group_lanes: u32) -> u32 {
        let step = stride >> self.shift;
        if step == 0 { 1 } else { 1 << step.trailing_zeros().min(group_lanes.trailing_zeros()) }
    }

    /// Where in the banks a piece lies.
    #[inline]
    fn place(self, piece: u64) -> usize {
        (piece as u32 & (self.group_lanes() - 1)) as usize
    }
}

/// The lanes that a load serves together.
#[inline]
fn load_group_lanes(addresses: &LaneAddresses, active: u32, bytes: u32) -> u32 {
    let unit = Unit::of(bytes);
    let pairs = unit.shift > Unit::WORD.shift
        && (partners_agree(addresses, active, 1) || partners_agree(addresses, active, 2));
    if pairs { 2 * unit.group_lanes() } else { unit.group_lanes() }
}

/// Whether every active lane whose partner `lane ^ distance` is active too has that partner's address.
#[inline]
fn partners_agree(addresses: &LaneAddresses, active: u32, distance: usize) -> bool {
    (0..WARP_SIZE).filter(|lane| lane & distance == 0).all(|lane| {
        let both = (1 << lane) | (1 << (lane | distance));
        active & both != both || addresses[lane] == addresses[lane | distance]
    })
}

#[inline]
fn request(addresses: &LaneAddresses, active: u32, bytes: u32, group_lanes: u32) -> Wavefronts {
    let mut total = Wavefronts::default();
    if bytes == 0 {
        return total;
    }
    let unit = Unit::of(bytes);
    if let Some(stride) = common_stride(addresses, active).filter(|stride| stride & unit.offset_mask() == 0) {
        let groups = WARP_SIZE as u32 / group_lanes;
        return Wavefronts { wavefronts: groups * unit.stride_conflict(stride, group_lanes), ideal: groups };
    }
    let group = u32::MAX >> (32 - group_lanes);
    for start in (0..WARP_SIZE as u32).step_by(group_lanes as usize) {
        let members = active & (group << start);
        if members != 0 {
            total.wavefronts += group_wavefronts(addresses, members, unit);
            total.ideal += 1;
        }
    }
    total
}

/// The wavefronts of one group: the largest number of distinct pieces at one place in the banks.
#[inline]
fn group_wavefronts(addresses: &LaneAddresses, members: u32, unit: Unit) -> u32 {
    let Some(mut pieces) = Pieces::of(addresses, members, unit.shift) else { return 0 };
    let in_order = pieces.as_slice();
    let no_conflict = match pieces.order {
        Order::Ascending => in_order[in_order.len() - 1] - in_order[0] < u64::from(unit.group_lanes()),
        Order::Mixed => in_different_places(in_order, unit),
    };
    if no_conflict {
        return 1;
    }
    let mut at_place = [0u8; BANKS as usize];
    for &piece in pieces.distinct() {
        at_place[unit.place(piece)] += 1;
    }
    at_place.into_iter().max().map_or(0, u32::from)
}

/// Whether any two different pieces are at different places.
#[inline]
fn in_different_places(pieces: &[u64], unit: Unit) -> bool {
    let mut occupied = 0u32;
    let mut occupant = [0u64; BANKS as usize];
    pieces.iter().all(|&piece| {
        let place = unit.place(piece);
        if occupied & (1 << place) == 0 {
            occupied |= 1 << place;
            occupant[place] = piece;
        }
        occupant[place] == piece
    })
}

fn schedule(
    addresses: &LaneAddresses,
    active: u32,
    bytes: u32,
    group_lanes: u32,
) -> [Option<u32>; WARP_SIZE] {
    let mut schedule = [None; WARP_SIZE];
    if bytes == 0 {
        return schedule;
    }
    let unit = Unit::of(bytes);
    let place_mask = u64::from(unit.group_lanes() - 1);
    let group = u32::MAX >> (32 - group_lanes);
    let mut first = 0;
    for start in (0..WARP_SIZE as u32).step_by(group_lanes as usize) {
        let mut next = first;
        let mut served: Vec<u64> = Vec::new();
        for lane in lanes(active & (group << start)) {
            let piece = addresses[lane] >> unit.shift;
            let is_here = |other: &&u64| **other & place_mask == piece & place_mask;
            let rank = served.iter().filter(is_here).position(|&other| other == piece).unwrap_or_else(|| {
                served.push(piece);
                served.iter().filter(is_here).count() - 1
            });
            let wavefront = first + rank as u32;
            schedule[lane] = Some(wavefront);
            next = next.max(wavefront + 1);
        }
        first = next;
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;

    fn stride(bytes: u64) -> LaneAddresses {
        from_fn(|lane| bytes * lane as u64)
    }

    #[test]
    fn an_odd_stride_is_free_and_an_even_one_costs_its_power_of_two() {
        for words in 1..=64u64 {
            let expected = 1 << words.trailing_zeros().min(5);
            assert_eq!(load(&stride(4 * words), u32::MAX, 4).wavefronts, expected, "{words}");
            assert_eq!(store(&stride(4 * words), u32::MAX, 4).wavefronts, expected, "{words}");
        }
    }

    #[test]
    fn wide_accesses_without_conflicts_take_one_wavefront_per_128_bytes() {
        for (bytes, ideal) in [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)] {
            let access = load(&stride(u64::from(bytes)), u32::MAX, bytes);
            assert_eq!(access, Wavefronts { wavefronts: ideal, ideal });
            assert_eq!(store(&stride(u64::from(bytes)), u32::MAX, bytes), access);
        }
    }

    #[test]
    fn only_loads_pair_their_groups() {
        assert_eq!(load(&[256; 32], u32::MAX, 16), Wavefronts { wavefronts: 2, ideal: 2 });
        assert_eq!(store(&[256; 32], u32::MAX, 16), Wavefronts { wavefronts: 4, ideal: 4 });
        assert_eq!(load(&[256; 32], u32::MAX, 8).wavefronts, 1);
        assert_eq!(store(&[256; 32], u32::MAX, 8).wavefronts, 2);
        // Lanes n and n ^ 2.
        let two_apart = from_fn(|lane| 16 * (lane as u64 & !2));
        assert_eq!(load(&two_apart, u32::MAX, 16).ideal, 2);
        // Lanes n and n ^ 4 do not pair.
        let four_apart = from_fn(|lane| 16 * (lane as u64 & !4));
        assert_eq!(load(&four_apart, u32::MAX, 16).ideal, 4);
    }

    #[test]
    fn an_inactive_partner_does_not_prevent_pairing() {
        let access = load(&stride(16), 0x5555_5555, 16);
        // n ^ 1 is inactive everywhere: 16 lanes with 16 bytes each, in two groups of 8.
        assert_eq!(access.ideal, 2);
        assert_eq!(store(&stride(16), 0x5555_5555, 16).ideal, 4);
    }

    #[test]
    fn groups_without_a_lane_cost_nothing() {
        assert_eq!(load(&stride(8), 0x0000_ffff, 8).wavefronts, 1);
        assert_eq!(store(&stride(16), 0x0000_00ff, 16).wavefronts, 1);
        assert_eq!(store(&stride(16), 0, 16), Wavefronts::default());
        assert_eq!(store(&stride(16), u32::MAX, 0), Wavefronts::default());
    }

    #[test]
    fn schedules_have_as_many_wavefronts_as_are_counted_and_never_two_words_in_a_bank() {
        let mut state = 1u64;
        for case in 0..2000 {
            let mut random = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state >> 33
            };
            let bytes = 1 << (case % 5);
            let active = if case % 3 == 0 { u32::MAX } else { random() as u32 };
            let (spread, together) = (1 + random() % 200, random() as usize % 4);
            let chosen: LaneAddresses = from_fn(|_| u64::from(bytes) * (random() % spread));
            let addresses = from_fn(|lane| chosen[lane & !together]);
            for (schedule, counted) in [
                (load_schedule(&addresses, active, bytes), load(&addresses, active, bytes)),
                (store_schedule(&addresses, active, bytes), store(&addresses, active, bytes)),
            ] {
                let last = schedule.iter().flatten().max().map_or(0, |last| last + 1);
                assert_eq!(last, counted.wavefronts, "{addresses:?} {active:#x} {bytes}");
                let mut words = std::collections::HashMap::new();
                for lane in 0..WARP_SIZE {
                    assert_eq!(schedule[lane].is_some(), active & (1 << lane) != 0);
                    let Some(wavefront) = schedule[lane] else { continue };
                    for word in addresses[lane] / 4..(addresses[lane] + u64::from(bytes)).div_ceil(4) {
                        let other = words.insert((wavefront, word % 32), word);
                        assert!(other.is_none_or(|other| other == word), "two words in a bank");
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_of_one_word_are_one_word() {
        assert_eq!(load(&stride(1), u32::MAX, 1).wavefronts, 1);
        // A stride that wraps around reaches two words only.
        assert_eq!(load(&from_fn(|lane| (lane as u64) << 63), u32::MAX, 4).wavefronts, 2);
        // Bytes 128 apart are words of the same bank.
        assert_eq!(load(&stride(128), u32::MAX, 1).wavefronts, 32);
    }
}
