//! Shapes and strides of products as `@` has them: vectors, stacks of matrices, and stacks that are repeated. Pure functions.

use std::ptr::NonNull;
use tilewright::Layout;

/// What is multiplied with what.
#[derive(Debug, PartialEq)]
pub struct Shapes {
    pub m: usize,
    pub k: usize,
    pub n: usize,
    /// The extents of the stack of results.
    pub batch: Vec<usize>,
    /// The shape of the result: without the dimension that a vector lacks.
    pub result: Vec<usize>,
    /// Whether A is no vector.
    pub has_rows: bool,
    /// Whether B is no vector.
    pub has_columns: bool,
}

/// Why two arrays have no product.
#[derive(Debug, PartialEq)]
pub enum Mismatch {
    /// An array without dimensions.
    Scalar(&'static str),
    /// The rows of B are not the columns of A.
    Inner { m: usize, k: usize, rows: usize, n: usize },
    /// The stacks have other extents, and neither is 1.
    Batch(Vec<usize>, Vec<usize>),
}

impl Shapes {
    /// Those of the product of two arrays.
    pub fn of(a: &[usize], b: &[usize]) -> Result<Self, Mismatch> {
        let (stack_a, m, k) = match a {
            [] => return Err(Mismatch::Scalar("A")),
            [k] => (&[][..], 1, *k),
            [stack @ .., m, k] => (stack, *m, *k),
        };
        let (stack_b, rows, n) = match b {
            [] => return Err(Mismatch::Scalar("B")),
            [rows] => (&[][..], *rows, 1),
            [stack @ .., rows, n] => (stack, *rows, *n),
        };
        if k != rows {
            return Err(Mismatch::Inner { m, k, rows, n });
        }
        let batch =
            broadcast(stack_a, stack_b).ok_or_else(|| Mismatch::Batch(stack_a.to_vec(), stack_b.to_vec()))?;
        let (has_rows, has_columns) = (a.len() > 1, b.len() > 1);
        let mut result = batch.clone();
        result.extend(has_rows.then_some(m));
        result.extend(has_columns.then_some(n));
        Ok(Self { m, k, n, batch, result, has_rows, has_columns })
    }

