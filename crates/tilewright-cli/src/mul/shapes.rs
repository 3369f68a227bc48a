//! How arrays of any number of dimensions are multiplied: as by NumPy's `matmul`.
//!
//! The last two dimensions are those of a matrix; those in front are broadcast, so that 1 stands for any number. A vector is one row on
//! the left and one column on the right, and its dimension is not one of the result.

use crate::failure::Failure;
use tilewright::{DynRef, files::Stack};

/// An operand's dimensions, after transposition.
struct Operand<'a> {
    name: &'static str,
    batch: &'a [usize],
    rows: usize,
    cols: usize,
}

/// The products to compute.
#[derive(Debug, PartialEq, Eq)]
pub struct Shapes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Dimensions in front of those of a matrix.
    pub batch: Vec<usize>,
    /// The dimensions of C.
    pub c: Vec<usize>,
}

impl Shapes {
    /// Of A and B, whose rows and columns change places where that is asked for.
    pub fn new(a: &Stack, b: &Stack, transposed: [bool; 2]) -> Result<Self, Failure> {
        let [a_is_vector, b_is_vector] = [a, b].map(|stack| stack.shape().len() == 1);
        let (rows, cols) = a.matrix_shape();
        let (m, k) = if transposed[0] && !a_is_vector { (cols, rows) } else { (rows, cols) };
        let (rows, cols) = b.matrix_shape();
        // A vector on the right is a column.
        let (bk, n) = if transposed[1] || b_is_vector { (cols, rows) } else { (rows, cols) };
        if k != bk {
            return Err(tilewright::Error::from(tilewright::ErrorKind::InnerMismatch { m, k, bk, n }).into());
        }
        let batch = broadcast(
            &Operand { name: "A", batch: a.batch(), rows: m, cols: k },
            &Operand { name: "B", batch: b.batch(), rows: k, cols: n },
        )?;
        let c = batch.iter().copied();
        let c = c.chain((!a_is_vector).then_some(m)).chain((!b_is_vector).then_some(n)).collect();
        Ok(Self { m, n, k, batch, c })
    }

    /// The number of products.
    pub fn count(&self) -> usize {
        self.batch.iter().product()
    }

    /// Which matrix of a stack takes part in product number `index`.
    pub fn part(&self, stack: &Stack, index: usize) -> usize {
        let (mut rest, mut part, mut step) = (index, 0, 1);
        for (place, &size) in self.batch.iter().rev().enumerate() {
            let of_stack = stack.batch().iter().rev().nth(place).copied().unwrap_or(1);
            let position = rest % size;
            rest /= size;
            // One stands for all.
            part += if of_stack == 1 { 0 } else { position * step };
            step *= of_stack;
        }
        part
    }

    /// Whether a stack can be joined with C: it has the dimensions of C, or matrices of C's shape that are broadcast.
    pub fn admits(&self, c0: &Stack) -> bool {
        let is_matrices = c0.shape().len() >= 2 && c0.matrix_shape() == (self.m, self.n);
        let is_broadcast = c0.batch().len() <= self.batch.len()
            && c0.batch().iter().rev().zip(self.batch.iter().rev()).all(|(&x, &y)| x == y || x == 1);
        self.is_vectors(c0) || is_matrices && is_broadcast
    }

    /// Whether it has the dimensions of a C that has a vector for each product.
    fn is_vectors(&self, c0: &Stack) -> bool {
        c0.shape() == &self.c[..] && self.c.len() == self.batch.len() + 1
    }

    /// What of C0 takes part in product number `index`, as a matrix of C's shape.
    pub fn joined<'a>(&self, c0: &'a Stack, index: usize) -> Option<DynRef<'a>> {
        if !self.is_vectors(c0) {
            return c0.matrix(self.part(c0, index));
        }
        // A vector is held as a row; as a result it may be a column.
        let row = c0.rows().window(index, 0, 1, self.m * self.n).ok()?;
        Some(if self.m == 1 { row } else { row.t() })
    }
}

