//! A step of the closure: panels of a block, and what they change.

use crate::{buffer::Buffer, closure::Closure, grid::Along, group::Pending, matrix::DistMatrix};
use core::ops::Range;
use tilewright::{
    DynMut, DynProduct, DynRef, Error, ErrorKind, Joining, Options, SemiringId,
    paths::{self, close_dyn},
};

/// Memory of panels, taken before the first step: none is needed later.
#[derive(Debug)]
pub(crate) struct Room {
    diagonal: Buffer,
    /// Two: one is read while the next one arrives.
    rows: Vec<Buffer>,
    columns: Vec<Buffer>,
}

impl Room {
    pub fn new(d: &DistMatrix<'_>) -> Result<Self, Error> {
        let (block, size) = (d.rows().block.min(d.rows().len), d.dtype().size());
        let (rows, cols) = (d.local().layout().rows, d.local().layout().cols);
        let two = |len: usize| Ok::<_, Error>(vec![Buffer::zeroed(len * size)?, Buffer::zeroed(len * size)?]);
        Ok(Self {
            diagonal: Buffer::zeroed(block * block * size)?,
            rows: two(block * cols)?,
            columns: two(rows * block)?,
        })
    }
}

/// Panels on their way.
pub(crate) struct Coming {
    row: Box<dyn Pending>,
    column: Box<dyn Pending>,
}

impl Coming {
    pub fn wait(self) -> Result<Panels, Error> {
        Ok(Panels { row: self.row.wait()?, column: self.column.wait()? })
    }
}

/// The rows of a block in the columns of this rank, and its columns in the rows of this rank.
pub(crate) struct Panels {
    row: Buffer,
    column: Buffer,
}

/// A run of the closure on this rank.
pub(crate) struct Steps<'r, 'g, 'o> {
    pub d: &'r mut DistMatrix<'g>,
    pub asked: &'r Closure<'o>,
    pub room: Room,
    /// The first error here. This rank goes on to send and to receive until all agree on it, so that none waits for another in vain.
    pub fault: Option<Error>,
}

