//! What accesses cost.

use crate::check::Mode;
use crate::count::{AccessCount, Cost};
use crate::machine::state::worker::Worker;
use crate::memory::{Addresses, lanes};
use crate::program::instruction::{MemorySite, Space};

impl Worker<'_> {
    /// Counts one execution of an access.
    pub fn count(&mut self, site: &MemorySite, addresses: &Addresses, space: Space, mode: Mode) {
        if matches!(space, Space::Local | Space::Const | Space::Param) {
            let once = AccessCount {
                requests: 1,
                lanes: addresses.mask.count_ones().into(),
                bytes: u64::from(addresses.mask.count_ones() * site.bytes * site.elements),
                ..AccessCount::default()
            };
            let once = if space == Space::Local {
                local(addresses, site.bytes * site.elements, once)
            } else {
                constant(addresses, once)
            };
            self.counts.access(site.counter, space, &once, 1);
        } else {
            self.count_pattern(site, addresses, space, mode);
        }
        if self.launch.watch.observer.is_some() {
            self.observe(site, addresses, space, mode);
        }
    }

    fn count_pattern(&mut self, site: &MemorySite, addresses: &Addresses, space: Space, mode: Mode) {
        let pattern = &mut self.patterns[site.counter as usize];
        if !pattern.is(addresses, space) {
            self.counts.access(site.counter, pattern.space, &pattern.once, pattern.repeats);
            pattern.repeats = 0;
            let cost = match (space, mode) {
                (Space::Shared, Mode::Read) => Cost::SharedLoad,
                (Space::Shared, _) => Cost::SharedStore,
                _ => Cost::Sectors,
            };
            let issue = site.issue.as_ref();
            pattern.learn(addresses, site.bytes * site.elements, space, cost, issue);
        }
        pattern.repeats += 1;
    }

    /// Puts into the counters what the patterns still hold.
    pub fn settle(&mut self) {
        for (index, pattern) in self.patterns.iter_mut().enumerate() {
            self.counts.access(index as u32, pattern.space, &pattern.once, pattern.repeats);
            pattern.repeats = 0;
        }
    }
}

/// The constant cache serves one address at a time.
fn constant(addresses: &Addresses, once: AccessCount) -> AccessCount {
    let mut distinct: Vec<u64> = lanes(addresses.mask).map(|lane| addresses.at[lane]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    AccessCount { wavefronts: distinct.len() as u64, ideal_wavefronts: 1, ..once }
}

/// The hardware keeps word `k` of lane `i` of local memory at `128 k + 4 i`.
fn local(addresses: &Addresses, bytes: u32, once: AccessCount) -> AccessCount {
    let mut sectors = Vec::with_capacity(128);
    for lane in lanes(addresses.mask) {
        let at = addresses.at[lane];
        for word in at / 4..(at + u64::from(bytes)).div_ceil(4) {
            sectors.push((word * 128 + 4 * lane as u64) / 32);
        }
    }
    sectors.sort_unstable();
    sectors.dedup();
    let ideal = tilewright_arch::memory::global::ideal_sectors(addresses.mask, bytes);
    let lines = sectors.chunk_by(|a, b| a / 4 == b / 4).count() as u64;
    AccessCount {
        sectors: sectors.len() as u64,
        ideal_sectors: ideal.into(),
        lines,
        l1_wavefronts: lines,
        ..once
    }
}
