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
    /// The first column, and the number of terms.
    first: usize,
    k: usize,
    packed: *mut P,
    best: *mut P,
}

// SAFETY: they are only read after they are packed.
unsafe impl<P: Send> Sync for Panels<P> {}

impl<P: Copy + Send + Sync> Panels<P> {
    /// Packs these columns of B.
    pub fn pack<E: Copy + Send + Sync>(
        workspace: &mut Workspace,
        job: &Job<'_, E, P>,
        cols: &Range<usize>,
        terms: &Range<usize>,
    ) -> Result<Self, Error> {
        let (kernel, k, size) = (job.kernel, terms.len(), size_of::<P>());
        let padded = cols.len().next_multiple_of(kernel.cols);
        let bytes = [padded * k * size, padded * size];
        let [packed, best] = workspace.reserve_anew(bytes, align_of::<P>())?.map(|bytes| bytes.cast());
        job.account.packed(padded * k);
        let panels = Self { first: cols.start, k, packed, best };
        // SAFETY: the columns lie inside B, and there is room for them.
        unsafe {
            let lines = Lines::of(job.b, cols, terms, Code::default());
            (kernel.pack)(&lines, Strips { width: kernel.cols, unit: kernel.cols }, packed);
            for col in cols.clone().step_by(kernel.cols) {
                let (panel, best) = panels.at(col);
                (kernel.best)(panel, k, best);
            }
        }
        Ok(panels)
    }

    /// The panel that begins with this column, and the best elements of its columns.
    #[inline(always)]
    pub fn at(&self, col: usize) -> (*mut P, *mut P) {
        let at = col - self.first;
        (self.packed.wrapping_add(at * self.k), self.best.wrapping_add(at))
    }
}
