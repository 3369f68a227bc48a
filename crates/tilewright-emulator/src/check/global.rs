//! Shadow of global memory.

mod bulk;

use std::sync::Arc;

use super::{
    entry::Entry,
    pages::{Pages, View},
    present::Present,
    runs::{LINE, Runs, Span},
    seen::{Loads, Now, Row, Seen, Stores},
    shared::{Actor, Mode},
};
use crate::memory::{Budget, Footprint, Object, Piece, Use, lanes};

/// Granules of a page.
const PAGE: usize = 8192;

/// Lines of a page.
const LINES: usize = PAGE / LINE;

/// What is remembered of a page.
#[derive(Debug)]
struct Cells {
    loads: Runs<Loads, LINES>,
    /// None until there is a store: most pages are only read.
    stores: Option<Box<Runs<Stores, LINES>>>,
    /// What the page of memory held before its first store, if that is kept.
    before: Option<Box<[u8]>>,
}

impl Cells {
    /// `None` if there is no memory for them.
    fn new(budget: &Arc<Budget>) -> Option<Self> {
        Some(Self { loads: Runs::new(budget)?, stores: None, before: None })
    }

    /// `None` if there is no memory for them.
    fn stores(&mut self) -> Option<&mut Runs<Stores, LINES>> {
        if self.stores.is_none() {
            self.stores = Runs::new(self.loads.budget()).map(Box::new);
        }
        self.stores.as_deref_mut()
    }

    /// Lanes read a row. `false`: nothing was done, there may be a conflict.
    #[inline(always)]
    fn read(&mut self, now: Now, span: Span, row: Row) -> bool {
        if let Some(stores) = &self.stores {
            for stores in stores.of(span) {
                if !stores.are_over(now) {
                    return false;
                }
            }
        }
        self.add_load(now, span, row);
        true
    }

    /// Lanes read a column, of which this page has the granules from `page` on: pieces of one granule, where all rows have come apart and
    /// nobody stores. Returns how many there were of these.
    fn read_column(&mut self, now: Now, page: usize, first: usize, width: u32, column: &[Piece]) -> usize {
        if self.stores.is_some() {
            return 0;
        }
        let first = first.wrapping_sub(page);
        for (done, piece) in column.iter().enumerate() {
            let at = first.wrapping_add_signed(piece.start as isize);
            let Some(loads) = self.loads.single(at) else { return done };
            loads.remember(now, Row::new(piece.lanes, at % LINE, width));
        }
        column.len()
    }

    /// Lanes write a row, each granule one of them. `false`: nothing was done, there may be a conflict.
    #[inline(always)]
    fn write(&mut self, now: Now, span: Span, row: Row) -> bool {
        for loads in self.loads.of(span) {
            if !loads.are_quiet(now, row) {
                return false;
            }
        }
        let Some(stores) = &mut self.stores else { return false };
        for stores in stores.of(span) {
            if !stores.are_quiet(now, row) {
                return false;
            }
        }
        for stores in stores.open(span) {
            stores.plain.add(now, row);
        }
        stores.close(span);
        self.make_stale(span);
        true
    }

    #[inline(always)]
    fn add_load(&mut self, now: Now, span: Span, row: Row) {
        for loads in self.loads.open(span) {
            loads.remember(now, row);
        }
        self.loads.close(span);
    }

    /// The values that were read are replaced.
    #[inline(always)]
    fn make_stale(&mut self, span: Span) {
        if self.loads.of(span).is_empty() {
            return;
        }
        for loads in self.loads.open(span) {
            loads.make_stale();
        }
        self.loads.close(span);
    }
}

/// The shadow. Pages come into being when they are touched.
#[derive(Debug)]
pub struct GlobalShadow {
    /// log2 of the bytes of a granule.
    shift: u32,
    /// Whether pages of memory are kept as they were: several workers may have to begin again.
    keeps: bool,
    pages: Pages<Cells>,
    budget: Arc<Budget>,
}

/// The shadow as one worker has it.
pub struct GlobalView<'a> {
    shift: u32,
    keeps: bool,
    pages: View<'a, Cells>,
    budget: &'a Arc<Budget>,
}

/// An access as all its lanes make it.
#[derive(Clone, Copy)]
pub struct GlobalAccess<'a> {
    /// The block that accesses.
    pub present: Present<'a>,
    /// Who of it.
    pub actor: Actor,
    /// How.
    pub mode: Mode,
    /// The region of memory, by its slot.
    pub region: usize,
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

impl GlobalShadow {
    /// A shadow for regions of these sizes in granules of `1 << shift` bytes, for so many workers. The budget is that of what comes to
    /// [the tables](Self::table_bytes).
    pub fn new(regions: impl Iterator<Item = u64>, shift: u32, workers: usize, budget: Arc<Budget>) -> Self {
        let pages = regions.map(|bytes| pages(bytes, shift) as usize);
        Self { shift, keeps: workers > 1, pages: Pages::new(pages, workers), budget }
    }

