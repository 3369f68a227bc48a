//! Products on the GPUs of ranks.

use super::{
    Device,
    closure::multiply as join,
    rank::{Coming, Rank, read, write},
};
use crate::{
    grid::Along,
    matrix::DistMatrix,
    product::{ByPanels, by_panels, check_both, of_no_terms},
    site::Carrier,
};
use tilewright::{
    Backend, Error, Joining, Options, SemiringId,
    cuda::{DeviceMut, DeviceRef, DynDeviceMatrix},
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
    let c = DistMatrix::zeros(grid, output, a.rows().len, b.cols().len, a.rows().block);
    let mut c = world.agree(c, "taking memory for the product")?;
    let here = Options { backend: Backend::Cpu, ..*options };
    let made = of_no_terms(semiring, a, b, &mut c, &here).and_then(|()| {
        let upload = |m: &DistMatrix<'_>| device.engine().upload_dyn(m.local());
        Ok((upload(a)?, upload(b)?, upload(&c)?))
    });
    let (on_a, on_b, on_c) = world.agree(made, "copying to the GPU")?;
    let (rows, cols, block) = (on_c.rows(), on_c.cols(), a.cols().block.min(a.cols().len));
    let rank = Rank::new(device, grid, a.dtype(), (block, rows, cols))?;
    let room = || Ok((rank.room(rows * block)?, rank.room(block * cols)?));
    let spare = world.agree(room().and_then(|one| Ok(vec![one, room()?])), "taking memory for panels")?;
    let mut run = OnDevice { semiring, options, rank, a, b, on: (on_a, on_b), c: on_c, spare };
    let joined = by_panels(world, a.cols().blocks(), Ok(()), &mut run);
    let home = joined.and_then(|()| world.agree(run.c.copy_to(c.local_mut()), "copying from the GPU"));
    match home {
        Ok(()) => Ok(c),
        Err(error) => {
            run.rank.give_up();
            Err(error)
        }
    }
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
    spare: Vec<(DynDeviceMatrix, DynDeviceMatrix)>,
}

impl OnDevice<'_, '_, '_> {
    /// The columns of A and the rows of B of block `k`, where they are here.
    fn fill(&self, k: usize, a: &mut DynDeviceMatrix, b: &mut DynDeviceMatrix) -> Result<(), Error> {
        let (engine, (i, j)) = (self.rank.engine(), self.a.grid().place());
        let (width, rows, cols) = (self.a.cols().indices(k).len(), self.c.rows(), self.c.cols());
        if self.a.cols().owner(k) == j {
            let from = DeviceRef::from(&self.on.0).window(0, self.a.cols().local(k).start, rows, width)?;
            engine.copy(from, write(a, rows, width)?)?;
        }
        if self.b.rows().owner(k) == i {
            let from = DeviceRef::from(&self.on.1).window(self.b.rows().local(k).start, 0, width, cols)?;
            engine.copy(from, write(b, width, cols)?)?;
        }
        Ok(())
    }

    fn product(&mut self, k: usize, a: &DynDeviceMatrix, b: &DynDeviceMatrix) -> Result<(), Error> {
        let (width, rows, cols) = (self.a.cols().indices(k).len(), self.c.rows(), self.c.cols());
        let (a, b) = (read(a, rows, width)?, read(b, width, cols)?);
        let c = DeviceMut::from(&mut self.c);
        join(self.rank.engine(), self.semiring, (a, b), c, Joining::Accumulate, self.options)
    }
}

impl ByPanels for OnDevice<'_, '_, '_> {
    type Coming = (Coming, Coming);
    type Panels = (DynDeviceMatrix, DynDeviceMatrix);

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
        let settled = self.rank.settle();
        self.rank.keep(settled);
        Ok(panels)
    }

    fn join(&mut self, k: usize, (a, b): Self::Panels) -> Result<(), Error> {
        let joined = self.product(k, &a, &b);
        self.rank.keep(joined);
        self.spare.push((a, b));
        Ok(())
    }

    fn fault(&mut self) -> Option<Error> {
        self.rank.fault().take().map(|error| self.rank.named(error))
    }
}
