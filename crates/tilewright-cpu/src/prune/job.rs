//! The loops around a pruned product: rows are sorted, as many as there is room for, and meet panel after panel of B.

use super::{Pruning, Room, Row, SPARE, STEP};
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
    pub options: &'a Options<'a>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Sync, P: Send> Sync for Job<'_, E, P> {}

/// Elements of sorted rows that a thread keeps at a time, or those of one row.
const SORTED: usize = 1 << 18;
/// Rows of A that are packed at a time.
const STAGED: usize = 16;

/// Where a sorted row is.
#[derive(Clone, Copy)]
struct Sorted {
    /// Its first step.
    first: usize,
    steps: usize,
}

/// A part of C, and the memory of the thread that computes it.
struct Region<'a, E, P> {
    job: &'a Job<'a, E, P>,
    cols: Range<usize>,
    block: Blocking,
    /// Packed panels, and the best of their columns.
    b: *mut P,
    best: *mut P,
    /// Packed rows.
    a: *mut P,
    room: Room<P>,
    /// All terms in order, for a row that needs more of them than were sorted.
    in_order: Room<P>,
    edge: *mut P,
}

impl<E: Copy + Sync, P: Copy + Send> Job<'_, E, P> {
    /// Computes the product and returns the number of threads that took part.
    pub fn run(&self) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let threads = self.options.threads_for(m as f64 * n as f64 * k as f64);
        let (down, across) = choice::regions_pruned(m, n, self.kernel.cols, threads);
        let regions: Vec<_> = cut(0..m, down, 1)
            .flat_map(|rows| cut(0..n, across, self.kernel.cols).map(move |cols| (rows.clone(), cols)))
            .filter(|(rows, cols)| !rows.is_empty() && !cols.is_empty())
            .collect();
        share(&regions, threads, &|(rows, cols)| {
            Workspace::with(|workspace| self.region(workspace, rows.clone(), cols.clone()))
        })?;
        Ok(threads.min(regions.len()))
    }

    /// Computes the part `rows` x `cols` of C on this thread.
    fn region(&self, workspace: &mut Workspace, rows: Range<usize>, cols: Range<usize>) -> Result<(), Error> {
        let (k, width, size) = (self.a.cols(), self.kernel.cols, size_of::<P>());
        let block = Blocking::of_panels(cols.len(), k, width, size, second_level());
        let whole = block.kc.next_multiple_of(STEP);
        let sorted = SORTED.max(whole);
        let bytes = [
            block.kc * block.nc * size,
            block.nc * size,
            STAGED * whole * size,
            width * size,
            sorted * size,
            sorted * size_of::<u32>(),
            sorted / STEP * size,
            whole,
            (whole + SPARE) * size_of::<u32>(),
            whole * size_of::<u32>(),
            whole / STEP * size,
        ];
        let [b, best, a, edge, terms, places, bounds, codes, near, all, all_bounds] =
            workspace.reserve(bytes, align_of::<P>())?;
        workspace.holds = None;
        let (codes, near) = (codes, near.cast());
        let room = Room { terms: terms.cast(), places: places.cast(), bounds: bounds.cast(), codes, near };
        let in_order = Room { terms: a.cast(), places: all.cast(), bounds: all_bounds.cast(), codes, near };
        let region = Region {
            job: self,
            cols,
            block,
            b: b.cast(),
            best: best.cast(),
            a: a.cast(),
            room,
            in_order,
            edge: edge.cast(),
        };
        for terms in parts(0..k, block.kc) {
            // SAFETY: all ranges lie inside the operands and C, and the buffers were sized for them.
            unsafe { region.block(rows.clone(), terms) };
        }
        Ok(())
    }
}

