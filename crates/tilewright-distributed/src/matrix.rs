//! A matrix whose blocks are dealt to the ranks of a grid.

use crate::{axis::Axis, grid::Grid};
use core::ops::Range;
use tilewright::{DType, DynMatrix, DynMut, DynRef, Element, Error, ErrorKind, Layout};

/// A matrix in square blocks, which are dealt to the rows and columns of a grid in turn: block `(I, J)` lies at row `I mod rows` and column `J mod cols` of it.
///
/// ```
/// use tilewright_distributed::{DistMatrix, Grid, Shape, threads};
/// let sizes = threads::run(4, |group| {
///     let grid = Grid::new(group, Shape { rows: 2, cols: 2 })?;
///     let d = DistMatrix::from_fn(&grid, 5, 5, 2, |i, j| (10 * i + j) as f32)?;
///     Ok::<_, tilewright::Error>(d.local().layout().len())
/// });
/// let sizes: Vec<_> = sizes.into_iter().filter_map(Result::ok).collect();
/// assert_eq!(sizes, [Some(9), Some(6), Some(6), Some(4)]);
/// ```
#[derive(Debug)]
pub struct DistMatrix<'g> {
    grid: &'g Grid<'g>,
    rows: Axis,
    cols: Axis,
    local: DynMatrix,
}

/// A block: its number in either direction, and the indices that it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its row and its column among blocks.
    pub at: (usize, usize),
    /// The rows of the matrix.
    pub rows: Range<usize>,
    /// The columns of the matrix.
    pub cols: Range<usize>,
}

