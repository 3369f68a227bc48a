//! Sharing parts of some work among threads.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tilewright_core::Error;

/// Calls `f` with every part; each of at most `threads` threads takes the next that nobody has. 0 takes as many threads as the pool has.
///
/// # Errors
/// One of those of `f`; parts that nobody has taken are left out then.
pub(crate) fn share<P: Send>(
    threads: usize,
    parts: impl Iterator<Item = P>,
    f: impl Fn(P) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    if threads == 1 {
        return parts.into_iter().try_for_each(f);
    }
    let parts: Vec<Mutex<Option<P>>> = parts.map(|part| Mutex::new(Some(part))).collect();
    on_threads(threads, parts.len(), &|index| {
        let part = parts[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        part.map_or(Ok(()), &f)
    })
}

/// Calls `f` with every number below `count`. Compiled once, whatever the parts are.
fn on_threads(
    threads: usize,
    count: usize,
    f: &(dyn Fn(usize) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let threads = if threads == 0 { rayon::current_num_threads() } else { threads }.min(count);
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(error) = f(index) {
                next.store(count, Ordering::Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::ErrorKind;

    #[test]
    fn every_part_is_taken_once_and_errors_come_back() {
        for threads in [0, 1, 2, 5] {
            let mut seen = vec![0; 40];
            share(threads, seen.iter_mut(), |slot| {
                *slot += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, [1; 40]);
            let failed = share(threads, 0..40, |i| {
                if i == 7 { Err(ErrorKind::Cancelled { place: None }.into()) } else { Ok(()) }
            });
            assert_eq!(failed.unwrap_err().code(), "cancelled");
        }
    }
}
