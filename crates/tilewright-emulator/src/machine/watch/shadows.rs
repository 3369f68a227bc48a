//! Accesses as the race checks see them.

use crate::check::{
    Access, Actor, Conflict, Entry, Event, FindingKind, GlobalAccess, GlobalConflict, Mode, Present, Setting,
    Severity, Side, Strength, WAIT_FOR_STORE, fix,
};
use crate::machine::state::{source::element, step::Step, worker::Worker};
use crate::memory::{Addresses, Object, Use, each_lane, read};
use crate::program::{
    address,
    instruction::{MemorySite, Op, Order, Rare, Releases, Scope, Space},
};

impl Step<'_, '_> {
    /// How an access takes part in races.
    pub fn actor_of(&self, site: &MemorySite, space: Space) -> Actor {
        let strength = match (site.order, site.scope) {
            (Order::Weak, _) => Strength::Plain,
            // Volatile is no substitute for a barrier between lanes that exchange data.
            (Order::Volatile, _) if space != Space::Global && !site.is_flag => Strength::Volatile,
            (Order::Strong, Scope::Block) => Strength::Block,
            (Order::Volatile | Order::Strong, _) => Strength::Atomic,
        };
        self.actor(strength)
    }

    /// What an access publishes to other threads, and learns of them, before its data move.
    pub fn order(&mut self, site: &MemorySite, addresses: &Addresses, space: Space, mode: Mode) {
        match (space, site.order) {
            (Space::Shared, Order::Volatile | Order::Strong) if self.team.shadow.is_some() => {
                self.order_shared(site, addresses, mode);
            }
            (Space::Global, Order::Volatile | Order::Strong) if self.worker.shadow.is_some() => {
                self.order_global(site, addresses, mode);
            }
            _ => {}
        }
    }

    /// A shared access, once it is [ordered](Self::order).
    pub fn shadow_shared(&mut self, site: &MemorySite, addresses: &Addresses, object: &Object, mode: Mode) {
        let actor = self.actor_of(site, Space::Shared);
        // The shadow covers the whole storage.
        let start = object.data as usize - self.team.shared.data() as usize;
        let offsets = each_lane(&addresses.at, |at| (at - object.start) as u32 + start as u32);
        let bytes = site.bytes * site.elements;
        let Some(mut shadow) = self.team.shadow.take() else { return };
        let mut conflicts = Vec::new();
        let access = Access { actor, mode, offsets: &offsets, bytes, mask: addresses.mask };
        shadow.access(&self.team.order, &access, &mut |lane, conflict| conflicts.push((lane, conflict)));
        self.team.shadow = Some(shadow);
        if !conflicts.is_empty() {
            self.shared_conflicts(site, addresses, object, mode, &conflicts);
        }
    }

    fn order_shared(&mut self, site: &MemorySite, addresses: &Addresses, mode: Mode) {
        if !self.team.order.publishes() && site.releases == Releases::No {
            return;
        }
        for lane in crate::memory::lanes(addresses.mask) {
            let at = address::SHARED_WINDOW + addresses.at[lane];
            if mode != Mode::Write {
                self.team.order.learn(at, self.warp.index, lane as u32);
            }
            if mode != Mode::Read {
                self.team.order.publish(at, self.warp.index, lane as u32, site.releases == Releases::Yes);
            }
        }
    }

    #[cold]
    fn shared_conflicts(
        &mut self,
        site: &MemorySite,
        addresses: &Addresses,
        object: &Object,
        mode: Mode,
        conflicts: &[(u32, Conflict)],
    ) {
        let pc = self.pc;
        self.give_unwritten(site, addresses, object, conflicts);
        let name = self.launch().shared.name(addresses.at[0]).to_string();
        for &(lane, conflict) in conflicts {
            let at = self.side(1 << lane);
            let offset = addresses.at[lane as usize] - object.start;
            match conflict {
                Conflict::Uninitialised { .. } => {}
                Conflict::Pending { copy } => {
                    self.report_pending(copy, at, addresses.at[lane as usize], &name, mode);
                }
                Conflict::Race { earlier, earlier_mode, lost_update } => {
                    let same_warp = earlier.warp() == self.warp.index;
                    let with = self.team.earlier(earlier);
                    let benign = mode == Mode::Write
                        && earlier_mode == Mode::Write
                        && self.same_value(
                            site,
                            addresses,
                            object,
                            lane,
                            earlier.pc() == Some(pc) && same_warp,
                            with.lanes,
                        );
                    let kind = match (lost_update, same_warp) {
                        (true, _) => FindingKind::LostUpdate,
                        (false, true) => FindingKind::WarpRace,
                        (false, false) => FindingKind::SharedRace,
                    };
                    let strength = self.actor_of(site, Space::Shared).strength;
                    if benign && earlier.strength() != Strength::Plain && strength != Strength::Plain {
                        // A flag that several set.
                        continue;
                    }
                    let setting = self.worker.setting(pc, earlier, strength, true, benign);
                    let severity = if benign { Severity::Note } else { Severity::Error };
                    let key = (kind, Some(pc), earlier.pc());
                    let naming = self.worker.naming();
                    self.worker.findings.report(naming, key, || {
                        let (was, is) = (did(earlier_mode), mode.verb());
                        Event {
                            kind,
                            severity,
                            at,
                            with: Some(with),
                            message: format!(
                                "{is} {}, which another thread {was} since the last barrier",
                                element(&name, object.bytes, offset, site.bytes)
                            ),
                            fix: fix(kind, mode, setting),
                            race: Some((mode, setting)),
                        }
                    });
                }
            }
        }
    }

