//! The closure on a rank's GPU.

use super::{
    Device,
    lanes::{Lanes, Shared},
    rank::{Rank, read, write},
};
use crate::{
    closure::Closure,
    matrix::DistMatrix,
    site::{Bands, Lane, Panels, Site, close_block},
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
    local: Shared,
}

impl<'r, 'g, 'o> OnDevice<'r, 'g, 'o> {
    /// Copies the part to the device, and joins the GPUs of all ranks.
    pub fn new(asked: &'r Closure<'o>, device: &'r Device, d: &'r mut DistMatrix<'g>) -> Result<Self, Error> {
        let grid = d.grid();
        let looks_ahead = asked.order.looks_ahead(true);
        let lanes = if looks_ahead { Lanes::two(device) } else { Ok(Lanes::one(device)) };
        let lanes = grid.world().agree(lanes, "beginning on the GPU")?;
        let (block, part) = (d.rows().block.min(d.rows().len), d.local());
        let sizes = (block, part.layout().rows, part.layout().cols);
        let copy = move |lanes: &Lanes| lanes.share(lanes.rest.upload_dyn(part)?);
        let (rank, local) = Rank::new(device, lanes, grid, d.dtype(), sizes, copy)?;
        Ok(Self { asked, rank, d, local })
    }

    /// `C = A ⊗ B` in the lane of panels.
    fn multiply(&self, a: DeviceRef<'_>, b: DeviceRef<'_>, c: DeviceMut<'_>) -> Result<(), Error> {
        let (engine, asked) = (&self.rank.lanes.panels, self.asked);
        multiply(engine, asked.semiring, (a, b), c, Joining::Replace, &asked.options)
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
    const HAS_LANES: bool = true;

    fn carrier(&mut self) -> &mut Rank<'r, 'g> {
        &mut self.rank
    }

    fn close(&mut self, (rows, cols): &Bands, first: usize, diagonal: &mut Shared) -> Result<(), Error> {
        let (engine, width, local) = (&self.rank.lanes.panels, rows.len(), &mut self.local.panels);
        let mut block = engine.zeros_dyn(local.dtype(), Layout::row_major(width, width))?;
        engine.copy(DeviceRef::from(&*local).window(rows.start, cols.start, width, width)?, &mut block)?;
        if closed(engine, self.asked, &mut block)?.is_some() {
            // A cycle seems to gain: the processor tells which, or that it was a rounding.
            let mut again =
                DeviceRef::from(&*local).window(rows.start, cols.start, width, width)?.to_matrix()?;
            close_block(self.asked, again.as_mut(), first)?;
            DeviceMut::from(&mut block).copy_from(again.as_ref())?;
        }
        let to = DeviceMut::from(local).window(rows.start, cols.start, width, width)?;
        engine.copy(&block, to)?;
        engine.copy(&block, write(&mut diagonal.panels, width, width)?)
    }

    fn row(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &Shared,
        row: &mut Shared,
    ) -> Result<(), Error> {
        let (width, cols) = (band.len(), self.local.panels.cols());
        let (diagonal, row) = (read(&diagonal.panels, width, width)?, &mut row.panels);
        let strip = DeviceRef::from(&self.local.panels).window(band.start, 0, width, cols)?;
        self.multiply(diagonal, strip, write(row, width, cols)?)?;
        let engine = &self.rank.lanes.panels;
        if let Some(own) = own {
            engine.copy(diagonal, write(row, width, cols)?.window(0, own.start, width, width)?)?;
        }
        let strip = DeviceMut::from(&mut self.local.panels).window(band.start, 0, width, cols)?;
        engine.copy(read(row, width, cols)?, strip)
    }

    fn column(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &Shared,
        column: &mut Shared,
    ) -> Result<(), Error> {
        let (width, rows) = (band.len(), self.local.panels.rows());
        let (diagonal, column) = (read(&diagonal.panels, width, width)?, &mut column.panels);
        let strip = DeviceRef::from(&self.local.panels).window(0, band.start, rows, width)?;
        self.multiply(strip, diagonal, write(column, rows, width)?)?;
        let engine = &self.rank.lanes.panels;
        if let Some(own) = own {
            engine.copy(diagonal, write(column, rows, width)?.window(own.start, 0, width, width)?)?;
        }
        let strip = DeviceMut::from(&mut self.local.panels).window(0, band.start, rows, width)?;
        engine.copy(read(column, rows, width)?, strip)
    }

    fn join(
        &mut self,
        panels: &Panels<Shared>,
        width: usize,
        (rows, cols): &Bands,
        lane: Lane,
    ) -> Result<(), Error> {
        let local = self.local.of_mut(lane);
        let (height, length) = (local.rows(), local.cols());
        let a = read(panels.column.of(lane), height, width)?.window(rows.start, 0, rows.len(), width)?;
        let b = read(panels.row.of(lane), width, length)?.window(0, cols.start, width, cols.len())?;
        let c = DeviceMut::from(local).window(rows.start, cols.start, rows.len(), cols.len())?;
        let (engine, asked) = (self.rank.lanes.of(lane), self.asked);
        multiply(engine, asked.semiring, (a, b), c, Joining::Accumulate, &asked.options)
    }

    fn looks_ahead(&self) -> bool {
        self.asked.order.looks_ahead(true)
    }

    fn meet(&mut self) -> Result<(), Error> {
        self.rank.lanes.meet()
    }

    fn state(&mut self) -> Result<&DistMatrix<'_>, Error> {
        self.rank.lanes.meet()?;
        self.local.rest.copy_to(self.d.local_mut())?;
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
