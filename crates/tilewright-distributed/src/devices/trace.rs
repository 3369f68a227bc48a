//! A trace: what GPUs did, and when.

use super::lanes::Lanes;
use crate::{
    group::Group,
    site::{Lane, Work},
};
use std::sync::{Mutex, PoisonError};
use tilewright::{Error, cuda::Mark};

/// What the GPU of a rank has done. Events between kernels cost some microseconds each.
///
/// ```
/// use tilewright::{SemiringId, cuda::Engine};
/// use tilewright_distributed::{Closure, DistMatrix, Grid, Order, Shape, devices::{self, Device, Work}};
/// # let gpu = Default::default();
/// let gpus = [Engine::emulated(gpu)?, Engine::emulated(gpu)?]; // Engine::open(0)?, Engine::open(1)?
/// let found = devices::run(&gpus, |group, device| {
///     let grid = Grid::new(group, Shape { rows: 1, cols: 2 })?;
///     let mut d = DistMatrix::from_fn(&grid, 9, 9, 2, |i, j| if j == i + 1 { 1 } else { i32::MAX })?;
///     let device = Device::new(device.engine().clone(), group)?.traced();
///     let (device, order) = (Some(&device), Order::LookAhead);
///     Closure { device, order, ..Closure::new(SemiringId::MinPlus) }.run(&mut d)?;
///     device.and_then(Device::trace).map_or(Ok(Vec::new()), |trace| trace.of_all(group))
/// });
/// for all in found {
///     assert!(all?.iter().any(|span| span.rank == 1 && span.work == Work::Send));
/// }
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Trace(Mutex<Vec<Span>>);

/// Work of a rank's GPU, in seconds since all ranks began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The rank.
    pub rank: usize,
    /// What was done.
    pub work: Work,
    /// Whether it was done for panels, which may be in a stream of their own.
    pub is_for_panels: bool,
    /// When the GPU began.
    pub start: f64,
    /// When it had ended.
    pub end: f64,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Close, Self::Row, Self::Column, Self::Send, Self::Update];

    /// Its name: `close`, `row`, `column`, `send` or `update`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Row => "row",
            Self::Column => "column",
            Self::Send => "send",
            Self::Update => "update",
        }
    }
}

/// Bytes that tell of a span.
const BYTES: usize = 18;

impl Span {
    fn told(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..2].copy_from_slice(&[self.work as u8, self.is_for_panels.into()]);
        bytes[2..10].copy_from_slice(&self.start.to_le_bytes());
        bytes[10..].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    fn heard(rank: usize, bytes: &[u8]) -> Option<Self> {
        let work = *Work::ALL.get(usize::from(*bytes.first()?))?;
        let seconds = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(f64::from_le_bytes);
        let is_for_panels = *bytes.get(1)? != 0;
        Some(Self { rank, work, is_for_panels, start: seconds(2)?, end: seconds(10)? })
    }
}

impl Trace {
    /// What the GPUs of all ranks have done, rank by rank. Every rank of the group calls it, with a trace of its own.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn of_all(&self, group: &dyn Group) -> Result<Vec<Span>, Error> {
        let mut told: Vec<u8> = self.lock().iter().flat_map(Span::told).collect();
        let lengths = group.exchange(&(told.len() as u64).to_le_bytes())?;
        let lengths: Vec<usize> = lengths
            .chunks_exact(size_of::<u64>())
            .map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes) as usize)
            .collect();
        // Each gives as many bytes as the longest.
        let longest = lengths.iter().copied().max().unwrap_or(0);
        told.resize(longest, 0);
        let all = group.exchange(&told)?;
        let of_rank = |rank: usize| {
            let bytes = all.get(rank * longest..).and_then(|bytes| bytes.get(..lengths[rank]));
            bytes.unwrap_or_default().chunks_exact(BYTES).filter_map(move |bytes| Span::heard(rank, bytes))
        };
        Ok((0..lengths.len()).flat_map(of_rank).collect())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Span>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a rank's work begins and ends in its streams.
#[derive(Debug)]
pub(super) struct Recorder<'t> {
    trace: &'t Trace,
    rank: usize,
    begin: Mark,
    /// The beginning and the end of each work, one after the other.
    marks: Vec<(Work, Lane, Mark)>,
}

impl<'t> Recorder<'t> {
    /// Time begins here. All ranks do so together.
    pub fn new(trace: &'t Trace, rank: usize, lanes: &Lanes) -> Result<Self, Error> {
        Ok(Self { trace, rank, begin: lanes.rest.mark()?, marks: Vec::new() })
    }

    /// Marks that work begins, and when it is called again, that it ends.
    pub fn mark(&mut self, lanes: &Lanes, work: Work, lane: Lane) -> Result<(), Error> {
        self.marks.push((work, lane, lanes.of(lane).mark()?));
        Ok(())
    }

    /// Adds what is done to the trace.
    pub fn keep(&mut self) -> Result<(), Error> {
        let marks = std::mem::take(&mut self.marks);
        for pair in marks.chunks_exact(2) {
            let (work, lane, start) = &pair[0];
            let (start, end) = (start.seconds_since(&self.begin)?, pair[1].2.seconds_since(&self.begin)?);
            let is_for_panels = *lane == Lane::Panels;
            self.trace.lock().push(Span { rank: self.rank, work: *work, is_for_panels, start, end });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_hears_what_another_one_tells() {
        for (at, work) in Work::ALL.into_iter().enumerate() {
            let span = Span { rank: 3, work, is_for_panels: at % 2 == 0, start: 0.25, end: 1.5 + at as f64 };
            assert_eq!(Span::heard(3, &span.told()), Some(span));
        }
        assert_eq!(Span::heard(0, &[9; BYTES]), None);
        assert_eq!(Span::heard(0, &[0; 3]), None);
    }
}