impl Steps<'_, '_, '_> {
    /// What this rank gives to an agreement.
    pub fn status(&mut self) -> Result<(), Error> {
        self.fault.take().map_or(Ok(()), Err)
    }

    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) {
        if self.fault.is_none() {
            self.fault = work(self).err();
        }
    }

    /// Closes block `k` of the diagonal, updates its row and its column, and begins to send both.
    pub fn begin(&mut self, k: usize) -> Result<Coming, Error> {
        let (grid, (i, j)) = (self.d.grid(), self.d.grid().place());
        let (owner_row, owner_col) = (self.d.rows().owner(k), self.d.cols().owner(k));
        let (has_row, has_col) = (i == owner_row, j == owner_col);
        let (width, size) = (self.d.rows().indices(k).len(), self.d.dtype().size());
        let (rows, cols) = (self.d.local().layout().rows, self.d.local().layout().cols);

        let mut diagonal = core::mem::take(&mut self.room.diagonal).fit(width * width * size);
        if has_row && has_col {
            self.attempt(|run| run.close_block(k, &mut diagonal));
        }
        if has_row {
            diagonal = grid.send(Along::Row, diagonal, owner_col)?.wait()?;
        }
        if has_col {
            diagonal = grid.send(Along::Column, diagonal, owner_row)?.wait()?;
        }

        let mut row = self.room.rows.pop().unwrap_or_default().fit(width * cols * size);
        if has_row {
            self.attempt(|run| run.row(k, &diagonal, &mut row, has_col));
        }
        let row = grid.send(Along::Column, row, owner_row)?;
        let mut column = self.room.columns.pop().unwrap_or_default().fit(rows * width * size);
        if has_col {
            self.attempt(|run| run.column(k, &diagonal, &mut column, has_row));
        }
        let column = grid.send(Along::Row, column, owner_col)?;
        self.room.diagonal = diagonal;
        Ok(Coming { row, column })
    }

    fn close_block(&mut self, k: usize, diagonal: &mut Buffer) -> Result<(), Error> {
        let (dtype, asked) = (self.d.dtype(), self.asked);
        let (at, first) = (self.bands(k), self.d.rows().indices(k).start);
        let products = &asked.options;
        let options = paths::Options {
            threads: products.threads,
            isa: products.isa,
            cancel: products.cancel,
            progress: products.progress,
            ..paths::Options::default()
        };
        let mut block = window(self.d.local_mut(), &at)?;
        close_dyn(asked.semiring, block.reborrow(), None, &options).map_err(|error| moved(error, first))?;
        diagonal.matrix_mut(dtype, at.0.len(), at.1.len())?.copy_from(block.as_ref())
    }

    /// `D[k,:] = D[k,k] ⊗ D[k,:]`. The diagonal of a closed block is the semiring's one, so that the product contains what was there.
    fn row(&mut self, k: usize, diagonal: &Buffer, row: &mut Buffer, has_col: bool) -> Result<(), Error> {
        let (dtype, bands) = (self.d.dtype(), self.bands(k));
        let (width, cols) = (self.d.rows().indices(k).len(), self.d.local().layout().cols);
        let diagonal = diagonal.matrix(dtype, width, width)?;
        let mut strip = window(self.d.local_mut(), &(bands.0, 0..cols))?;
        let mut panel = row.matrix_mut(dtype, width, cols)?;
        self.asked.product(diagonal, strip.as_ref(), panel.reborrow(), Joining::Replace)?;
        if has_col {
            window(panel.reborrow(), &(0..width, bands.1))?.copy_from(diagonal)?;
        }
        strip.copy_from(panel.as_ref())
    }

    /// `D[:,k] = D[:,k] ⊗ D[k,k]`.
    fn column(
        &mut self,
        k: usize,
        diagonal: &Buffer,
        column: &mut Buffer,
        has_row: bool,
    ) -> Result<(), Error> {
        let (dtype, bands) = (self.d.dtype(), self.bands(k));
        let (rows, width) = (self.d.local().layout().rows, self.d.cols().indices(k).len());
        let diagonal = diagonal.matrix(dtype, width, width)?;
        let mut strip = window(self.d.local_mut(), &(0..rows, bands.1))?;
        let mut panel = column.matrix_mut(dtype, rows, width)?;
        self.asked.product(strip.as_ref(), diagonal, panel.reborrow(), Joining::Replace)?;
        if has_row {
            window(panel.reborrow(), &(bands.0, 0..width))?.copy_from(diagonal)?;
        }
        strip.copy_from(panel.as_ref())
    }

    /// Where block `k` of the diagonal lies among the rows and the columns of its owners.
    fn bands(&self, k: usize) -> (Range<usize>, Range<usize>) {
        (self.d.rows().local(k), self.d.cols().local(k))
    }

    /// `D = D ⊕ D[:,k] ⊗ D[k,:]`, but for the row and the column of block `k`. Where panels of the next block are to be sent ahead, its row and
    /// its column come first, and the rest after they have set out.
    pub fn update(&mut self, k: usize, panels: &Panels, is_ahead: bool) -> Result<Option<Coming>, Error> {
        let (rows, cols) = (self.d.local().layout().rows, self.d.local().layout().cols);
        let (here, next) = (self.owned(k), if is_ahead { self.owned(k + 1) } else { (None, None) });
        let except = |len, bands: [&Option<Range<usize>>; 2]| without(len, bands);
        let (rest_rows, rest_cols) = (except(rows, [&here.0, &next.0]), except(cols, [&here.1, &next.1]));
        if is_ahead {
            let next_cols = except(cols, [&here.1, &None]);
            self.attempt(|run| run.multiply(k, panels, next.0.as_slice(), &next_cols));
            self.attempt(|run| run.multiply(k, panels, &rest_rows, next.1.as_slice()));
        }
        let coming = if is_ahead { Some(self.begin(k + 1)?) } else { None };
        self.attempt(|run| run.multiply(k, panels, &rest_rows, &rest_cols));
        Ok(coming)
    }

    /// The row and the column of block `k` where this rank has them.
    fn owned(&self, k: usize) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let ((i, j), bands) = (self.d.grid().place(), self.bands(k));
        ((self.d.rows().owner(k) == i).then_some(bands.0), (self.d.cols().owner(k) == j).then_some(bands.1))
    }

    fn multiply(
        &mut self,
        k: usize,
        panels: &Panels,
        rows: &[Range<usize>],
        cols: &[Range<usize>],
    ) -> Result<(), Error> {
        let (dtype, width) = (self.d.dtype(), self.d.rows().indices(k).len());
        let (height, length) = (self.d.local().layout().rows, self.d.local().layout().cols);
        let (column, row) =
            (panels.column.matrix(dtype, height, width)?, panels.row.matrix(dtype, width, length)?);
        for rows in rows {
            for cols in cols {
                let a = column.window(rows.start, 0, rows.len(), width)?;
                let b = row.window(0, cols.start, width, cols.len())?;
                let c = window(self.d.local_mut(), &(rows.clone(), cols.clone()))?;
                self.asked.product(a, b, c, Joining::Accumulate)?;
            }
        }
        Ok(())
    }

    /// Keeps the memory of panels for others.
    pub fn reuse(&mut self, panels: Panels) {
        self.room.rows.push(panels.row);
        self.room.columns.push(panels.column);
    }
}

