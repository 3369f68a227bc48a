//! Threads that find no item left help with those of others.

use super::{PATIENCE, lock};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::{sync::Mutex, thread, time::Instant};

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
    /// Help among several threads; by default there is none.
    pub(super) fn of_several() -> Self {
        Self { offered: true, ..Self::default() }
    }

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
    pub(super) fn enter(&self, call: impl FnOnce(&Offer<'_>)) -> bool {
        let Some(offer) = self.take() else { return false };
        let _helper = Helper(self);
        call(offer);
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

/// Somebody who helps until it is dropped: then there is no more to help with.
struct Helper<'a>(&'a Help);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        *lock(&self.0.offer) = None;
        self.0.helpers.fetch_sub(1, Ordering::Release);
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