    /// Puts back what memory held before the launch, as far as [kept](GlobalView::keep): `at` gives the first byte of a region.
    pub fn undo(&mut self, at: &dyn Fn(usize) -> Option<*mut u8>) {
        let page_bytes = PAGE << self.shift;
        self.pages.each_shared(&mut |region, number, cells| {
            let (Some(before), Some(data)) = (cells.before.take(), at(region)) else { return };
            // SAFETY: so many bytes of the region were copied from here, and no worker runs.
            unsafe { data.add(number * page_bytes).copy_from_nonoverlapping(before.as_ptr(), before.len()) };
        });
    }

    /// Bytes of its tables of pages.
    pub fn table_bytes(regions: impl Iterator<Item = u64>, shift: u32, workers: usize) -> u64 {
        Pages::<Cells>::table_bytes(regions.map(|bytes| pages(bytes, shift)).sum(), workers)
    }

    /// For a worker to look at; of an only worker there is one at a time.
    pub fn view(&self) -> GlobalView<'_> {
        GlobalView { shift: self.shift, keeps: self.keeps, pages: self.pages.view(), budget: &self.budget }
    }
}

/// Pages of a region.
fn pages(bytes: u64, shift: u32) -> u64 {
    bytes.div_ceil((PAGE as u64) << shift)
}

impl GlobalView<'_> {
    /// Remembers a plain access whose first lane is at `offset` of `region`, if it obviously conflicts with no other. `false`: it is
    /// for [`Self::access`] to tell, which also makes what is not there yet; what has been remembered so far does no harm.
    #[inline(always)]
    pub fn is_quiet(&mut self, access: GlobalAccess<'_>, footprint: &Footprint, offset: u64) -> bool {
        let GlobalAccess { present, actor, mode, region } = access;
        let Some(mut pages) = self.pages.region(region) else { return false };
        if mode == Mode::Write && !footprint.is_exclusive() {
            return false;
        }
        let width = footprint.width();
        let now = Now::new(present, actor, width);
        let first = (offset >> self.shift) as usize;
        let mut pieces = footprint.pieces();
        // Granules of the first piece that have been looked at.
        let mut done = 0;
        while let Some(&piece) = pieces.first() {
            let at = first.wrapping_add_signed(piece.start as isize) + done;
            let page = at / PAGE;
            let Some(cells) = pages.page(page) else { return false };
            if mode == Mode::Read && footprint.is_column() {
                let column = cells.read_column(now, page * PAGE, first, width, pieces);
                if column > 0 {
                    pieces = &pieces[column..];
                    continue;
                }
            }
            let from = at % LINE;
            let to = LINE.min(from + piece.granules - done);
            let span = Span { line: at % PAGE / LINE, from, to };
            let row = Row::new(piece.lanes.rotate_left(done as u32 >> width), from, width);
            let quiet = match mode {
                Mode::Read => cells.read(now, span, row),
                _ => cells.write(now, span, row),
            };
            if !quiet {
                return false;
            }
            done += to - from;
            if done == piece.granules {
                (pieces, done) = (&pieces[1..], 0);
            }
        }
        true
    }

    /// Keeps the pages of `object` that the launch is about to write for the first time, `bytes` bytes at `offset`.
    pub fn keep(&mut self, region: usize, object: &Object, offset: u64, bytes: u32) {
        if !self.keeps {
            return;
        }
        let page_bytes = (PAGE << self.shift) as u64;
        let Some(mut pages) = self.pages.region(region) else { return };
        for page in offset / page_bytes..=offset.saturating_add(u64::from(bytes.max(1)) - 1) / page_bytes {
            let Some(cells) = pages.page_or_make(page as usize, || Cells::new(self.budget)) else { return };
            let length = page_bytes.min(object.bytes.saturating_sub(page * page_bytes));
            if cells.before.is_none() && self.budget.take(Use::Races, length) {
                // SAFETY: the bytes are inside the object. Nobody writes them while the page is held: who does has kept it before.
                let held = unsafe {
                    std::slice::from_raw_parts(object.data.add((page * page_bytes) as usize), length as usize)
                };
                cells.before = Some(held.into());
            }
        }
    }

    /// Whether the launch has written any of these bytes.
    pub fn is_written(&mut self, region: usize, offset: u64, bytes: u32) -> bool {
        let Some(mut pages) = self.pages.region(region) else { return false };
        let first = (offset >> self.shift) as usize;
        (first..first + (bytes as usize >> self.shift).max(1)).any(|granule| {
            let stores = pages.page(granule / PAGE).and_then(|cells| cells.stores.as_ref());
            stores
                .is_some_and(|stores| stores.get(granule % PAGE / LINE, granule % LINE) != Stores::default())
        })
    }

    /// Whether the launch has written nothing in the page of this byte.
    #[inline(always)]
    pub fn is_unwritten_page(&mut self, region: usize, offset: u64) -> bool {
        let Some(mut pages) = self.pages.region(region) else { return true };
        let page = pages.page((offset >> self.shift) as usize / PAGE);
        page.is_none_or(|cells| cells.stores.is_none())
    }

    /// Looks at an access of `bytes` at `offsets` into its region by each lane of `mask`, and reports conflicts.
    pub fn access(
        &mut self,
        access: GlobalAccess<'_>,
        offsets: &[u64; 32],
        bytes: u32,
        mask: u32,
        report: &mut dyn FnMut(u32, GlobalConflict),
    ) {
        let Some(mut pages) = self.pages.region(access.region) else { return };
        let granules = (bytes as usize >> self.shift).max(1);
        let width = granules.ilog2();
        let now = Now::new(access.present, access.actor, width);
        for lane in lanes(mask) {
            let start = (offsets[lane] >> self.shift) as usize;
            let mut found = None;
            for granule in start..start + granules {
                let Some(cells) = pages.page_or_make(granule / PAGE, || Cells::new(self.budget)) else {
                    return;
                };
                let from = granule % LINE;
                let span = Span { line: granule % PAGE / LINE, from, to: from + 1 };
                let row = Row::new(1 << lane, from, width);
                let conflict = touch(cells, now, span, row, access, lane as u32);
                found = found.or(conflict);
            }
            if let Some(conflict) = found {
                report(lane as u32, conflict);
            }
        }
    }
}

