//! Shadow of shared memory: for every granule the last plain store, the last atomic, two loads, and whether it was ever written.

use std::ops::Range;

use super::{
    entry::{Entry, Moment, Strength},
    order::Order,
};
use crate::memory::{Footprint, lanes};

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic.
    Update,
}

impl Mode {
    /// What a thread does.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Update => "updates",
        }
    }

    /// Whether the order of two accesses matters.
    pub fn conflicts(self, earlier: Mode) -> bool {
        (self, earlier) != (Mode::Read, Mode::Read)
    }
}

/// What is wrong with one lane's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Nothing has written some of the bytes: bit `n` stands for the one `n` behind the first.
    Uninitialised {
        /// They.
        bytes: u32,
    },
    /// An asynchronous copy to these bytes is on its way.
    Pending {
        /// The copy.
        copy: Entry,
    },
    /// The earlier access is not ordered with this one.
    Race {
        /// It, with the lanes that are not ordered alone.
        earlier: Entry,
        /// Whether it wrote.
        earlier_mode: Mode,
        /// Whether the present thread has read the value that it is about to replace.
        lost_update: bool,
    },
}

/// Who accesses.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// The warp.
    pub warp: u32,
    /// The instruction.
    pub pc: u32,
    /// Atomic or not.
    pub strength: Strength,
}

/// Accesses of one sort, by granule: stamps apart from lanes, so that loops over them vectorise.
#[derive(Debug, Default)]
struct Entries {
    moments: Vec<u64>,
    lanes: Vec<u32>,
}

impl Entries {
    fn new(granules: usize, moment: u64) -> Self {
        Self { moments: vec![moment; granules], lanes: vec![0; granules] }
    }

    /// What is remembered of a granule; nothing, while there is no room for any.
    fn get(&self, granule: usize) -> Entry {
        match (self.moments.get(granule), self.lanes.get(granule)) {
            (Some(&moment), Some(&lanes)) => Entry { moment: Moment(moment), lanes },
            _ => Entry::default(),
        }
    }

    fn set(&mut self, granule: usize, entry: Entry) {
        self.moments[granule] = entry.moment.0;
        self.lanes[granule] = entry.lanes;
    }

    #[inline(always)]
    fn run(&mut self, granules: Range<usize>) -> Option<Rows<'_>> {
        Some((self.moments.get_mut(granules.clone())?, self.lanes.get_mut(granules)?))
    }
}

/// Moments and lanes of granules in a row.
type Rows<'a> = (&'a mut [u64], &'a mut [u32]);

/// The moment of a store to a granule that nobody has written: after everything.
const NEVER: u64 = u64::MAX;

/// From here on, moments are those of copies on their way, and [`NEVER`].
const PENDING: u64 = (u32::MAX as u64) << 32;

/// Whether it is the moment of a copy on its way.
#[inline(always)]
fn is_pending(moment: u64) -> bool {
    moment >= PENDING && moment != NEVER
}

/// The shadow.
#[derive(Debug)]
pub struct SharedShadow {
    /// log2 of the bytes of a granule: 2, or 0 if the kernel accesses single bytes.
    shift: u32,
    /// Also whether there was a store at all.
    writes: Entries,
    /// Atomics and strong stores; they do not hide a plain store from others. Empty until there is one: plain accesses need not look.
    updates: Entries,
    reads: Entries,
    other_reads: Entries,
}

/// One access of a warp, as the shadow looks at it.
pub struct Access<'a> {
    /// Who.
    pub actor: Actor,
    /// How.
    pub mode: Mode,
    /// Offsets into the storage; lanes that sit out repeat one that does not.
    pub offsets: &'a [u32; 32],
    /// Bytes of a lane.
    pub bytes: u32,
    /// Active lanes.
    pub mask: u32,
}

impl SharedShadow {
    /// The shadow of `bytes` bytes in granules of `1 << shift`.
    pub fn new(bytes: u32, shift: u32) -> Self {
        let granules = (bytes as usize).div_ceil(1 << shift);
        Self {
            shift,
            writes: Entries::new(granules, NEVER),
            updates: Entries::default(),
            reads: Entries::new(granules, 0),
            other_reads: Entries::new(granules, 0),
        }
    }

