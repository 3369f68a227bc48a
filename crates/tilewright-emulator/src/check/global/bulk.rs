//! Bulk copies as accesses to global memory: one thread's, of any length.

use super::{GlobalAccess, GlobalConflict, GlobalView, LINE, PAGE, touch, unordered};
use crate::check::{
    entry::Entry,
    runs::Span,
    seen::{Now, Row, Seen, Stores},
    shared::Mode,
};

/// log2 of the granules of a lane, more than a line has: all of a line are the lane's.
const WIDTH: u32 = 15;

/// A part of a line, with the page that it lies in.
struct Part {
    page: usize,
    span: Span,
}

/// The parts of lines that the granules from `first` to `end` lie in.
fn parts(first: usize, end: usize) -> impl Iterator<Item = Part> {
    let lines = first / LINE..end.div_ceil(LINE);
    lines.map(move |line| {
        let from = first.max(line * LINE) % LINE;
        let to = end.min((line + 1) * LINE) - line * LINE;
        Part { page: line * LINE / PAGE, span: Span { line: line * LINE % PAGE / LINE, from, to } }
    })
}

impl GlobalView<'_> {
    /// A lane's copy reads or writes `bytes` at `offset` of a region. Gives the first conflict.
    pub fn copy(
        &mut self,
        access: GlobalAccess<'_>,
        lane: u32,
        offset: u64,
        bytes: u32,
    ) -> Option<GlobalConflict> {
        let (first, end) = self.granules(offset, bytes);
        let mut pages = self.pages.region(access.region)?;
        let now = Now::new(access.present, access.actor, WIDTH);
        let row = Row::new(1 << lane, 0, WIDTH);
        let mut found = None;
        for Part { page, span } in parts(first, end) {
            let cells = pages.page_or_make(page, || super::Cells::new(self.budget))?;
            let is_quiet = match access.mode {
                Mode::Read => cells.read(now, span, row),
                Mode::Write => cells.write(now, span, row),
                Mode::Update => false,
            };
            if is_quiet {
                continue;
            }
            for from in span.from..span.to {
                let granule = Span { line: span.line, from, to: from + 1 };
                let conflict = touch(cells, now, granule, row, access, lane);
                found = found.or(conflict);
            }
        }
        found
    }

    /// An access that the block of a copy has made to its bytes since the copy was issued at `stamp`, though nothing but the copy's own
    /// end could allow it: by the thread itself, or by one that the copy's issue is ordered before. What is not ordered at all is
    /// reported by itself.
    pub fn since(
        &mut self,
        access: GlobalAccess<'_>,
        lane: u32,
        offset: u64,
        bytes: u32,
        stamp: u32,
    ) -> Option<(Entry, Mode)> {
        let GlobalAccess { present, actor, mode, region } = access;
        let (first, end) = self.granules(offset, bytes);
        let mut pages = self.pages.region(region)?;
        for Part { page, span } in parts(first, end) {
            let Some(cells) = pages.page(page) else { continue };
            if mode == Mode::Read && cells.stores.is_none() {
                continue;
            }
            for granule in span.from..span.to {
                let stores = cells.stores.as_ref();
                let stores = stores.map_or(Stores::default(), |stores| stores.get(span.line, granule));
                let loads = cells.loads.get(span.line, granule);
                let strong = if actor.strength.is_strong() { Seen::default() } else { stores.strong };
                let seen = [
                    (stores.plain, Mode::Write),
                    (strong, Mode::Update),
                    (loads.last, Mode::Read),
                    (loads.other, Mode::Read),
                ];
                let is_late = |seen: &(Seen, Mode)| {
                    let (block, entry) = (seen.0.block(), seen.0.entry(granule));
                    block == present.block + 1
                        && entry.stamp() > stamp
                        && mode.conflicts(seen.1)
                        && unordered(entry, block, access, lane) == 0
                };
                if let Some((seen, earlier_mode)) = seen.into_iter().find(is_late) {
                    return Some((seen.entry(granule), earlier_mode));
                }
            }
        }
        None
    }

    fn granules(&self, offset: u64, bytes: u32) -> (usize, usize) {
        let end = offset + u64::from(bytes.max(1));
        ((offset >> self.shift) as usize, (((end - 1) >> self.shift) + 1) as usize)
    }
}
