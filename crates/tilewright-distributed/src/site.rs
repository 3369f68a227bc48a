//! Where the blocks of a rank lie, and what computes on them.

use crate::{
    axis::Axis,
    buffer::Buffer,
    closure::Closure,
    grid::{Along, Grid},
    group::Pending,
    matrix::DistMatrix,
    step,
};
use core::ops::Range;
use tilewright::{
    DynMut, Error, Joining, Layout,
    paths::{self, close_dyn},
};

/// Rows and columns of a rank's part of a matrix.
pub(crate) type Bands = (Range<usize>, Range<usize>);

/// What brings panels to other ranks. They are row-major matrices at the beginning of their memory.
pub(crate) trait Carrier {
    /// Memory of a panel.
    type Panel;
    /// A panel on its way.
    type Coming;

    /// Memory for so many elements.
    fn room(&self, elements: usize) -> Result<Self::Panel, Error>;

    /// Begins to send so many elements of a panel. Where an error is this rank's alone, it becomes the [fault](Carrier::fault), so that none waits for this one in vain.
    ///
    /// # Errors
    /// Where nothing can be agreed on any more.
    fn send(
        &mut self,
        along: Along,
        panel: Self::Panel,
        elements: usize,
        root: usize,
    ) -> Result<Self::Coming, Error>;

    /// The panel, for work that is asked for from now on.
    ///
    /// # Errors
    /// As [`Carrier::send`].
    fn arrived(&mut self, coming: Self::Coming) -> Result<Self::Panel, Error>;

    /// Notes that work in a lane begins, and when it is called again, that it ends.
    fn mark(&mut self, _: Work, _: Lane) -> Result<(), Error> {
        Ok(())
    }

    /// The first error of this rank that the others do not know of. It goes on to send and to receive until all agree on it.
    fn fault(&mut self) -> &mut Option<Error>;

    /// An error that names the device where it occurred.
    fn named(&self, error: Error) -> Error {
        error
    }

    /// Waits for the work that was asked for before the last time this was called, so that a device has something to do while ranks agree.
    /// All ranks were well when it was asked for.
    fn keep_pace(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for all work that was asked for, likewise.
    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends what is under way, after a failure.
    fn give_up(&mut self) {}
}

/// A panel of a carrier.
pub(crate) type PanelOf<S> = <<S as Site>::Carrier as Carrier>::Panel;
/// One on its way.
pub(crate) type ComingOf<S> = <<S as Site>::Carrier as Carrier>::Coming;

/// What work is a part of, on devices that do several things at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The panels of the next step.
    Panels,
    /// The rest of this step.
    Rest,
}

/// What a GPU does for a closure or a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Work {
    /// It closes a block of the diagonal.
    Close,
    /// It multiplies the row of a closed block.
    Row,
    /// It multiplies the column of one.
    Column,
    /// It sends a panel, or waits for one and receives it.
    Send,
    /// It joins the product of two panels with a part of the matrix.
    Update,
}

/// What a step of the closure is made of on one rank.
pub(crate) trait Site {
    /// What sends panels.
    type Carrier: Carrier;
    /// Whether work in one lane may be done while the other one's is.
    const HAS_LANES: bool;

    fn carrier(&mut self) -> &mut Self::Carrier;

    /// Closes a block of the diagonal, and copies it. `first` is its first vertex.
    fn close(&mut self, block: &Bands, first: usize, diagonal: &mut PanelOf<Self>) -> Result<(), Error>;

    /// `D[k,:] = D[k,k] ⊗ D[k,:]` in the rows `band`, and the same in the panel. The diagonal of a closed block is the semiring's one, so that the product contains
    /// what was there. `own` are the columns of block `k` itself, where they are here.
    fn row(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &PanelOf<Self>,
        row: &mut PanelOf<Self>,
    ) -> Result<(), Error>;

    /// `D[:,k] = D[:,k] ⊗ D[k,k]`, likewise.
    fn column(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &PanelOf<Self>,
        column: &mut PanelOf<Self>,
    ) -> Result<(), Error>;

    /// `D = D ⊕ D[:,k] ⊗ D[k,:]` in a part, by panels of `width`.
    fn join(
        &mut self,
        panels: &Panels<PanelOf<Self>>,
        width: usize,
        part: &Bands,
        lane: Lane,
    ) -> Result<(), Error>;

    /// Whether the panels of the next step go ahead of the rest of this one.
    fn looks_ahead(&self) -> bool;

    /// Lets work in both lanes that is asked for from now on come after all that was asked for before.
    fn meet(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The matrix as it is now, on the host.
    fn state(&mut self) -> Result<&DistMatrix<'_>, Error>;
}

/// The rows of a block in the columns of this rank, and its columns in the rows of this rank.
#[derive(Debug)]
pub(crate) struct Panels<P> {
    pub row: P,
    pub column: P,
}

/// A rank's part of a matrix by its place: pure arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    pub rows: Axis,
    pub cols: Axis,
    pub place: (usize, usize),
}

impl Map {
    pub fn of(d: &DistMatrix<'_>) -> Self {
        Self { rows: d.rows(), cols: d.cols(), place: d.grid().place() }
    }

    /// Rows and columns that this rank has.
    pub fn local(&self) -> (usize, usize) {
        (self.rows.local_len(self.place.0), self.cols.local_len(self.place.1))
    }

    /// Where block `k` of the diagonal lies among the rows and the columns of its owners.
    pub fn bands(&self, k: usize) -> Bands {
        (self.rows.local(k), self.cols.local(k))
    }

