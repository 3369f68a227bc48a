//! Shadow of global memory, and what happens before what between blocks.

use std::collections::HashMap;
use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use super::{
    entry::Entry,
    order::Order,
    shared::{Actor, Mode},
};
use crate::memory::lanes;

/// Granules of a page.
const PAGE: usize = 1024;

/// The last store and two loads of a granule, each with its block (plus one; zero for none).
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: (Entry, u32),
    read: (Entry, u32),
    other_read: (Entry, u32),
}

type Page = Mutex<Box<[Cell]>>;

/// The shadow. Pages come into being when they are touched.
#[derive(Debug)]
pub struct GlobalShadow {
    /// log2 of the bytes of a granule.
    shift: u32,
    regions: Vec<Vec<OnceLock<Page>>>,
}

/// An earlier access that is not ordered with the present one.
#[derive(Clone, Copy, Debug)]
pub struct GlobalConflict {
    /// The earlier access.
    pub earlier: Entry,
    /// Its block.
    pub block: u32,
    /// Whether it wrote.
    pub earlier_mode: Mode,
    /// Whether the present thread has read the value that it is about to replace.
    pub lost_update: bool,
}

/// What a block knows of other blocks.
#[derive(Debug, Default)]
pub struct Known {
    /// By address: how much of what was published there.
    positions: HashMap<u64, u32>,
    /// The stamp of the last fence that reaches other blocks: what is older is published by the next atomic.
    pub fenced: Option<u32>,
}

/// What blocks have published at one address, in order.
#[derive(Debug, Default)]
struct Log {
    position: u32,
    /// By block: stamp and position.
    entries: HashMap<u32, Vec<(u32, u32)>>,
    /// What the publishers themselves knew.
    inherited: HashMap<u64, u32>,
}

/// Order between blocks: a fence and then an atomic publish, an atomic or a strong load of the same place learns.
#[derive(Debug, Default)]
pub struct BlockOrder {
    any: AtomicBool,
    logs: Mutex<HashMap<u64, Log>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of another worker ends the launch anyway.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn raise(positions: &mut HashMap<u64, u32>, address: u64, position: u32) {
    let known = positions.entry(address).or_default();
    *known = position.max(*known);
}

impl BlockOrder {
    /// A block publishes at `address` what it did before its last fence.
    pub fn publish(&self, address: u64, block: u32, stamp: u32, known: &Known) {
        let mut logs = locked(&self.logs);
        let log = logs.entry(address).or_default();
        log.position += 1;
        log.entries.entry(block).or_default().push((stamp, log.position));
        for (&address, &position) in &known.positions {
            raise(&mut log.inherited, address, position);
        }
        self.any.store(true, Relaxed);
    }

    /// A block reads what was published at `address`.
    pub fn learn(&self, address: u64, known: &mut Known) {
        if !self.any.load(Relaxed) {
            return;
        }
        let logs = locked(&self.logs);
        if let Some(log) = logs.get(&address) {
            raise(&mut known.positions, address, log.position);
            for (&address, &position) in &log.inherited {
                raise(&mut known.positions, address, position);
            }
        }
    }

    fn before(&self, known: &Known, block: u32, stamp: u32) -> bool {
        if known.positions.is_empty() {
            return false;
        }
        let logs = locked(&self.logs);
        known.positions.iter().any(|(address, &position)| {
            let published = logs.get(address).and_then(|log| log.entries.get(&block));
            published.is_some_and(|entries| entries.iter().any(|&(s, p)| s > stamp && p <= position))
        })
    }
}

/// The block that accesses and what it knows.
#[derive(Clone, Copy)]
pub struct Present<'a> {
    /// Its number.
    pub block: u32,
    /// Order inside it.
    pub order: &'a Order,
    /// What it knows of others.
    pub known: &'a Known,
    /// Order between blocks.
    pub blocks: &'a BlockOrder,
}

impl GlobalShadow {
    /// A shadow for regions of these sizes in granules of `1 << shift` bytes.
    pub fn new(bytes: impl Iterator<Item = u64>, shift: u32) -> Self {
        let pages = |bytes: u64| (bytes as usize).div_ceil(PAGE << shift);
        Self {
            shift,
            regions: bytes.map(|bytes| (0..pages(bytes)).map(|_| OnceLock::new()).collect()).collect(),
        }
    }

    /// Looks at an access of `bytes` at `offsets` into `region` by each lane of `mask`, and reports conflicts.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn access(
        &self,
        present: Present<'_>,
        actor: Actor,
        mode: Mode,
        region: usize,
        offsets: &[u64; 32],
        bytes: u32,
        mask: u32,
        report: &mut dyn FnMut(u32, GlobalConflict),
    ) {
        let Some(pages) = self.regions.get(region) else { return };
        let granules = (bytes as usize >> self.shift).max(1);
        let mut held: Option<(usize, MutexGuard<'_, Box<[Cell]>>)> = None;
        for lane in lanes(mask) {
            let start = (offsets[lane] >> self.shift) as usize;
            let mut reported = false;
            for granule in start..start + granules {
                let number = granule / PAGE;
                if held.as_ref().is_none_or(|held| held.0 != number) {
                    // One page is held at a time, so that workers cannot wait for each other in a circle.
                    drop(held.take());
                    let Some(page) = pages.get(number) else { return };
                    let page = page.get_or_init(|| Mutex::new(vec![Cell::default(); PAGE].into()));
                    held = Some((number, locked(page)));
                }
                let Some((_, cells)) = &mut held else { return };
                let conflict = touch(&mut cells[granule % PAGE], present, actor, mode, lane as u32);
                if let Some(conflict) = conflict
                    && !reported
                {
                    reported = true;
                    report(lane as u32, conflict);
                }
            }
        }
    }
}

fn touch(
    cell: &mut Cell,
    present: Present<'_>,
    actor: Actor,
    mode: Mode,
    lane: u32,
) -> Option<GlobalConflict> {
    let me = present.block + 1;
    let entry = Entry::new(present.order.now, actor.warp, lane, actor.pc, actor.strength);
    let is_mine = |(read, block): (Entry, u32)| block == me && read.same_thread(actor.warp, lane);
    let lost_update = mode == Mode::Write && (is_mine(cell.read) || is_mine(cell.other_read));
    let mut conflict = unordered(cell.write, Mode::Write, present, entry, lane, lost_update);
    if mode == Mode::Read {
        let last = cell.read;
        let same = last.1 == me && last.0.warp() == actor.warp && last.0.lane() == Some(lane);
        if !same && last.0.exists() {
            // Keep a reader of another block if there is one: it stays unordered for longest.
            if cell.other_read.1 == 0 || cell.other_read.1 == me || last.1 != me {
                cell.other_read = last;
            }
        }
        cell.read = (entry, me);
    } else {
        for earlier in [cell.read, cell.other_read] {
            conflict = conflict.or_else(|| unordered(earlier, Mode::Read, present, entry, lane, lost_update));
        }
        cell.write = (entry, me);
    }
    conflict
}

fn unordered(
    (earlier, block): (Entry, u32),
    earlier_mode: Mode,
    present: Present<'_>,
    entry: Entry,
    lane: u32,
    lost_update: bool,
) -> Option<GlobalConflict> {
    if block == 0 || earlier.is_atomic() && entry.is_atomic() {
        return None;
    }
    let block = block - 1;
    let before = if block == present.block {
        present.order.before(earlier, entry.warp(), lane)
    } else {
        present.blocks.before(present.known, block, earlier.stamp())
    };
    (!before).then_some(GlobalConflict { earlier, block, earlier_mode, lost_update })
}
