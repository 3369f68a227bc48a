//! Shares work among threads.

use core::{
    any::Any,
    iter,
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
    let work = Arc::new(Work {
        next: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        count: items.len(),
        // SAFETY: only the lifetime changes. `Work::take_part` calls it for unfinished items alone, and this
        // function does not return before all are finished.
        run: unsafe { core::mem::transmute::<&Run<'_>, &'static Run<'static>>(run) },
        helps: (0..threads).map(|_| Help { offered: true, ..Help::default() }).collect(),
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    for number in 1..threads {
        let work = Arc::clone(&work);
        rayon::spawn(move || work.take_part(number));
    }
    work.take_part(0);
    work.wait();
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
    caller: Thread,
    /// What an item panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Work {
    /// Takes items until there are none, and then helps until there is no more to help with.
    fn take_part(&self, number: usize) {
        for item in untaken(&self.next, self.count) {
            self.catch(|| (self.run)(item, &self.helps[number]));
            if self.finished.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
                self.caller.unpark();
            }
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

    /// Calls `f`, whatever happens.
    fn catch(&self, f: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            *lock(&self.panic) = Some(panic);
        }
    }

    fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire) == self.count
    }

    /// Waits for the items that other threads have taken.
    fn wait(&self) {
        while !self.is_finished() {
            thread::park();
        }
    }
}

/// What other threads can help one thread with.
#[derive(Default)]
pub struct Help {
    /// Whether there are other threads.
    offered: bool,
    /// Valid until the thread that offers it has withdrawn it, and nobody helps.
    offer: Mutex<Option<&'static Offer<'static>>>,
    helpers: AtomicUsize,
}

/// Does a part of some work, until there is no more.
pub type Offer<'a> = dyn Fn() + Sync + 'a;

impl Help {
    /// Calls `own` for some work. Threads that have nothing else to do call `offer` meanwhile, which shares the work; they have
    /// ended when this function does.
    pub fn with<R>(&self, offer: &Offer<'_>, own: impl FnOnce() -> R) -> R {
        if !self.offered {
            return own();
        }
        // SAFETY: only the lifetime changes. `Withdrawal` ends its use, whatever happens.
        let offer = unsafe { core::mem::transmute::<&Offer<'_>, &'static Offer<'static>>(offer) };
        *lock(&self.offer) = Some(offer);
        let _withdrawal = Withdrawal(self);
        own()
    }

    /// Helps by `call` with what is offered, to the end. Whether anything was.
    fn enter(&self, call: impl FnOnce(&Offer<'_>)) -> bool {
        let Some(offer) = self.take() else { return false };
        call(offer);
        *lock(&self.offer) = None;
        self.helpers.fetch_sub(1, Ordering::Release);
        true
    }

    /// What is offered, if anything is; not withdrawn before `helpers` is counted down.
    fn take(&self) -> Option<&Offer<'_>> {
        let offer = lock(&self.offer);
        let taken = (*offer)?;
        self.helpers.fetch_add(1, Ordering::Relaxed);
        Some(taken)
    }
}

/// Withdraws an offer, and waits for those who help.
struct Withdrawal<'a>(&'a Help);

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        *lock(&self.0.offer) = None;
        let since = Instant::now();
        while self.0.helpers.load(Ordering::Acquire) > 0 {
            // A helper that is held up may need this processor.
            if since.elapsed() < PATIENCE { core::hint::spin_loop() } else { thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::ErrorKind;

    #[test]
    fn every_item_is_done_once() {
        for count in 0..40 {
            for threads in [0, 1, 2, 5] {
                let done: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let add = |item: &AtomicUsize| {
                    item.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                share(&done, threads, &add).expect("no item fails");
                assert!(done.iter().all(|item| item.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        let items: Vec<usize> = (0..64).collect();
        let fail = |&item: &usize| match item {
            17.. => Err(ErrorKind::InnerMismatch { m: 1, k: item, bk: 1, n: 1 }.into()),
            _ => Ok(()),
        };
        let error = share(&items, 4, &fail).expect_err("many items fail");
        assert!(error.to_string().contains("17"), "{error}");
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let items: Vec<usize> = (0..8).collect();
        let caught =
            catch_unwind(|| share(&items, 3, &|&item| if item == 5 { panic!("five") } else { Ok(()) }));
        assert_eq!(caught.expect_err("an item panics").downcast_ref(), Some(&"five"));
    }

    /// A few items of many pieces: each piece is done once, whoever does it, and before the item ends.
    #[test]
    fn pieces_of_items_are_done_once() {
        for (items, threads) in [(1, 4), (3, 2), (5, 3), (2, 1)] {
            let pieces: Vec<Vec<_>> =
                (0..items).map(|_| (0..500).map(|_| AtomicUsize::new(0)).collect()).collect();
            let all_once =
                |pieces: &[AtomicUsize]| pieces.iter().all(|piece| piece.load(Ordering::Relaxed) == 1);
            share_with_help(&pieces, threads, &|pieces, help| {
                let next = AtomicUsize::new(0);
                let take_part = || {
                    for piece in untaken(&next, pieces.len()) {
                        thread::sleep(Duration::from_micros(2));
                        pieces[piece].fetch_add(1, Ordering::Relaxed);
                    }
                };
                help.with(&take_part, take_part);
                assert!(all_once(pieces), "an item ended before its pieces");
                Ok(())
            })
            .expect("no item fails");
            assert!(pieces.iter().all(|pieces| all_once(pieces)));
        }
    }

    /// Offers `offer` until another thread has taken it. The thread that offers it, which need not be this one, only waits
    /// meanwhile.
    fn until_somebody_helps(offer: &(dyn Fn() + Sync)) {
        let helped = AtomicUsize::new(0);
        let offer = || {
            helped.fetch_add(1, Ordering::Release);
            offer();
        };
        let is_helped = || helped.load(Ordering::Acquire) > 0;
        let since = Instant::now();
        while !is_helped() {
            assert!(since.elapsed() < Duration::from_secs(60), "nobody helps");
            share_with_help(&[()], 2, &|(), help| {
                let since = Instant::now();
                help.with(&offer, || {
                    while !is_helped() && since.elapsed() < Duration::from_millis(5) {
                        thread::yield_now();
                    }
                });
                Ok(())
            })
            .expect("no item fails");
        }
    }

    #[test]
    fn idle_threads_help() {
        until_somebody_helps(&|| {});
    }

    #[test]
    fn a_panic_of_a_helper_reaches_the_caller() {
        let caught = catch_unwind(|| until_somebody_helps(&|| panic!("five")));
        assert_eq!(caught.expect_err("the helper panics").downcast_ref(), Some(&"five"));
    }
}
