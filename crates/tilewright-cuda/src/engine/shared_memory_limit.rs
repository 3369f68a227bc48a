//! A limit that the driver keeps for a kernel: it only ever goes up.

use std::sync::{Mutex, PoisonError};
use tilewright_core::Error;

/// The dynamic shared memory that a kernel may be launched with. One kernel serves launches with more and with less, also of several
/// threads at once: what one of them needs, no other may take away.
#[derive(Debug)]
pub(super) struct SharedMemoryLimit(Mutex<u32>);

impl SharedMemoryLimit {
    /// The limit that the kernel was loaded with.
    pub(super) fn from(bytes: u32) -> Self {
        Self(Mutex::new(bytes))
    }

    /// At least so many bytes: `set` is called where that is more than before, and not while another thread does the same.
    pub(super) fn raise_to(
        &self,
        bytes: u32,
        set: impl FnOnce(u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut limit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > *limit {
            set(bytes)?;
            *limit = bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use tilewright_core::ErrorKind;

    #[test]
    fn a_second_product_does_not_take_away_what_the_first_needs() {
        let (driver, limit) = (AtomicU32::new(48 << 10), SharedMemoryLimit::from(48 << 10));
        let allow = |bytes| {
            limit.raise_to(bytes, |bytes| {
                driver.store(bytes, SeqCst);
                Ok(())
            })
        };
        for bytes in [100 << 10, 60 << 10, 0, 99 << 10] {
            allow(bytes).expect("allowed");
            assert_eq!(driver.load(SeqCst), 100 << 10, "after {bytes}");
        }
        allow(200 << 10).expect("allowed");
        assert_eq!(driver.load(SeqCst), 200 << 10);
    }

    #[test]
    fn threads_leave_the_most_that_any_of_them_needs() {
        for _ in 0..50 {
            let (driver, limit) = (AtomicU32::new(0), SharedMemoryLimit::from(0));
            std::thread::scope(|scope| {
                for bytes in 1..=8 {
                    let (driver, limit) = (&driver, &limit);
                    scope.spawn(move || {
                        limit.raise_to(bytes, |bytes| {
                            std::thread::yield_now();
                            driver.store(bytes, SeqCst);
                            Ok(())
                        })
                    });
                }
            });
            assert_eq!(driver.load(SeqCst), 8);
        }
    }

    #[test]
    fn what_the_driver_refuses_is_not_taken_for_allowed() {
        let limit = SharedMemoryLimit::from(10);
        let refuse =
            |bytes| Err(ErrorKind::OutOfMemory { what: "shared memory", bytes: u64::from(bytes) }.into());
        assert!(limit.raise_to(20, refuse).is_err());
        assert!(limit.raise_to(20, refuse).is_err(), "asked again");
        assert!(limit.raise_to(10, refuse).is_ok());
    }
}
