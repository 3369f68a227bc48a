//! Parts of a product that are left when pruning stops, to be computed with all terms.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Some rows and columns of C, and terms that are to be joined with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub terms: Range<usize>,
}

/// Parts that threads leave.
#[derive(Default)]
pub struct Unpruned(Mutex<Vec<Part>>);

impl Unpruned {
    /// Leaves a part, unless it is empty.
    pub fn add(&self, part: Part) {
        if ![&part.rows, &part.cols, &part.terms].into_iter().any(Range::is_empty) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        }
    }

    /// All of them, those of the first terms first; columns side by side together.
    pub fn into_parts(self) -> Vec<Part> {
        let mut parts = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_by_key(|part| (part.terms.start, part.rows.start, part.rows.end, part.cols.start));
        parts.dedup_by(|next, part| {
            let beside =
                next.terms == part.terms && next.rows == part.rows && next.cols.start == part.cols.end;
            if beside {
                part.cols.end = next.cols.end;
            }
            beside
        });
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_side_by_side_are_joined() {
        let unpruned = Unpruned::default();
        let part = |rows, cols, terms| Part { rows, cols, terms };
        unpruned.add(part(0..9, 0..20, 5..8));
        unpruned.add(part(0..9, 8..16, 0..5));
        unpruned.add(part(4..9, 0..8, 0..5));
        unpruned.add(part(0..9, 16..20, 0..5));
        unpruned.add(part(9..9, 0..20, 0..5));
        let parts = [part(0..9, 8..20, 0..5), part(4..9, 0..8, 0..5), part(0..9, 0..20, 5..8)];
        assert_eq!(unpruned.into_parts(), parts);
    }
}
