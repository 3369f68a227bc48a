//! One dimension of a block-cyclic matrix: pure arithmetic.

use core::ops::Range;

/// `len` indices in blocks of `block`, dealt to `parts` places in turn.
///
/// ```
/// use tilewright_distributed::Axis;
/// let axis = Axis { len: 10, block: 3, parts: 2 };
/// assert_eq!((axis.blocks(), axis.owner(2), axis.indices(3)), (4, 0, 9..10));
/// assert_eq!((axis.local_len(0), axis.local_len(1)), (6, 4));
/// assert_eq!(axis.local(2), 3..6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Indices in all.
    pub len: usize,
    /// Indices of a block; the last may have fewer.
    pub block: usize,
    /// Places.
    pub parts: usize,
}

impl Axis {
    /// Blocks in all.
    pub fn blocks(&self) -> usize {
        self.len.div_ceil(self.block.max(1))
    }

    /// The place that has block `b`.
    pub fn owner(&self, b: usize) -> usize {
        b % self.parts
    }

    /// The indices of block `b`.
    pub fn indices(&self, b: usize) -> Range<usize> {
        let start = b.saturating_mul(self.block).min(self.len);
        start..start.saturating_add(self.block).min(self.len)
    }

    /// Where block `b` lies among those of its owner.
    pub fn local(&self, b: usize) -> Range<usize> {
        let start = b / self.parts * self.block;
        start..start + self.indices(b).len()
    }

    /// The blocks of a place, in order.
    pub fn blocks_of(&self, part: usize) -> impl Iterator<Item = usize> + use<> {
        (part..self.blocks()).step_by(self.parts)
    }

    /// The indices of a place.
    pub fn local_len(&self, part: usize) -> usize {
        self.blocks_of(part).map(|b| self.indices(b).len()).sum()
    }

    /// The index that lies at `local` of a place.
    pub fn global(&self, part: usize, local: usize) -> usize {
        (local / self.block * self.parts + part) * self.block + local % self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_lies_at_one_place() {
        for (len, block, parts) in [(0, 4, 3), (1, 4, 3), (17, 4, 1), (17, 4, 3), (64, 8, 9), (65, 64, 2)] {
            let axis = Axis { len, block, parts };
            let mut seen = Vec::new();
            for part in 0..parts {
                let mut next = 0;
                for b in axis.blocks_of(part) {
                    assert_eq!((axis.owner(b), axis.local(b).start), (part, next), "{axis:?}");
                    next = axis.local(b).end;
                    seen.extend(axis.indices(b));
                    for (at, index) in axis.local(b).zip(axis.indices(b)) {
                        assert_eq!(axis.global(part, at), index);
                    }
                }
                assert_eq!(axis.local_len(part), next);
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..len), "{axis:?}");
        }
    }
}
