//! The loops around a pruned product: rows are sorted, as many as there is room for, and meet panel after panel of B.

use super::{Pruning, Room, Row, STEP, shelf::Shelf};
use crate::{
    blocking::{Blocking, cut, parts},
    cache::second_level,
    choice,
    narrow::Code,
    options::Options,
    pack::{Lines, Strips},
    share::share,
    workspace::Workspace,
};
use core::ops::Range;
use tilewright_core::{Error, Layout, MatRef};

/// A product to compute.
pub struct Job<'a, E, P> {
    pub kernel: &'a Pruning<E, P>,
    /// Units per distance to sort rows by.
    pub scale: f64,
    pub a: MatRef<'a, E>,
    pub b: MatRef<'a, E>,
    pub c: *mut P,
    pub layout: Layout,
    /// Whether sums are joined with C.
    pub joins: bool,
    /// Elements of sorted rows to keep at a time.
    pub room: usize,
    pub options: &'a Options<'a>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Sync, P: Send> Sync for Job<'_, E, P> {}

impl<E: Copy + Sync, P: Copy + Send> Job<'_, E, P> {
    /// Computes the product and returns the number of threads that took part.
    pub fn run(&self) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let (width, size) = (self.kernel.cols, size_of::<P>());
        let threads = self.options.threads_for(m as f64 * n as f64 * k as f64);
        let Blocking { kc, nc } = Blocking::of_panels((m, n, k), width, size, second_level());
        let (down, across) = choice::shares(m, n, width, nc, threads);
        let cols: Vec<_> = cut(0..n, across, width).filter(|cols| !cols.is_empty()).collect();
        Workspace::with(|workspace| {
            let mut shelf = Shelf::new(workspace, m, kc, self.room)?;
            for terms in parts(0..k, kc) {
                let mut rows = 0..m;
                while !rows.is_empty() {
                    let sorted = shelf.fill(self, rows.clone(), &terms, threads)?;
                    rows.start = sorted.end;
                    let regions: Vec<_> = cut(sorted, down, 1)
                        .filter(|rows| !rows.is_empty())
                        .flat_map(|rows| cols.iter().map(move |cols| (rows.clone(), cols.clone())))
                        .collect();
                    share(&regions, threads, &|(rows, cols)| {
                        Workspace::with(|w| Region::new(self, &shelf, w, cols, &terms)?.compute(rows))
                    })?;
                }
            }
            Ok(threads.min(down * cols.len()))
        })
    }

    /// Packs rows of A one after another, each filled up to whole steps with its last term.
    ///
    /// # Safety
    /// The rows must lie inside A, and there must be room.
    pub unsafe fn pack_a(&self, rows: &Range<usize>, terms: &Range<usize>, to: *mut P) {
        let layout = self.a.layout();
        let whole = terms.len().next_multiple_of(STEP);
        // SAFETY: as the caller guarantees. What are terms to the packing are rows here.
        unsafe {
            let first = self.a.as_ptr().offset(layout.offset(rows.start, terms.start));
            let (line, term) = (layout.col_stride, layout.row_stride);
            let lines = Lines { first, line, term, count: terms.len(), k: rows.len(), code: Code::default() };
            (self.kernel.pack)(&lines, Strips { width: whole, unit: whole }, to);
        }
    }
}

/// Columns of C for some terms, and the memory of the thread that computes them.
struct Region<'a, E, P> {
    job: &'a Job<'a, E, P>,
    shelf: &'a Shelf<P>,
    cols: &'a Range<usize>,
    terms: &'a Range<usize>,
    /// Packed panels, and the best of their columns.
    b: *mut P,
    best: *mut P,
    /// A row with all its terms, if it needs more of them than were sorted.
    line: Room<P>,
    edge: *mut P,
}

impl<'a, E: Copy + Sync, P: Copy + Send> Region<'a, E, P> {
    fn new(
        job: &'a Job<'a, E, P>,
        shelf: &'a Shelf<P>,
        workspace: &mut Workspace,
        cols: &'a Range<usize>,
        terms: &'a Range<usize>,
    ) -> Result<Self, Error> {
        let (width, k, size) = (job.kernel.cols, terms.len(), size_of::<P>());
        let padded = cols.len().next_multiple_of(width);
        let [line, places, bounds] = Room::<P>::bytes(k);
        let bytes = [padded * k * size, padded * size, width * size, line, places, bounds];
        let [b, best, edge, line, places, bounds] = workspace.reserve_anew(bytes, align_of::<P>())?;
        let line = Room::at([line, places, bounds]);
        Ok(Self { job, shelf, cols, terms, b: b.cast(), best: best.cast(), line, edge: edge.cast() })
    }

    /// Computes some rows.
    fn compute(&self, rows: &Range<usize>) -> Result<(), Error> {
        // SAFETY: the rows and columns lie inside the operands and C, and the buffers were sized for them.
        unsafe {
            self.pack_b();
            for panel in parts(self.cols.clone(), self.job.kernel.cols) {
                rows.clone().for_each(|i| self.row(i, &panel));
            }
        }
        if let Some(progress) = self.job.options.progress {
            progress((rows.len() * self.cols.len() * self.terms.len()) as u64);
        }
        Ok(())
    }

    /// Packs the columns of B into panels, and finds the best of each.
    unsafe fn pack_b(&self) {
        let (kernel, layout, k) = (self.job.kernel, self.job.b.layout(), self.terms.len());
        // SAFETY: the columns lie inside B.
        unsafe {
            let first = self.job.b.as_ptr().offset(layout.offset(self.terms.start, self.cols.start));
            let (line, term, count) = (layout.col_stride, layout.row_stride, self.cols.len());
            let lines = Lines { first, line, term, count, k, code: Code::default() };
            (kernel.pack)(&lines, Strips { width: kernel.cols, unit: kernel.cols }, self.b);
            for panel in (0..count).step_by(kernel.cols) {
                (kernel.best)(self.b.add(panel * k), k, self.best.add(panel));
            }
        }
    }

    /// Computes row `i` in a panel.
    #[inline(always)]
    unsafe fn row(&self, i: usize, cols: &Range<usize>) {
        let (job, width, at) = (self.job, self.job.kernel.cols, cols.start - self.cols.start);
        let joins = job.joins || self.terms.start > 0;
        // SAFETY: the row and the columns lie inside C, and have been sorted and packed.
        unsafe {
            let c = job.c.offset(job.layout.offset(i, cols.start));
            let in_place = cols.len() == width && job.layout.col_stride == 1;
            if !in_place && joins {
                for j in 0..width {
                    let j_c = j.min(cols.len() - 1) as isize * job.layout.col_stride;
                    self.edge.add(j).write(*c.offset(j_c));
                }
            }
            let (steps, Room { terms, places, bounds }) = self.shelf.row(i);
            let (panel, best) = (self.b.add(at * self.terms.len()), self.best.add(at));
            let c_row = if in_place { c } else { self.edge };
            let row = Row { steps, terms, places, bounds, panel, best, c: c_row, joins };
            if !(job.kernel.row)(&row) {
                self.with_all_terms(i, row);
            }
            if !in_place {
                for j in 0..cols.len() {
                    c.offset(j as isize * job.layout.col_stride).write(*self.edge.add(j));
                }
            }
        }
    }

    /// Joins a row with the sums of all terms.
    #[cold]
    unsafe fn with_all_terms(&self, i: usize, row: Row<P>) {
        let (k, Room { terms, places, bounds }) = (self.terms.len(), self.line);
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
