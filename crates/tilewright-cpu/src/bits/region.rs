//! The outer loops of or-and on bits: threads, blocks of terms and columns, panels of rows.

use super::{
    pack::{Booleans, WORD},
    panel::{self, Buffers, Line, Panel, TABLES, Winners},
    words,
};
use crate::{
    blocking::{self, part, parts},
    choice::Sums,
    isa::Isa,
    options::{KernelName, Options},
    plan::Plan,
    share::share,
    shared::Shared,
    workspace::Workspace,
};
use core::ops::Range;
use tilewright_core::{Error, MatRef};

/// Terms of a block: with so many, the bits of a block of B take 256 KiB.
const TERMS: usize = 4096;
/// Rows whose bits of A are kept for all columns: at most 2 MiB.
const ROWS: usize = 4096;
/// Rows of a panel: their sums take 32 KiB.
const PANEL: usize = 512;
/// Rows that a thread takes at least, unless there is no more: the unions of rows of B are computed for each part of them.
const LEAST_ROWS: usize = 128;
/// How many times as many terms as on bytes are worth another thread.
const FASTER: f64 = 16.0;

/// A product to compute.
pub struct Job<'a> {
    pub a: MatRef<'a, bool>,
    pub b: MatRef<'a, bool>,
    pub c: Shared<bool>,
    pub arg: Option<Shared<u32>>,
    /// Whether C is joined.
    pub joins: bool,
    pub options: &'a Options<'a>,
    pub isa: Isa,
}

fn threads_for((m, n, k): (usize, usize, usize), options: &Options<'_>) -> usize {
    options.threads_for(m as f64 * n as f64 * k as f64 / FASTER)
}

/// Regions of C down and across for so many threads.
fn regions(m: usize, n: usize, threads: usize) -> (usize, usize) {
    if threads == 1 {
        return (1, 1);
    }
    let down = m.div_ceil(LEAST_ROWS).clamp(1, 2 * threads);
    (down, (threads / down).clamp(1, n.div_ceil(WORD * words(n)).max(1)))
}

/// What [`Job::run`] will do.
pub fn plan((m, n, k): (usize, usize, usize), kernel: KernelName, options: &Options<'_>) -> Plan {
    let threads = threads_for((m, n, k), options);
    let regions = regions(m, n, threads);
    Plan {
        kernel,
        threads: threads.min(regions.0 * regions.1),
        regions,
        parts_of_terms: 1,
        block_terms: k.min(TERMS),
        block_columns: n.min(kernel.tile.1),
        packs_a: true,
        packs_b: true,
        sums: Sums::InC,
        narrows: false,
        prunes: false,
    }
}

impl Job<'_> {
    /// Computes the product and returns the number of threads that took part.
    ///
    /// # Errors
    /// `out-of-memory`, `cancelled`.
    pub fn run(&self) -> Result<usize, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let threads = threads_for((m, n, k), self.options);
        let regions = blocking::regions((m, n), regions(m, n, threads), (1, WORD * words(n)));
        share(&regions, threads, &|(rows, cols)| {
            Workspace::with(|workspace| {
                parts(rows.clone(), ROWS).try_for_each(|rows| match words(n) {
                    2 => self.region::<2>(workspace, rows, cols.clone()),
                    4 => self.region::<4>(workspace, rows, cols.clone()),
                    8 => self.region::<8>(workspace, rows, cols.clone()),
                    _ => self.region::<16>(workspace, rows, cols.clone()),
                })
            })
        })?;
        Ok(threads.min(regions.len()))
    }

    /// Computes some rows and columns of C on this thread.
    fn region<const W: usize>(
        &self,
        workspace: &mut Workspace,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> Result<(), Error> {
        let (k, line) = (self.a.cols(), size_of::<Line<W>>());
        let terms = k.min(TERMS).next_multiple_of(WORD);
        // Not a power of two: words of a row would fall onto the same lines of the cache.
        let a_word = rows.len().next_multiple_of(16) + 16;
        let panel = PANEL.min(rows.len());
        let bytes = [terms / WORD * a_word * 4, terms * line, TABLES * line, panel * line, panel * 4];
        let [a, b, tables, sums, open] = workspace.reserve_anew(bytes, line)?;
        let (a, b, tables, sums, open) = (a.cast::<u32>(), b.cast(), tables.cast(), sums.cast(), open.cast());
        for block in 0..k.div_ceil(TERMS).max(1) {
            let terms = part(&(0..k), TERMS, block);
            let mut packed = [0; ROWS / PANEL];
            for cols in parts(cols.clone(), WORD * W) {
                self.options.check_cancelled()?;
                let mut b_terms = 0;
                for (rows_of, a_terms) in parts(rows.clone(), PANEL).zip(&mut packed) {
                    // SAFETY: the panel lies inside the operands and C, and the buffers were sized for it.
                    unsafe {
                        let a = a.add(rows_of.start - rows.start);
                        let mut buffers =
                            Buffers::<W> { a, a_word, a_terms: *a_terms, b, b_terms, tables, sums, open };
                        self.compute(&self.panel(&rows_of, &cols, &terms), &mut buffers);
                        (*a_terms, b_terms) = (buffers.a_terms, buffers.b_terms);
                    }
                }
                if let Some(progress) = self.options.progress {
                    progress((rows.len() * cols.len() * terms.len()) as u64);
                }
            }
        }
        Ok(())
    }

    /// Where a panel is in the operands and in C.
    ///
    /// # Safety
    /// The ranges must lie inside them.
    unsafe fn panel(&self, rows: &Range<usize>, cols: &Range<usize>, terms: &Range<usize>) -> Panel {
        // SAFETY: as the caller guarantees.
        unsafe {
            let c = Booleans::of(self.c.first(), self.c.layout()).from(rows.start, cols.start);
            let winners = self.arg.map(|arg| {
                let (first, layout) = (arg.address(rows.start, cols.start), arg.layout());
                Winners { first, row: layout.row_stride, col: layout.col_stride }
            });
            Panel {
                rows: rows.len(),
                cols: cols.len(),
                terms: terms.len(),
                first: terms.start,
                a: Booleans::of(self.a.as_ptr(), self.a.layout()).from(rows.start, terms.start),
                b: Booleans::of(self.b.as_ptr(), self.b.layout()).from(terms.start, cols.start),
                c,
                joins: self.joins || terms.start > 0,
                winners,
            }
        }
    }

    /// # Safety
    /// As [`panel::portable::compute`].
    unsafe fn compute<const W: usize>(&self, panel: &Panel, buffers: &mut Buffers<W>) {
        // SAFETY: as the caller guarantees; the instruction set was chosen among those of this processor.
        unsafe {
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => panel::avx512::compute(panel, buffers),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => panel::avx2::compute(panel, buffers),
                #[cfg(target_arch = "aarch64")]
                Isa::Neon => panel::neon::compute(panel, buffers),
                _ => panel::portable::compute(panel, buffers),
            }
        }
    }
}
