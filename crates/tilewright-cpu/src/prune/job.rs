//! The loops around a pruned product: rows are sorted, as many as there is room for, and meet panel after panel of B.

use super::{
    Account, Part, Pruning, STEP, region::Region, sorted_rows::SortedRows, unpruned::Unpruned,
    whole::WholeRows,
};
use crate::{
    blocking::{Blocking, cut, parts},
    cache::second_level,
    choice,
    narrow::Code,
    options::Options,
    pack::{Lines, Strips},
    share::share_with_help,
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
    pub account: Account,
    pub options: &'a Options<'a>,
}

/// How far a product was computed.
pub struct Outcome {
    /// Threads that took part.
    pub threads: usize,
    /// What is to be computed with all terms, in this order.
    pub unpruned: Vec<Part>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Sync, P: Send> Sync for Job<'_, E, P> {}

impl<E: Copy + Sync, P: Copy + Send + Sync> Job<'_, E, P> {
    /// Computes the product until the account says that it does not pay.
    pub fn run(&self) -> Result<Outcome, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let (width, size) = (self.kernel.cols, size_of::<P>());
        let threads = self.options.threads_for(m as f64 * n as f64 * k as f64);
        let Blocking { kc, nc } = Blocking::of_panels((m, n, k), width, size, second_level());
        let across = choice::shares(n, width, nc, threads);
        Workspace::with(|workspace| {
            let mut sorted_rows = SortedRows::new(workspace, m, kc, self.room)?;
            let unpruned = Unpruned::default();
            for terms in parts(0..k, kc) {
                let mut rows = 0..m;
                while !rows.is_empty() && !self.account.is_stopped() {
                    let sorted = sorted_rows.fill(self, rows.clone(), &terms, threads)?;
                    rows.start = sorted.end;
                    let whole_rows = WholeRows::new(sorted.clone(), terms.clone());
                    let regions: Vec<_> = cut(0..n, across, width).collect();
                    share_with_help(&regions, threads, &|cols, help| {
                        let (rows, cols, terms) = (sorted.clone(), cols.clone(), terms.clone());
                        let part = Part { rows, cols, terms };
                        Region {
                            job: self,
                            sorted_rows: &sorted_rows,
                            whole_rows: &whole_rows,
                            part,
                            unpruned: &unpruned,
                        }
                        .compute(help)
                    })?;
                }
                if self.account.is_stopped() {
                    unpruned.add(Part { rows, cols: 0..n, terms: terms.clone() });
                    unpruned.add(Part { rows: 0..m, cols: 0..n, terms: terms.end..k });
                    break;
                }
            }
            Ok(Outcome { threads: threads.min(n.div_ceil(width) * m), unpruned: unpruned.into_parts() })
        })
    }

    /// Packs rows of A one after another, each filled up to whole steps with its last term.
    ///
    /// # Safety
    /// The rows must lie inside A, and there must be room.
    pub unsafe fn pack_a(&self, rows: &Range<usize>, terms: &Range<usize>, to: *mut P) {
        let whole = terms.len().next_multiple_of(STEP);
        // SAFETY: as the caller guarantees. What are terms to the packing are rows here.
        unsafe {
            let lines = Lines::of(self.a, terms, rows, Code::default());
            (self.kernel.pack)(&lines, Strips { width: whole, unit: whole }, to);
        }
    }
}
