//! The loops around a pruned product: rows are sorted, as many as there is room for, and meet panel after panel of B.

use super::{Job, Part, region::Region, sorted_rows::SortedRows, unpruned::Unpruned, whole::WholeRows};
use crate::{
    blocking::{Blocking, cut, parts, shares},
    cache::second_level,
    op::Scalar,
    share::share_with_help,
    workspace::Workspace,
};
use tilewright_core::Error;

/// Whether all of `k` terms are one block, in panels of `width` columns, and their numbers fit elements of so many bytes.
pub fn is_one_block(size: (usize, usize, usize), width: usize, bytes: usize) -> bool {
    is_one_block_of(size, width, bytes, second_level())
}

/// As [`is_one_block`], with so large a second-level cache.
fn is_one_block_of(size: (usize, usize, usize), width: usize, bytes: usize, cache: usize) -> bool {
    // Counted from 1, they are below what stands for none. Of longer elements no cache holds so many.
    let fit = bytes > size_of::<i16>() || size.2 < i16::MAX as usize;
    fit && Blocking::of_panels(size, width, bytes, cache).kc >= size.2
}

/// How far a product was computed.
pub struct Outcome {
    /// Threads that took part.
    pub threads: usize,
    /// What is to be computed with all terms, in this order.
    pub unpruned: Vec<Part>,
}

impl<E: Copy + Send + Sync, P: Scalar + Send + Sync> Job<'_, E, P> {
    /// Computes the product until the account says that it does not pay.
    pub fn run(&self) -> Result<Outcome, Error> {
        let (m, n, k) = (self.a.rows(), self.b.cols(), self.a.cols());
        let (width, size) = (self.kernel.cols, size_of::<P>());
        let threads = self.options.threads_for(m as f64 * n as f64 * k as f64);
        let Blocking { kc, nc } = Blocking::of_panels((m, n, k), width, size, second_level());
        debug_assert!(self.arg.is_none() || kc >= k, "winners of several blocks are not joined");
        let across = shares(n, width, nc, threads);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_terms_fit() {
        let fits = |k, bytes| is_one_block_of((200, 200, k), 32, bytes, 8 << 20);
        assert!(fits(32_766, 2) && !fits(32_767, 2) && !fits(40_000, 2));
        assert!(fits(32_768, 4) && !fits(32_769, 4));
    }
}
