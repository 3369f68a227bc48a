//! A rank's GPU as the carrier of its panels.

use super::{
    Device,
    lanes::{Lanes, Shared},
    link::{Link, OnItsWay, by_hosts, by_peers, upload},
    trace::Recorder,
};
use crate::{
    grid::{Along, Grid},
    site::{Carrier, Lane, Work},
};
use std::time::{Duration, Instant};
use tilewright::{
    DType, Error, ErrorKind, Layout,
    cuda::{DeviceMut, DeviceRef, DynDeviceMatrix, Mark},
};

/// Panels that are under way at once: two of rows or columns, and a block of the diagonal.
const AT_ONCE: usize = 3;
/// No device is as slow as this, in terms and in bytes a second.
const SLOWEST: (f64, f64) = (1e11, 1e8);
/// So many bytes are sent at first. They go the way that panels go.
const FIRST: usize = 4 << 20;
/// How long is waited at least.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long is waited for a step of so many terms and bytes, before another device is taken to have ended.
fn patience(terms: f64, bytes: f64) -> Duration {
    PATIENCE.max(Duration::from_secs_f64(terms / SLOWEST.0 + bytes / SLOWEST.1))
}

/// Memory of panels on the device of a rank, and what sends them.
pub(crate) struct Rank<'r, 'g> {
    pub(super) lanes: Lanes,
    grid: &'g Grid<'g>,
    dtype: DType,
    row: Link,
    column: Link,
    patience: Duration,
    /// The end of the work that was under way when this rank kept pace for the last time.
    before: Option<[Mark; 2]>,
    recorder: Option<Recorder<'r>>,
    fault: Option<Error>,
}

/// A panel on its way: work that comes later in the stream finds it, unless it comes through the hosts' memory.
pub(crate) struct Coming {
    panel: Shared,
    along: Along,
    on_its_way: Option<OnItsWay>,
}

impl<'r, 'g> Rank<'r, 'g> {
    /// Joins the GPUs of the grid's rows and columns, and copies matrices to this rank's GPU meanwhile, as `copy` does. Panels are `block` wide, and as long as the sides `rows`
    /// and `cols` of this rank's part.
    pub fn new<T: Send>(
        device: &'r Device,
        lanes: Lanes,
        grid: &'g Grid<'g>,
        dtype: DType,
        (block, rows, cols): (usize, usize, usize),
        copy: impl FnOnce(&Lanes) -> Result<T, Error> + Send,
    ) -> Result<(Self, T), Error> {
        let (world, bytes) = (grid.world(), block * rows.max(cols).max(block) * dtype.size());
        let row = Link::named(device, grid, Along::Row)?;
        let column = Link::named(device, grid, Along::Column)?;
        let first = lanes.panels.zeros_dyn(DType::U8, Layout::row_major(1, FIRST));
        let mut first = world.agree(first, "taking memory for panels")?;
        let join = |named| Link::joined(named, &lanes.panels, (bytes, AT_ONCE));
        let (row, column, copied, connected) = std::thread::scope(|scope| -> Result<_, Error> {
            let copied = scope.spawn(|| copy(&lanes));
            let row = world.agree(join(&row), "joining GPUs")?;
            let column = world.agree(join(&column), "joining GPUs")?;
            let connected = row.connect(&mut first).and_then(|()| column.connect(&mut first));
            let copied = copied.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((row, column, world.agree(copied, "copying to the GPU")?, connected))
        })?;
        let terms = rows as f64 * cols as f64 * block as f64;
        let patience = patience(terms, 2.0 * bytes as f64);
        let recorder = device.trace().map(|trace| Recorder::new(trace, world.rank(), &lanes));
        let recorder = world.agree(recorder.transpose(), "beginning a trace")?;
        let fault = connected.err();
        let rank = Self { lanes, grid, dtype, row, column, patience, before: None, recorder, fault };
        Ok((rank, copied))
    }

    /// Waits for marks, unless another device is seen to have failed.
    fn wait(&self, marks: &[Mark; 2]) -> Result<(), Error> {
        let (began, patience) = (Instant::now(), self.patience);
        let check = || self.row.check().and_then(|()| self.column.check());
        for mark in marks {
            mark.wait_while(|| {
                check()?;
                if began.elapsed() < patience { Ok(()) } else { Err(too_long(patience)) }
            })?;
        }
        check()
    }

    /// Keeps what went wrong here alone, for all to agree on.
    pub fn keep(&mut self, done: Result<(), Error>) {
        if let (None, Err(error)) = (&self.fault, done) {
            self.fault = Some(error);
        }
    }

