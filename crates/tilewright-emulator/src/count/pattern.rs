//! What an access looked like when it was last executed, and what that cost.
//!
//! Cost and shape depend on the addresses relative to the first lane's, and on the place of that one in its line. A loop moves the first
//! lane and little else: one comparison with the pattern stands for the bounds, the alignment, the sectors and the banks of 32 lanes.

use tilewright_arch::memory::{
    self,
    global::{LINE_BYTES, SECTOR_BYTES},
};

use super::AccessCount;
use crate::memory::{Addresses, Footprint, Object};
use crate::program::instruction::{Issue, Space};

/// Lanes of a group: tiles are mostly at least as wide.
pub const GROUP: usize = 8;

/// How the addresses of a warp lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All lanes have one address.
    Uniform,
    /// All 32 lanes are active, and those of each group have one address.
    Repeated,
    /// All 32 lanes are active, and those of each group follow each other without gaps.
    Consecutive,
    /// Anything else.
    Scattered,
}

/// What a warp access costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Sectors of global memory.
    Sectors,
    /// Wavefronts of a shared load.
    SharedLoad,
    /// Wavefronts of a shared store.
    SharedStore,
}

/// The last execution of an access.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Pattern {
    /// Addresses minus that of the first active lane; 0 for lanes that sit out.
    relative: [u64; 32],
    /// The low halves, for addresses in 32-bit registers.
    relative32: [u32; 32],
    /// Active lanes; none match no execution.
    mask: u32,
    phase: u32,
    /// The bits of the phase that matter: those within a line if they decide how many lines there are, or within a sector; none where
    /// lanes are whole sectors apart, and none in shared memory.
    phase_mask: u32,
    /// The memory.
    pub space: Space,
    /// The shape.
    pub shape: Shape,
    /// From the first lane's address to the lowest.
    lowest: u64,
    /// From the lowest byte to the end of the highest lane.
    span: u64,
    /// All relative addresses, or'ed.
    bits: u64,
    /// What one execution adds to the counters.
    pub once: AccessCount,
    /// Executions that the counters do not hold yet.
    pub repeats: u64,
    /// The granules, if somebody has asked for them.
    footprint: Footprint,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            relative: [0; 32],
            relative32: [0; 32],
            mask: 0,
            phase: 0,
            phase_mask: LINE_BYTES - 1,
            space: Space::Generic,
            shape: Shape::Scattered,
            lowest: 0,
            span: u64::MAX,
            bits: 0,
            once: AccessCount::default(),
            repeats: 0,
            footprint: Footprint::default(),
        }
    }
}

/// The differences between `row` and the pattern, or'ed. The index of the first lane is not known to the compiler: every lane is treated
/// alike, which is what makes vectors of this loop.
macro_rules! differences {
    ($row:expr, $relative:expr, $first:expr, $mask:expr) => {{
        let (row, relative, first, mask) = ($row, $relative, $first, $mask);
        let mut differs = 0;
        if mask == u32::MAX {
            for lane in 0..32 {
                differs |= row[lane].wrapping_sub(first) ^ relative[lane];
            }
        } else {
            for lane in 0..32 {
                let difference = row[lane].wrapping_sub(first) ^ relative[lane];
                differs |= if mask >> lane & 1 == 1 { difference } else { 0 };
            }
        }
        differs
    }};
}

impl Pattern {
    /// The address of the first active lane, if the lanes of `row` lie to each other as at the last execution.
    #[inline(always)]
    pub fn matches(&self, row: &[u64; 32], offset: u64, mask: u32) -> Option<u64> {
        let first = row[mask.trailing_zeros() as usize & 31];
        let differs = differences!(row, &self.relative, first, mask);
        let first = first.wrapping_add(offset);
        (differs == 0 && self.agrees(first, mask)).then_some(first)
    }

    /// The same for addresses of 32 bits, which wrap there. Bounds decide whether the distance of two lanes is that of the pattern or
    /// differs by 2^32.
    #[inline(always)]
    pub fn matches32(&self, row: &[u32; 32], offset: u64, mask: u32) -> Option<u64> {
        let first = row[mask.trailing_zeros() as usize & 31];
        let differs = differences!(row, &self.relative32, first, mask);
        let first = u64::from(first.wrapping_add(offset as u32));
        (differs == 0 && self.agrees(first, mask)).then_some(first)
    }

    #[inline(always)]
    fn agrees(&self, first: u64, mask: u32) -> bool {
        self.mask == mask && (self.phase ^ first as u32) & self.phase_mask == 0
    }