    /// Multiplications and additions of all products, as a float because they may exceed 2^64.
    pub fn terms(&self) -> f64 {
        self.batch.iter().chain([&self.m, &self.k, &self.n]).map(|&extent| extent as f64).product()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0 || self.batch.contains(&0)
    }
}

/// The extents that both have where one of 1 is repeated, counted from the last.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let length = a.len().max(b.len());
    let extent = |shape: &[usize], i: usize| (i + shape.len()).checked_sub(length).map_or(1, |at| shape[at]);
    (0..length)
        .map(|i| match (extent(a, i), extent(b, i)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

/// A stack of matrices in memory.
#[derive(Clone, Debug)]
pub struct Stack {
    pub first: NonNull<u8>,
    /// Of each matrix.
    pub layout: Layout,
    /// From one matrix to the next, for each dimension of the stack, in elements.
    pub strides: Vec<isize>,
}

// SAFETY: an address and numbers; whoever makes views of them says why these may be read and written.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

impl Stack {
    /// The matrices of an array, repeated to the extents `batch`; a vector is one row where `is_row`, otherwise one column.
    pub fn new(
        first: NonNull<u8>,
        shape: &[usize],
        strides: &[isize],
        batch: &[usize],
        is_row: bool,
    ) -> Self {
        let (layout, stack) = match (shape, strides) {
            ([.., rows, cols], [stack @ .., row, col]) => (Layout::strided(*rows, *cols, *row, *col), stack),
            ([length], [stride]) if is_row => (Layout::strided(1, *length, 1, *stride), &[][..]),
            ([length], [stride]) => (Layout::strided(*length, 1, *stride, 1), &[][..]),
            _ => (Layout::row_major(1, 1), &[][..]),
        };
        let extents = &shape[..stack.len()];
        let missing = batch.len() - stack.len();
        let own = extents.iter().zip(stack).map(|(&extent, &stride)| if extent == 1 { 0 } else { stride });
        Self { first, layout, strides: std::iter::repeat_n(0, missing).chain(own).collect() }
    }

    /// The first element of the matrix at an index of the stack.
    pub fn at(&self, index: &[usize], size: usize) -> NonNull<u8> {
        let offset: isize = index.iter().zip(&self.strides).map(|(&i, &stride)| i as isize * stride).sum();
        let address = self.first.as_ptr().wrapping_offset(offset * size as isize);
        // An element that is there has an address.
        NonNull::new(address).unwrap_or(self.first)
    }
}

/// Makes the fewest dimensions of a stack: those of extent 1 go, and two become one where every array lies so.
pub fn merge(batch: &mut Vec<usize>, stacks: &mut [&mut Stack]) {
    for d in (0..batch.len()).rev().filter(|&d| batch[d] == 1).collect::<Vec<_>>() {
        remove(batch, stacks, d);
    }
    while let Some((outer, inner)) = joined(batch, stacks) {
        batch[inner] *= batch[outer];
        remove(batch, stacks, outer);
    }
}

/// Two dimensions of which one goes on where the other ends, in every array.
fn joined(batch: &[usize], stacks: &[&mut Stack]) -> Option<(usize, usize)> {
    let pairs = (0..batch.len()).rev().flat_map(|inner| (0..batch.len()).map(move |outer| (outer, inner)));
    pairs.filter(|(outer, inner)| outer != inner).find(|&(outer, inner)| {
        let goes_on = |stack: &&mut Stack| {
            stack.strides[outer] == stack.strides[inner].wrapping_mul(batch[inner] as isize)
        };
        batch[inner].checked_mul(batch[outer]).is_some() && stacks.iter().all(goes_on)
    })
}

fn remove(batch: &mut Vec<usize>, stacks: &mut [&mut Stack], d: usize) {
    batch.remove(d);
    for stack in stacks {
        stack.strides.remove(d);
    }
}

/// As many rows may become those of one product: kernels count them by 32 bits.
const MOST_ROWS: usize = i32::MAX as usize;

/// Makes one product of a dimension in which B is the same and A and the results lie below each other.
/// Winning terms, which are the last of the others, stay without gaps where `is_dense`.
pub fn stack_rows(batch: &mut Vec<usize>, b: &mut Stack, others: &mut [&mut Stack], is_dense: bool) {
    let goes_on = |stack: &Stack, d: usize| {
        let Layout { rows, row_stride, .. } = stack.layout;
        // One row has a stride of no meaning: where the next one lies is told by the stack.
        rows == 1 || (rows > 0 && stack.strides[d] == (rows as isize).wrapping_mul(row_stride))
    };
    let folds = |batch: &[usize], b: &Stack, others: &[&mut Stack], d: usize| {
        let fits = |rows: usize| rows.checked_mul(batch[d]).is_some_and(|rows| rows <= MOST_ROWS);
        let follows =
            |stack: &&mut Stack| stack.strides[d] == (stack.layout.rows * stack.layout.cols) as isize;
        b.strides[d] == 0
            && others.iter().all(|stack| goes_on(stack, d) && fits(stack.layout.rows))
            && (!is_dense || others.last().is_some_and(follows))
    };
    while let Some(d) = (0..batch.len()).rev().find(|&d| folds(batch, b, others, d)) {
        for stack in &mut *others {
            if stack.layout.rows == 1 {
                stack.layout.row_stride = stack.strides[d];
            }
            stack.layout.rows *= batch[d];
            stack.strides.remove(d);
        }
        b.strides.remove(d);
        batch.remove(d);
    }
}

/// Moves one dimension of a stack behind all others: the longest one in which a condition holds.
pub fn longest_last(batch: &mut [usize], stacks: &mut [&mut Stack], holds: impl Fn(usize) -> bool) {
    let Some(d) = (0..batch.len()).filter(|&d| holds(d)).max_by_key(|&d| batch[d]) else { return };
    batch[d..].rotate_left(1);
    stacks.iter_mut().for_each(|stack| stack.strides[d..].rotate_left(1));
}

/// Whether no two indices can address one element. Some arrays of which that is true are not recognised: those whose dimensions interlock.
pub fn is_without_overlap(shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut dimensions: Vec<(usize, usize)> = shape
        .iter()
        .zip(strides)
        .filter(|&(&extent, _)| extent > 1)
        .map(|(&e, &s)| (s.unsigned_abs(), e))
        .collect();
    dimensions.sort_unstable();
    let mut reach = 0usize;
    dimensions.into_iter().all(|(stride, extent)| {
        let is_beyond = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
        is_beyond
    })
}

/// The addresses from the first to the last byte that an array reaches; `None` where it has no element.
pub fn span(first: NonNull<u8>, shape: &[usize], strides: &[isize], size: usize) -> Option<(usize, usize)> {
    if shape.contains(&0) {
        return None;
    }
    let at = first.as_ptr().addr();
    let reach = |sign: isize| -> usize {
        let each = shape.iter().zip(strides).filter(|&(_, &stride)| stride.signum() == sign);
        each.map(|(&extent, &stride)| (extent - 1) * stride.unsigned_abs() * size).sum()
    };
    Some((at - reach(-1), at + reach(1) + size - 1))
}