    /// Bytes of the shadow of `bytes` bytes, once it has all of its entries.
    pub fn size(bytes: u64, shift: u32) -> u64 {
        4 * bytes.div_ceil(1 << shift) * (size_of::<u64>() + size_of::<u32>()) as u64
    }

    /// Remembers a plain access whose first lane is at `offset`, if it obviously conflicts with no other. `false`: it is for
    /// [`Self::access`] to tell, and what has been remembered so far does no harm.
    #[inline(always)]
    pub fn is_quiet(
        &mut self,
        order: &Order,
        actor: Actor,
        mode: Mode,
        footprint: &Footprint,
        offset: u32,
    ) -> bool {
        if !self.updates.moments.is_empty() || (mode == Mode::Write && !footprint.is_exclusive()) {
            return false;
        }
        for run in 0..footprint.runs() {
            let (start, lanes) = footprint.run(run, (offset >> self.shift) as usize);
            let granules = start..start.wrapping_add(lanes.len());
            let (Some(writes), Some(reads), Some(others)) = (
                self.writes.run(granules.clone()),
                self.reads.run(granules.clone()),
                self.other_reads.run(granules),
            ) else {
                return false;
            };
            let quiet = match mode {
                Mode::Read => quiet_read(order, actor, lanes, writes, reads, others),
                _ => quiet_write(order, actor, lanes, writes, reads, others),
            };
            if !quiet {
                return false;
            }
        }
        true
    }

    /// Looks at an access and calls `report` with the conflicts, at most one for each lane.
    pub fn access(&mut self, order: &Order, access: &Access<'_>, report: &mut dyn FnMut(u32, Conflict)) {
        let granules = (access.bytes >> self.shift).max(1) as usize;
        for lane in lanes(access.mask) {
            let start = (access.offsets[lane] >> self.shift) as usize;
            let mut conflict = None;
            for granule in start..start + granules {
                let found = self.one(order, access.actor, access.mode, granule, lane as u32);
                conflict = match (conflict, found) {
                    (
                        None | Some(Conflict::Uninitialised { .. }),
                        Some(Conflict::Uninitialised { bytes }),
                    ) => {
                        let more = bytes << ((granule - start) << self.shift);
                        let before =
                            if let Some(Conflict::Uninitialised { bytes }) = conflict { bytes } else { 0 };
                        Some(Conflict::Uninitialised { bytes: before | more })
                    }
                    (None | Some(Conflict::Uninitialised { .. }), Some(worse)) => Some(worse),
                    (conflict, _) => conflict,
                };
            }
            if let Some(conflict) = conflict {
                report(lane as u32, conflict);
            }
        }
    }

    /// A lane's asynchronous copy of `bytes` to `offset` is issued; its store has been looked at.
    pub fn issue(&mut self, actor: Actor, lane: u32, offset: u32, bytes: u32) {
        self.fill(Entry { moment: Moment::pending(actor.warp, actor.pc), lanes: 1 << lane }, offset, bytes);
    }

