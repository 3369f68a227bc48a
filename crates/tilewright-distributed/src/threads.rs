//! A group of threads of one process: for tests, and for several devices of one process.

use crate::{
    buffer::Buffer,
    fault::failed,
    group::{Group, Pending},
};
use core::cell::Cell;
use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};
use tilewright::Error;

/// Calls `work` on so many threads, each with its rank of one group, and gives what they return in the order of ranks.
///
/// ```
/// use tilewright_distributed::{Buffer, threads};
/// let sums = threads::run(3, |group| {
///     let mine = Buffer::of(&[group.rank() as u8 + 7])?;
///     Ok::<_, tilewright::Error>(group.send(mine, 2)?.as_slice()[0])
/// });
/// assert!(sums.into_iter().all(|byte| byte.is_ok_and(|byte| byte == 9)));
/// ```
///
/// # Panics
/// Where `work` panics.
pub fn run<T: Send>(ranks: usize, work: impl Fn(&dyn Group) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let start = |member: Box<dyn Group + Send>| {
            let work = &work;
            scope.spawn(move || work(&*member))
        };
        let threads: Vec<_> = members(ranks).into_iter().map(start).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The ranks of one group, in order, for threads that are started elsewhere: each thread takes one.
pub fn members(ranks: usize) -> Vec<Box<dyn Group + Send>> {
    let shared = Shared::new(ranks);
    (0..ranks).map(|rank| Box::new(Member::new(Arc::clone(&shared), rank)) as Box<dyn Group + Send>).collect()
}

/// What the members of a group share.
#[derive(Debug)]
struct Shared {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// What was given to each collective call that is not over, by its number.
    calls: HashMap<u64, Call>,
    /// Groups that are being made, by the call and the colour, and how many have taken them.
    groups: HashMap<(u64, usize), (Arc<Shared>, usize)>,
    /// Ranks that give nothing more.
    left: Vec<bool>,
}

#[derive(Debug)]
struct Call {
    parts: Vec<Option<Arc<Buffer>>>,
    /// Ranks that have taken what they wait for.
    taken: usize,
}

impl Shared {
    fn new(size: usize) -> Arc<Self> {
        let state = State { calls: HashMap::new(), groups: HashMap::new(), left: vec![false; size] };
        Arc::new(Self { size, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is made by one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, call: u64, rank: usize, part: Buffer) {
        let mut state = self.lock();
        state.call(call, self.size).parts[rank] = Some(Arc::new(part));
        drop(state);
        self.changed.notify_all();
    }

    /// What a rank gave to a call, once it has.
    fn take(&self, call: u64, rank: usize) -> Result<Arc<Buffer>, Error> {
        let mut state = self.lock();
        loop {
            if let Some(part) = state.call(call, self.size).parts[rank].clone() {
                return Ok(part);
            }
            if state.left[rank] {
                return Err(failed("a collective call", rank, "it has ended before the others"));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A rank has all that it wants of a call, which `readers` read in all.
    fn done(&self, call: u64, readers: usize) {
        let mut state = self.lock();
        let of = state.call(call, self.size);
        of.taken += 1;
        if of.taken == readers {
            state.calls.remove(&call);
        }
    }
}

impl State {
    fn call(&mut self, call: u64, size: usize) -> &mut Call {
        self.calls.entry(call).or_insert_with(|| Call { parts: vec![None; size], taken: 0 })
    }
}

/// A rank of a group.
#[derive(Debug)]
struct Member {
    shared: Arc<Shared>,
    rank: usize,
    calls: Cell<u64>,
}

impl Member {
    fn new(shared: Arc<Shared>, rank: usize) -> Self {
        Self { shared, rank, calls: Cell::new(0) }
    }

    /// The number of a collective call: the same on all ranks.
    fn next(&self) -> u64 {
        self.calls.replace(self.calls.get() + 1)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.shared.lock().left[self.rank] = true;
        self.shared.changed.notify_all();
    }
}

impl Group for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn split(&self, color: usize) -> Result<Box<dyn Group>, Error> {
        let colors = self.exchange(&(color as u64).to_le_bytes())?;
        let mine = (color as u64).to_le_bytes();
        let is_mine = |other: &[u8]| *other == mine;
        let ranks = colors.chunks(mine.len());
        let size = ranks.clone().filter(|other| is_mine(other)).count();
        let rank = ranks.take(self.rank).filter(|other| is_mine(other)).count();
        let key = (self.next(), color);
        let mut state = self.shared.lock();
        let (shared, taken) = state.groups.entry(key).or_insert_with(|| (Shared::new(size), 0));
        let shared = Arc::clone(shared);
        *taken += 1;
        if *taken == size {
            state.groups.remove(&key);
        }
        Ok(Box::new(Self::new(shared, rank)))
    }

    fn broadcast(&self, buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error> {
        let call = self.next();
        if self.rank != root {
            return Ok(Box::new(Waiting { shared: Arc::clone(&self.shared), call, root, buffer }));
        }
        if self.size() > 1 {
            self.shared.give(call, root, buffer.clone());
        }
        Ok(Box::new(Ready(buffer)))
    }

    fn exchange(&self, mine: &[u8]) -> Result<Vec<u8>, Error> {
        let call = self.next();
        self.shared.give(call, self.rank, Buffer::of(mine)?);
        let mut all = Vec::new();
        for rank in 0..self.size() {
            all.extend_from_slice(self.shared.take(call, rank)?.as_slice());
        }
        self.shared.done(call, self.size());
        Ok(all)
    }
}

/// A broadcast of this rank's own buffer.
struct Ready(Buffer);

impl Pending for Ready {
    fn wait(self: Box<Self>) -> Result<Buffer, Error> {
        Ok(self.0)
    }
}

/// A broadcast of another rank's buffer.
struct Waiting {
    shared: Arc<Shared>,
    call: u64,
    root: usize,
    buffer: Buffer,
}

impl Pending for Waiting {
    fn wait(mut self: Box<Self>) -> Result<Buffer, Error> {
        let part = self.shared.take(self.call, self.root)?;
        if part.len() != self.buffer.len() {
            let text = format!("{} bytes were sent where {} are expected", part.len(), self.buffer.len());
            return Err(failed("a broadcast", self.root, text));
        }
        self.buffer.as_mut_slice().copy_from_slice(part.as_slice());
        self.shared.done(self.call, self.shared.size - 1);
        Ok(self.buffer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn groups_split_and_keep_the_order_of_ranks() {
        let all = run(5, |group| {
            let part = group.split(group.rank() % 2).unwrap();
            let ranks = part.exchange(&[group.rank() as u8]).unwrap();
            (part.rank(), ranks)
        });
        assert_eq!(all[3], (1, vec![1, 3]));
        assert_eq!(all[4], (2, vec![0, 2, 4]));
    }

    #[test]
    fn a_rank_that_ends_is_an_error_to_those_who_wait() {
        let all = run(3, |group| {
            if group.rank() == 1 {
                return None;
            }
            group.send(Buffer::zeroed(4).unwrap(), 1).err().map(|error| error.to_string())
        });
        assert!(all[0].as_ref().is_some_and(|text| text.contains("rank (1)")), "{all:?}");
        assert!(all[2].is_some());
    }

    #[test]
    fn broadcasts_overlap() {
        let all = run(4, |group| {
            let send =
                |root: usize| group.broadcast(Buffer::of(&[group.rank() as u8; 3]).unwrap(), root).unwrap();
            let (first, second) = (send(0), send(3));
            let second = second.wait().unwrap().as_slice().to_vec();
            (first.wait().unwrap().as_slice().to_vec(), second)
        });
        assert!(all.into_iter().all(|got| got == (vec![0; 3], vec![3; 3])));
    }
}
