//! Shadow of global memory.

use std::sync::{Mutex, MutexGuard, OnceLock};

use super::{
    blocks::{BlockOrder, Known, locked},
    entry::{Entry, Moment, Strength},
    order::Order,
    shared::{Actor, Mode},
};
use crate::memory::{Footprint, lanes};

/// Granules of a page.
const PAGE: usize = 8192;

/// Remembered accesses to one granule by one block.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    moment: Moment,
    /// The block (plus one; zero for none) above the lanes.
    party: u64,
}

impl Seen {
    #[inline(always)]
    fn new(moment: Moment, block: u32, lanes: u32) -> Self {
        Self { moment, party: u64::from(block) << 32 | u64::from(lanes) }
    }

    #[inline(always)]
    fn block(self) -> u32 {
        (self.party >> 32) as u32
    }

    #[inline(always)]
    fn entry(self) -> Entry {
        Entry { moment: self.moment, lanes: self.party as u32 }
    }

    #[inline(always)]
    fn stale(self) -> Self {
        Self { moment: self.moment.stale(), ..self }
    }

    /// Whether it is of this block before its last barrier, or nothing.
    #[inline(always)]
    fn is_over(self, now: Now) -> bool {
        self.block() == 0 || (self.block() == now.me && self.moment.0 < now.barrier)
    }

    /// Whether it is of the very lanes that access now.
    #[inline(always)]
    fn is_of(self, now: Now, lanes: u32) -> bool {
        self.block() == now.me && self.party as u32 == lanes && self.moment.is_by(now.moment)
    }
}

/// Two loads of a granule.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Loads {
    last: Seen,
    other: Seen,
}

impl Loads {
    /// Adds a load by `lanes`.
    #[inline(always)]
    fn remember(&mut self, now: Now, lanes: u32) {
        let Loads { last, other } = *self;
        let again = last.block() == now.me;
        if again && last.moment == now.moment {
            self.last.party |= u64::from(lanes);
            return;
        }
        // A reader of another block is kept if there is one: it stays unordered for longest.
        if last.block() != 0 && (other.block() == 0 || other.block() == now.me || !again) {
            self.other = last;
        }
        self.last = Seen::new(now.moment, now.me, lanes);
    }

    /// The value has been replaced.
    #[inline(always)]
    fn make_stale(&mut self) {
        *self = Self { last: self.last.stale(), other: self.other.stale() };
    }
}

/// The last plain store and the last atomic or strong store of a granule; these do not hide a plain store from others.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Stores {
    plain: Seen,
    strong: Seen,
}

/// What is remembered of a page.
#[derive(Debug)]
struct Cells {
    loads: Box<[Loads; PAGE]>,
    /// None until there is a store: most pages are only read.
    stores: Option<Box<[Stores; PAGE]>>,
}

/// A page of nothing, made where it stays.
fn blank<T: Clone + Default>() -> Box<[T; PAGE]> {
    vec![T::default(); PAGE].try_into().unwrap_or_else(|_| unreachable!("the vector has this length"))
}

impl Cells {
    fn new() -> Self {
        Self { loads: blank(), stores: None }
    }

    fn stores(&mut self) -> &mut [Stores; PAGE] {
        self.stores.get_or_insert_with(blank)
    }

    /// Lanes read granules, up to the first of another page; returns how many, or `None` if there may be a conflict with the next.
    #[inline(always)]
    fn read(&mut self, now: Now, here: Here, granules: &[i64], lanes: &[u32]) -> Option<usize> {
        let loads = &mut *self.loads;
        let Some(stores) = &self.stores else {
            for (i, (&granule, &lanes)) in granules.iter().zip(lanes).enumerate() {
                let Some(place) = here.place(granule) else { return Some(i) };
                loads[place].remember(now, lanes);
            }
            return Some(granules.len());
        };
        for (i, (&granule, &lanes)) in granules.iter().zip(lanes).enumerate() {
            let Some(place) = here.place(granule) else { return Some(i) };
            if !(stores[place].plain.is_over(now) && stores[place].strong.is_over(now)) {
                return None;
            }
            loads[place].remember(now, lanes);
        }
        Some(granules.len())
    }

    /// The same for granules of which each is written by one lane.
    #[inline(always)]
    fn write(&mut self, now: Now, here: Here, granules: &[i64], lanes: &[u32]) -> Option<usize> {
        let loads = &mut *self.loads;
        let stores = self.stores.get_or_insert_with(blank);
        for (i, (&granule, &lane)) in granules.iter().zip(lanes).enumerate() {
            let Some(place) = here.place(granule) else { return Some(i) };
            let (loads, stores) = (&mut loads[place], &mut stores[place]);
            let earlier = [loads.last, loads.other, stores.plain, stores.strong];
            if !earlier.iter().all(|seen| seen.is_over(now) || seen.is_of(now, lane)) {
                return None;
            }
            loads.make_stale();
            stores.plain = Seen::new(now.moment, now.me, lane);
        }
        Some(granules.len())
    }
}

