//! A queue of vertices by priority: a heap of those that come next, and buckets of those that come later.
//!
//! No edge is longer than the longest, so that a ring of buckets holds every later vertex, for one write and one read each
//! (R. B. Dial, "Shortest-path forest with topological ordering", 1969). The few entries of a bucket are sorted when it comes first. Those that are found
//! meanwhile go to the heap. Where priorities are no sums, all go there.

use crate::heap::{self, Heap};

/// Buckets: at a few thousand entries at a time, a few in each.
const BUCKETS: usize = 1024;

/// Vertices by priority, the smallest first. A vertex may be in it several times.
pub(crate) struct Queue {
    next: Heap,
    /// The bucket whose time has come, the smallest last.
    present: Vec<u64>,
    buckets: Vec<Vec<u64>>,
    /// Entries in buckets.
    waiting: usize,
    /// The number of the present bucket, counted on without end.
    bucket: usize,
    first: f32,
    buckets_per_priority: f32,
}

impl Queue {
    /// For searches in which no entry is farther behind the one that led to it than `longest`; 0 where that is not known.
    pub fn new(longest: f32) -> Self {
        let per_priority = (BUCKETS - 2) as f32 / longest;
        Self {
            next: Heap::default(),
            present: Vec::new(),
            buckets: vec![Vec::new(); BUCKETS],
            waiting: 0,
            bucket: 0,
            first: 0.0,
            buckets_per_priority: if longest > 0.0 && per_priority.is_finite() { per_priority } else { 0.0 },
        }
    }

    /// Forgets all vertices.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// Begins with this vertex, when the queue is empty.
    pub fn begin(&mut self, priority: f32, vertex: u32) {
        (self.first, self.bucket) = (priority, 0);
        self.next.push(heap::entry(priority, vertex));
    }

    #[inline(always)]
    pub fn push(&mut self, priority: f32, vertex: u32) {
        let entry = heap::entry(priority, vertex);
        // What is no number, or before the first, is in bucket 0.
        let bucket = ((priority - self.first) * self.buckets_per_priority) as usize;
        if bucket <= self.bucket {
            return self.next.push(entry);
        }
        // Beyond the circle by rounding alone. An entry that comes too early is looked at again.
        let bucket = bucket.min(self.bucket + BUCKETS - 1);
        self.buckets[bucket % BUCKETS].push(entry);
        self.waiting += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<u64> {
        loop {
            match (self.present.last(), self.next.first()) {
                (Some(present), Some(next)) if next < *present => return self.next.pop(),
                (Some(_), _) => return self.present.pop(),
                (None, Some(_)) => return self.next.pop(),
                (None, None) if self.waiting == 0 => return None,
                (None, None) => {}
            }
            self.bucket += 1;
            core::mem::swap(&mut self.present, &mut self.buckets[self.bucket % BUCKETS]);
            self.waiting -= self.present.len();
            self.present.sort_unstable_by(|x, y| y.cmp(x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_order_whatever_the_longest_step() {
        for longest in [0.0, 1.0, 3.0, 100.0, f32::INFINITY, f32::MIN_POSITIVE, f32::NAN] {
            let mut queue = Queue::new(longest);
            for first in [-5.0_f32, 0.0, 1e6] {
                let (mut order, mut priorities) = (Vec::new(), vec![first]);
                queue.begin(first, 0);
                while let Some(entry) = queue.pop() {
                    order.push(entry);
                    let priority = priorities[heap::vertex(entry)];
                    for step in [0.0, 0.25, 0.875, 1.0] {
                        if priorities.len() < 500 {
                            queue.push(priority + step, priorities.len() as u32);
                            priorities.push(priority + step);
                        }
                    }
                }
                assert_eq!(order.len(), 500);
                // Where steps are longer than was said, entries may come too early, and none is lost.
                let order = order.into_iter().map(|entry| priorities[heap::vertex(entry)]);
                assert!(longest == f32::MIN_POSITIVE || order.is_sorted(), "{longest} from {first}");
            }
        }
    }
}
