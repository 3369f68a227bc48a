//! Shadow of global memory.

use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use super::{
    blocks::{BlockOrder, Known, locked},
    entry::{Entry, Moment, Strength},
    order::Order,
    shared::{Actor, Mode},
};
use crate::memory::{Footprint, lanes};

/// Granules of a page.
const PAGE: usize = 4096;

/// Accesses of one sort, by granule: the moment; and the block (plus one; zero for none) above the lanes. Apart, so that loops over them
/// vectorise.
#[derive(Debug, Default)]
struct Entries {
    moments: Vec<u64>,
    parties: Vec<u64>,
}

/// Moments and parties of granules in a row.
type Rows<'a> = (&'a mut [u64], &'a mut [u64]);

impl Entries {
    fn new() -> Self {
        Self { moments: vec![0; PAGE], parties: vec![0; PAGE] }
    }

    /// What is remembered of a granule and the block; nothing, while there is no room for any.
    fn get(&self, granule: usize) -> (Entry, u32) {
        match (self.moments.get(granule), self.parties.get(granule)) {
            (Some(&moment), Some(&party)) => {
                (Entry { moment: Moment(moment), lanes: party as u32 }, (party >> 32) as u32)
            }
            _ => (Entry::default(), 0),
        }
    }

    fn set(&mut self, granule: usize, entry: Entry, block: u32) {
        if self.moments.is_empty() {
            *self = Self::new();
        }
        self.moments[granule] = entry.moment.0;
        self.parties[granule] = party(block, entry.lanes);
    }

    /// Nothing, while there is no room for any.
    #[inline(always)]
    fn run(&mut self, granules: Range<usize>) -> Rows<'_> {
        match (self.moments.get_mut(granules.clone()), self.parties.get_mut(granules)) {
            (Some(moments), Some(parties)) => (moments, parties),
            _ => (&mut [], &mut []),
        }
    }
}

#[inline(always)]
fn party(block: u32, lanes: u32) -> u64 {
    u64::from(block) << 32 | u64::from(lanes)
}

/// The last plain store, the last atomic and two loads of each granule. Stores and atomics are empty until there is one.
#[derive(Debug)]
struct Cells {
    writes: Entries,
    /// Atomics and strong stores; they do not hide a plain store from others.
    updates: Entries,
    reads: Entries,
    other_reads: Entries,
}

impl Cells {
    fn new() -> Self {
        Self {
            writes: Entries::default(),
            updates: Entries::default(),
            reads: Entries::new(),
            other_reads: Entries::new(),
        }
    }
}

type Page = Mutex<Cells>;

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

    /// Remembers a plain access whose first lane is at `offset` of `region`, if it obviously conflicts with no other. `false`: it is
    /// for [`Self::access`] to tell, and what has been remembered so far does no harm.
    #[inline(always)]
    pub fn is_quiet(
        &self,
        present: Present<'_>,
        actor: Actor,
        mode: Mode,
        region: usize,
        footprint: &Footprint,
        offset: u64,
    ) -> bool {
        let Some(pages) = self.regions.get(region) else { return false };
        if mode == Mode::Write && !footprint.is_exclusive() {
            return false;
        }
        // One page is held at a time, so that workers cannot wait for each other in a circle.
        let mut held = None;
        for (start, lanes) in footprint.runs((offset >> self.shift) as usize) {
            let number = start / PAGE;
            let place = start % PAGE;
            if place + lanes.len() > PAGE {
                return false;
            }
            if held.as_ref().is_none_or(|&(page, _)| page != number) {
                drop(held.take());
                let Some(page) = pages.get(number) else { return false };
                held = Some((number, locked(page.get_or_init(|| Mutex::new(Cells::new())))));
            }
            let Some((_, cells)) = &mut held else { return false };
            let granules = place..place + lanes.len();
            let quiet = match mode {
                Mode::Read => quiet_read(present, actor, lanes, cells, granules),
                _ => quiet_write(present, actor, lanes, cells, granules),
            };
            if !quiet {
                return false;
            }
        }
        true
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
        let mut held = None;
        for lane in lanes(mask) {
            let start = (offsets[lane] >> self.shift) as usize;
            let mut found = None;
            for granule in start..start + granules {
                let number = granule / PAGE;
                if held.as_ref().is_none_or(|&(page, _)| page != number) {
                    drop(held.take());
                    let Some(page) = pages.get(number) else { return };
                    held = Some((number, locked(page.get_or_init(|| Mutex::new(Cells::new())))));
                }
                let Some((_, cells)) = &mut held else { return };
                let conflict = touch(cells, granule % PAGE, present, actor, mode, lane as u32);
                found = found.or(conflict);
            }
            if let Some(conflict) = found {
                report(lane as u32, conflict);
            }
        }
    }
}

/// Whether accesses in a row are all of this block before its last barrier, if there were any.
#[inline(always)]
fn are_over((moments, parties): Rows<'_>, me: u64, barrier: u64) -> bool {
    let mut open = false;
    for (&moment, &party) in moments.iter().zip(&*parties) {
        open |= party >> 32 != 0 && (party >> 32 != me || moment >= barrier);
    }
    !open
}

