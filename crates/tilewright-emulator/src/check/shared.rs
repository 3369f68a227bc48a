//! Shadow of shared memory: for every granule the last plain store, the last atomic, two loads, and whether it was ever written.

use super::{
    entry::{Entry, Moment, Strength},
    order::Order,
};
use crate::memory::{Shape, lanes};

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

/// What is wrong with one lane's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Nothing has written these bytes.
    Uninitialised,
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
#[derive(Debug)]
struct Entries {
    moments: Vec<u64>,
    lanes: Vec<u32>,
}

impl Entries {
    fn new(granules: usize) -> Self {
        Self { moments: vec![0; granules], lanes: vec![0; granules] }
    }

    fn get(&self, granule: usize) -> Entry {
        Entry { moment: Moment(self.moments[granule]), lanes: self.lanes[granule] }
    }

    fn set(&mut self, granule: usize, entry: Entry) {
        self.moments[granule] = entry.moment.0;
        self.lanes[granule] = entry.lanes;
    }
}

/// The shadow.
#[derive(Debug)]
pub struct SharedShadow {
    /// log2 of the bytes of a granule: 2, or 0 if the kernel accesses single bytes.
    shift: u32,
    written: Vec<bool>,
    writes: Entries,
    /// Atomics and strong stores; they do not hide a plain store from others.
    updates: Entries,
    /// Whether there was one: plain accesses need not look otherwise.
    any_update: bool,
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
    /// How the addresses lie, for speed.
    pub shape: Shape,
}

impl SharedShadow {
    /// The shadow of `bytes` bytes in granules of `1 << shift`.
    pub fn new(bytes: u32, shift: u32) -> Self {
        let granules = (bytes as usize).div_ceil(1 << shift);
        Self {
            shift,
            written: vec![false; granules],
            writes: Entries::new(granules),
            updates: Entries::new(granules),
            any_update: false,
            reads: Entries::new(granules),
            other_reads: Entries::new(granules),
        }
    }

    /// Looks at an access and calls `report` with the conflicts, at most one for each lane.
    #[inline(always)]
    pub fn access(&mut self, order: &Order, access: &Access<'_>, report: &mut dyn FnMut(u32, Conflict)) {
        let granules = (access.bytes >> self.shift).max(1) as usize;
        let start = (access.offsets[0] >> self.shift) as usize;
        let quiet = match access.shape {
            Shape::Consecutive => granules == 1 && self.whole_warp(order, access, start),
            Shape::Uniform if access.mode == Mode::Read => (start..start + granules)
                .all(|granule| self.quiet_read(order, access.actor, granule, access.mask)),
            _ => false,
        };
        if !quiet {
            self.lane_by_lane(order, access, granules, report);
        }
    }

    fn lane_by_lane(
        &mut self,
        order: &Order,
        access: &Access<'_>,
        granules: usize,
        report: &mut dyn FnMut(u32, Conflict),
    ) {
        for lane in lanes(access.mask) {
            let start = (access.offsets[lane] >> self.shift) as usize;
            let mut conflict = None;
            for granule in start..start + granules {
                if access.mode == Mode::Read && self.quiet_read(order, access.actor, granule, 1 << lane) {
                    continue;
                }
                let found = self.one(order, access.actor, access.mode, granule, lane as u32);
                conflict = conflict.or(found);
            }
            if let Some(conflict) = conflict {
                report(lane as u32, conflict);
            }
        }
    }

