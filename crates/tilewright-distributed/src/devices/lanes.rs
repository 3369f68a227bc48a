//! The two streams of a rank's GPU: in one, panels are made and sent while the rest of the matrix is updated in the other.

use super::Device;
use crate::site::Lane;
use tilewright::{
    DType, Error, Layout,
    cuda::{DynDeviceMatrix, Engine, Mark},
};

/// The streams of a rank, which may be one.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// What most of the work is done in.
    pub rest: Engine,
    /// What panels are made, sent and received in. Its kernels go first.
    pub panels: Engine,
}

impl Lanes {
    /// One stream for all work, in the order in which it is asked for.
    pub fn one(device: &Device) -> Self {
        let engine = device.engine();
        Self { rest: engine.clone(), panels: engine.clone() }
    }

    pub fn two(device: &Device) -> Result<Self, Error> {
        Ok(Self { rest: device.engine().clone(), panels: device.panels()?.clone() })
    }

    /// The stream of a lane.
    pub fn of(&self, lane: Lane) -> &Engine {
        match lane {
            Lane::Panels => &self.panels,
            Lane::Rest => &self.rest,
        }
    }

    /// Lets work of both that is asked for from now on come after all that was asked for before.
    pub fn meet(&self) -> Result<(), Error> {
        self.rest.wait_for_engine(&self.panels)?;
        self.panels.wait_for_engine(&self.rest)
    }

    /// The end of what both have been asked for.
    pub fn marks(&self) -> Result<[Mark; 2], Error> {
        Ok([self.rest.mark()?, self.panels.mark()?])
    }

    /// A row of so many zeros.
    pub fn row(&self, dtype: DType, elements: usize) -> Result<Shared, Error> {
        self.share(self.rest.zeros_dyn(dtype, Layout::row_major(1, elements))?)
    }

    /// Lets both streams use a matrix of the first one.
    pub fn share(&self, rest: DynDeviceMatrix) -> Result<Shared, Error> {
        let (dtype, layout, address) = (rest.dtype(), rest.layout(), rest.address());
        let elements = 0..(layout.rows * layout.cols) as isize;
        // SAFETY: the memory is `rest`, which is dense and goes with the value that is made here, behind the work of both streams. Whoever asks for work that needs what the
        // other stream writes lets them meet before.
        let panels = unsafe { self.panels.foreign_unchecked(dtype, layout, address, elements)? };
        self.meet()?;
        Ok(Shared { rest, panels, lanes: self.clone() })
    }
}

/// A matrix by rows that work of both streams uses.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) rest: DynDeviceMatrix,
    pub(super) panels: DynDeviceMatrix,
    lanes: Lanes,
}

impl Shared {
    /// The matrix for work in a lane.
    pub fn of(&self, lane: Lane) -> &DynDeviceMatrix {
        match lane {
            Lane::Panels => &self.panels,
            Lane::Rest => &self.rest,
        }
    }

    pub fn of_mut(&mut self, lane: Lane) -> &mut DynDeviceMatrix {
        match lane {
            Lane::Panels => &mut self.panels,
            Lane::Rest => &mut self.rest,
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The memory is freed in the order of one stream. Where the driver refuses to wait, the context is lost, and all of its memory.
        let _ = self.lanes.rest.wait_for_engine(&self.lanes.panels);
    }
}
