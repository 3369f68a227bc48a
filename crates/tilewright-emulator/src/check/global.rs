//! Shadow of global memory, and what happens before what between blocks.

use std::collections::HashMap;
use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use super::{
    entry::{Entry, Moment, Strength},
    order::Order,
    shared::{Actor, Mode},
};
use crate::memory::lanes;

/// Granules of a page.
const PAGE: usize = 1024;

/// The last plain store, the last atomic and two loads of a granule, each with its block (plus one; zero for none).
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: (Entry, u32),
    /// Atomics and strong stores; they do not hide a plain store from others.
    update: (Entry, u32),
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
        let mut rest = mask;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let group = run_of_equals(offsets, rest, first);
            rest &= !group;
            let start = (offsets[first] >> self.shift) as usize;
            let mut reported = 0u32;
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
                let cell = &mut cells[granule % PAGE];
                if mode == Mode::Read && quiet(cell, present) {
                    let moment = Moment::new(present.order.now, actor.warp, actor.pc, actor.strength);
                    remember(cell, Entry { moment, lanes: group }, present.block + 1);
                    continue;
                }
                for lane in lanes(group) {
                    let conflict = touch(cell, present, actor, mode, lane as u32);
                    if let Some(conflict) = conflict
                        && reported >> lane & 1 == 0
                    {
                        reported |= 1 << lane;
                        report(lane as u32, conflict);
                    }
                }
            }
        }
    }
}

/// Lanes of `rest` from `first` on that follow each other with one offset.
fn run_of_equals(offsets: &[u64; 32], rest: u32, first: usize) -> u32 {
    let mut group = 1u32 << first;
    for lane in lanes(rest & !group) {
        if offsets[lane] != offsets[first] {
            break;
        }
        group |= 1 << lane;
    }
    group
}

/// Whether no store to this granule can conflict with a load: there is none, or the last barrier of this block is between.
fn quiet(cell: &Cell, present: Present<'_>) -> bool {
    let old = |(entry, block): (Entry, u32)| {
        block == 0 || block == present.block + 1 && entry.stamp() < present.order.barrier
    };
    old(cell.write) && old(cell.update)
}

fn touch(
    cell: &mut Cell,
    present: Present<'_>,
    actor: Actor,
    mode: Mode,
    lane: u32,
) -> Option<GlobalConflict> {
    let me = present.block + 1;
    let moment = Moment::new(present.order.now, actor.warp, actor.pc, actor.strength);
    let strong = actor.strength == Strength::Atomic;
    let mine = [cell.read, cell.other_read]
        .into_iter()
        .find(|(read, block)| mode == Mode::Write && *block == me && read.has(actor.warp, lane));
    let conflict = |(earlier, block): (Entry, u32), earlier_mode: Mode| {
        let both_strong = earlier.is_atomic() && strong;
        let lost_update = earlier_mode != Mode::Read && mine.is_some_and(|(mine, _)| mine.loses(both_strong));
        let tolerated = both_strong && !lost_update;
        let lanes = if tolerated { 0 } else { unordered(earlier, block, present, actor, lane) };
        (lanes != 0).then(|| GlobalConflict {
            earlier: Entry { lanes, ..earlier },
            block: block - 1,
            earlier_mode,
            lost_update,
        })
    };
    let found = conflict(cell.write, Mode::Write).or_else(|| conflict(cell.update, Mode::Update));
    if mode == Mode::Read {
        remember(cell, Entry { moment, lanes: 1 << lane }, me);
        return found;
    }
    let found =
        found.or_else(|| conflict(cell.read, Mode::Read)).or_else(|| conflict(cell.other_read, Mode::Read));
    cell.read.0 = cell.read.0.stale();
    cell.other_read.0 = cell.other_read.0.stale();
    let last = if strong { &mut cell.update } else { &mut cell.write };
    let lanes = if last.1 == me && last.0.moment == moment { last.0.lanes } else { 0 } | 1 << lane;
    *last = (Entry { moment, lanes }, me);
    found
}

fn remember(cell: &mut Cell, entry: Entry, me: u32) {
    let (last, block) = cell.read;
    if block == me && last.moment == entry.moment {
        cell.read.0.lanes |= entry.lanes;
        return;
    }
    // A reader of another block is kept if there is one: it stays unordered for longest.
    if block != 0 && (cell.other_read.1 == 0 || cell.other_read.1 == me || block != me) {
        cell.other_read = cell.read;
    }
    cell.read = (entry, me);
}

/// The lanes of an earlier access that nothing orders before the present one.
fn unordered(earlier: Entry, block: u32, present: Present<'_>, actor: Actor, lane: u32) -> u32 {
    if block == 0 {
        return 0;
    }
    if block - 1 == present.block {
        return present.order.unordered(earlier, actor.warp, lane);
    }
    let before = present.blocks.before(present.known, block - 1, earlier.stamp());
    if before { 0 } else { earlier.lanes }
}
