//! Columns of C, which one thread packs B for and others help to compute.

use super::{Job, Room, Row, STEP, panels::Panels, shelf::Shelf};
use crate::{
    blocking::part,
    share::{Help, untaken},
    workspace::Workspace,
};
use core::{
    ops::{Range, RangeInclusive},
    sync::atomic::AtomicUsize,
};
use tilewright_core::Error;

/// Rows of a piece, in a panel: so few that threads end at about the same time, in tens of microseconds.
const ROWS: RangeInclusive<usize> = 16..=128;
/// Pieces that few rows are cut into.
const PIECES: usize = 8;

/// Sorted rows and some columns of C, for some terms.
pub struct Region<'a, E, P> {
    pub job: &'a Job<'a, E, P>,
    pub shelf: &'a Shelf<P>,
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub terms: Range<usize>,
}

impl<E: Copy + Sync, P: Copy + Send> Region<'_, E, P> {
    /// Packs B, and computes what others do not take.
    pub fn compute(&self, help: &Help) -> Result<(), Error> {
        Workspace::with(|workspace| {
            let panels = Panels::pack(workspace, self.job, &self.cols, &self.terms)?;
            let next = AtomicUsize::new(0);
            let take_part = || self.take_part(&panels, &next);
            // Without memory for a row there is no help.
            help.with(&|| take_part().unwrap_or(()), take_part)
        })
    }

    /// Computes pieces until there are none.
    fn take_part(&self, panels: &Panels<P>, next: &AtomicUsize) -> Result<(), Error> {
        let high = self.rows.len().div_ceil(PIECES).clamp(*ROWS.start(), *ROWS.end());
        let (down, width) = (self.rows.len().div_ceil(high), self.job.kernel.cols);
        let pieces = down * self.cols.len().div_ceil(width);
        Workspace::with(|workspace| {
            let line = Line::new(workspace, self.job, self.terms.len())?;
            for i in untaken(next, pieces) {
                let (rows, cols) = (part(&self.rows, high, i % down), part(&self.cols, width, i / down));
                // SAFETY: the rows and columns lie inside C, no other thread has them, and they have been sorted and packed.
                rows.clone().for_each(|row| unsafe { self.row(row, &cols, panels, &line) });
                if let Some(progress) = self.job.options.progress {
                    progress((rows.len() * cols.len() * self.terms.len()) as u64);
                }
            }
            Ok(())
        })
    }

    /// Computes row `i` in a panel.
    #[inline(always)]
    unsafe fn row(&self, i: usize, cols: &Range<usize>, panels: &Panels<P>, line: &Line<P>) {
        let (job, width) = (self.job, self.job.kernel.cols);
        let joins = job.joins || self.terms.start > 0;
        // SAFETY: the row and the columns lie inside C, and have been sorted and packed.
        unsafe {
            let c = job.c.offset(job.layout.offset(i, cols.start));
            let in_place = cols.len() == width && job.layout.col_stride == 1;
            if !in_place && joins {
                for j in 0..width {
                    let j_c = j.min(cols.len() - 1) as isize * job.layout.col_stride;
                    line.edge.add(j).write(*c.offset(j_c));
                }
            }
            let (steps, Room { terms, places, bounds }) = self.shelf.row(i);
            let (panel, best) = panels.at(cols.start);
            let c_row = if in_place { c } else { line.edge };
            let row = Row { steps, terms, places, bounds, panel, best, c: c_row, joins };
            if !(job.kernel.row)(&row) {
                self.with_all_terms(i, row, line);
            }
            if !in_place {
                for j in 0..cols.len() {
                    c.offset(j as isize * job.layout.col_stride).write(*line.edge.add(j));
                }
            }
        }
    }

    /// Joins a row with the sums of all terms.
    #[cold]
    unsafe fn with_all_terms(&self, i: usize, row: Row<P>, line: &Line<P>) {
        let (k, Room { terms, places, bounds }) = (self.terms.len(), line.room);
        let steps = k.div_ceil(STEP);
        // SAFETY: as the caller guarantees; there is room for all terms in whole steps.
        unsafe {
            self.job.pack_a(&(i..i + 1), &self.terms, terms);
            let best = (self.job.kernel.best_of)(core::slice::from_raw_parts(terms, k));
            for step in 0..steps {
                bounds.add(step).write(best);
            }
            for p in 0..steps * STEP {
                places.add(p).write((p.min(k - 1) * self.job.kernel.cols) as u32);
            }
            (self.job.kernel.row)(&Row { steps, terms, places, bounds, joins: true, ..row });
        }
    }
}

/// Memory of a thread for one row.
struct Line<P> {
    /// All its terms, if it needs more of them than were sorted.
    room: Room<P>,
    /// Its elements in a panel, if they do not lie side by side in C.
    edge: *mut P,
}

impl<P: Copy> Line<P> {
    fn new<E>(workspace: &mut Workspace, job: &Job<'_, E, P>, k: usize) -> Result<Self, Error> {
        let [line, places, bounds] = Room::<P>::bytes(k);
        let bytes = [job.kernel.cols * size_of::<P>(), line, places, bounds];
        let [edge, line, places, bounds] = workspace.reserve_anew(bytes, align_of::<P>())?;
        Ok(Self { room: Room::at([line, places, bounds]), edge: edge.cast() })
    }
}
