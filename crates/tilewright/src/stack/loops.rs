//! Stacks of matrices side by side, as numbers without memory: how few products of how many matrices they are.

use super::Shapes;
use tilewright_core::Layout;

/// Where the matrices of an array lie, from its first element on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Of each matrix.
    pub layout: Layout,
    /// From one matrix to the next, for each dimension of the stack, in elements; 0 where it is repeated.
    pub strides: Vec<isize>,
}

impl Strided {
    /// The matrices of an operand, repeated to the extents `batch`; a vector is one row where `is_row`, otherwise one column.
    pub(super) fn operand(shape: &[usize], strides: &[isize], batch: &[usize], is_row: bool) -> Self {
        let (layout, stack) = match (shape, strides) {
            ([.., rows, cols], [stack @ .., row, col]) => (Layout::strided(*rows, *cols, *row, *col), stack),
            ([length], [stride]) if is_row => (Layout::strided(1, *length, 1, *stride), &[][..]),
            ([length], [stride]) => (Layout::strided(*length, 1, *stride, 1), &[][..]),
            _ => (Layout::row_major(1, 1), &[][..]),
        };
        let missing = batch.len().saturating_sub(stack.len());
        let own = shape.iter().zip(stack).map(|(&extent, &stride)| if extent == 1 { 0 } else { stride });
        Self { layout, strides: std::iter::repeat_n(0, missing).chain(own).collect() }
    }

    /// The matrices of an array that has the shape of the result, with or without the dimensions that it lacks.
    pub(super) fn result(strides: &[isize], shapes: &Shapes) -> Self {
        let (stack, own) = strides.split_at(shapes.batch.len().min(strides.len()));
        let mut own = own.iter().copied();
        let is_whole = own.len() == 2;
        let row = if shapes.has_rows || is_whole { own.next() } else { None };
        let col = if shapes.has_columns || is_whole { own.next() } else { None };
        let layout = Layout::strided(shapes.m, shapes.n, row.unwrap_or(1), col.unwrap_or(1));
        let stack = stack.iter().zip(&shapes.batch);
        let strides = stack.map(|(&stride, &extent)| if extent == 1 { 0 } else { stride }).collect();
        Self { layout, strides }
    }

    /// Whether one matrix follows the other without a gap in a dimension of the stack.
    fn follows(&self, d: usize) -> bool {
        self.strides[d] == (self.layout.rows * self.layout.cols) as isize
    }

    /// The stride of the last dimension of the stack.
    fn last(&self) -> isize {
        self.strides.last().copied().unwrap_or(0)
    }
}

/// Stacks of equally many matrices: of A, B and C, and what else has an element for each of C's.
///
/// Numbers alone, also of memory that this processor cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// The extents of all stacks.
    pub batch: Vec<usize>,
    /// A, B, C, and the winning terms where they are wanted.
    pub stacks: Vec<Strided>,
    /// Whether the last of them stays without gaps.
    is_dense: bool,
}

/// Matrices at equal distances, one after another: some of [`Loops`].
#[derive(Clone, Copy, Debug)]
pub struct Part<'l> {
    loops: &'l Loops,
    index: &'l [usize],
    /// How many there are.
    pub count: usize,
}

impl Part<'_> {
    /// The element, counted from the first of stack number `which`, that the first matrix begins at.
    pub fn offset(&self, which: usize) -> isize {
        let strides = &self.loops.stacks[which].strides;
        // An array without elements may have any strides, which are never followed.
        let steps = self.index.iter().zip(strides).map(|(&i, &stride)| (i as isize).wrapping_mul(stride));
        steps.fold(0, isize::wrapping_add)
    }

    /// Elements from one matrix to the next; 0 where there is one.
    pub fn stride(&self, which: usize) -> isize {
        if self.count > 1 { self.loops.stacks[which].last() } else { 0 }
    }

    /// Of each matrix of stack number `which`.
    pub fn layout(&self, which: usize) -> Layout {
        self.loops.stacks[which].layout
    }
}

/// As many rows may become those of one product: kernels count them by 32 bits.
const MOST_ROWS: usize = i32::MAX as usize;

/// Which stacks are A, B and C.
pub(super) const A: usize = 0;
pub(super) const B: usize = 1;
pub(super) const C: usize = 2;
/// Winning terms.
pub(super) const ARG: usize = 3;

