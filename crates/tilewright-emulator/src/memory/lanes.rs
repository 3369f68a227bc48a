//! The addresses of one warp instruction.

use tilewright_arch::memory::{self, LaneAddresses};

/// The address of each lane. Lanes that sit out have the address of the first active lane, so that loops need no mask.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// One address per lane.
    pub at: LaneAddresses,
    /// Active lanes.
    pub mask: u32,
}

/// How the addresses of a warp lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All lanes have one address.
    Uniform,
    /// All 32 lanes are active and follow each other without gaps.
    Consecutive,
    /// Anything else.
    Scattered,
}

/// What the last execution of an access looked like, and what it cost. The cost depends on the addresses relative to the first lane's
/// and on the place of that one in its sector, so that an access that moves through memory is counted without looking at its lanes again.
#[derive(Clone, Debug)]
pub struct Pattern {
    relative: [u32; 32],
    mask: u32,
    phase: u32,
    /// The bits of the phase that matter: none where lanes are whole sectors apart, and none in shared memory.
    phase_mask: u32,
    /// Sectors or wavefronts.
    pub cost: u32,
    /// The least cost that the same bytes could have.
    pub ideal: u32,
    /// The shape.
    pub shape: Shape,
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

impl Default for Pattern {
    fn default() -> Self {
        // No lane is active: this matches no execution.
        Self {
            relative: [0; 32],
            mask: 0,
            phase: 0,
            phase_mask: 31,
            cost: 0,
            ideal: 0,
            shape: Shape::Scattered,
        }
    }
}

impl Pattern {
    /// Updates the pattern for the addresses of another execution of `bytes` per lane, aligned to `bytes` or its elements.
    #[inline(always)]
    pub fn follow(&mut self, addresses: &Addresses, bytes: u32, cost: Cost) {
        let first = addresses.at[0];
        let phase = (first as u32) & 31;
        let mut differs = (self.mask ^ addresses.mask) | ((self.phase ^ phase) & self.phase_mask);
        let mut far = 0;
        for lane in 0..32 {
            let relative = addresses.at[lane].wrapping_sub(first);
            differs |= relative as u32 ^ self.relative[lane];
            // Distances of 2 GiB and more do not fit.
            far |= relative.wrapping_add(1 << 31) >> 32;
        }
        if differs != 0 || far != 0 {
            self.learn(addresses, bytes, cost, far != 0);
        }
    }

    #[cold]
    fn learn(&mut self, addresses: &Addresses, bytes: u32, cost: Cost, far: bool) {
        let Addresses { at, mask } = addresses;
        // A pattern that does not fit matches no other execution.
        self.mask = if far { 0 } else { *mask };
        self.phase = (at[0] as u32) & 31;
        self.relative = std::array::from_fn(|lane| at[lane].wrapping_sub(at[0]) as u32);
        // An aligned access lies in one sector, wherever in it.
        let aligned = bytes.is_power_of_two() && at.iter().all(|at| at % u64::from(bytes) == 0);
        let whole_sectors = aligned && self.relative.iter().all(|relative| relative % 32 == 0);
        self.phase_mask = if aligned && (whole_sectors || cost != Cost::Sectors) { 0 } else { 31 };
        (self.cost, self.ideal) = match cost {
            Cost::Sectors => {
                (memory::global::sectors(at, *mask, bytes), memory::global::ideal_sectors(*mask, bytes))
            }
            Cost::SharedLoad => {
                let wavefronts = memory::shared::load(at, *mask, bytes);
                (wavefronts.wavefronts, wavefronts.ideal)
            }
            Cost::SharedStore => {
                let wavefronts = memory::shared::store(at, *mask, bytes);
                (wavefronts.wavefronts, wavefronts.ideal)
            }
        };
        let consecutive = |lane: usize| at[lane] == at[0].wrapping_add(lane as u64 * u64::from(bytes));
        self.shape = match () {
            () if at.iter().all(|&address| address == at[0]) => Shape::Uniform,
            () if *mask == u32::MAX && (0..32).all(consecutive) => Shape::Consecutive,
            () => Shape::Scattered,
        };
    }
}

/// `f` of every lane. A plain loop, so that it inlines into functions of other target features.
#[inline(always)]
pub fn each_lane<T: Copy, R: Copy>(values: &[T; 32], f: impl Fn(T) -> R) -> [R; 32] {
    let mut results = [f(values[0]); 32];
    let mut lane = 1;
    while lane < 32 {
        results[lane] = f(values[lane]);
        lane += 1;
    }
    results
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
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
                            pattern.follow(&Addresses { at, mask: *mask }, width, cost);
                            let expected = match cost {
                                Cost::Sectors => memory::global::sectors(&at, *mask, width),
                                Cost::SharedLoad => memory::shared::load(&at, *mask, width).wavefronts,
                                Cost::SharedStore => memory::shared::store(&at, *mask, width).wavefronts,
                            };
                            prop_assert_eq!(pattern.cost, expected);
                        }
                    }
                }
            }
        }
    }
}
