//! What a file holds as it is: a vector, a matrix, or a stack of matrices.

use super::{Input, Stored};
use tilewright_core::{DType, DynRef};

/// An array of one or more dimensions, whose last two are those of a matrix; a vector has one.
///
/// ```
/// use tilewright_core::Matrix;
/// use tilewright_files::{ReadOptions, Spec, WriteOptions, read_stack, write_stack};
/// # let directory = tempfile::tempdir().unwrap();
/// let spec = Spec::parse(directory.path().join("stack.npy"))?;
/// // Four matrices of 2 x 3, one below the other.
/// let rows = Matrix::from_fn(8, 3, |i, j| (3 * i + j) as f32)?;
/// write_stack(&spec, rows.as_ref().into(), &[4, 2, 3], &WriteOptions::default())?;
/// let stack = read_stack(&spec, &ReadOptions::default())?;
/// assert_eq!((stack.shape(), stack.count()), (&[4, 2, 3][..], 4));
/// assert_eq!(stack.matrix(1).unwrap().get(0, 0), Some(tilewright_core::Value::Float(6.0)));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Stack {
    rows: Input,
    shape: Vec<usize>,
    stored: Option<Stored>,
}

impl Stack {
    pub(super) fn new(rows: Input, shape: Vec<usize>, stored: Option<Stored>) -> Self {
        Self { rows, shape, stored }
    }

    /// The dimensions, as in the file.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many cells of text were empty, and stand for what is absent.
    pub fn empty_cells(&self) -> usize {
        self.rows.empty_cells()
    }

    /// The dimensions in front of those of a matrix; empty for a matrix and for a vector.
    pub fn batch(&self) -> &[usize] {
        &self.shape[..self.shape.len().saturating_sub(2)]
    }

    /// The number of matrices; a vector counts as one, of one row.
    pub fn count(&self) -> usize {
        self.batch().iter().product()
    }

    /// Rows and columns of each.
    pub fn matrix_shape(&self) -> (usize, usize) {
        match self.shape[..] {
            [.., rows, cols] => (rows, cols),
            [length] => (1, length),
            [] => (1, 1),
        }
    }

    /// Matrix number `index`, the last dimension of [`batch`](Self::batch) running fastest; `None` beyond the last.
    pub fn matrix(&self, index: usize) -> Option<DynRef<'_>> {
        let (rows, cols) = self.matrix_shape();
        let first = index.checked_mul(rows).filter(|_| index < self.count())?;
        self.rows.as_ref().window(first, 0, rows, cols).ok()
    }

    /// All matrices, one below the other.
    pub fn rows(&self) -> DynRef<'_> {
        self.rows.as_ref()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.rows.dtype()
    }

    /// The element type in the file; `None` for text, which remembers none.
    pub fn stored(&self) -> Option<Stored> {
        self.stored
    }

    /// The same with elements of another type.
    ///
    /// # Errors
    /// As [`DynRef::convert`].
    pub fn convert(
        self,
        dtype: DType,
        extremes: tilewright_core::Extremes,
    ) -> Result<Self, tilewright_core::Error> {
        if dtype == self.dtype() {
            return Ok(self);
        }
        Ok(Self { rows: self.rows.as_ref().convert(dtype, extremes)?.into(), ..self })
    }
}
