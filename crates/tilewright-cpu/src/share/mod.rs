//! Shares work among threads.

mod help;
mod invitation;
#[cfg(test)]
mod tests;

pub use help::Help;
use invitation::Invitation;

use core::{
    any::Any,
    iter,
    mem::forget,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, Thread},
    time::{Duration, Instant},
};
use tilewright_core::Error;

/// How long to wait actively for other threads: about as long as it takes to put a thread to sleep and wake it again.
const PATIENCE: Duration = Duration::from_micros(100);

/// Calls `f` for every item and returns the error of the first item that has one. This thread and at most
/// `threads - 1` of the thread pool's take item after item.
///
/// A thread that is late finds nothing left to do, and nobody waits for one that has not begun: on a busy machine
/// the caller does all of the work itself rather than wait for help.
pub fn share<T: Sync>(
    items: &[T],
    threads: usize,
    f: &(dyn Fn(&T) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    share_with_help(items, threads.min(items.len()), &|item, _| f(item))
}

/// As [`share`]. Threads that find no item left help with the others, as far as `f` lets them: see [`Help::with`].
pub fn share_with_help<T: Sync>(
    items: &[T],
    threads: usize,
    f: &(dyn Fn(&T, &Help) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if threads <= 1 || items.is_empty() {
        return items.iter().try_for_each(|item| f(item, &Help::default()));
    }
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let run = |i: usize, help: &Help| {
        let Err(error) = f(&items[i], help) else { return };
        let mut first = lock(&failure);
        if first.as_ref().is_none_or(|(j, _)| i < *j) {
            *first = Some((i, error));
        }
    };
    let run: &Run<'_> = &run;
    // SAFETY: only the lifetime changes. `Work::take_part` calls it for unfinished items alone, and `Completion` does not
    // let this function be left, in whatever way, before all are finished.
    let run = unsafe { core::mem::transmute::<&Run<'_>, &'static Run<'static>>(run) };
    let work = Arc::new(Work::new(items.len(), threads, run));
    let completion = Completion(&work);
    Invitation::with(&work, || work.take_part(0));
    drop(completion);
    if let Some(panic) = lock(&work.panic).take() {
        resume_unwind(panic);
    }
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

/// What is done with the item of this number.
type Run<'a> = dyn Fn(usize, &Help) + Sync + 'a;

/// Items below `count`, from `next` on, each for one of the threads that count there.
pub fn untaken(next: &AtomicUsize, count: usize) -> impl Iterator<Item = usize> {
    iter::from_fn(move || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&item| item < count))
}

/// Locks, even if somebody has panicked with the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Items of which each is taken by one thread. Threads may look at it after all are finished.
struct Work {
    /// The next item that nobody has taken, if it is below `count`.
    next: AtomicUsize,
    finished: AtomicUsize,
    count: usize,
    /// Valid until all items are finished.
    run: &'static Run<'static>,
    /// What each thread may be helped with.
    helps: Vec<Help>,
    /// Threads that take part, or did.
    joined: AtomicUsize,
    caller: Thread,
    /// What the first item that panicked did so with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Work {
    /// So many items, for the calling thread and others.
    fn new(count: usize, threads: usize, run: &'static Run<'static>) -> Self {
        Self {
            next: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            count,
            run,
            helps: (0..threads).map(|_| Help::of_several()).collect(),
            joined: AtomicUsize::new(1),
            caller: thread::current(),
            panic: Mutex::new(None),
        }
    }

    /// Takes part as one more thread, if there may be one more.
    fn join(&self) {
        let number = self.joined.fetch_add(1, Ordering::Relaxed);
        if number < self.helps.len() {
            self.take_part(number);
        }
    }

    /// Takes items until there are none, and then helps until there is no more to help with.
    fn take_part(&self, number: usize) {
        for item in untaken(&self.next, self.count) {
            let _finished = Finished { work: self, items: 1 };
            self.catch(|| (self.run)(item, &self.helps[number]));
        }
        let mut since = Instant::now();
        while !self.is_finished() {
            if self.helps.iter().any(|help| help.enter(|offer| self.catch(offer))) {
                since = Instant::now();
            } else if since.elapsed() < PATIENCE {
                core::hint::spin_loop();
            } else {
                break;
            }
        }
    }

    /// Calls `f`, whatever happens. The first panic is kept for the caller. Later ones are forgotten and not dropped,
    /// because what they hold may panic once more when it is.
    fn catch(&self, f: impl FnOnce()) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { return };
        let mut first = lock(&self.panic);
        match *first {
            None => *first = Some(panic),
            // A message is dropped safely.
            Some(_) if panic.is::<&str>() || panic.is::<String>() => {}
            Some(_) => forget(panic),
        }
    }

    fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire) == self.count
    }
}

/// Items that are finished when it is dropped.
struct Finished<'a> {
    work: &'a Work,
    items: usize,
}

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        let Self { work, items } = *self;
        if work.finished.fetch_add(items, Ordering::AcqRel) + items == work.count {
            work.caller.unpark();
        }
    }
}

/// Waits, when it is dropped, for the items that threads have taken. Others there are only when the caller unwinds; nobody
/// takes them from then on.
struct Completion<'a>(&'a Work);

impl Drop for Completion<'_> {
    fn drop(&mut self) {
        let work = self.0;
        let taken = work.next.swap(work.count, Ordering::Relaxed);
        drop(Finished { work, items: work.count.saturating_sub(taken) });
        while !work.is_finished() {
            thread::park();
        }
    }
}