/// `C = A ⊗ B`, or joined with C.
pub(crate) fn product(
    semiring: SemiringId,
    (a, b): (DynRef<'_>, DynRef<'_>),
    c: DynMut<'_>,
    joining: Joining<tilewright::Value>,
    options: &Options<'_>,
) -> Result<(), Error> {
    prepared(semiring, (a, b), joining, options)?.write_to(c, None).map(|_| ())
}

pub(crate) fn prepared<'a>(
    semiring: SemiringId,
    (a, b): (DynRef<'a>, DynRef<'a>),
    joining: Joining<tilewright::Value>,
    options: &Options<'a>,
) -> Result<DynProduct<'a>, Error> {
    DynProduct::new(semiring, a, b)?.options(*options).update(joining, None)
}

fn window<'a>(m: DynMut<'a>, (rows, cols): &(Range<usize>, Range<usize>)) -> Result<DynMut<'a>, Error> {
    m.window(rows.start, cols.start, rows.len(), cols.len())
}

/// What is left of `0..len` without these bands.
fn without(len: usize, bands: [&Option<Range<usize>>; 2]) -> Vec<Range<usize>> {
    let mut bands: Vec<_> = bands.into_iter().flatten().cloned().collect();
    bands.sort_by_key(|band| band.start);
    let ends = bands.iter().map(|band| band.start).chain([len]);
    let starts = [0].into_iter().chain(bands.iter().map(|band| band.end));
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
}

/// A cycle by the numbers of the whole matrix.
fn moved(error: Error, first: usize) -> Error {
    match error.kind() {
        ErrorKind::NegativeCycle { semiring, cycle, weight } => {
            let cycle = cycle.iter().map(|vertex| vertex + first).collect();
            ErrorKind::NegativeCycle { semiring, cycle, weight: *weight }.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_left_out() {
        assert_eq!(without(9, [&Some(6..9), &Some(1..3)]), [0..1, 3..6]);
        assert_eq!(without(9, [&Some(3..6), &None]), [0..3, 6..9]);
        assert_eq!(without(9, [&Some(2..4), &Some(4..5)]), [0..2, 5..9]);
        assert!(without(0, [&None, &None]).is_empty());
    }
}