    /// The row and the column of block `k` where this rank has them.
    pub fn owned(&self, k: usize) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let bands = self.bands(k);
        let has_row = self.rows.owner(k) == self.place.0;
        let has_col = self.cols.owner(k) == self.place.1;
        (has_row.then_some(bands.0), has_col.then_some(bands.1))
    }
}

/// Panels in the memory of this process, which the group sends.
pub(crate) struct ByGroup<'g> {
    pub grid: &'g Grid<'g>,
    /// Bytes of an element.
    pub size: usize,
    pub fault: Option<Error>,
}

impl Carrier for ByGroup<'_> {
    type Panel = Buffer;
    type Coming = Box<dyn Pending>;

    fn room(&self, elements: usize) -> Result<Buffer, Error> {
        Buffer::zeroed(elements * self.size)
    }

    fn send(
        &mut self,
        along: Along,
        panel: Buffer,
        elements: usize,
        root: usize,
    ) -> Result<Box<dyn Pending>, Error> {
        self.grid.send(along, panel.fit(elements * self.size), root)
    }

    fn arrived(&mut self, coming: Box<dyn Pending>) -> Result<Buffer, Error> {
        coming.wait()
    }

    fn fault(&mut self) -> &mut Option<Error> {
        &mut self.fault
    }
}

/// A matrix in the memory of this process, and the backend that the options name.
pub(crate) struct Host<'r, 'g, 'o> {
    pub d: &'r mut DistMatrix<'g>,
    pub asked: &'r Closure<'o>,
    pub carrier: ByGroup<'g>,
}

impl<'r, 'g, 'o> Host<'r, 'g, 'o> {
    pub fn new(asked: &'r Closure<'o>, d: &'r mut DistMatrix<'g>) -> Self {
        let carrier = ByGroup { grid: d.grid(), size: d.dtype().size(), fault: None };
        Self { d, asked, carrier }
    }
}

impl<'g> Site for Host<'_, 'g, '_> {
    type Carrier = ByGroup<'g>;
    const HAS_LANES: bool = false;

    fn carrier(&mut self) -> &mut ByGroup<'g> {
        &mut self.carrier
    }

    fn close(&mut self, at: &Bands, first: usize, diagonal: &mut Buffer) -> Result<(), Error> {
        let mut block = window(self.d.local_mut(), at)?;
        close_block(self.asked, block.reborrow(), first)?;
        let Layout { rows, cols, .. } = block.layout();
        diagonal.matrix_mut(block.dtype(), rows, cols)?.copy_from(block.as_ref())
    }

    fn row(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &Buffer,
        row: &mut Buffer,
    ) -> Result<(), Error> {
        let (dtype, width, cols) = (self.d.dtype(), band.len(), self.d.local().layout().cols);
        let diagonal = diagonal.matrix(dtype, width, width)?;
        let mut strip = window(self.d.local_mut(), &(band, 0..cols))?;
        let mut panel = row.matrix_mut(dtype, width, cols)?;
        self.asked.product(diagonal, strip.as_ref(), panel.reborrow(), Joining::Replace)?;
        if let Some(own) = own {
            window(panel.reborrow(), &(0..width, own))?.copy_from(diagonal)?;
        }
        strip.copy_from(panel.as_ref())
    }

    fn column(
        &mut self,
        band: Range<usize>,
        own: Option<Range<usize>>,
        diagonal: &Buffer,
        column: &mut Buffer,
    ) -> Result<(), Error> {
        let (dtype, rows, width) = (self.d.dtype(), self.d.local().layout().rows, band.len());
        let diagonal = diagonal.matrix(dtype, width, width)?;
        let mut strip = window(self.d.local_mut(), &(0..rows, band))?;
        let mut panel = column.matrix_mut(dtype, rows, width)?;
        self.asked.product(strip.as_ref(), diagonal, panel.reborrow(), Joining::Replace)?;
        if let Some(own) = own {
            window(panel.reborrow(), &(own, 0..width))?.copy_from(diagonal)?;
        }
        strip.copy_from(panel.as_ref())
    }

    fn join(
        &mut self,
        panels: &Panels<Buffer>,
        width: usize,
        (rows, cols): &Bands,
        _: Lane,
    ) -> Result<(), Error> {
        let dtype = self.d.dtype();
        let (height, length) = (self.d.local().layout().rows, self.d.local().layout().cols);
        let column = panels.column.matrix(dtype, height, width)?;
        let row = panels.row.matrix(dtype, width, length)?;
        let a = column.window(rows.start, 0, rows.len(), width)?;
        let b = row.window(0, cols.start, width, cols.len())?;
        let c = window(self.d.local_mut(), &(rows.clone(), cols.clone()))?;
        self.asked.product(a, b, c, Joining::Accumulate)
    }

    fn looks_ahead(&self) -> bool {
        self.asked.order.looks_ahead(false)
    }

    fn state(&mut self) -> Result<&DistMatrix<'_>, Error> {
        Ok(self.d)
    }
}

/// Closes a block of the diagonal on this processor.
pub(crate) fn close_block(asked: &Closure<'_>, block: DynMut<'_>, first: usize) -> Result<(), Error> {
    let products = &asked.options;
    let options = paths::Options {
        threads: products.threads,
        isa: products.isa,
        cancel: products.cancel,
        progress: products.progress,
        ..paths::Options::default()
    };
    close_dyn(asked.semiring, block, None, &options).map_err(|error| step::moved(error, first))
}

fn window<'a>(m: DynMut<'a>, (rows, cols): &Bands) -> Result<DynMut<'a>, Error> {
    m.window(rows.start, cols.start, rows.len(), cols.len())
}
