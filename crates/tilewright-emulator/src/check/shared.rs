//! Shadow of shared memory: for every granule the last store, two loads, and whether it was ever written.

use super::{
    entry::{Entry, Strength},
    order::Order,
};
use crate::memory::lanes;

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
        /// It.
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

/// The shadow.
#[derive(Debug)]
pub struct SharedShadow {
    /// log2 of the bytes of a granule: 2, or 0 if the kernel accesses single bytes.
    shift: u32,
    written: Vec<bool>,
    write: Vec<u64>,
    read: Vec<u64>,
    other_read: Vec<u64>,
}

impl SharedShadow {
    /// The shadow of `bytes` bytes in granules of `1 << shift`.
    pub fn new(bytes: u32, shift: u32) -> Self {
        let granules = (bytes as usize).div_ceil(1 << shift);
        Self {
            shift,
            written: vec![false; granules],
            write: vec![0; granules],
            read: vec![0; granules],
            other_read: vec![0; granules],
        }
    }

    /// Looks at an access of `bytes` at storage `offset` by each lane of `mask`, and reports conflicts. `uniform`: all lanes have one
    /// address; `consecutive`: 32 lanes follow each other.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the two hints are for speed alone")]
    pub fn access(
        &mut self,
        order: &Order,
        actor: Actor,
        mode: Mode,
        offsets: &[u32; 32],
        bytes: u32,
        mask: u32,
        shape: crate::memory::Shape,
        report: &mut dyn FnMut(u32, Conflict),
    ) {
        use crate::memory::Shape;
        let granules = bytes >> self.shift;
        if shape == Shape::Consecutive && granules == 1 && mode != Mode::Update {
            let start = (offsets[0] >> self.shift) as usize;
            if self.whole_warp(order, actor, mode, start) {
                return;
            }
        }
        if shape == Shape::Uniform && mode == Mode::Read {
            let start = (offsets[0] >> self.shift) as usize;
            let quiet = (start..start + granules as usize).all(|g| self.broadcast(order, actor, g, mask));
            if quiet {
                return;
            }
        }
        for lane in lanes(mask) {
            let start = (offsets[lane] >> self.shift) as usize;
            let mut reported = false;
            for granule in start..start + granules.max(1) as usize {
                if let Some(conflict) = self.one(order, actor, mode, granule, lane as u32)
                    && !reported
                {
                    reported = true;
                    report(lane as u32, conflict);
                }
            }
        }
    }

    /// 32 lanes access 32 granules in a row. `false`: look at them one by one.
    #[inline(always)]
    fn whole_warp(&mut self, order: &Order, actor: Actor, mode: Mode, start: usize) -> bool {
        let range = start..start + 32;
        let (Some(write), Some(read), Some(other), Some(written)) = (
            self.write.get_mut(range.clone()),
            self.read.get_mut(range.clone()),
            self.other_read.get_mut(range.clone()),
            self.written.get_mut(range),
        ) else {
            return false;
        };
        let barrier = u64::from(order.barrier) << 32;
        let base = Entry::new(order.now, actor.warp, 0, actor.pc, actor.strength).0;
        let mut recent = false;
        if mode == Mode::Read {
            for lane in 0..32 {
                recent |= write[lane] >= barrier;
                recent |= !written[lane];
            }
            if recent {
                return false;
            }
            for lane in 0..32 {
                let entry = base | (lane as u64) << Entry::LANE;
                let others = (read[lane] ^ entry) >> Entry::SEVERAL & 0x7ff != 0;
                let keep = read[lane] >= barrier && others;
                other[lane] = if keep { read[lane] } else { other[lane] };
                read[lane] = entry;
            }
        } else {
            for lane in 0..32 {
                recent |= write[lane] >= barrier || read[lane] >= barrier || other[lane] >= barrier;
            }
            if recent {
                return false;
            }
            for lane in 0..32 {
                write[lane] = base | (lane as u64) << Entry::LANE;
                written[lane] = true;
            }
        }
        true
    }

    /// Several lanes read one granule. `false`: look at them one by one.
    fn broadcast(&mut self, order: &Order, actor: Actor, granule: usize, mask: u32) -> bool {
        let barrier = u64::from(order.barrier) << 32;
        let Some(&write) = self.write.get(granule) else { return false };
        if write >= barrier || !self.written[granule] {
            return false;
        }
        let entry = Entry::new(order.now, actor.warp, mask.trailing_zeros(), actor.pc, actor.strength);
        let entry = if mask.is_power_of_two() { entry } else { entry.by_several() };
        self.remember_read(granule, entry, barrier);
        true
    }

    fn remember_read(&mut self, granule: usize, entry: Entry, barrier: u64) {
        let last = Entry(self.read[granule]);
        let same = last.warp() == entry.warp() && last.lane() == entry.lane();
        if last.0 >= barrier && !same {
            self.other_read[granule] = last.0;
        }
        self.read[granule] = entry.0;
    }

    fn one(
        &mut self,
        order: &Order,
        actor: Actor,
        mode: Mode,
        granule: usize,
        lane: u32,
    ) -> Option<Conflict> {
        let Some(&write) = self.write.get(granule) else { return None };
        let (write, read, other) = (Entry(write), Entry(self.read[granule]), Entry(self.other_read[granule]));
        let entry = Entry::new(order.now, actor.warp, lane, actor.pc, actor.strength);
        let lost_update = mode == Mode::Write
            && [read, other]
                .iter()
                .any(|read| read.same_thread(actor.warp, lane) && read.stamp() >= order.barrier);
        let mut conflict = race(order, write, Mode::Write, entry, lane, lost_update);
        if mode != Mode::Read {
            for earlier in [read, other] {
                conflict = conflict.or(race(order, earlier, Mode::Read, entry, lane, lost_update));
            }
        }
        if mode != Mode::Write && !self.written[granule] {
            conflict = conflict.or(Some(Conflict::Uninitialised));
        }
        if mode == Mode::Read {
            self.remember_read(granule, entry, u64::from(order.barrier) << 32);
        } else {
            self.write[granule] = entry.0;
            self.written[granule] = true;
        }
        conflict
    }

    /// Marks bytes as written by no one in particular: data that an asynchronous copy has brought.
    pub fn written(&mut self, offset: u32, bytes: u32) {
        let start = (offset >> self.shift) as usize;
        let end = ((offset + bytes) as usize).div_ceil(1 << self.shift);
        if let Some(granules) = self.written.get_mut(start..end) {
            granules.fill(true);
        }
    }
}

fn race(
    order: &Order,
    earlier: Entry,
    earlier_mode: Mode,
    present: Entry,
    lane: u32,
    lost_update: bool,
) -> Option<Conflict> {
    let both_atomic = earlier.is_atomic() && present.is_atomic();
    if !earlier.exists() || both_atomic || order.before(earlier, present.warp(), lane) {
        return None;
    }
    Some(Conflict::Race { earlier, earlier_mode, lost_update })
}