    /// Whether all lanes' `bytes` lie in `object` and are aligned to their size, when the first lane is at `first`.
    #[inline(always)]
    pub fn is_inside(&self, first: u64, object: &Object, bytes: u32) -> bool {
        let lowest = first.wrapping_add(self.lowest).wrapping_sub(object.start);
        let fits = self.span <= object.bytes && lowest <= object.bytes - self.span;
        fits && (first | self.bits) & u64::from(bytes - 1) == 0
    }

    /// Addresses relative to the first lane's.
    #[inline(always)]
    pub fn relative(&self) -> &[u64; 32] {
        &self.relative
    }

    /// The granules of `1 << shift` bytes that an access of `bytes` touches.
    #[inline(always)]
    pub fn footprint(&mut self, bytes: u32, shift: u32) -> &Footprint {
        if self.footprint.is_empty() {
            self.footprint = Footprint::new(&self.relative, self.mask, bytes, shift);
        }
        &self.footprint
    }

    /// Whether this is how `addresses` lie in `space`.
    pub fn is(&self, addresses: &Addresses, space: Space) -> bool {
        let first = addresses.at[0];
        let same = |lane: usize| addresses.at[lane].wrapping_sub(first) == self.relative[lane];
        self.space == space && self.agrees(first, addresses.mask) && (0..32).all(same)
    }

    /// Remembers how `addresses` lie and what an access of `bytes` costs there.
    #[cold]
    pub fn learn(
        &mut self,
        addresses: &Addresses,
        bytes: u32,
        space: Space,
        cost: Cost,
        issue: Option<&Issue>,
    ) {
        let Addresses { at, mask } = addresses;
        self.mask = *mask;
        self.space = space;
        self.phase = (at[0] as u32) & (LINE_BYTES - 1);
        self.relative = std::array::from_fn(|lane| at[lane].wrapping_sub(at[0]));
        self.relative32 = self.relative.map(|relative| relative as u32);
        let signed = self.relative.map(|relative| relative as i64);
        let (lowest, highest) = signed.iter().fold((0, 0), |(low, high), &at| (at.min(low), at.max(high)));
        self.lowest = lowest as u64;
        self.span = (highest.wrapping_sub(lowest) as u64).saturating_add(bytes.into());
        self.bits = self.relative.iter().fold(0, |bits, relative| bits | relative);
        // An aligned access lies in one sector, wherever in it.
        let aligned = bytes.is_power_of_two() && (at[0] | self.bits).is_multiple_of(bytes.into());
        let whole_sectors = aligned && self.bits.is_multiple_of(32);
        let of_sectors =
            if aligned && (whole_sectors || cost != Cost::Sectors) { 0 } else { SECTOR_BYTES - 1 };
        let of_lines = if cost == Cost::Sectors && !has_as_many_lines_anywhere(addresses, bytes) {
            (LINE_BYTES - 1) & !(SECTOR_BYTES - 1)
        } else {
            0
        };
        self.phase_mask = of_sectors | of_lines;
        self.once = price(addresses, bytes, cost);
        if let Some(issue) = issue {
            (self.once.issued, self.once.issued_wavefronts) = issued(addresses, issue, cost);
        }
        self.footprint.clear();
        let grouped = |step: u64| {
            let follows = |lane: usize| self.relative[lane].wrapping_sub(self.relative[lane - 1]) == step;
            *mask == u32::MAX && (0..32usize).all(|lane| lane.is_multiple_of(GROUP) || follows(lane))
        };
        self.shape = match () {
            () if self.bits == 0 => Shape::Uniform,
            () if grouped(0) => Shape::Repeated,
            () if grouped(bytes.into()) => Shape::Consecutive,
            () => Shape::Scattered,
        };
    }
}

/// What one execution adds to the counters.
fn price(addresses: &Addresses, bytes: u32, cost: Cost) -> AccessCount {
    let Addresses { at, mask } = addresses;
    let lanes = u64::from(mask.count_ones());
    let once = AccessCount { requests: 1, lanes, bytes: lanes * u64::from(bytes), ..AccessCount::default() };
    let shared = |found: memory::shared::Wavefronts| AccessCount {
        wavefronts: found.wavefronts.into(),
        ideal_wavefronts: found.ideal.into(),
        ..once
    };
    match cost {
        Cost::Sectors => AccessCount {
            sectors: memory::global::sectors(at, *mask, bytes).into(),
            ideal_sectors: memory::global::ideal_sectors(*mask, bytes).into(),
            lines: memory::global::lines(at, *mask, bytes).into(),
            l1_wavefronts: memory::global::wavefronts(at, *mask, bytes).into(),
            ..once
        },
        Cost::SharedLoad => shared(memory::shared::load(at, *mask, bytes)),
        Cost::SharedStore => shared(memory::shared::store(at, *mask, bytes)),
    }
}

