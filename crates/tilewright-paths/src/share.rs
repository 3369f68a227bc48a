//! Sharing parts of some work among threads.

use std::sync::{Mutex, PoisonError};
use tilewright_core::Error;

/// Calls `f` with every part; each of at most `threads` threads takes the next one. 0 takes as many threads as the pool has.
///
/// # Errors
/// The first of those of `f`, in the order of the parts; parts that no thread has taken are left out then.
pub(crate) fn share<P: Send>(
    threads: usize,
    parts: impl Iterator<Item = P>,
    f: impl Fn(P) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    if threads == 1 {
        return parts.into_iter().try_for_each(f);
    }
    let threads = if threads == 0 { rayon::current_num_threads() } else { threads };
    let parts: Vec<Mutex<Option<P>>> = parts.map(|part| Mutex::new(Some(part))).collect();
    tilewright_cpu::share(&parts, threads, &|part| {
        part.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), &f)
    })
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
