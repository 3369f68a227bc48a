//! Products on the GPUs of ranks.

use super::{
    Device,
    closure::multiply as join,
    lanes::{Lanes, Shared},
    rank::{Coming, Rank, read, write},
};
use crate::{
    grid::Along,
    matrix::DistMatrix,
    product::{ByPanels, by_panels, check_both, of_no_terms},
    site::{Carrier, Lane, Work},
};
use tilewright::{
    Backend, DType, DynMut, Element, Error, ErrorKind, Joining, Options, Semiring, SemiringId,
    cuda::{DeviceMut, DeviceRef, DynDeviceMatrix},
    domain, for_each_pair,
};

/// As [`multiply`](crate::multiply), on the GPU of each rank: A, B and C are there meanwhile.
///
/// # Errors
/// As [`multiply`](crate::multiply).
pub fn multiply<'g>(
    device: &Device,
    semiring: SemiringId,
    a: &DistMatrix<'g>,
    b: &DistMatrix<'g>,
    options: &Options<'_>,
) -> Result<DistMatrix<'g>, Error> {
    let output = check_both(semiring, a, b)?;
    let (grid, world) = (a.grid(), a.grid().world());
    // Kernels do not look at elements.
    let looked = check_domain(semiring, "A", a).and_then(|()| check_domain(semiring, "B", b));
    world.agree(looked, "looking at the elements")?;
    let c = DistMatrix::zeros(grid, output, a.rows().len, b.cols().len, a.rows().block);
    let mut c = world.agree(c, "taking memory for the product")?;
    let here = Options { backend: Backend::Cpu, ..*options };
    let made = of_no_terms(semiring, a, b, &mut c, &here).and_then(|()| Lanes::two(device));
    let lanes = world.agree(made, "beginning on the GPU")?;
    let parts = (a.local(), b.local(), c.local());
    let (rows, cols) = (parts.2.layout().rows, parts.2.layout().cols);
    let block = a.cols().block.min(a.cols().len);
    // Panels are cut from A and B, which nothing else reads.
    let copy = move |lanes: &Lanes| {
        let on = (lanes.panels.upload_dyn(parts.0)?, lanes.panels.upload_dyn(parts.1)?);
        Ok((on, lanes.rest.upload_dyn(parts.2)?))
    };
    let (rank, (on, on_c)) = Rank::new(device, lanes, grid, a.dtype(), (block, rows, cols), copy)?;
    let room = || Ok((rank.room(rows * block)?, rank.room(block * cols)?));
    let spare = world.agree(room().and_then(|one| Ok(vec![one, room()?])), "taking memory for panels")?;
    let mut run = OnDevice { semiring, options, rank, a, b, on, c: on_c, spare };
    let joined = by_panels(world, a.cols().blocks(), Ok(()), &mut run);
    let home = joined.and_then(|()| world.agree(run.home(c.local_mut()), "copying from the GPU"));
    match home {
        Ok(()) => Ok(c),
        Err(error) => {
            run.rank.give_up();
            Err(error)
        }
    }
}

macro_rules! with_types {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        /// Refuses an element that the semiring does not contain. Pairs that are not in the table have no kernel either.
        fn check_domain(semiring: SemiringId, operand: &'static str, d: &DistMatrix<'_>) -> Result<(), Error> {
            match (semiring, d.dtype()) {
                $($((SemiringId::$id, DType::$dtype) => refuse_outside::<$semiring>(operand, d),)*
                $((SemiringId::$id, DType::$other) => refuse_outside::<$rest>(operand, d),)*)*
                _ => Ok(()),
            }
        }
    };
}
for_each_pair!(with_types!());

fn refuse_outside<S: Semiring>(operand: &'static str, d: &DistMatrix<'_>) -> Result<(), Error>
where
    S::Elem: Element,
{
    d.visit(|block, part| {
        let Some(part) = part.typed::<S::Elem>() else { return Ok(()) };
        domain::check_operand::<S>(operand, part).map_err(|error| match error.kind() {
            // By the numbers of the whole matrix.
            ErrorKind::OutsideDomain { operand, row, col, value, semiring, accepts } => {
                let (row, col) = (row + block.rows.start, col + block.cols.start);
                let value = value.clone();
                ErrorKind::OutsideDomain { operand, row, col, value, semiring, accepts }.into()
            }
            _ => error,
        })
    })
}