impl Loops {
    /// Those of a product: A and B by shape and strides, C and the winning terms by their strides.
    ///
    /// Each array has a stride for each of its dimensions, in elements.
    pub fn new(
        shapes: &Shapes,
        [a, b]: [(&[usize], &[isize]); 2],
        c: &[isize],
        arg: Option<&[isize]>,
    ) -> Self {
        let mut loops = Self::beside(shapes, [a, b], &[c]);
        loops.stacks.extend(arg.map(|strides| Strided::result(strides, shapes)));
        loops.is_dense = arg.is_some();
        loops
    }

    /// Those of A and B, and of any arrays that have an element for each of C's.
    pub(super) fn beside(shapes: &Shapes, [a, b]: [(&[usize], &[isize]); 2], results: &[&[isize]]) -> Self {
        let batch = shapes.batch.clone();
        let operands = [(a, true), (b, false)];
        let operands =
            operands.map(|((shape, strides), is_row)| Strided::operand(shape, strides, &batch, is_row));
        let results = results.iter().map(|strides| Strided::result(strides, shapes));
        Self { stacks: operands.into_iter().chain(results).collect(), batch, is_dense: false }
    }

    /// Fewer dimensions, and one product where that is the same: dimensions of extent 1 go, two become one where every array goes on in one where the other ends, and
    /// one in which B is repeated becomes rows of A and C where these lie below each other. Winning terms stay without gaps.
    #[must_use]
    pub fn simplified(mut self) -> Self {
        // An empty stack stays one.
        if self.batch.contains(&0) {
            return self;
        }
        for d in (0..self.batch.len()).rev().filter(|&d| self.batch[d] == 1).collect::<Vec<_>>() {
            self.remove(d);
        }
        while let Some((outer, inner)) = self.joined() {
            self.batch[inner] *= self.batch[outer];
            self.remove(outer);
        }
        while let Some(d) = (0..self.batch.len()).rev().find(|&d| self.folds(d)) {
            let extent = self.batch[d];
            for (_, stack) in self.stacks.iter_mut().enumerate().filter(|(which, _)| *which != B) {
                if stack.layout.rows == 1 {
                    stack.layout.row_stride = stack.strides[d];
                }
                stack.layout.rows *= extent;
            }
            self.remove(d);
        }
        self
    }

    /// The same as [`simplified`](Self::simplified), with the longest dimension last that one launch on a GPU takes: in which winning terms, where they are wanted,
    /// follow each other without gaps.
    #[must_use]
    pub fn for_launches(self) -> Self {
        let mut loops = self.simplified();
        let follows = |d: usize| !loops.is_dense || loops.stacks.last().is_some_and(|stack| stack.follows(d));
        let longest = (0..loops.batch.len()).filter(|&d| follows(d)).max_by_key(|&d| loops.batch[d]);
        if let Some(d) = longest {
            loops.batch[d..].rotate_left(1);
            loops.stacks.iter_mut().for_each(|stack| stack.strides[d..].rotate_left(1));
        }
        loops
    }

    /// Calls `f` with each matrix alone, or where `stacked` with all those of the last dimension.
    ///
    /// # Errors
    /// The first of `f`'s.
    pub fn each<E>(&self, stacked: bool, mut f: impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
        let (outer, count) = match self.batch.split_last() {
            Some((&count, outer)) if stacked => (outer, count),
            _ => (&self.batch[..], 1),
        };
        if self.batch.contains(&0) {
            return Ok(());
        }
        let mut index = vec![0; outer.len()];
        loop {
            f(Part { loops: self, index: &index, count })?;
            if !advance(&mut index, outer) {
                return Ok(());
            }
        }
    }

    /// Whether the matrices of C lie one after another in the last dimension.
    pub(super) fn is_apart(&self) -> bool {
        let Some(c) = self.stacks.get(C) else { return false };
        let span = c.layout.span().ok().flatten();
        span.is_some_and(|(low, high)| self.batch.is_empty() || c.last().unsigned_abs() > high.abs_diff(low))
    }

    /// How many different matrices a stack has.
    pub(super) fn matrices(&self, which: usize) -> usize {
        let own = self.batch.iter().zip(&self.stacks[which].strides);
        own.filter(|(_, stride)| **stride != 0).map(|(extent, _)| extent).product()
    }

    /// Two arrays of one shape, matrix by matrix.
    pub(super) fn pair(shape: &[usize], strides: [&[isize]; 2]) -> Self {
        let batch = shape[..shape.len().saturating_sub(2)].to_vec();
        let stacks = strides.iter().map(|strides| Strided::operand(shape, strides, &batch, true)).collect();
        Self { batch, stacks, is_dense: false }
    }