    /// Whether two conflicting stores write the same value.
    fn same_value(
        &self,
        site: &MemorySite,
        addresses: &Addresses,
        object: &Object,
        lane: u32,
        same_instruction: bool,
        other: u32,
    ) -> bool {
        let offset = addresses.at[lane as usize] - object.start;
        site.values.iter().enumerate().all(|(element, slot)| {
            let Some(slot) = *slot else { return true };
            let bits = 8 * site.bytes.min(8);
            let mask = u64::MAX >> (64 - bits);
            let mine = self.frame.lane(slot, lane as usize) & mask;
            let theirs = if same_instruction {
                // This instruction has not moved its data yet: the value is still in a register.
                self.frame.lane(slot, other.trailing_zeros() as usize & 31) & mask
            } else {
                let at = offset as usize + element * site.bytes as usize;
                // SAFETY: the access was checked before races are looked for.
                read(unsafe { object.data.add(at) }, site.bytes)
            };
            mine == theirs
        })
    }

    /// A global access, once it is [ordered](Self::order).
    pub fn shadow_global(&mut self, site: &MemorySite, addresses: &Addresses, object: &Object, mode: Mode) {
        let actor = self.actor_of(site, Space::Global);
        let launch = self.launch();
        let Some(shadow) = &mut self.worker.shadow else { return };
        let region = launch.memory.slot(object.start);
        let offsets = each_lane(&addresses.at, |at| at - object.start);
        let bytes = site.bytes * site.elements;
        if mode != Mode::Read {
            crate::memory::lanes(addresses.mask)
                .for_each(|lane| shadow.keep(region, object, offsets[lane], bytes));
        }
        let present = Present {
            block: self.team.number,
            order: &self.team.order,
            known: &self.team.known,
            blocks: &launch.blocks,
        };
        let mut conflicts = Vec::new();
        let access = GlobalAccess { present, actor, mode, region };
        let mut found = |lane, conflict| conflicts.push((lane, conflict));
        shadow.access(access, &offsets, bytes, addresses.mask, &mut found);
        if !conflicts.is_empty() {
            self.global_conflicts(site, addresses, object, mode, &conflicts);
        }
    }

    /// Reports lanes that read through the read-only cache what the kernel has written.
    pub fn check_read_only(&mut self, site: &MemorySite, addresses: &Addresses, object: &Object) {
        let launch = self.launch();
        let Some(shadow) = &mut self.worker.shadow else { return };
        let region = launch.memory.slot(object.start);
        let bytes = site.bytes * site.elements;
        let is_written = |&lane: &usize| shadow.is_written(region, addresses.at[lane] - object.start, bytes);
        let written =
            crate::memory::lanes(addresses.mask).filter(is_written).fold(0, |mask, lane| mask | 1u32 << lane);
        if written == 0 {
            return;
        }
        let at = addresses.at[written.trailing_zeros() as usize];
        let name = launch.memory.name(at).unwrap_or_default().to_owned();
        self.report(FindingKind::ReadOnlyCache, Severity::Warning, written, || {
            (
                format!("reads {} by way of the read-only cache, and the kernel has written it: the old value may come", element(&name, object.bytes, at - object.start, site.bytes)),
                "read without __ldg, and take `const` and `__restrict__` from pointers to what the kernel writes".into(),
            )
        });
    }

    /// What other blocks have published where these lanes have just read. Before the data moved that may have been less: a block that
    /// publishes in between is one whose value was read.
    pub fn learn_of_blocks(&mut self, site: &MemorySite, addresses: &Addresses) {
        if site.order == Order::Weak || site.scope == Scope::Block || self.worker.shadow.is_none() {
            return;
        }
        for lane in crate::memory::lanes(addresses.mask) {
            self.launch().blocks.learn(addresses.at[lane], &mut self.team.known);
        }
    }