/// Whether accesses in a row are over, or of the very lanes that access now.
#[inline(always)]
fn are_over_or_mine(
    (moments, parties): Rows<'_>,
    lanes: &[u32],
    me: u64,
    barrier: u64,
    present: Moment,
) -> bool {
    let mut open = false;
    for ((&moment, &party), &lane) in moments.iter().zip(&*parties).zip(lanes) {
        let mine = party as u32 == lane && Moment(moment).is_by(present);
        open |= party >> 32 != 0 && (party >> 32 != me || (moment >= barrier && !mine));
    }
    !open
}

/// Lanes read granules in a row. `false`: nothing was done, there may be a conflict.
#[inline(always)]
fn quiet_read(
    present: Present<'_>,
    actor: Actor,
    lanes: &[u32],
    cells: &mut Cells,
    granules: Range<usize>,
) -> bool {
    let me = u64::from(present.block + 1);
    let barrier = u64::from(present.order.barrier) << 32;
    if !are_over(cells.writes.run(granules.clone()), me, barrier)
        || !are_over(cells.updates.run(granules.clone()), me, barrier)
    {
        return false;
    }
    let moment = Moment::new(present.order.now, actor.warp, actor.pc, actor.strength).0;
    remember_run(moment, me, lanes, cells.reads.run(granules.clone()), cells.other_reads.run(granules));
    true
}

/// As [`remember`].
#[inline(always)]
fn remember_run(
    moment: u64,
    me: u64,
    lanes: &[u32],
    (reads, readers): Rows<'_>,
    (others, other_readers): Rows<'_>,
) {
    let count = lanes.len();
    let (reads, readers) = (&mut reads[..count], &mut readers[..count]);
    let (others, other_readers) = (&mut others[..count], &mut other_readers[..count]);
    for i in 0..count {
        let (last, reader, other) = (reads[i], readers[i], other_readers[i] >> 32);
        let repeats = last == moment && reader >> 32 == me;
        let is_room = other == 0 || other == me || reader >> 32 != me;
        let moves = !repeats && reader >> 32 != 0 && is_room;
        others[i] = if moves { last } else { others[i] };
        other_readers[i] = if moves { reader } else { other_readers[i] };
        reads[i] = moment;
        readers[i] = me << 32 | u64::from(lanes[i]) | if repeats { reader } else { 0 };
    }
}

/// Each of some granules in a row is written by one lane. `false`: nothing was done, there may be a conflict.
#[inline(always)]
fn quiet_write(
    present: Present<'_>,
    actor: Actor,
    lanes: &[u32],
    cells: &mut Cells,
    granules: Range<usize>,
) -> bool {
    let me = u64::from(present.block + 1);
    let barrier = u64::from(present.order.barrier) << 32;
    let moment = Moment::new(present.order.now, actor.warp, actor.pc, actor.strength);
    let over = |entries: &mut Entries| {
        are_over_or_mine(entries.run(granules.clone()), lanes, me, barrier, moment)
    };
    if !(over(&mut cells.writes)
        && over(&mut cells.updates)
        && over(&mut cells.reads)
        && over(&mut cells.other_reads))
    {
        return false;
    }
    if cells.writes.moments.is_empty() {
        cells.writes = Entries::new();
    }
    for reads in [&mut cells.reads, &mut cells.other_reads] {
        for read in reads.run(granules.clone()).0 {
            *read = Moment(*read).stale().0;
        }
    }
    let (writes, writers) = cells.writes.run(granules);
    writes.fill(moment.0);
    for (writer, &lane) in writers.iter_mut().zip(lanes) {
        *writer = me << 32 | u64::from(lane);
    }
    true
}

fn touch(
    cells: &mut Cells,
    granule: usize,
    present: Present<'_>,
    actor: Actor,
    mode: Mode,
    lane: u32,
) -> Option<GlobalConflict> {
    let me = present.block + 1;
    let moment = Moment::new(present.order.now, actor.warp, actor.pc, actor.strength);
    let strong = actor.strength == Strength::Atomic;
    let (read, other_read) = (cells.reads.get(granule), cells.other_reads.get(granule));
    let mine = [read, other_read]
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
    let found = conflict(cells.writes.get(granule), Mode::Write)
        .or_else(|| conflict(cells.updates.get(granule), Mode::Update));
    if mode == Mode::Read {
        remember(cells, granule, Entry { moment, lanes: 1 << lane }, me);
        return found;
    }
    let found =
        found.or_else(|| conflict(read, Mode::Read)).or_else(|| conflict(other_read, Mode::Read));
    cells.reads.set(granule, read.0.stale(), read.1);
    cells.other_reads.set(granule, other_read.0.stale(), other_read.1);
    let writes = if strong { &mut cells.updates } else { &mut cells.writes };
    let (last, block) = writes.get(granule);
    let lanes = if block == me && last.moment == moment { last.lanes } else { 0 } | 1 << lane;
    writes.set(granule, Entry { moment, lanes }, me);
    found
}

fn remember(cells: &mut Cells, granule: usize, entry: Entry, me: u32) {
    let (last, block) = cells.reads.get(granule);
    if block == me && last.moment == entry.moment {
        cells.reads.set(granule, Entry { lanes: last.lanes | entry.lanes, ..last }, me);
        return;
    }
    // A reader of another block is kept if there is one: it stays unordered for longest.
    let other = cells.other_reads.get(granule).1;
    if block != 0 && (other == 0 || other == me || block != me) {
        cells.other_reads.set(granule, last, block);
    }
    cells.reads.set(granule, entry, me);
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
