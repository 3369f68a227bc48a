//! A heap of vertices in which every node has four children: half as deep as a binary one, and four keys share a cache line.

/// Vertices by priority, the smallest first. A vertex may be in it several times.
#[derive(Default)]
pub(crate) struct Heap(Vec<u64>);

const CHILDREN: usize = 4;

/// Priorities are 32-bit floats, whose bits are put in order; the vertex is below them.
pub(crate) fn entry(priority: f32, vertex: u32) -> u64 {
    let bits = priority.to_bits();
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(ordered) << 32 | u64::from(vertex)
}

/// The vertex of an entry.
pub(crate) fn vertex(entry: u64) -> usize {
    entry as u32 as usize
}

impl Heap {
    pub fn push(&mut self, entry: u64) {
        self.0.push(entry);
        let mut at = self.0.len() - 1;
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.0[parent] <= entry {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = entry;
    }

    pub fn first(&self) -> Option<u64> {
        self.0.first().copied()
    }

    pub fn pop(&mut self) -> Option<u64> {
        let last = self.0.pop()?;
        let Some(&first) = self.0.first() else { return Some(last) };
        let mut at = 0;
        loop {
            let children = at * CHILDREN + 1;
            let best = match self.0.get(children..).and_then(<[u64]>::first_chunk::<CHILDREN>) {
                Some(all) => children + least(all),
                None => match (children..self.0.len()).min_by_key(|&child| self.0[child]) {
                    Some(best) => best,
                    None => break,
                },
            };
            if self.0[best] >= last {
                break;
            }
            self.0[at] = self.0[best];
            at = best;
        }
        self.0[at] = last;
        Some(first)
    }
}

/// The place of the smallest, without branches, which nothing could foretell.
fn least(&[a, b, c, d]: &[u64; CHILDREN]) -> usize {
    let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
    if c.min(d) < a.min(b) { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_order() {
        let mut heap = Heap::default();
        let priorities = [3.0, -1.0, 0.0, 7.5, -2.5, f32::INFINITY, 3.0, 1e-9, f32::NEG_INFINITY];
        (0..).zip(priorities).for_each(|(i, priority)| heap.push(entry(priority, i)));
        let order: Vec<_> = std::iter::from_fn(|| heap.pop()).map(vertex).collect();
        assert_eq!(order, [8, 4, 1, 2, 7, 0, 6, 3, 5]);
    }
}
