//! Columns of C, which one thread packs B for and others help to compute.

use super::{
    Done, Job, Part, Room, Row, STEP, Sorted, panels::Panels, sorted_rows::SortedRows, unpruned::Unpruned,
    whole::WholeRows,
};
use crate::{
    blocking::part,
    op::Scalar,
    share::{Help, untaken},
    workspace::Workspace,
};
use core::{
    ops::{Range, RangeInclusive},
    sync::atomic::AtomicUsize,
};
use tilewright_core::{Error, NO_ARG};

/// Rows of a piece, in a panel: so few that threads end at about the same time, in tens of microseconds,
/// and that pruning stops soon where it does not pay.
const ROWS: RangeInclusive<usize> = 8..=128;
/// Pieces that few rows are cut into.
const PIECES: usize = 16;

/// Sorted rows and some columns of C, for some terms.
pub struct Region<'a, E, P> {
    pub job: &'a Job<'a, E, P>,
    pub sorted_rows: &'a SortedRows<P>,
    pub whole_rows: &'a WholeRows<P>,
    pub part: Part,
    /// Where it leaves what is not computed.
    pub unpruned: &'a Unpruned,
}

impl<E: Copy + Send + Sync, P: Scalar + Send + Sync> Region<'_, E, P> {
    /// Packs B, and computes what others do not take, until the account says that it does not pay.
    pub fn compute(&self, help: &Help) -> Result<(), Error> {
        let next = AtomicUsize::new(0);
        if !self.job.account.is_stopped() {
            Workspace::with(|workspace| {
                let panels = Panels::pack(workspace, self.job, &self.part.cols, &self.part.terms)?;
                let take_part = || self.take_part(&panels, &next);
                // Without memory for a row there is no help.
                help.with(&|| take_part().unwrap_or(()), take_part)
            })?;
        }
        self.leave(next.into_inner());
        Ok(())
    }

    /// Rows of a piece.
    fn high(&self) -> usize {
        self.part.rows.len().div_ceil(PIECES).clamp(*ROWS.start(), *ROWS.end())
    }

    /// Computes pieces, panel after panel, until there are none, or the account says that it does not pay.
    fn take_part(&self, panels: &Panels<P>, next: &AtomicUsize) -> Result<(), Error> {
        let (Part { rows, cols, terms }, high, width) = (&self.part, self.high(), self.job.kernel.cols);
        let down = rows.len().div_ceil(high);
        Workspace::with(|workspace| {
            let line = Line::new(workspace, self.job, terms.len())?;
            for i in untaken(next, down * cols.len().div_ceil(width)) {
                self.job.options.check_cancelled()?;
                let (rows, cols) = (part(rows, high, i % down), part(cols, width, i / down));
                let mut few = 0;
                for row in rows.clone() {
                    // SAFETY: the row and columns lie inside C, no other thread has them, and they have been sorted and packed.
                    few += unsafe { self.row(row, &cols, panels, &line) } * STEP * width;
                }
                // A panel that is not full costs as much as a full one, whether terms are pruned or not.
                self.job.account.computed(few, rows.len() * width * terms.len());
                if let Some(progress) = self.job.options.progress {
                    progress((rows.len() * cols.len() * terms.len()) as u64);
                }
                // A piece that was taken is computed, so that those left are the last ones.
                if self.job.account.is_stopped() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Leaves all but the first `done` pieces, if there are more.
    fn leave(&self, done: usize) {
        let (Part { rows, cols, terms }, high, width) = (&self.part, self.high(), self.job.kernel.cols);
        let down = rows.len().div_ceil(high);
        let (panel, taken) = (part(cols, width, done / down), part(rows, high, done % down));
        let add = |rows, cols| self.unpruned.add(Part { rows, cols, terms: terms.clone() });
        if done.is_multiple_of(down) {
            return add(rows.clone(), panel.start..cols.end);
        }
        add(taken.start..rows.end, panel.clone());
        add(rows.clone(), panel.end..cols.end);
    }

    /// Computes row `i` in a panel, and returns the number of steps that this took.
    #[inline(always)]
    unsafe fn row(&self, i: usize, cols: &Range<usize>, panels: &Panels<P>, line: &Line<P>) -> usize {
        let (job, width) = (self.job, self.job.kernel.cols);
        let joins = job.joins || self.part.terms.start > 0;
        // SAFETY: the row and the columns lie inside C, and have been sorted and packed.
        unsafe {
            let c = job.c.offset(job.layout.offset(i, cols.start));
            let in_place = cols.len() == width && job.layout.col_stride == 1 && job.kernel.between.is_none();
            if !in_place && joins {
                for j in 0..width {
                    let j_c = j.min(cols.len() - 1) as isize * job.layout.col_stride;
                    line.edge.add(j).write(job.load(c.offset(j_c)));
                }
            }
            let (Sorted { steps, whole }, Room { terms, places, bounds }) = self.sorted_rows.row(i);
            let (panel, best) = panels.at(cols.start);
            let c_row = if in_place { c.cast() } else { line.edge };
            let with_ties = job.arg.is_some();
            let mut row =
                Row { steps, terms, places, whole, bounds, panel, best, c: c_row, joins, with_ties };
            let Done { mut steps, complete } = (job.kernel.row)(&row);
            let mut last = steps;
            if !complete {
                (row, last) = self.with_all_terms(i, row, line);
                steps += last;
            }
            if let Some(arg) = job.arg {
                (job.kernel.winners)(&row, last, line.winners);
                for (j, col) in cols.clone().enumerate() {
                    arg.set(i, col, (*line.winners.add(j)).term().map_or(NO_ARG, |number| number - 1));
                }
            }
            if !in_place {
                for j in 0..cols.len() {
                    job.store(*line.edge.add(j), c.offset(j as isize * job.layout.col_stride));
                }
            }
            steps
        }
    }

    /// Joins a row with the sums of all terms, and returns it with these and the number of steps that this took.
    #[cold]
    unsafe fn with_all_terms(&self, i: usize, row: Row<P>, line: &Line<P>) -> (Row<P>, usize) {
        let (job, k, Room { terms, places, bounds }) = (self.job, self.part.terms.len(), line.room);
        let steps = k.div_ceil(STEP);
        // SAFETY: as the caller guarantees; there is room for all terms in whole steps.
        unsafe {
            let terms = self.whole_rows.row(job, i).unwrap_or_else(|| {
                job.pack_a(&(i..i + 1), &self.part.terms, terms);
                terms
            });
            let best = (job.kernel.best_of)(core::slice::from_raw_parts(terms, k));
            for step in 0..steps {
                bounds.add(step).write(best);
            }
            for p in 0..steps * STEP {
                places.add(p).write((p.min(k - 1) * job.kernel.cols) as u32);
            }
            let row = Row { steps, terms, places, whole: true, bounds, joins: true, ..row };
            let Done { steps, .. } = (job.kernel.row)(&row);
            (row, steps)
        }
    }
}

/// Memory of a thread for one row.
struct Line<P> {
    /// All its terms, if it needs more of them than were sorted.
    room: Room<P>,
    /// Its elements in a panel, if they do not lie side by side in C.
    edge: *mut P,
    /// The numbers of the terms that won.
    winners: *mut P,
}

impl<P: Copy> Line<P> {
    fn new<E>(workspace: &mut Workspace, job: &Job<'_, E, P>, k: usize) -> Result<Self, Error> {
        let [line, places, bounds] = Room::<P>::bytes(k);
        let panel = job.kernel.cols * size_of::<P>();
        let [edge, winners, line, places, bounds] =
            workspace.reserve_anew([panel, panel, line, places, bounds], align_of::<P>())?;
        Ok(Self { room: Room::at([line, places, bounds]), edge: edge.cast(), winners: winners.cast() })
    }
}