/// The dimensions that both come to: equal ones, and ones that stand for any.
fn broadcast(a: &Operand<'_>, b: &Operand<'_>) -> Result<Vec<usize>, Failure> {
    let length = a.batch.len().max(b.batch.len());
    let of = |operand: &Operand<'_>, place: usize| {
        let missing = length - operand.batch.len();
        place.checked_sub(missing).map_or(1, |place| operand.batch[place])
    };
    let dimension = |place: usize| match (of(a, place), of(b, place)) {
        (x, y) if x == y => Some(x),
        (1, y) => Some(y),
        (x, 1) => Some(x),
        _ => None,
    };
    let batch: Option<Vec<usize>> = (0..length).map(dimension).collect();
    let batch = batch.filter(|batch| batch.iter().try_fold(1usize, |all, &n| all.checked_mul(n)).is_some());
    batch.ok_or_else(|| {
        let what = format!("{} and {} are stacks that do not match", in_words(a), in_words(b));
        Failure::usage(what, "dimensions in front of a matrix's must be equal, or 1 in one of the two")
    })
}

fn in_words(operand: &Operand<'_>) -> String {
    let sizes = operand.batch.iter().chain([&operand.rows, &operand.cols]);
    format!("{} ({})", operand.name, sizes.map(usize::to_string).collect::<Vec<_>>().join("x"))
}

/// `4x2x3`; `()` for a number.
pub fn words(shape: &[usize]) -> String {
    match shape {
        [] => "()".into(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::{
        Matrix,
        files::{Format, ReadOptions, Spec, WriteOptions, read_stack_bytes, write_stack_to},
    };

    fn stack(shape: &[usize]) -> Stack {
        let cols = shape.last().copied().unwrap_or(1);
        let rows = shape.iter().rev().skip(1).product();
        let m = Matrix::from_fn(rows, cols, |i, j| (i * cols + j) as i64).unwrap();
        let (spec, mut bytes) = (Spec::new("memory", Format::Npy, None), Vec::new());
        write_stack_to(&spec, &mut bytes, m.as_ref().into(), shape, &WriteOptions::default()).unwrap();
        read_stack_bytes(&spec, &bytes, &ReadOptions::default()).unwrap()
    }

    fn shape_of_c(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
        Shapes::new(&stack(a), &stack(b), [false; 2]).ok().map(|shapes| shapes.c)
    }

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
            (&[5, 2, 3], &[3], &[5, 2]),
            (&[3], &[5, 3, 4], &[5, 4]),
            (&[0, 2, 3], &[3, 4], &[0, 2, 4]),
        ] {
            assert_eq!(shape_of_c(a, b).as_deref(), Some(c), "{a:?} {b:?}");
        }
        for (a, b) in
            [(&[2, 3][..], &[2, 3][..]), (&[5, 2, 3], &[4, 3, 2]), (&[3], &[4]), (&[5, 2, 3], &[0, 3, 2])]
        {
            assert_eq!(shape_of_c(a, b), None, "{a:?} {b:?}");
        }
    }

    #[test]
    fn parts_are_broadcast() {
        let (a, b) = (stack(&[2, 1, 1, 1]), stack(&[3, 1, 1]));
        let shapes = Shapes::new(&a, &b, [false; 2]).unwrap();
        assert_eq!((shapes.batch.as_slice(), shapes.count()), (&[2, 3][..], 6));
        let parts: Vec<_> = (0..6).map(|i| (shapes.part(&a, i), shapes.part(&b, i))).collect();
        assert_eq!(parts, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn what_is_joined_has_the_shape_of_the_result() {
        let shapes = Shapes::new(&stack(&[5, 2, 3]), &stack(&[3, 4]), [false; 2]).unwrap();
        for (c0, admitted) in [
            (&[5, 2, 4][..], true),
            (&[2, 4], true),
            (&[1, 2, 4], true),
            (&[4, 2, 4], false),
            (&[5, 4, 2], false),
            (&[4], false),
        ] {
            assert_eq!(shapes.admits(&stack(c0)), admitted, "{c0:?}");
        }
        let vectors = Shapes::new(&stack(&[5, 2, 3]), &stack(&[3]), [false; 2]).unwrap();
        let c0 = stack(&[5, 2]);
        assert!(vectors.admits(&c0) && !vectors.admits(&stack(&[2, 5])));
        let column = vectors.joined(&c0, 3).unwrap();
        assert_eq!((column.layout().rows, column.get(1, 0)), (2, Some(tilewright::Value::Int(7))));
        let vector = Shapes::new(&stack(&[3]), &stack(&[3, 4]), [false; 2]).unwrap();
        assert!(
            vector.admits(&stack(&[4])) && vector.admits(&stack(&[1, 4])) && !vector.admits(&stack(&[3]))
        );
    }
}
