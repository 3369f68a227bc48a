//! Who watches is told of an access.

use crate::check::Mode;
use crate::count::AccessKind;
use crate::machine::state::{
    observer::{EventKind, ObservedAccess, ObservedEvent},
    team::Team,
    worker::{Executing, Worker},
};
use crate::memory::Addresses;
use crate::program::{
    address,
    instruction::{MemorySite, Space},
};

impl Worker<'_> {
    /// Tells the observer of something that a warp does at an mbarrier, or to products.
    pub fn tell(&self, kind: EventKind, team: &Team, warp: u32, at: Option<u64>) {
        let Some(observer) = self.launch.watch.observer else { return };
        // Of other blocks of the cluster only the first is known by its number.
        let block = match at.and_then(address::rank_of) {
            Some(rank) if rank != team.rank && rank > 0 => return,
            Some(0) if team.rank > 0 => team.cluster.first(),
            _ => team.number,
        };
        let shared = &self.launch.shared;
        let (variable, offset) = at.map_or(("", 0), |at| shared.named(address::without_rank(at)));
        let block = self.naming().block_index(block);
        observer.event(&ObservedEvent { block, warp, kind, variable, offset });
    }

    /// Tells the observer, if there is one.
    #[cold]
    #[inline(never)]
    pub fn observe(&self, site: &MemorySite, addresses: &Addresses, space: Space, mode: Mode) {
        self.observe_counted(site.counter, site.bytes * site.elements, addresses, space, mode);
    }

    /// The same of an access with this row of counters, whose lanes move so many bytes each.
    pub fn observe_counted(&self, counter: u32, bytes: u32, addresses: &Addresses, space: Space, mode: Mode) {
        let Some(observer) = self.launch.watch.observer else { return };
        let pc = self.program.accesses[counter as usize];
        let first = addresses.at[addresses.mask.trailing_zeros() as usize & 31];
        // Lanes of a generic access may mean different spaces; the first speaks for all.
        let window = if space == Space::Shared { address::window(first) } else { 0 };
        let Executing { block, warp, epoch } = self.executing;
        observer.access(&ObservedAccess {
            block: self.naming().block_index(block),
            warp,
            ptx_line: self.program.origins[pc as usize].ptx_line,
            kind: AccessKind::of(space, mode),
            active: addresses.mask,
            addresses: &addresses.at,
            bytes,
            start: match space {
                Space::Shared => window + self.launch.shared.start(first - window),
                Space::Local => 0,
                _ => self.launch.memory.object(first).map_or(0, |object| object.start),
            },
            variable: if space == Space::Shared { self.launch.shared.name(first - window) } else { "" },
            epoch,
        });
    }
}
