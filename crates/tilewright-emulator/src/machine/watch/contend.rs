//! What atomics that are loops cost, once their contests are over.

use crate::count::{Contender, contend};
use crate::machine::state::{team::Team, worker::Worker};
use crate::memory::Addresses;
use crate::program::instruction::Space;

impl Worker<'_> {
    /// Warp `warp` executes atomic `index`, whose addresses are those of shared memory.
    pub fn contend(&mut self, index: u32, warp: u32, team: &mut Team, addresses: &Addresses) {
        if let Some((atomic, contenders)) = team.contests.join(index, warp, Contender::new(addresses)) {
            self.count_loop(atomic, &contenders);
        }
    }

    /// Whoever has not come to an atomic does not meet those that have.
    pub fn settle_contests(&mut self, team: &mut Team) {
        for (atomic, contenders) in team.contests.settle() {
            self.count_loop(atomic, &contenders);
        }
    }

    fn count_loop(&mut self, atomic: u32, contenders: &[Contender]) {
        let site = &self.program.sites.atomics[atomic as usize];
        let Some(loads) = site.loads else { return };
        let counted = contend(contenders, site.memory.bytes);
        self.counts.access(loads, Space::Shared, &counted.loads, 1);
        self.counts.access(site.memory.counter, Space::Shared, &counted.swaps, 1);
    }
}