impl<'g> DistMatrix<'g> {
    /// A matrix of zeros, in blocks of `block` rows and columns.
    ///
    /// # Errors
    /// `unsupported` for blocks of nothing; `out-of-memory`. One rank alone may fail: [agree](crate::Group) before what is collective.
    pub fn zeros(
        grid: &'g Grid<'g>,
        dtype: DType,
        rows: usize,
        cols: usize,
        block: usize,
    ) -> Result<Self, Error> {
        if block == 0 {
            let (what, hint) = ("a block of no rows".to_owned(), "choose 256, for example".into());
            return Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into());
        }
        let (shape, (i, j)) = (grid.shape(), grid.place());
        let (rows, cols) =
            (Axis { len: rows, block, parts: shape.rows }, Axis { len: cols, block, parts: shape.cols });
        let local = DynMatrix::zeros(dtype, rows.local_len(i), cols.local_len(j))?;
        Ok(Self { grid, rows, cols, local })
    }

    /// A matrix whose element `(i, j)` is `f(i, j)`; each rank calls it for its own.
    ///
    /// # Errors
    /// As [`DistMatrix::zeros`].
    pub fn from_fn<T: Element>(
        grid: &'g Grid<'g>,
        rows: usize,
        cols: usize,
        block: usize,
        mut f: impl FnMut(usize, usize) -> T,
    ) -> Result<Self, Error> {
        let mut made = Self::zeros(grid, T::DTYPE, rows, cols, block)?;
        made.fill(|block, part| {
            if let Some(mut part) = part.typed::<T>() {
                part.fill_with(|i, j| f(block.rows.start + i, block.cols.start + j));
            }
            Ok(())
        })?;
        Ok(made)
    }

    /// A matrix of which this rank has `local`: its blocks, side by side in the order of their numbers. Nothing is copied.
    ///
    /// # Errors
    /// As [`DistMatrix::zeros`]; `result-mismatch` where it is of another size. One rank alone may fail.
    pub fn from_local(
        grid: &'g Grid<'g>,
        local: DynMatrix,
        (rows, cols): (usize, usize),
        block: usize,
    ) -> Result<Self, Error> {
        let mut made = Self::zeros(grid, local.dtype(), 0, 0, block)?;
        (made.rows.len, made.cols.len) = (rows, cols);
        let (i, j) = grid.place();
        let (m, n) = (made.rows.local_len(i), made.cols.local_len(j));
        let (found_rows, found_cols) = (local.layout().rows, local.layout().cols);
        if (found_rows, found_cols) != (m, n) {
            let what = "the blocks of a rank";
            return Err(ErrorKind::ResultMismatch { what, rows: found_rows, cols: found_cols, m, n }.into());
        }
        made.local = local;
        Ok(made)
    }

    /// What this rank has, as [`DistMatrix::from_local`] takes it.
    pub fn into_local(self) -> DynMatrix {
        self.local
    }

    /// Lets `f` write each block of this rank.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn fill(&mut self, mut f: impl FnMut(&Block, DynMut<'_>) -> Result<(), Error>) -> Result<(), Error> {
        for block in self.blocks() {
            let (rows, cols) = self.local_of(&block);
            let part = self.local.as_mut().window(rows.start, cols.start, rows.len(), cols.len())?;
            f(&block, part)?;
        }
        Ok(())
    }

    /// Lets `f` read each block of this rank.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn visit(&self, mut f: impl FnMut(&Block, DynRef<'_>) -> Result<(), Error>) -> Result<(), Error> {
        for block in self.blocks() {
            let (rows, cols) = self.local_of(&block);
            f(&block, self.local.as_ref().window(rows.start, cols.start, rows.len(), cols.len())?)?;
        }
        Ok(())
    }

    /// The blocks of this rank, row by row.
    pub fn blocks(&self) -> Vec<Block> {
        let (i, j) = self.grid.place();
        let block =
            |row, col| Block { at: (row, col), rows: self.rows.indices(row), cols: self.cols.indices(col) };
        let row = |row| self.cols.blocks_of(j).map(move |col| (row, col));
        self.rows.blocks_of(i).flat_map(row).map(|(row, col)| block(row, col)).collect()
    }

    fn local_of(&self, block: &Block) -> (Range<usize>, Range<usize>) {
        (self.rows.local(block.at.0), self.cols.local(block.at.1))
    }

    /// The grid.
    pub fn grid(&self) -> &'g Grid<'g> {
        self.grid
    }
    /// The rows of the whole matrix.
    pub fn rows(&self) -> Axis {
        self.rows
    }
    /// The columns of the whole matrix.
    pub fn cols(&self) -> Axis {
        self.cols
    }
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.local.dtype()
    }
    /// What this rank has: its blocks, side by side in the order of their numbers.
    pub fn local(&self) -> DynRef<'_> {
        self.local.as_ref()
    }
    /// As [`DistMatrix::local`], to write.
    pub fn local_mut(&mut self) -> DynMut<'_> {
        self.local.as_mut()
    }

    /// The whole matrix, at every rank: for small ones.
    ///
    /// # Errors
    /// `out-of-memory`; as [`Group::broadcast`](crate::Group::broadcast).
    pub fn gather(&self) -> Result<DynMatrix, Error> {
        let (world, size) = (self.grid.world(), self.dtype().size());
        let mut whole = DynMatrix::zeros(self.dtype(), self.rows.len, self.cols.len)?;
        for rank in 0..world.size() {
            let (i, j) = (rank / self.grid.shape().cols, rank % self.grid.shape().cols);
            let (rows, cols) = (self.rows.local_len(i), self.cols.local_len(j));
            let mut buffer = crate::Buffer::zeroed(rows * cols * size)?;
            if rank == world.rank() {
                buffer.matrix_mut(self.dtype(), rows, cols)?.copy_from(self.local())?;
            }
            let buffer = world.send(buffer, rank)?;
            let part = buffer.matrix(self.dtype(), rows, cols)?;
            for row in self.rows.blocks_of(i) {
                for col in self.cols.blocks_of(j) {
                    let (from, to) = (
                        (self.rows.local(row), self.cols.local(col)),
                        (self.rows.indices(row), self.cols.indices(col)),
                    );
                    let Layout { rows, cols, .. } = Layout::row_major(to.0.len(), to.1.len());
                    let source = part.window(from.0.start, from.1.start, rows, cols)?;
                    whole.as_mut().window(to.0.start, to.1.start, rows, cols)?.copy_from(source)?;
                }
            }
        }
        Ok(whole)
    }
}
