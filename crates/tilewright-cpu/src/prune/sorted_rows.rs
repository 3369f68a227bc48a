//! Sorted rows of A, which all threads fill and read.

use super::{Job, Room, SPARE, STEP, Sorted, Sorting};
use crate::{blocking::parts, share::share, workspace::Workspace};
use core::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};
use tilewright_core::Error;

/// Elements of sorted rows to keep, enough for nearly all products, so that B is packed once.
pub const ROOM: usize = 1 << 20;
/// Rows of A that are sorted at a time: packed together, because they may share cache lines.
pub const GROUP: usize = 16;

/// Where a row is: its first step, and how far it is sorted.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    sorted: Sorted,
}

/// Memory for sorted rows, and where they are.
pub struct SortedRows<P> {
    room: Room<P>,
    /// Steps that there is room for.
    steps: usize,
    places: *mut Place,
}

// SAFETY: threads write disjoint rows, and read them after all are written.
unsafe impl<P: Send> Sync for SortedRows<P> {}

impl<P: Copy + Send + Sync> SortedRows<P> {
    /// Room for so many elements of `m` rows of up to `k` terms, or for one row.
    pub fn new(workspace: &mut Workspace, m: usize, k: usize, room: usize) -> Result<Self, Error> {
        let whole = k.next_multiple_of(STEP);
        let elements = m.saturating_mul(whole).min(room.next_multiple_of(STEP).max(whole));
        let [terms, places, bounds] = Room::<P>::bytes(elements);
        let bytes = [terms, places, bounds, m * size_of::<Place>()];
        let [terms, places, bounds, of_rows] = workspace.reserve_anew(bytes, align_of::<P>())?;
        let room = Room::at([terms, places, bounds]);
        Ok(Self { room, steps: elements / STEP, places: of_rows.cast() })
    }

    /// Forgets all rows, and sorts as many of `rows` as there is room for, at least one: those before the first that finds
    /// none. Returns them.
    pub fn fill<E: Copy + Send + Sync>(
        &mut self,
        job: &Job<'_, E, P>,
        rows: Range<usize>,
        terms: &Range<usize>,
        threads: usize,
    ) -> Result<Range<usize>, Error> {
        let (used, end) = (AtomicUsize::new(0), AtomicUsize::new(rows.end));
        let groups: Vec<_> = parts(rows.clone(), GROUP).collect();
        let sorted_rows = &*self;
        share(&groups, threads, &|group| {
            if group.start >= end.load(Ordering::Relaxed) {
                return Ok(());
            }
            Workspace::with(|workspace| {
                let scratch = Scratch::new(workspace, terms.len())?;
                let mut free = 0..0;
                // SAFETY: the rows lie inside A, and no other thread has them.
                unsafe { job.pack_a(group, terms, scratch.packed) };
                for i in group.clone() {
                    // SAFETY: as above, and there is room for a row.
                    unsafe {
                        let line = scratch.packed.add((i - group.start) * terms.len().next_multiple_of(STEP));
                        let line = core::slice::from_raw_parts(line, terms.len());
                        let sorted @ Sorted { steps, .. } = (job.kernel.sort)(
                            line,
                            job.kernel.by,
                            job.scale,
                            job.kernel.cols,
                            &scratch.sorting,
                        );
                        if free.len() < steps {
                            // Threads that write beside each other take cache lines from each other: each takes room for all
                            // rows of its group, as if they were as long as this one.
                            let taken = if threads == 1 { steps } else { steps * (group.end - i) };
                            let first = used.fetch_add(taken, Ordering::Relaxed);
                            free = first..first + taken;
                        }
                        job.account.sorted(terms.len());
                        if free.end > sorted_rows.steps {
                            end.fetch_min(i, Ordering::Relaxed);
                            break;
                        }
                        let first = free.start;
                        free.start += steps;
                        scratch.sorting.room.copy(steps, &sorted_rows.room.from(first));
                        sorted_rows.places.add(i).write(Place { first, sorted });
                    }
                }
                Ok(())
            })
        })?;
        match end.into_inner() {
            // Other threads have taken all room before the first row was sorted; one alone begins with it.
            end if end == rows.start && threads > 1 => self.fill(job, rows, terms, 1),
            end => Ok(rows.start..end),
        }
    }

    /// How far a row is sorted, and where it is.
    ///
    /// # Safety
    /// The row must have been sorted.
    #[inline(always)]
    pub unsafe fn row(&self, i: usize) -> (Sorted, Room<P>) {
        // SAFETY: a sorted row has a place, which lies inside the room.
        unsafe {
            let Place { first, sorted } = *self.places.add(i);
            (sorted, self.room.from(first))
        }
    }
}

/// Memory of a thread that sorts.
struct Scratch<P> {
    /// Packed rows of a group.
    packed: *mut P,
    sorting: Sorting<P>,
}

impl<P> Scratch<P> {
    fn new(workspace: &mut Workspace, k: usize) -> Result<Self, Error> {
        let (whole, size) = (k.next_multiple_of(STEP), size_of::<P>());
        let [terms, places, bounds] = Room::<P>::bytes(k);
        let near = (whole + SPARE) * size_of::<u32>();
        let bytes = [GROUP * whole * size, terms, places, bounds, whole, near];
        let [packed, terms, places, bounds, codes, near] = workspace.reserve_anew(bytes, align_of::<P>())?;
        let room = Room::at([terms, places, bounds]);
        Ok(Self { packed: packed.cast(), sorting: Sorting { room, codes, near: near.cast() } })
    }
}
