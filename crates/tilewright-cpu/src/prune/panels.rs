//! Packed panels of B.

use super::Job;
use crate::{
    narrow::Code,
    pack::{Lines, Strips},
    workspace::Workspace,
};
use core::ops::Range;
use tilewright_core::Error;

/// Some columns of B for some terms, packed into panels, and the best element of each column.
pub struct Panels<P> {
    pub cols: Range<usize>,
    pub terms: Range<usize>,
    packed: *mut P,
    best: *mut P,
}

// SAFETY: one thread writes them, before others know of them.
unsafe impl<P: Send> Sync for Panels<P> {}

impl<P: Copy + Send> Panels<P> {
    /// Room for these columns, in whole panels of `width`.
    pub fn new(
        workspace: &mut Workspace,
        cols: Range<usize>,
        terms: Range<usize>,
        width: usize,
    ) -> Result<Self, Error> {
        let (padded, size) = (cols.len().next_multiple_of(width), size_of::<P>());
        let bytes = [padded * terms.len() * size, padded * size];
        let [packed, best] = workspace.reserve_anew(bytes, align_of::<P>())?.map(|bytes| bytes.cast());
        Ok(Self { cols, terms, packed, best })
    }

    /// The panel that begins with this column, and the best elements of its columns.
    #[inline(always)]
    pub fn at(&self, col: usize) -> (*mut P, *mut P) {
        let at = col - self.cols.start;
        (self.packed.wrapping_add(at * self.terms.len()), self.best.wrapping_add(at))
    }

    /// Packs them.
    ///
    /// # Safety
    /// No other thread may use them yet.
    pub unsafe fn pack<E: Copy + Sync>(&self, job: &Job<'_, E, P>) {
        let (kernel, layout, k, cols) = (job.kernel, job.b.layout(), self.terms.len(), &self.cols);
        // SAFETY: the columns lie inside B, and there is room for them.
        unsafe {
            let first = job.b.as_ptr().offset(layout.offset(self.terms.start, cols.start));
            let (line, term, count) = (layout.col_stride, layout.row_stride, cols.len());
            let lines = Lines { first, line, term, count, k, code: Code::default() };
            (kernel.pack)(&lines, Strips { width: kernel.cols, unit: kernel.cols }, self.at(cols.start).0);
            for col in cols.clone().step_by(kernel.cols) {
                let (panel, best) = self.at(col);
                (kernel.best)(panel, k, best);
            }
        }
    }
}
