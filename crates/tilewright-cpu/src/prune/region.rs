//! Columns of C, which one thread packs B for and others help to compute.

use super::{Job, Room, Row, STEP, panels::Panels, shelf::Shelf};
use crate::{blocking::part, workspace::Workspace};
use core::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::{sync::OnceLock, thread};
use tilewright_core::Error;

/// Rows of a piece, in a panel: so few that threads end at about the same time, in tens of microseconds.
const ROWS: Range<usize> = 16..128;
/// Pieces that few rows are cut into.
const PIECES: usize = 8;

/// Columns of C for some terms.
pub struct Region<'a, E, P> {
    job: &'a Job<'a, E, P>,
    shelf: &'a Shelf<P>,
    cols: Range<usize>,
    terms: &'a Range<usize>,
    rows: &'a Range<usize>,
    /// Rows of a piece.
    high: usize,
    /// Pieces in all, the next one that nobody has taken, and those that are finished.
    pieces: usize,
    next: AtomicUsize,
    finished: AtomicUsize,
    /// B, as soon as it is packed.
    panels: OnceLock<Panels<P>>,
}

impl<'a, E: Copy + Sync, P: Copy + Send> Region<'a, E, P> {
    pub fn new(
        job: &'a Job<'a, E, P>,
        shelf: &'a Shelf<P>,
        cols: Range<usize>,
        terms: &'a Range<usize>,
        rows: &'a Range<usize>,
    ) -> Self {
        let high = rows.len().div_ceil(PIECES).clamp(ROWS.start, ROWS.end);
        let pieces = rows.len().div_ceil(high) * cols.len().div_ceil(job.kernel.cols);
        let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { job, shelf, cols, terms, rows, high, pieces, next, finished, panels: OnceLock::new() }
    }

    /// Packs B, and computes what others do not take.
    pub fn compute(&self) -> Result<(), Error> {
        Workspace::with(|workspace| {
            // Whatever happens, others do not wait for pieces, nor use the panels after their end.
            let _end = End(self);
            let (cols, terms) = (self.cols.clone(), self.terms.clone());
            let panels = Panels::new(workspace, cols, terms, self.job.kernel.cols)?;
            // SAFETY: nobody else knows them yet.
            unsafe { panels.pack(self.job) };
            self.take_part(self.panels.get_or_init(|| panels))
        })
    }

    /// Whether there are pieces that nobody has taken.
    fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces
    }

    /// Computes pieces until there are none.
    fn take_part(&self, panels: &Panels<P>) -> Result<(), Error> {
        Workspace::with(|workspace| {
            let line = Line::new(workspace, self.job, self.terms.len())?;
            loop {
                let i = self.next.fetch_add(1, Ordering::Relaxed);
                if i >= self.pieces {
                    return Ok(());
                }
                let _finished = Finished(&self.finished);
                let down = self.rows.len().div_ceil(self.high);
                let rows = part(self.rows, self.high, i % down);
                let cols = part(&self.cols, self.job.kernel.cols, i / down);
                // SAFETY: the rows and columns lie inside C, no other thread has them, and they have been sorted and packed.
                rows.clone().for_each(|row| unsafe { self.row(row, &cols, panels, &line) });
                if let Some(progress) = self.job.options.progress {
                    progress((rows.len() * cols.len() * self.terms.len()) as u64);
                }
            }
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
            self.job.pack_a(&(i..i + 1), self.terms, terms);
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

/// Counts a piece as finished, even if it panics.
struct Finished<'a>(&'a AtomicUsize);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Ends a region: nobody takes further pieces, and those that were taken are waited for.
struct End<'a, 'b, E, P>(&'a Region<'b, E, P>);

impl<E, P> Drop for End<'_, '_, E, P> {
    fn drop(&mut self) {
        let Region { pieces, next, finished, .. } = self.0;
        let taken = next.fetch_max(*pieces, Ordering::Relaxed).min(*pieces);
        let mut times = 0;
        while finished.load(Ordering::Acquire) < taken {
            pause(&mut times);
        }
    }
}

/// Looks before a thread that waits lets others run.
const PATIENCE: u32 = 1000;

/// Waits a moment, after so many others.
fn pause(times: &mut u32) {
    if *times < PATIENCE {
        *times += 1;
        core::hint::spin_loop();
    } else {
        thread::yield_now();
    }
}

/// Helps with regions that others compute, until no piece is left of any.
pub fn help<E: Copy + Sync, P: Copy + Send>(regions: &[Region<'_, E, P>]) -> Result<(), Error> {
    let mut times = 0;
    while regions.iter().any(Region::is_open) {
        for region in regions.iter().rev().filter(|region| region.is_open()) {
            if let Some(panels) = region.panels.get() {
                region.take_part(panels)?;
            }
        }
        if times < PATIENCE {
            core::hint::spin_loop()
        } else {
            thread::yield_now()
        }
        times = times.saturating_add(1);
    }
    Ok(())
}
