//! Rows of A with all their terms, for those that need more of them than were sorted: packed once, when the first is needed.

use super::{Job, ROOM, STEP, sorted_rows::GROUP};
use crate::blocking::part;
use core::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::sync::OnceLock;

/// Some rows for some terms. They are packed in groups, because they may share cache lines.
pub struct WholeRows<P> {
    rows: Range<usize>,
    terms: Range<usize>,
    /// None where there was no memory, and beyond [`ROOM`] elements.
    groups: Vec<OnceLock<Option<Vec<P>>>>,
    taken: AtomicUsize,
}

impl<P: Copy + Send + Sync> WholeRows<P> {
    pub fn new(rows: Range<usize>, terms: Range<usize>) -> Self {
        let mut groups = Vec::new();
        let count = rows.len().div_ceil(GROUP);
        if groups.try_reserve_exact(count).is_ok() {
            groups.resize_with(count, OnceLock::new);
        }
        Self { rows, terms, groups, taken: AtomicUsize::new(0) }
    }

    /// All terms of row `i`, in whole steps, if there is room for its group.
    pub fn row<E: Copy + Send + Sync>(&self, job: &Job<'_, E, P>, i: usize) -> Option<*const P> {
        let i = i - self.rows.start;
        let group = self.groups.get(i / GROUP)?.get_or_init(|| self.pack(job, i / GROUP));
        Some(group.as_ref()?.get(i % GROUP * self.terms.len().next_multiple_of(STEP)..)?.as_ptr())
    }

    fn pack<E: Copy + Send + Sync>(&self, job: &Job<'_, E, P>, group: usize) -> Option<Vec<P>> {
        let rows = part(&self.rows, GROUP, group);
        let elements = rows.len() * self.terms.len().next_multiple_of(STEP);
        if self.taken.fetch_add(elements, Ordering::Relaxed) + elements > ROOM {
            return None;
        }
        job.account.packed(elements);
        let mut packed = Vec::new();
        packed.try_reserve_exact(elements).ok()?;
        // SAFETY: the rows lie inside A, and there is room for them, which packing fills.
        unsafe {
            job.pack_a(&rows, &self.terms, packed.as_mut_ptr());
            packed.set_len(elements);
        }
        Some(packed)
    }
}