impl<E: Copy, P: Copy> Region<'_, E, P> {
    /// Computes the sums of some terms.
    unsafe fn block(&self, rows: Range<usize>, terms: Range<usize>) {
        let mut sorted = Vec::new();
        let mut row = rows.start;
        // SAFETY: as the caller guarantees.
        unsafe {
            self.places_in_order(terms.len());
            while row < rows.end {
                self.sort(row..rows.end, &terms, &mut sorted);
                for cols in parts(self.cols.clone(), self.block.nc) {
                    self.pack_b(&cols, &terms);
                    for panel in parts(cols.clone(), self.job.kernel.cols) {
                        for (i, &sorted) in (row..).zip(&sorted) {
                            self.row(i, sorted, &panel, cols.start, &terms);
                        }
                    }
                    if let Some(progress) = self.job.options.progress {
                        progress((sorted.len() * cols.len() * terms.len()) as u64);
                    }
                }
                row += sorted.len();
            }
        }
    }

    /// Sorts rows as long as there is room.
    unsafe fn sort(&self, rows: Range<usize>, terms: &Range<usize>, sorted: &mut Vec<Sorted>) {
        let whole = terms.len().next_multiple_of(STEP);
        let room = SORTED.max(whole) / STEP;
        let mut first = 0;
        sorted.clear();
        for staged in parts(rows, STAGED) {
            // SAFETY: as the caller guarantees.
            unsafe {
                self.pack_a(&staged, terms);
                for i in 0..staged.len() {
                    if first + whole / STEP > room {
                        return;
                    }
                    let line = core::slice::from_raw_parts(self.a.add(i * whole), terms.len());
                    let room = Room {
                        terms: self.room.terms.add(first * STEP),
                        places: self.room.places.add(first * STEP),
                        bounds: self.room.bounds.add(first),
                        ..self.room
                    };
                    let steps = (self.job.kernel.sort)(line, self.job.scale, self.job.kernel.cols, &room);
                    sorted.push(Sorted { first, steps });
                    first += steps;
                }
            }
        }
    }

    /// Packs rows of A one after another, each filled up to whole steps with its last term.
    unsafe fn pack_a(&self, rows: &Range<usize>, terms: &Range<usize>) {
        let layout = self.job.a.layout();
        let whole = terms.len().next_multiple_of(STEP);
        // SAFETY: the rows lie inside A. What are terms to the packing are rows here.
        unsafe {
            let first = self.job.a.as_ptr().offset(layout.offset(rows.start, terms.start));
            let (line, term) = (layout.col_stride, layout.row_stride);
            let lines = Lines { first, line, term, count: terms.len(), k: rows.len(), code: Code::default() };
            (self.job.kernel.pack)(&lines, Strips { width: whole, unit: whole }, self.a);
        }
    }

    /// Packs some columns of B into panels, and finds the best of each.
    unsafe fn pack_b(&self, cols: &Range<usize>, terms: &Range<usize>) {
        let (kernel, layout) = (self.job.kernel, self.job.b.layout());
        // SAFETY: the columns lie inside B.
        unsafe {
            let first = self.job.b.as_ptr().offset(layout.offset(terms.start, cols.start));
            let (line, term) = (layout.col_stride, layout.row_stride);
            let lines = Lines { first, line, term, count: cols.len(), k: terms.len(), code: Code::default() };
            (kernel.pack)(&lines, Strips { width: kernel.cols, unit: kernel.cols }, self.b);
            for panel in (0..cols.len()).step_by(kernel.cols) {
                (kernel.best)(self.b.add(panel * terms.len()), terms.len(), self.best.add(panel));
            }
        }
    }

    /// Where in a panel the rows of all terms begin.
    unsafe fn places_in_order(&self, k: usize) {
        for p in 0..k.next_multiple_of(STEP) {
            // SAFETY: there is room for all terms in whole steps.
            unsafe { self.in_order.places.add(p).write((p.min(k - 1) * self.job.kernel.cols) as u32) }
        }
    }

    /// Computes row `i` in a panel of the block that begins at column `first`.
    unsafe fn row(&self, i: usize, sorted: Sorted, cols: &Range<usize>, first: usize, terms: &Range<usize>) {
        let (job, width) = (self.job, self.job.kernel.cols);
        let joins = job.joins || terms.start > 0;
        // SAFETY: the row and the columns lie inside C, and have been sorted and packed.
        unsafe {
            let at = cols.start - first;
            let c = job.c.offset(job.layout.offset(i, cols.start));
            let in_place = cols.len() == width && job.layout.col_stride == 1;
            if !in_place && joins {
                for j in 0..width {
                    let j_c = j.min(cols.len() - 1) as isize * job.layout.col_stride;
                    self.edge.add(j).write(*c.offset(j_c));
                }
            }
            let row = Row {
                steps: sorted.steps,
                terms: self.room.terms.add(sorted.first * STEP),
                places: self.room.places.add(sorted.first * STEP),
                bounds: self.room.bounds.add(sorted.first),
                panel: self.b.add(at * terms.len()),
                best: self.best.add(at),
                c: if in_place { c } else { self.edge },
                joins,
            };
            if !(job.kernel.row)(&row) {
                self.with_all_terms(i, row, terms);
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
    unsafe fn with_all_terms(&self, i: usize, row: Row<P>, terms: &Range<usize>) {
        let steps = terms.len().div_ceil(STEP);
        // SAFETY: as the caller guarantees.
        unsafe {
            self.pack_a(&(i..i + 1), terms);
            let line = core::slice::from_raw_parts(self.a, terms.len());
            let best = (self.job.kernel.best_of)(line);
            for step in 0..steps {
                self.in_order.bounds.add(step).write(best);
            }
            let Room { terms, places, bounds, .. } = self.in_order;
            (self.job.kernel.row)(&Row { steps, terms, places, bounds, joins: true, ..row });
        }
    }
}
