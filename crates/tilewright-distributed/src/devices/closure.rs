//! The closure on a rank's GPU.

use super::{
    Device,
    rank::{Rank, read, write},
};
use crate::{
    closure::Closure,
    matrix::DistMatrix,
    site::{Bands, Panels, Site, close_block},
};
use core::ops::Range;
use tilewright::{
    Cancel, Error, Joining, Layout,
    cuda::{DeviceMut, DeviceProduct, DeviceRef, DynDeviceMatrix, Engine, InPlace},
    kernels::CLOSURE_SIDE,
    paths::schedule::{self, Step},
};

/// A rank's part of a matrix on its GPU, and where it comes from.
pub(crate) struct OnDevice<'r, 'g, 'o> {
    asked: &'r Closure<'o>,
    rank: Rank<'r, 'g>,
    d: &'r mut DistMatrix<'g>,
    local: DynDeviceMatrix,
}

impl<'r, 'g, 'o> OnDevice<'r, 'g, 'o> {
    /// Copies the part to the device, and joins the GPUs of all ranks.
    pub fn new(asked: &'r Closure<'o>, device: &'r Device, d: &'r mut DistMatrix<'g>) -> Result<Self, Error> {
        let grid = d.grid();
        let local = device.engine().upload_dyn(d.local());
        let local = grid.world().agree(local, "copying to the GPU")?;
        let block = d.rows().block.min(d.rows().len);
        let rank =
            Rank::new(device, grid, d.dtype(), (block, d.local().layout().rows, d.local().layout().cols))?;
        Ok(Self { asked, rank, d, local })
    }

    fn multiply(
        &self,
        a: DeviceRef<'_>,
        b: DeviceRef<'_>,
        c: DeviceMut<'_>,
        joining: Joining<tilewright::Value>,
    ) -> Result<(), Error> {
        multiply(self.rank.engine(), self.asked.semiring, (a, b), c, joining, &self.asked.options)
    }
}

/// `C = A ⊗ B`, or joined with C.
pub(super) fn multiply(
    engine: &Engine,
    semiring: tilewright::SemiringId,
    (a, b): (DeviceRef<'_>, DeviceRef<'_>),
    c: DeviceMut<'_>,
    joining: Joining<tilewright::Value>,
    options: &tilewright::Options<'_>,
) -> Result<(), Error> {
    options.cancel.map_or(Ok(()), Cancel::check)?;
    let Layout { rows, cols, .. } = c.as_ref().layout();
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let terms = rows as f64 * cols as f64 * a.layout().cols as f64;
    engine.multiply(&DeviceProduct::new(semiring).joining(joining), a, b, c)?;
    if let Some(progress) = options.progress {
        progress(terms as u64);
    }
    Ok(())
}

impl<'r, 'g> Site for OnDevice<'r, 'g, '_> {
    type Carrier = Rank<'r, 'g>;

    fn carrier(&mut self) -> &mut Rank<'r, 'g> {
        &mut self.rank
    }

    fn close(
        &mut self,
        (rows, cols): &Bands,
        first: usize,
        diagonal: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        let (engine, width) = (self.rank.engine(), rows.len());
        let place = |local| DeviceRef::window(local, rows.start, cols.start, width, width);
        let mut block = engine.zeros_dyn(self.local.dtype(), Layout::row_major(width, width))?;
        engine.copy(place((&self.local).into())?, &mut block)?;
        if closed(engine, self.asked, &mut block)?.is_some() {
            // A cycle seems to gain: the processor tells which, or that it was a rounding.
            let mut again = place((&self.local).into())?.to_matrix()?;
            close_block(self.asked, again.as_mut(), first)?;
            DeviceMut::from(&mut block).copy_from(again.as_ref())?;
        }
        let to = DeviceMut::from(&mut self.local).window(rows.start, cols.start, width, width)?;
        engine.copy(&block, to)?;
        engine.copy(&block, write(diagonal, width, width)?)
    }

    fn row(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &DynDeviceMatrix,
        row: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        let (engine, width, cols) = (self.rank.engine(), band.len(), self.local.cols());
        let diagonal = read(diagonal, width, width)?;
        let strip = DeviceRef::from(&self.local).window(band.start, 0, width, cols)?;
        self.multiply(diagonal, strip, write(row, width, cols)?, Joining::Replace)?;
        if let Some(own) = own {
            engine.copy(diagonal, write(row, width, cols)?.window(0, own.start, width, width)?)?;
        }
        let strip = DeviceMut::from(&mut self.local).window(band.start, 0, width, cols)?;
        engine.copy(read(row, width, cols)?, strip)
    }

    fn column(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &DynDeviceMatrix,
        column: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        let (engine, width, rows) = (self.rank.engine(), band.len(), self.local.rows());
        let diagonal = read(diagonal, width, width)?;
        let strip = DeviceRef::from(&self.local).window(0, band.start, rows, width)?;
        self.multiply(strip, diagonal, write(column, rows, width)?, Joining::Replace)?;
        if let Some(own) = own {
            engine.copy(diagonal, write(column, rows, width)?.window(own.start, 0, width, width)?)?;
        }
        let strip = DeviceMut::from(&mut self.local).window(0, band.start, rows, width)?;
        engine.copy(read(column, rows, width)?, strip)
    }

    fn join(
        &mut self,
        panels: &Panels<DynDeviceMatrix>,
        width: usize,
        (rows, cols): &Bands,
    ) -> Result<(), Error> {
        let (height, length) = (self.local.rows(), self.local.cols());
        let a = read(&panels.column, height, width)?.window(rows.start, 0, rows.len(), width)?;
        let b = read(&panels.row, width, length)?.window(0, cols.start, width, cols.len())?;
        let c = DeviceMut::from(&mut self.local).window(rows.start, cols.start, rows.len(), cols.len())?;
        let (engine, asked) = (self.rank.engine(), self.asked);
        multiply(engine, asked.semiring, (a, b), c, Joining::Accumulate, &asked.options)
    }

    fn state(&mut self) -> Result<&DistMatrix<'_>, Error> {
        self.local.copy_to(self.d.local_mut())?;
        Ok(self.d)
    }
}

/// Closes a block in place. Gives the first vertex through which a cycle gains.
fn closed(engine: &Engine, asked: &Closure<'_>, block: &mut DynDeviceMatrix) -> Result<Option<usize>, Error> {
    let width = block.rows();
    let mut paths = InPlace::new(engine, block, asked.semiring, 0.0)?;
    for step in schedule::steps_of_blocks(width, CLOSURE_SIDE) {
        match step {
            Step::Close { pivot } => paths.close(pivot)?,
            Step::Pass { pivot, others } => paths.pass(pivot, others)?,
        }
    }
    paths.gain()
}
