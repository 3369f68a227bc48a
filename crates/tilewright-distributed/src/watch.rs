//! Groups that do not wait for ever: a thread looks how long this rank has waited for others.

use crate::{
    buffer::Buffer,
    fault,
    group::{Group, Pending},
};
use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tilewright::Error;

/// How long a rank waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// While all is well here; for ever where it is none. It must be longer than the longest step, and than reading a rank's part of a file: ranks wait for the slowest.
    pub well: Option<Duration>,
    /// After this rank has failed, until the others have heard of it.
    pub failed: Duration,
}

impl Default for Patience {
    /// For ever, and a minute.
    fn default() -> Self {
        Self { well: None, failed: Duration::from_secs(60) }
    }
}

/// A group that is watched by a thread. All groups that it is split into are watched as well.
///
/// Ranks that are stopped, or whose machine does not answer, leave the others in a call of MPI that does not return: only another thread can end the process then.
#[derive(Debug)]
pub struct Watched<'g> {
    group: Inner<'g>,
    watch: Arc<Watch>,
    /// The numbers of its ranks in the group that is watched.
    ranks: Vec<usize>,
}

enum Inner<'g> {
    Lent(&'g dyn Group),
    Part(Box<dyn Group>),
}

impl fmt::Debug for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Inner<'_> {
    fn get(&self) -> &dyn Group {
        match self {
            Self::Lent(group) => *group,
            Self::Part(group) => &**group,
        }
    }
}

/// What the thread looks at.
#[derive(Debug)]
struct Watch {
    rank: usize,
    patience: Patience,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What this rank does, by the words of the last agreement.
    doing: String,
    /// Since when it has waited, and for whom.
    waiting: Option<(Instant, String)>,
    /// What it has failed by, and when.
    failed: Option<(Instant, Error)>,
    is_over: bool,
}