    /// The lane has waited for it.
    pub fn complete(&mut self, order: &Order, actor: Actor, lane: u32, offset: u32, bytes: u32) {
        let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength);
        self.fill(Entry { moment, lanes: 1 << lane }, offset, bytes);
    }

    /// Another block has written these bytes. What orders that is not followed.
    pub fn written_elsewhere(&mut self, order: &Order, offset: u32, bytes: u32) {
        let moment = Moment::new(order.barrier.saturating_sub(1), 0, super::entry::PC_LIMIT, Strength::Plain);
        self.fill(Entry { moment, lanes: 1 }, offset, bytes);
    }

    /// The granules of some bytes.
    fn granules(&self, offset: u32, bytes: u32) -> Range<usize> {
        let start = (offset >> self.shift) as usize;
        start..start + (bytes >> self.shift).max(1) as usize
    }

    /// A copy that is on its way to these bytes.
    pub fn pending(&self, offset: u32, bytes: u32) -> Option<Entry> {
        let granule = self
            .granules(offset, bytes)
            .find(|&granule| self.writes.moments.get(granule).is_some_and(|&at| is_pending(at)))?;
        Some(self.writes.get(granule))
    }

    /// Who has written these bytes last, plainly.
    pub fn writers(&self, offset: u32, bytes: u32) -> impl Iterator<Item = Entry> {
        let is_written = |&granule: &usize| {
            self.writes.moments.get(granule).is_some_and(|&moment| moment < PENDING && moment != 0)
        };
        self.granules(offset, bytes).filter(is_written).map(|granule| self.writes.get(granule))
    }

    /// The accesses to these bytes that are remembered, but for copies on their way.
    pub fn accesses(&self, offset: u32, bytes: u32) -> impl Iterator<Item = Entry> {
        let all = [&self.writes, &self.updates, &self.reads, &self.other_reads];
        let entries =
            self.granules(offset, bytes).flat_map(move |granule| all.map(|entries| entries.get(granule)));
        entries.filter(|entry| entry.lanes != 0 && entry.moment.0 < PENDING)
    }

    /// Who has read these bytes since they were written last.
    pub fn readers(&self, offset: u32, bytes: u32) -> impl Iterator<Item = Entry> {
        let entries = self
            .granules(offset, bytes)
            .flat_map(|granule| [&self.reads, &self.other_reads].map(|entries| entries.get(granule)));
        entries.filter(|entry| entry.lanes != 0 && !entry.is_stale())
    }

    /// Whether somebody has read some of these bytes at a stamp or later.
    pub fn is_read_since(&self, stamp: u32, offset: u32, bytes: u32) -> bool {
        let is_late = |entry: Entry| entry.lanes != 0 && entry.stamp() >= stamp;
        self.granules(offset, bytes)
            .any(|granule| is_late(self.reads.get(granule)) || is_late(self.other_reads.get(granule)))
    }

    fn fill(&mut self, entry: Entry, offset: u32, bytes: u32) {
        for granule in self.granules(offset, bytes) {
            if granule < self.writes.moments.len() {
                self.writes.set(granule, entry);
            }
        }
    }

    fn remember_read(&mut self, order: &Order, actor: Actor, granule: usize, lanes: u32) {
        let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength);
        let last = self.reads.get(granule);
        if last.moment == moment {
            self.reads.lanes[granule] |= lanes;
            return;
        }
        if last.stamp() >= order.barrier {
            self.other_reads.set(granule, last);
        }
        self.reads.set(granule, Entry { moment, lanes });
    }

    fn one(
        &mut self,
        order: &Order,
        actor: Actor,
        mode: Mode,
        granule: usize,
        lane: u32,
    ) -> Option<Conflict> {
        if granule >= self.writes.moments.len() {
            return None;
        }
        if is_pending(self.writes.moments[granule]) {
            return Some(Conflict::Pending { copy: self.writes.get(granule) });
        }
        let written = self.writes.moments[granule] != NEVER;
        let (read, other) = (self.reads.get(granule), self.other_reads.get(granule));
        let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength);
        let strong = actor.strength.is_strong();
        let mine = [read, other]
            .into_iter()
            .find(|read| mode == Mode::Write && read.has(actor.warp, lane) && read.stamp() >= order.barrier);
        let race = |earlier: Entry, earlier_mode: Mode| {
            // Volatile stores do not race with each other; a load is one that may count on lanes in step.
            let both_volatile = [earlier.strength(), actor.strength] == [Strength::Volatile; 2];
            let both_store = earlier_mode == Mode::Write && mode == Mode::Write;
            let both_strong = earlier.strength().agrees(actor.strength, true) || both_volatile && both_store;
            let lost_update = earlier_mode != Mode::Read && mine.is_some_and(|mine| mine.loses(both_strong));
            let tolerated = both_strong && !lost_update;
            let lanes = if tolerated { 0 } else { order.unordered(earlier, actor.warp, lane) };
            (lanes != 0).then_some(Conflict::Race {
                earlier: Entry { lanes, ..earlier },
                earlier_mode,
                lost_update,
            })
        };
        let stores = [(self.writes.get(granule), Mode::Write), (self.updates.get(granule), Mode::Update)];
        let loads = [(read, Mode::Read), (other, Mode::Read)];
        let earlier = || stores.into_iter().chain(loads).filter(|seen| mode.conflicts(seen.1));
        // What orders two warps orders the lanes of one too, but not the other way round.
        let by = |is_mine: bool| earlier().filter(move |(entry, _)| (entry.warp() == actor.warp) == is_mine);
        let mut conflict = by(false).chain(by(true)).find_map(|(entry, mode)| race(entry, mode));
        if mode != Mode::Write && !written {
            conflict = conflict.or(Some(Conflict::Uninitialised { bytes: (1 << (1 << self.shift)) - 1 }));
        }
        if mode == Mode::Read {
            self.remember_read(order, actor, granule, 1 << lane);
            return conflict;
        }
        self.reads.set(granule, read.stale());
        self.other_reads.set(granule, other.stale());
        if strong && self.updates.moments.is_empty() {
            self.updates = Entries::new(self.writes.moments.len(), 0);
        }
        if !written {
            self.writes.moments[granule] = 0;
        }
        let writes = if strong { &mut self.updates } else { &mut self.writes };
        let last = writes.get(granule);
        let lanes = if last.moment == moment { last.lanes } else { 0 } | 1 << lane;
        writes.set(granule, Entry { moment, lanes });
        conflict
    }
}

