//! Ranks that compute together.

use crate::{buffer::Buffer, fault};
use core::fmt;
use tilewright::Error;

/// Processes or threads that compute together, each with a number from 0 on: its rank.
///
/// All but [`rank`](Group::rank) and [`size`](Group::size) are collective: every rank calls them, in the same order.
pub trait Group: fmt::Debug {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// The group of those ranks that give the same colour, in the order of their ranks here.
    ///
    /// # Errors
    /// `device` where the transport fails.
    fn split(&self, color: usize) -> Result<Box<dyn Group>, Error>;

    /// Begins to send the buffer of rank `root` to all others, whose buffers are as long.
    ///
    /// # Errors
    /// As [`Group::split`].
    fn broadcast(&self, buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error>;

    /// The bytes of all ranks one after another; each gives as many.
    ///
    /// # Errors
    /// As [`Group::split`].
    fn exchange(&self, mine: &[u8]) -> Result<Vec<u8>, Error>;

    /// Hears what this rank is about to agree on, and what it has failed by. [`Watched`](crate::Watched) groups keep it in mind.
    fn note(&self, _doing: &str, _problem: Option<&Error>) {}
}

/// A broadcast that is under way.
pub trait Pending {
    /// Waits until the buffer holds what the root sent.
    ///
    /// # Errors
    /// As [`Group::split`].
    fn wait(self: Box<Self>) -> Result<Buffer, Error>;
}

impl dyn Group + '_ {
    /// Makes the error of one rank that of all: `Ok` where every rank gives `Ok`, otherwise what the lowest rank with an error says.
    /// `doing` names the step for those who read it.
    ///
    /// # Errors
    /// `negative-cycle`, `bad-file`, `io`, `outside-domain`, `conversion` and `unsupported` as they are; others as `device`, which names step, rank and host. In a group of
    /// one the error itself.
    pub fn agree<T>(&self, mine: Result<T, Error>, doing: &str) -> Result<T, Error> {
        fault::agree(self, mine, doing)
    }

    /// As [`Group::broadcast`], to its end.
    ///
    /// # Errors
    /// As [`Group::broadcast`].
    pub fn send(&self, buffer: Buffer, root: usize) -> Result<Buffer, Error> {
        self.broadcast(buffer, root)?.wait()
    }

    /// Sends a few bytes of any number from `root` to all.
    ///
    /// # Errors
    /// As [`Group::broadcast`].
    pub fn tell(&self, bytes: &[u8], root: usize) -> Result<Vec<u8>, Error> {
        let len = self.send(Buffer::of(&(bytes.len() as u64).to_le_bytes())?, root)?;
        let len = len.as_slice().try_into().map_or(0, u64::from_le_bytes) as usize;
        let buffer = if self.rank() == root { Buffer::of(bytes)? } else { Buffer::zeroed(len)? };
        Ok(self.send(buffer, root)?.as_slice().to_vec())
    }
}