/// `lane` accesses one granule.
fn touch(
    cells: &mut Cells,
    now: Now,
    span: Span,
    row: Row,
    access: GlobalAccess<'_>,
    lane: u32,
) -> Option<GlobalConflict> {
    let GlobalAccess { actor, mode, .. } = access;
    let strong = actor.strength.is_strong();
    let Span { line, from: granule, .. } = span;
    let loads = cells.loads.get(line, granule);
    let stores = cells.stores.as_ref().map_or(Stores::default(), |stores| stores.get(line, granule));
    let mine = [loads.last, loads.other].into_iter().find(|read| {
        mode == Mode::Write && read.block() == now.me && read.entry(granule).has(actor.warp, lane)
    });
    let conflict = |earlier: Seen, earlier_mode: Mode| {
        let (block, earlier) = (earlier.block(), earlier.entry(granule));
        let both_strong = earlier.strength().agrees(actor.strength, block == now.me);
        let lost_update =
            earlier_mode != Mode::Read && mine.is_some_and(|mine| mine.entry(granule).loses(both_strong));
        let tolerated = both_strong && !lost_update;
        let lanes = if tolerated { 0 } else { unordered(earlier, block, access, lane) };
        (lanes != 0).then(|| GlobalConflict {
            earlier: Entry { lanes, ..earlier },
            block: block - 1,
            earlier_mode,
            lost_update,
        })
    };
    let earlier_stores = [(stores.plain, Mode::Write), (stores.strong, Mode::Update)];
    let earlier_loads = [(loads.last, Mode::Read), (loads.other, Mode::Read)];
    let earlier = || earlier_stores.into_iter().chain(earlier_loads).filter(|seen| mode.conflicts(seen.1));
    // What orders two blocks or warps orders the lanes of a warp too, but not the other way round.
    let apart = |seen: Seen| match seen.block() == now.me {
        false => 0,
        true => 1 + usize::from(seen.entry(granule).warp() == actor.warp),
    };
    let by = |distance: usize| earlier().filter(move |&(seen, _)| apart(seen) == distance);
    let found = (0..3).flat_map(by).find_map(|(seen, mode)| conflict(seen, mode));
    if mode == Mode::Read {
        cells.add_load(now, span, row);
        return found;
    }
    cells.make_stale(span);
    let Some(stores) = cells.stores() else { return found };
    for stores in stores.open(span) {
        let last = if strong { &mut stores.strong } else { &mut stores.plain };
        last.add(now, row);
    }
    stores.close(span);
    found
}

/// The lanes of an earlier access that nothing orders before the present one.
fn unordered(earlier: Entry, block: u32, access: GlobalAccess<'_>, lane: u32) -> u32 {
    let GlobalAccess { present, actor, .. } = access;
    if block == 0 {
        return 0;
    }
    if block - 1 == present.block {
        return present.order.unordered(earlier, actor.warp, lane);
    }
    let before = present.blocks.before(present.known, block - 1, earlier.stamp());
    if before { 0 } else { earlier.lanes }
}