    /// One stack by itself, each of its matrices once.
    pub(super) fn alone(&self, which: usize) -> Self {
        let Strided { layout, strides } = &self.stacks[which];
        let own = self.batch.iter().zip(strides).filter(|(_, stride)| **stride != 0);
        let (batch, strides) = own.map(|(&extent, &stride)| (extent, stride)).unzip();
        Self { batch, stacks: vec![Strided { layout: *layout, strides }], is_dense: false }
    }

    /// Two dimensions of which one goes on where the other ends, in every array.
    fn joined(&self) -> Option<(usize, usize)> {
        let (batch, count) = (&self.batch, self.batch.len());
        let pairs = (0..count).rev().flat_map(|inner| (0..count).map(move |outer| (outer, inner)));
        pairs.filter(|(outer, inner)| outer != inner).find(|&(outer, inner)| {
            let goes_on = |stack: &Strided| {
                stack.strides[outer] == stack.strides[inner].wrapping_mul(batch[inner] as isize)
            };
            batch[inner].checked_mul(batch[outer]).is_some() && self.stacks.iter().all(goes_on)
        })
    }

    /// Whether a dimension may become rows.
    fn folds(&self, d: usize) -> bool {
        let goes_on = |stack: &Strided| {
            let Layout { rows, row_stride, .. } = stack.layout;
            let fits = rows.checked_mul(self.batch[d]).is_some_and(|rows| rows <= MOST_ROWS);
            // One row has a stride of no meaning: where the next one lies is told by the stack.
            fits && (rows == 1 || rows > 0 && stack.strides[d] == (rows as isize).wrapping_mul(row_stride))
        };
        self.stacks[B].strides[d] == 0
            && self.stacks.iter().enumerate().all(|(which, stack)| which == B || goes_on(stack))
            && (!self.is_dense || self.stacks.last().is_some_and(|stack| stack.follows(d)))
    }

    fn remove(&mut self, d: usize) {
        self.batch.remove(d);
        for stack in &mut self.stacks {
            stack.strides.remove(d);
        }
    }
}

/// The next index of a stack with these extents; false after the last.
fn advance(index: &mut [usize], extents: &[usize]) -> bool {
    for (i, &extent) in index.iter_mut().zip(extents).rev() {
        *i += 1;
        if *i < extent {
            return true;
        }
        *i = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_major(shape: &[usize]) -> Vec<isize> {
        (0..shape.len()).map(|d| shape[d + 1..].iter().product::<usize>() as isize).collect()
    }

    /// Of arrays by rows.
    fn loops(a: &[usize], b: &[usize], arg: bool) -> Loops {
        let shapes = Shapes::of(a, b).unwrap();
        let c = row_major(&shapes.result);
        Loops::new(&shapes, [(a, &row_major(a)), (b, &row_major(b))], &c, arg.then_some(&c[..])).simplified()
    }

    #[test]
    fn a_stack_that_meets_one_matrix_is_one_product() {
        for arg in [false, true] {
            let one = loops(&[4, 5, 2, 3], &[3, 7], arg);
            assert_eq!(
                (one.batch.len(), one.stacks[A].layout, one.stacks[C].layout.rows),
                (0, Layout::row_major(40, 3), 40)
            );
        }
        // Vectors on the left are rows.
        assert_eq!(loops(&[6, 1, 3], &[3, 2], false).stacks[A].layout, Layout::row_major(6, 3));
        // A that is repeated is not.
        assert_eq!(loops(&[2, 3], &[4, 5, 3, 7], false).batch, [20]);
        assert_eq!(loops(&[4, 1, 2, 3], &[5, 3, 7], false).batch, [4, 5]);
    }

    #[test]
    fn every_product_comes_once() {
        let pairs = loops(&[2, 1, 1, 1], &[3, 1, 1], false);
        let mut found = Vec::new();
        pairs
            .each(false, |part| {
                found.push([A, B, C].map(|which| part.offset(which)));
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(found.len(), pairs.batch.iter().product::<usize>());
        let mut stacked = Vec::new();
        pairs
            .each(true, |part| {
                let at = |which, t: usize| part.offset(which) + t as isize * part.stride(which);
                stacked.extend((0..part.count).map(|t| [A, B, C].map(|which| at(which, t))));
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(found, stacked);
        let nothing = loops(&[0, 2, 1, 1], &[0, 2, 1, 1], false);
        nothing.each(true, |_| Err(())).unwrap();
    }
}