impl<'g> Watched<'g> {
    /// Lets a thread call `end` with an error that names step, host and rank when patience is at its end. `end` is expected to end the process.
    pub fn new(group: &'g dyn Group, patience: Patience, end: impl FnOnce(Error) + Send + 'static) -> Self {
        let state = Mutex::new(State { doing: "the beginning".to_owned(), ..State::default() });
        let watch = Arc::new(Watch { rank: group.rank(), patience, state, changed: Condvar::new() });
        let watched = Arc::clone(&watch);
        // Without the thread nobody watches, and work goes on.
        let _ = thread::Builder::new().name("watch".to_owned()).spawn(move || {
            if let Some(error) = watched.until_the_end() {
                end(error);
            }
        });
        Self { group: Inner::Lent(group), watch, ranks: (0..group.size()).collect() }
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if matches!(self.group, Inner::Lent(_)) {
            self.watch.lock().is_over = true;
            self.watch.changed.notify_all();
        }
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is made by one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work`, which waits for `whom`.
    fn during<T>(&self, whom: impl FnOnce() -> String, work: impl FnOnce() -> T) -> T {
        self.lock().waiting = Some((Instant::now(), whom()));
        let done = work();
        self.lock().waiting = None;
        done
    }

    /// The error when patience is at its end; none where the group is over before.
    fn until_the_end(&self) -> Option<Error> {
        let mut state = self.lock();
        while !state.is_over {
            if let Some(error) = self.impatient(&mut state) {
                return Some(error);
            }
            let pause = self.patience.well.unwrap_or(self.patience.failed).min(self.patience.failed) / 8;
            let pause = pause.clamp(Duration::from_millis(5), Duration::from_secs(1));
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn impatient(&self, state: &mut State) -> Option<Error> {
        if state.failed.as_ref().is_some_and(|(since, _)| since.elapsed() > self.patience.failed) {
            return state.failed.take().map(|(_, error)| error);
        }
        let (since, whom) = state.waiting.as_ref()?;
        let limit = self.patience.well.filter(|&limit| since.elapsed() > limit)?;
        let text = format!("waited {limit:?} for {whom}, and nobody answered");
        Some(fault::failed(&state.doing, self.rank, text))
    }
}

fn everyone() -> String {
    "all ranks".to_owned()
}

impl Group for Watched<'_> {
    fn rank(&self) -> usize {
        self.group.get().rank()
    }

    fn size(&self) -> usize {
        self.group.get().size()
    }

    fn split(&self, color: usize) -> Result<Box<dyn Group>, Error> {
        let part = self.watch.during(everyone, || self.group.get().split(color))?;
        let mine = self.ranks[self.rank()] as u64;
        let ranks = self.watch.during(everyone, || part.exchange(&mine.to_le_bytes()))?;
        let ranks =
            ranks.chunks(8).map(|rank| rank.try_into().map_or(0, u64::from_le_bytes) as usize).collect();
        Ok(Box::new(Watched { group: Inner::Part(part), watch: Arc::clone(&self.watch), ranks }))
    }

    fn broadcast(&self, buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error> {
        let from = self.ranks.get(root).copied().unwrap_or(root);
        let pending =
            self.watch.during(|| format!("rank {from}"), || self.group.get().broadcast(buffer, root))?;
        Ok(Box::new(Awaited { pending, watch: Arc::clone(&self.watch), from }))
    }

    fn exchange(&self, mine: &[u8]) -> Result<Vec<u8>, Error> {
        self.watch.during(everyone, || self.group.get().exchange(mine))
    }

    fn note(&self, doing: &str, problem: Option<&Error>) {
        let failed = problem.map(|error| (Instant::now(), fault::copy(self.watch.rank, error, doing)));
        let mut state = self.watch.lock();
        doing.clone_into(&mut state.doing);
        state.failed = failed;
    }
}

/// A broadcast that is waited for under the eyes of the thread.
struct Awaited {
    pending: Box<dyn Pending>,
    watch: Arc<Watch>,
    from: usize,
}

impl Pending for Awaited {
    fn wait(self: Box<Self>) -> Result<Buffer, Error> {
        let Self { pending, watch, from } = *self;
        watch.during(|| format!("rank {from}"), || pending.wait())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::threads;
    use std::sync::mpsc;

    /// What two ranks hear from their watches while rank 1 does `other` in the time that rank 0 waits.
    fn heard(patience: Patience, other: impl Fn(&dyn Group) + Sync) -> Vec<Option<String>> {
        threads::run(2, |group| {
            let (tell, told) = mpsc::channel();
            let watched = Watched::new(group, patience, move |error| tell.send(error.to_string()).unwrap());
            if group.rank() == 0 {
                watched.note("step 3 of 5", None);
                watched.exchange(&[0]).unwrap();
            } else {
                other(&watched);
                watched.exchange(&[0]).unwrap();
            }
            drop(watched);
            told.recv().ok()
        })
    }

    #[test]
    fn a_rank_that_waits_too_long_names_step_and_rank() {
        let short = Patience { well: Some(Duration::from_millis(20)), ..Patience::default() };
        let heard = heard(short, |_| thread::sleep(Duration::from_millis(400)));
        let text = heard[0].as_ref().unwrap();
        assert!(
            text.starts_with("step 3 of 5 on ") && text.contains("rank (0): waited 20ms for all ranks"),
            "{text}"
        );
        assert_eq!(heard[1], None);
    }

    #[test]
    fn nobody_is_disturbed_while_all_answer() {
        let long = Patience { well: Some(Duration::from_secs(600)), ..Patience::default() };
        assert_eq!(heard(long, |_| ()), [None, None]);
        assert_eq!(heard(Patience::default(), |_| thread::sleep(Duration::from_millis(50))), [None, None]);
    }

    #[test]
    fn a_rank_that_has_failed_waits_less() {
        let patience = Patience { well: None, failed: Duration::from_millis(20) };
        let heard = heard(patience, |group| {
            group.note("step 4 of 5", Some(&fault::failed("this", 1, "too little memory")));
            thread::sleep(Duration::from_millis(400));
        });
        assert_eq!(heard[0], None);
        assert!(heard[1].as_ref().is_some_and(|text| text.contains("too little memory")), "{heard:?}");
    }

    #[test]
    fn parts_name_ranks_of_the_whole() {
        let all = threads::run(4, |group| {
            let watched = Watched::new(group, Patience::default(), |_| ());
            let part = watched.split(group.rank() % 2).unwrap();
            let sent = part.send(Buffer::of(&[group.rank() as u8]).unwrap(), 1).unwrap();
            (part.size(), sent.as_slice()[0])
        });
        assert_eq!(all, [(2, 2), (2, 3), (2, 2), (2, 3)]);
    }
}
