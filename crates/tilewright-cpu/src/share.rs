//! Shares work among threads.

use core::{
    any::Any,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, Thread},
    time::{Duration, Instant},
};
use tilewright_core::Error;

/// How long to wait actively for other threads: as long as it takes to put a thread to sleep and wake it again.
const PATIENCE: Duration = Duration::from_micros(50);

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
    let helpers = threads.min(items.len()).saturating_sub(1);
    if helpers == 0 {
        return items.iter().try_for_each(f);
    }
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let run = |i: usize| {
        let Err(error) = f(&items[i]) else { return };
        let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(j, _)| i < *j) {
            *first = Some((i, error));
        }
    };
    let run: &(dyn Fn(usize) + Sync) = &run;
    let work = Arc::new(Work {
        next: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        count: items.len(),
        // SAFETY: only the lifetime changes. `Work::take_part` calls it for unfinished items alone, and this
        // function does not return before all are finished.
        run: unsafe { core::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(run) },
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    for _ in 0..helpers {
        let work = Arc::clone(&work);
        rayon::spawn(move || work.take_part());
    }
    work.take_part();
    work.wait();
    if let Some(panic) = work.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
        resume_unwind(panic);
    }
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

/// Items of which each is taken by one thread. Threads may look at it after all are finished.
struct Work {
    /// The next item that nobody has taken, if it is below `count`.
    next: AtomicUsize,
    finished: AtomicUsize,
    count: usize,
    /// Valid until all items are finished.
    run: &'static (dyn Fn(usize) + Sync),
    caller: Thread,
    /// What an item panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Work {
    /// Takes items until there are none.
    fn take_part(&self) {
        loop {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.count {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.run)(item))) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
            if self.finished.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
                self.caller.unpark();
            }
        }
    }

    /// Waits for the items that other threads have taken.
    fn wait(&self) {
        let since = Instant::now();
        while self.finished.load(Ordering::Acquire) < self.count {
            if since.elapsed() < PATIENCE {
                core::hint::spin_loop();
            } else {
                thread::park();
            }
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
}