    fn order_global(&mut self, site: &MemorySite, addresses: &Addresses, mode: Mode) {
        let releases = site.releases == Releases::Yes;
        let is_wide = site.scope == Scope::Device;
        if releases && is_wide && mode != Mode::Read {
            self.team.order.now += 1;
            self.team.known.fenced = Some(self.team.order.now);
        }
        for lane in crate::memory::lanes(addresses.mask) {
            let at = addresses.at[lane];
            if mode != Mode::Write {
                if is_wide {
                    self.launch().blocks.learn(at, &mut self.team.known);
                }
                self.team.order.learn(at, self.warp.index, lane as u32);
            }
            if mode != Mode::Read {
                if let Some(stamp) = self.team.known.fenced.filter(|_| is_wide) {
                    // An entry of the log.
                    self.launch().budget.take(Use::Races, size_of::<(u32, u32)>() as u64);
                    self.launch().blocks.publish(at, self.team.number, stamp, &self.team.known);
                }
                if self.team.order.publishes() || releases {
                    self.team.order.publish(at, self.warp.index, lane as u32, releases);
                }
            }
        }
    }

    #[cold]
    fn global_conflicts(
        &mut self,
        site: &MemorySite,
        addresses: &Addresses,
        object: &Object,
        mode: Mode,
        conflicts: &[(u32, GlobalConflict)],
    ) {
        let pc = self.pc;
        let name = self.launch().memory.name(addresses.at[0]).unwrap_or_default().to_owned();
        for &(lane, conflict) in conflicts {
            let GlobalConflict { earlier, block, earlier_mode, lost_update } = conflict;
            let at = self.side(1 << lane);
            let same_block = block == self.team.number;
            let same_warp = same_block && earlier.warp() == self.warp.index;
            let with = Side { pc: earlier.pc(), block, warp: earlier.warp(), lanes: earlier.lanes };
            let same_instruction = same_warp && earlier.pc() == Some(pc);
            let benign = mode == Mode::Write
                && earlier_mode == Mode::Write
                && self.same_value(site, addresses, object, lane, same_instruction, with.lanes);
            let kind = match () {
                () if lost_update => FindingKind::LostUpdate,
                () if same_warp => FindingKind::WarpRace,
                () if same_block => FindingKind::GlobalRace,
                () => FindingKind::BlockRace,
            };
            let strength = self.actor_of(site, Space::Global).strength;
            let setting = self.worker.setting(pc, earlier, strength, same_block, benign);
            let severity = if benign { Severity::Note } else { Severity::Error };
            let offset = addresses.at[lane as usize] - object.start;
            let is_copy = self.worker.is_bulk_store(earlier);
            let naming = self.worker.naming();
            self.worker.findings.report(naming, (kind, Some(pc), earlier.pc()), || {
                let (was, is) = (did(earlier_mode), mode.verb());
                let whom =
                    if same_block { "another thread of the block" } else { "a thread of another block" };
                Event {
                    kind,
                    severity,
                    at,
                    with: Some(with),
                    message: format!(
                        "{is} {}, which {whom} {was}, and nothing orders the two",
                        element(&name, object.bytes, offset, site.bytes)
                    ),
                    fix: if same_block && is_copy { WAIT_FOR_STORE.into() } else { fix(kind, mode, setting) },
                    race: Some((mode, setting)),
                }
            });
        }
    }
}

impl Worker<'_> {
    /// What the access of instruction `pc` and an earlier one are to each other.
    pub fn setting(
        &self,
        pc: u32,
        earlier: Entry,
        strength: Strength,
        same_block: bool,
        benign: bool,
    ) -> Setting {
        let polls = || self.program.polls(pc) || earlier.pc().is_some_and(|pc| self.program.polls(pc));
        // A flag that one side alone makes strong.
        let is_half_strong = || {
            strength != Strength::Plain && earlier.pc().is_some_and(|pc| self.program.loads_flag(pc))
                || earlier.strength() != Strength::Plain && self.program.loads_flag(pc)
        };
        match () {
            () if benign => Setting::Benign,
            () if !same_block && earlier.strength().is_strong() && strength.is_strong() => Setting::Scope,
            () if polls() || is_half_strong() => Setting::Poll,
            () if !same_block && self.program.turns_between_blocks(self.launch.entry) => Setting::Turns,
            () if !same_block && self.program.signals_between_blocks(self.launch.entry) => Setting::Signal,
            () if same_block && self.program.signals_in_a_block(self.launch.entry) => Setting::Signal,
            () => Setting::Data,
        }
    }

    /// Whether an access was that of a bulk copy from shared to global memory.
    pub fn is_bulk_store(&self, entry: Entry) -> bool {
        entry.pc().is_some_and(|pc| self.program.code[pc as usize].op == Op::Rare(Rare::BulkStore))
    }
}

fn did(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "has read",
        Mode::Write => "has written",
        Mode::Update => "has updated",
    }
}