/// A page, for granules that are counted from another one.
#[derive(Clone, Copy)]
struct Here {
    /// That one.
    first: usize,
    page: usize,
}

impl Here {
    /// Where the granule is kept, if it is of this page.
    #[inline(always)]
    fn place(self, granule: i64) -> Option<usize> {
        let granule = self.first.wrapping_add_signed(granule as isize);
        (granule / PAGE == self.page).then(|| place(granule))
    }
}

/// Where a granule of a page is kept. Rows of a matrix are often a power of two apart: without this they would share few sets of the cache.
#[inline(always)]
fn place(granule: usize) -> usize {
    (granule % PAGE) ^ ((granule >> 8 & 15) << 1)
}

/// The present access, as all its granules see it.
#[derive(Clone, Copy)]
struct Now {
    moment: Moment,
    /// The block plus one.
    me: u32,
    /// Older moments of the block are ordered before this.
    barrier: u64,
}

impl Now {
    #[inline(always)]
    fn new(present: Present<'_>, actor: Actor) -> Self {
        Self {
            moment: Moment::new(present.order.now, actor.warp, actor.pc, actor.strength),
            me: present.block + 1,
            barrier: u64::from(present.order.barrier) << 32,
        }
    }
}

type Page = Mutex<Cells>;

/// The page that is held: one at a time, so that workers cannot wait for each other in a circle.
struct Held<'a> {
    pages: &'a [OnceLock<Page>],
    page: Option<(usize, MutexGuard<'a, Cells>)>,
}

impl<'a> Held<'a> {
    /// The cells of page `number`.
    #[inline(always)]
    fn cells(&mut self, number: usize) -> Option<&mut Cells> {
        if self.page.as_ref().is_none_or(|page| page.0 != number) {
            self.page = None;
            let page = self.pages.get(number)?.get_or_init(|| Mutex::new(Cells::new()));
            self.page = Some((number, locked(page)));
        }
        self.page.as_mut().map(|page| &mut *page.1)
    }
}

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
        let now = Now::new(present, actor);
        let first = (offset >> self.shift) as usize;
        let (mut granules, mut lanes) = footprint.granules();
        while let Some(&next) = granules.first() {
            let page = first.wrapping_add_signed(next as isize) / PAGE;
            let here = Here { first, page };
            let Some(cells) = pages.get(page) else { return false };
            let mut cells = locked(cells.get_or_init(|| Mutex::new(Cells::new())));
            let done = match mode {
                Mode::Read => cells.read(now, here, granules, lanes),
                _ => cells.write(now, here, granules, lanes),
            };
            let Some(done) = done else { return false };
            (granules, lanes) = (&granules[done..], &lanes[done..]);
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
        let mut held = Held { pages, page: None };
        for lane in lanes(mask) {
            let start = (offsets[lane] >> self.shift) as usize;
            let mut found = None;
            for granule in start..start + granules {
                let Some(cells) = held.cells(granule / PAGE) else { return };
                let conflict = touch(cells, place(granule), present, actor, mode, lane as u32);
                found = found.or(conflict);
            }
            if let Some(conflict) = found {
                report(lane as u32, conflict);
            }
        }
    }
}

fn touch(
    cells: &mut Cells,
    place: usize,
    present: Present<'_>,
    actor: Actor,
    mode: Mode,
    lane: u32,
) -> Option<GlobalConflict> {
    let now = Now::new(present, actor);
    let strong = actor.strength == Strength::Atomic;
    let loads = cells.loads[place];
    let stores = cells.stores.as_ref().map_or(Stores::default(), |stores| stores[place]);
    let mine = [loads.last, loads.other]
        .into_iter()
        .find(|read| mode == Mode::Write && read.block() == now.me && read.entry().has(actor.warp, lane));
    let conflict = |earlier: Seen, earlier_mode: Mode| {
        let (block, earlier) = (earlier.block(), earlier.entry());
        let both_strong = earlier.is_atomic() && strong;
        let lost_update =
            earlier_mode != Mode::Read && mine.is_some_and(|mine| mine.entry().loses(both_strong));
        let tolerated = both_strong && !lost_update;
        let lanes = if tolerated { 0 } else { unordered(earlier, block, present, actor, lane) };
        (lanes != 0).then(|| GlobalConflict {
            earlier: Entry { lanes, ..earlier },
            block: block - 1,
            earlier_mode,
            lost_update,
        })
    };
    let found = conflict(stores.plain, Mode::Write).or_else(|| conflict(stores.strong, Mode::Update));
    if mode == Mode::Read {
        cells.loads[place].remember(now, 1 << lane);
        return found;
    }
    let found =
        found.or_else(|| conflict(loads.last, Mode::Read)).or_else(|| conflict(loads.other, Mode::Read));
    cells.loads[place].make_stale();
    let stores = &mut cells.stores()[place];
    let last = if strong { &mut stores.strong } else { &mut stores.plain };
    let again = last.block() == now.me && last.moment == now.moment;
    let lanes = if again { last.party as u32 } else { 0 } | 1 << lane;
    *last = Seen::new(now.moment, now.me, lanes);
    found
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
