//! What is multiplied with what: as by NumPy's `matmul`. Pure functions.

use tilewright_core::{Error, ErrorKind};

/// The products of two arrays of any number of dimensions, by their shapes alone.
///
/// The last two dimensions are those of a matrix, m x k of A and k x n of B. Those in front are broadcast: counted from the last, both have the same extent, or one
/// of them has 1 or none, and is repeated. A vector is one row on the left and one column on the right, and its dimension is not one of the result.
///
/// ```
/// use tilewright::stack::Shapes;
/// let shapes = Shapes::of(&[7, 1, 2, 3], &[5, 3, 4])?;
/// assert_eq!((shapes.m, shapes.k, shapes.n, shapes.count()), (2, 3, 4, 35));
/// assert_eq!(shapes.result, [7, 5, 2, 4]);
/// assert_eq!(Shapes::of(&[5, 2, 3], &[3])?.result, [5, 2]);
/// let error = Shapes::of(&[2, 1, 3], &[3, 3, 1]).unwrap_err();
/// assert_eq!(error.to_string(), "A (2x1x3) and B (3x3x1) are stacks that do not match");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shapes {
    /// Rows of each C.
    pub m: usize,
    /// Terms of each sum.
    pub k: usize,
    /// Columns of each C.
    pub n: usize,
    /// The extents of the stack of results.
    pub batch: Vec<usize>,
    /// The shape of the result, without the dimensions that vectors lack.
    pub result: Vec<usize>,
    /// Whether A is no vector.
    pub has_rows: bool,
    /// Whether B is no vector.
    pub has_columns: bool,
}

impl Shapes {
    /// Those of the product of two arrays.
    ///
    /// # Errors
    /// `dimensions` for an array that has none; `inner-mismatch` when the columns of A are not the rows of B; `batch-mismatch` for stacks that cannot be broadcast, or
    /// of more than `usize::MAX` products.
    pub fn of(a: &[usize], b: &[usize]) -> Result<Self, Error> {
        let scalar = |what| Error::from(ErrorKind::NoDimension { what });
        let (stack_a, m, k) = match a {
            [] => return Err(scalar("A")),
            [k] => (&[][..], 1, *k),
            [stack @ .., m, k] => (stack, *m, *k),
        };
        let (stack_b, bk, n) = match b {
            [] => return Err(scalar("B")),
            [bk] => (&[][..], *bk, 1),
            [stack @ .., bk, n] => (stack, *bk, *n),
        };
        if k != bk {
            return Err(ErrorKind::InnerMismatch { m, k, bk, n }.into());
        }
        let batch = broadcast(stack_a, stack_b)
            .ok_or_else(|| ErrorKind::StackMismatch { a: a.to_vec(), b: b.to_vec() })?;
        let (has_rows, has_columns) = (a.len() > 1, b.len() > 1);
        let extents = batch.iter().copied();
        let result = extents.chain(has_rows.then_some(m)).chain(has_columns.then_some(n)).collect::<Vec<_>>();
        Ok(Self { m, k, n, batch, result, has_rows, has_columns })
    }

    /// The number of products.
    pub fn count(&self) -> usize {
        self.batch.iter().product()
    }

    /// Terms of all sums, `m n k` for each product, as a float because they may exceed 2^64.
    pub fn terms(&self) -> f64 {
        self.batch.iter().chain([&self.m, &self.k, &self.n]).map(|&extent| extent as f64).product()
    }

    /// Whether C has no element.
    pub fn is_empty(&self) -> bool {
        self.result.contains(&0)
    }

    /// The shape of the results as matrices, also where A or B is a vector.
    pub fn matrices(&self) -> Vec<usize> {
        self.batch.iter().copied().chain([self.m, self.n]).collect()
    }
}

/// The extents that both have where one of 1 is repeated, counted from the last.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let length = a.len().max(b.len());
    let extent = |shape: &[usize], i: usize| (i + shape.len()).checked_sub(length).map_or(1, |at| shape[at]);
    let both = (0..length).map(|i| match (extent(a, i), extent(b, i)) {
        (x, y) if x == y || y == 1 => Some(x),
        (1, y) => Some(y),
        _ => None,
    });
    let batch: Vec<usize> = both.collect::<Option<_>>()?;
    batch.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent)).map(|_| batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_numpy() {
        for (a, b, c) in [
            (&[2, 3][..], &[3, 4][..], &[2, 4][..]),
            (&[3], &[3, 4], &[4]),
            (&[2, 3], &[3], &[2]),
            (&[3], &[3], &[]),
            (&[5, 2, 3], &[5, 3, 4], &[5, 2, 4]),
            (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
            (&[5, 2, 3], &[1, 3, 4], &[5, 2, 4]),
            (&[7, 1, 2, 3], &[5, 3, 4], &[7, 5, 2, 4]),
            (&[3], &[5, 3, 4], &[5, 4]),
            (&[0, 2, 3], &[1, 3, 4], &[0, 2, 4]),
        ] {
            assert_eq!(Shapes::of(a, b).unwrap().result, c, "{a:?} {b:?}");
        }
        let huge = [usize::MAX, 2, 2, 2];
        for (a, b, code) in [
            (&[2, 3][..], &[2, 3][..], "inner-mismatch"),
            (&[3], &[4], "inner-mismatch"),
            (&[5, 2, 3], &[4, 3, 2], "batch-mismatch"),
            (&[5, 2, 3], &[0, 3, 2], "batch-mismatch"),
            (&huge, &[2, 2], "batch-mismatch"),
            (&[], &[3], "dimensions"),
            (&[3], &[], "dimensions"),
        ] {
            assert_eq!(Shapes::of(a, b).unwrap_err().code(), code, "{a:?} {b:?}");
        }
    }
}