    /// 32 lanes access 32 granules in a row. `false`: nothing was done, look at them one by one.
    #[inline(always)]
    fn whole_warp(&mut self, order: &Order, access: &Access<'_>, start: usize) -> bool {
        let range = start..start + 32;
        let plain = access.actor.strength == Strength::Plain && access.mode != Mode::Update;
        if range.end > self.written.len() || !plain || self.any_update {
            return false;
        }
        let writes = &mut self.writes.moments[range.clone()];
        let reads = &mut self.reads.moments[range.clone()];
        let read_lanes = &mut self.reads.lanes[range.clone()];
        let others = &mut self.other_reads.moments[range.clone()];
        let written = &mut self.written[range.clone()];
        let barrier = u64::from(order.barrier) << 32;
        let Actor { warp, pc, strength } = access.actor;
        let moment = Moment::new(order.now, warp, pc, strength).0;
        let mut recent = false;
        if access.mode == Mode::Read {
            let other_lanes = &mut self.other_reads.lanes[range];
            for lane in 0..32 {
                recent |= writes[lane] >= barrier;
                recent |= !written[lane];
            }
            if recent {
                return false;
            }
            for lane in 0..32 {
                // The last reader since the barrier becomes the last but one, unless this instruction is it.
                let moves = reads[lane] >= barrier && reads[lane] != moment;
                let repeats = reads[lane] == moment;
                others[lane] = if moves { reads[lane] } else { others[lane] };
                other_lanes[lane] = if moves { read_lanes[lane] } else { other_lanes[lane] };
                reads[lane] = moment;
                read_lanes[lane] = if repeats { read_lanes[lane] } else { 0 } | 1 << lane;
            }
        } else {
            for lane in 0..32 {
                recent |= writes[lane] >= barrier || reads[lane] >= barrier || others[lane] >= barrier;
            }
            if recent {
                return false;
            }
            let write_lanes = &mut self.writes.lanes[range];
            for lane in 0..32 {
                writes[lane] = moment;
                write_lanes[lane] = 1 << lane;
                written[lane] = true;
            }
        }
        true
    }

    /// The lanes of `mask` read one granule. `false`: nothing was done, there may be a conflict.
    #[inline(always)]
    fn quiet_read(&mut self, order: &Order, actor: Actor, granule: usize, mask: u32) -> bool {
        let barrier = u64::from(order.barrier) << 32;
        let known = granule < self.written.len() && self.written[granule];
        if !known || self.any_update || self.writes.moments[granule] >= barrier {
            return false;
        }
        self.remember_read(order, actor, granule, mask);
        true
    }

    #[inline(always)]
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
        if granule >= self.written.len() {
            return None;
        }
        let (read, other) = (self.reads.get(granule), self.other_reads.get(granule));
        let moment = Moment::new(order.now, actor.warp, actor.pc, actor.strength);
        let strong = actor.strength == Strength::Atomic;
        let mine = [read, other]
            .into_iter()
            .find(|read| mode == Mode::Write && read.has(actor.warp, lane) && read.stamp() >= order.barrier);
        let race = |earlier: Entry, earlier_mode: Mode| {
            let both_strong = earlier.is_atomic() && strong;
            let lost_update = earlier_mode != Mode::Read && mine.is_some_and(|mine| mine.loses(both_strong));
            let tolerated = both_strong && !lost_update;
            let lanes = if tolerated { 0 } else { order.unordered(earlier, actor.warp, lane) };
            (lanes != 0).then_some(Conflict::Race {
                earlier: Entry { lanes, ..earlier },
                earlier_mode,
                lost_update,
            })
        };
        let mut conflict = race(self.writes.get(granule), Mode::Write);
        if self.any_update {
            conflict = conflict.or(race(self.updates.get(granule), Mode::Update));
        }
        if mode != Mode::Read {
            conflict = conflict.or(race(read, Mode::Read)).or(race(other, Mode::Read));
        }
        if mode != Mode::Write && !self.written[granule] {
            conflict = conflict.or(Some(Conflict::Uninitialised));
        }
        if mode == Mode::Read {
            self.remember_read(order, actor, granule, 1 << lane);
            return conflict;
        }
        self.reads.set(granule, read.stale());
        self.other_reads.set(granule, other.stale());
        self.any_update |= strong;
        let writes = if strong { &mut self.updates } else { &mut self.writes };
        let last = writes.get(granule);
        let lanes = if last.moment == moment { last.lanes } else { 0 } | 1 << lane;
        writes.set(granule, Entry { moment, lanes });
        self.written[granule] = true;
        conflict
    }
}