/// Lanes read granules in a row. `false`: nothing was done, there may be a conflict.
#[inline(always)]
fn quiet_read(
    order: &Order,
    actor: Actor,
    lanes: &[u32],
    (writes, _): Rows<'_>,
    (reads, read_lanes): Rows<'_>,
    (others, other_lanes): Rows<'_>,
) -> bool {
    let barrier = u64::from(order.barrier) << 32;
    let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength).0;
    let mut recent = false;
    for &write in &*writes {
        recent |= write >= barrier;
    }
    if recent {
        return false;
    }
    for i in 0..lanes.len() {
        let (last, last_lanes) = (reads[i], read_lanes[i]);
        // The last reader since the barrier becomes the last but one, unless this instruction is it.
        let repeats = last == moment;
        let moves = last >= barrier && !repeats;
        others[i] = if moves { last } else { others[i] };
        other_lanes[i] = if moves { last_lanes } else { other_lanes[i] };
        reads[i] = moment;
        read_lanes[i] = if repeats { last_lanes } else { 0 } | lanes[i];
    }
    true
}

/// Each of some granules in a row is written by one lane. `false`: nothing was done, there may be a conflict.
#[inline(always)]
fn quiet_write(
    order: &Order,
    actor: Actor,
    lanes: &[u32],
    (writes, write_lanes): Rows<'_>,
    (reads, read_lanes): Rows<'_>,
    (others, other_lanes): Rows<'_>,
) -> bool {
    let barrier = u64::from(order.barrier) << 32;
    let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength);
    // Since the barrier, by somebody else than the lane itself.
    let recent = |at: u64, by: u32, lane: u32| at >= barrier && (by != lane || !Moment(at).is_by(moment));
    let mut open = false;
    for i in 0..lanes.len() {
        let write =
            writes[i] != NEVER && (writes[i] >= PENDING || recent(writes[i], write_lanes[i], lanes[i]));
        open |=
            write | recent(reads[i], read_lanes[i], lanes[i]) | recent(others[i], other_lanes[i], lanes[i]);
    }
    if open {
        return false;
    }
    for i in 0..lanes.len() {
        writes[i] = moment.0;
        write_lanes[i] = lanes[i];
        reads[i] = Moment(reads[i]).stale().0;
        others[i] = Moment(others[i]).stale().0;
    }
    true
}