    fn link(&mut self, along: Along) -> &mut Link {
        match along {
            Along::Row => &mut self.row,
            Along::Column => &mut self.column,
        }
    }
}

impl Carrier for Rank<'_, '_> {
    type Panel = Shared;
    type Coming = Coming;

    fn room(&self, elements: usize) -> Result<Shared, Error> {
        self.lanes.row(self.dtype, elements)
    }

    fn send(
        &mut self,
        along: Along,
        mut panel: Shared,
        elements: usize,
        root: usize,
    ) -> Result<Coming, Error> {
        let (grid, bytes) = (self.grid, elements * self.dtype.size());
        let group = grid.along(along);
        if group.size() == 1 || bytes == 0 {
            return Ok(Coming { panel, along, on_its_way: None });
        }
        if group.rank() != root {
            grid.count(bytes as u64);
        }
        let begun = self.mark(Work::Send, Lane::Panels);
        self.keep(begun);
        let (engine, here) = (self.lanes.panels.clone(), &mut panel.panels);
        let (on_its_way, done) = match self.link(along) {
            Link::Nccl(Some(communicator)) => (None, communicator.broadcast(here, bytes, root)),
            Link::Hosts(spare) => {
                let (on_its_way, done) = by_hosts(spare, group, (here, elements), root)?;
                (Some(on_its_way), done)
            }
            Link::Nccl(None) | Link::Peers => (None, by_peers(&engine, group, here, bytes, root)?),
        };
        self.keep(done);
        let ended = self.mark(Work::Send, Lane::Panels);
        self.keep(ended);
        Ok(Coming { panel, along, on_its_way })
    }

    fn arrived(&mut self, coming: Coming) -> Result<Shared, Error> {
        let Coming { mut panel, along, on_its_way } = coming;
        if let Some(OnItsWay { pending, is_root }) = on_its_way {
            let buffer = pending.wait()?;
            if !is_root {
                self.keep(upload(&buffer, &mut panel.panels));
            }
            if let Link::Hosts(spare) = self.link(along) {
                spare.push(buffer);
            }
        }
        Ok(panel)
    }

    fn mark(&mut self, work: Work, lane: Lane) -> Result<(), Error> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.mark(&self.lanes, work, lane))
    }

    fn fault(&mut self) -> &mut Option<Error> {
        &mut self.fault
    }

    fn named(&self, error: Error) -> Error {
        let device = self.lanes.rest.device();
        match error.kind() {
            ErrorKind::Device { doing, name, number, text, hint } => {
                let doing = format!("{doing} on device {} ({})", device.ordinal, device.name);
                let (name, text, hint) = (name.clone(), text.clone(), hint.clone());
                ErrorKind::Device { doing, name, number: *number, text, hint }.into()
            }
            _ => error,
        }
    }

    fn keep_pace(&mut self) -> Result<(), Error> {
        let marks = self.lanes.marks()?;
        self.before.replace(marks).map_or(Ok(()), |before| self.wait(&before))
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.before = None;
        self.wait(&self.lanes.marks()?)?;
        self.recorder.as_mut().map_or(Ok(()), Recorder::keep)
    }

    fn give_up(&mut self) {
        self.row.abort();
        self.column.abort();
    }
}

fn too_long(patience: Duration) -> Error {
    let doing = "waiting for panels of other GPUs".into();
    let text = format!("nothing has come for {} s", patience.as_secs());
    let hint = "see whether all processes still run; NCCL_DEBUG=WARN lets NCCL say more".into();
    ErrorKind::Device { doing, name: "NCCL".into(), number: 0, text, hint }.into()
}

/// The beginning of a panel as a matrix.
pub(super) fn read(panel: &DynDeviceMatrix, rows: usize, cols: usize) -> Result<DeviceRef<'_>, Error> {
    DeviceRef::from(panel).reshaped(Layout::row_major(rows, cols))
}

/// As [`read`], to write.
pub(super) fn write(panel: &mut DynDeviceMatrix, rows: usize, cols: usize) -> Result<DeviceMut<'_>, Error> {
    DeviceMut::from(panel).reshaped(Layout::row_major(rows, cols))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_with_the_work() {
        assert_eq!(patience(1e9, 1e6), PATIENCE);
        assert_eq!(patience(1e13, 0.0), Duration::from_secs(100));
        assert_eq!(patience(0.0, 1e10), Duration::from_secs(100));
    }
}