/// Whether an access touches as many lines when it is moved by sectors.
fn has_as_many_lines_anywhere(addresses: &Addresses, bytes: u32) -> bool {
    let moved = |sectors: u32| {
        let at = addresses.at.map(|at| at.wrapping_add(u64::from(sectors * SECTOR_BYTES)));
        memory::global::lines(&at, addresses.mask, bytes)
    };
    let lines = moved(0);
    (1..LINE_BYTES / SECTOR_BYTES).all(|sectors| moved(sectors) == lines)
}

/// How many accesses optimised code issues in place of one, and their wavefronts. Those that begin below it do so for all lanes.
fn issued(addresses: &Addresses, issue: &Issue, cost: Cost) -> (u64, u64) {
    issue.parts.iter().fold((0, 0), |(requests, wavefronts), part| {
        let at = addresses.at.map(|at| at.wrapping_sub(part.below.into()));
        let once = price(&Addresses { at, mask: addresses.mask }, part.bytes, cost);
        let times = u64::from(part.times);
        (requests + times, wavefronts + times * once.wavefronts)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Aligned addresses in some order around one place, as kernels make them.
    fn addresses() -> impl Strategy<Value = (Vec<u64>, u32, u32)> {
        let shift = 0..5u32;
        let stride = prop_oneof![Just(0i64), Just(1), Just(-1), Just(2), Just(33), -70..70i64];
        (shift, stride, 1..64u64, proptest::collection::vec(0..40u64, 32), any::<bool>(), any::<u32>())
            .prop_map(|(shift, stride, base, noise, noisy, mask)| {
                let at = |lane: usize| {
                    let index = 4096 * base as i64
                        + stride * lane as i64
                        + if noisy { noise[lane] as i64 } else { 0 };
                    (index as u64) << shift
                };
                ((0..32).map(at).collect(), 1 << shift, if mask % 3 == 0 { u32::MAX } else { mask | 1 })
            })
    }

    proptest! {
        #[test]
        fn remembered_costs_are_those_of_the_rules(all in proptest::collection::vec(addresses(), 1..20)) {
            let costs = [Cost::Sectors, Cost::SharedLoad, Cost::SharedStore];
            // A pattern belongs to one instruction, and so to one cost and width.
            for cost in costs {
                let space = if cost == Cost::Sectors { Space::Global } else { Space::Shared };
                for width in [1, 2, 4, 8, 16] {
                    let mut pattern = Pattern::default();
                    for (at, _, mask) in all.iter().filter(|row| row.1 == width) {
                        // Twice, and once more further on: what is remembered must hold.
                        for shifted in [0, 0, u64::from(width) * 96] {
                            let mut at: [u64; 32] = std::array::from_fn(|lane| at[lane] + shifted);
                            let first = at[mask.trailing_zeros() as usize];
                            for (lane, at) in at.iter_mut().enumerate() {
                                if mask >> lane & 1 == 0 {
                                    *at = first;
                                }
                            }
                            let addresses = Addresses { at, mask: *mask };
                            if !pattern.is(&addresses, space) {
                                pattern.learn(&addresses, width, space, cost, None);
                            }
                            let row32 = at.map(|at| (at - 64) as u32);
                            prop_assert_eq!(pattern.matches(&at, 0, *mask), Some(first));
                            prop_assert_eq!(pattern.matches32(&row32, 64, *mask), Some(first));
                            let expected = match cost {
                                Cost::Sectors => memory::global::sectors(&at, *mask, width),
                                Cost::SharedLoad => memory::shared::load(&at, *mask, width).wavefronts,
                                Cost::SharedStore => memory::shared::store(&at, *mask, width).wavefronts,
                            };
                            prop_assert_eq!(pattern.once.sectors + pattern.once.wavefronts, u64::from(expected));
                            let lines = memory::global::lines(&at, *mask, width);
                            let lines = if cost == Cost::Sectors { lines } else { 0 };
                            prop_assert_eq!(pattern.once.lines, u64::from(lines));
                            let passes = memory::global::wavefronts(&at, *mask, width);
                            let passes = if cost == Cost::Sectors { passes } else { 0 };
                            prop_assert_eq!(pattern.once.l1_wavefronts, u64::from(passes));
                        }
                    }
                }
            }
        }
    }
}