/// A product on a rank's GPU.
struct OnDevice<'r, 'g, 'o> {
    semiring: SemiringId,
    options: &'r Options<'o>,
    rank: Rank<'r, 'g>,
    a: &'r DistMatrix<'g>,
    b: &'r DistMatrix<'g>,
    on: (DynDeviceMatrix, DynDeviceMatrix),
    c: DynDeviceMatrix,
    /// Columns of A and rows of B.
    spare: Vec<(Shared, Shared)>,
}

impl OnDevice<'_, '_, '_> {
    /// The columns of A and the rows of B of block `k`, where they are here.
    fn fill(&self, k: usize, a: &mut Shared, b: &mut Shared) -> Result<(), Error> {
        let (engine, (i, j)) = (&self.rank.lanes.panels, self.a.grid().place());
        let (width, rows, cols) = (self.a.cols().indices(k).len(), self.c.rows(), self.c.cols());
        // What was in this memory before has been multiplied then.
        self.rank.lanes.meet()?;
        if self.a.cols().owner(k) == j {
            let from = DeviceRef::from(&self.on.0).window(0, self.a.cols().local(k).start, rows, width)?;
            engine.copy(from, write(&mut a.panels, rows, width)?)?;
        }
        if self.b.rows().owner(k) == i {
            let from = DeviceRef::from(&self.on.1).window(self.b.rows().local(k).start, 0, width, cols)?;
            engine.copy(from, write(&mut b.panels, width, cols)?)?;
        }
        Ok(())
    }

    fn product(&mut self, k: usize, a: &Shared, b: &Shared) -> Result<(), Error> {
        let (width, rows, cols) = (self.a.cols().indices(k).len(), self.c.rows(), self.c.cols());
        let (a, b) = (read(&a.rest, rows, width)?, read(&b.rest, width, cols)?);
        let c = DeviceMut::from(&mut self.c);
        join(&self.rank.lanes.rest, self.semiring, (a, b), c, Joining::Accumulate, self.options)
    }

    fn home(&mut self, c: DynMut<'_>) -> Result<(), Error> {
        self.rank.settle()?;
        self.c.copy_to(c)
    }
}

impl ByPanels for OnDevice<'_, '_, '_> {
    type Coming = (Coming, Coming);
    type Panels = (Shared, Shared);

    fn begin(&mut self, k: usize) -> Result<(Coming, Coming), Error> {
        let (width, rows, cols) = (self.a.cols().indices(k).len(), self.c.rows(), self.c.cols());
        let (mut a, mut b) = match self.spare.pop() {
            Some(panels) => panels,
            None => (self.rank.room(rows * width)?, self.rank.room(width * cols)?),
        };
        let filled = self.fill(k, &mut a, &mut b);
        self.rank.keep(filled);
        let a = self.rank.send(Along::Row, a, rows * width, self.a.cols().owner(k))?;
        let b = self.rank.send(Along::Column, b, width * cols, self.b.rows().owner(k))?;
        Ok((a, b))
    }

    fn arrived(&mut self, (a, b): (Coming, Coming)) -> Result<Self::Panels, Error> {
        let panels = (self.rank.arrived(a)?, self.rank.arrived(b)?);
        let kept = self.rank.keep_pace().and_then(|()| self.rank.lanes.meet());
        self.rank.keep(kept);
        Ok(panels)
    }

    fn join(&mut self, k: usize, (a, b): Self::Panels) -> Result<(), Error> {
        let begun = self.rank.mark(Work::Update, Lane::Rest);
        let joined = begun.and_then(|()| self.product(k, &a, &b));
        let ended = joined.and_then(|()| self.rank.mark(Work::Update, Lane::Rest));
        self.rank.keep(ended);
        self.spare.push((a, b));
        Ok(())
    }

    fn fault(&mut self) -> Option<Error> {
        self.rank.fault().take().map(|error| self.rank.named(error))
    }
}
