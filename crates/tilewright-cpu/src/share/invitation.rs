//! How threads of the pool come to take part.

use super::{Work, lock};
use std::{
    cell::Cell,
    sync::{Arc, Mutex},
};

thread_local! {
    static INVITATIONS: Cell<Vec<Arc<Invitation>>> = const { Cell::new(Vec::new()) };
}

/// What brings threads of the pool to the products of one thread, one after another. Jobs that the pool has not begun
/// wait for the next product, so that a pool that is blocked, however long, is left with a few of them; and what they hold is
/// nothing but an invitation.
#[derive(Default)]
pub struct Invitation(Mutex<Invited>);

#[derive(Default)]
struct Invited {
    /// What to take part in, until its caller has no more to do.
    work: Option<Arc<Work>>,
    /// Jobs that have not begun.
    queued: usize,
}

impl Invitation {
    /// Calls `f`, with as many threads as the work can use invited meanwhile.
    pub(super) fn with(work: &Arc<Work>, f: impl FnOnce()) {
        let mut kept = INVITATIONS.take();
        let open = Open(kept.pop().unwrap_or_default());
        INVITATIONS.set(kept);
        let missing = {
            let mut invited = lock(&open.0.0);
            invited.work = Some(Arc::clone(work));
            let missing = (work.helps.len() - 1).saturating_sub(invited.queued);
            invited.queued += missing;
            missing
        };
        for _ in 0..missing {
            let invitation = Arc::clone(&open.0);
            rayon::spawn(move || invitation.accept());
        }
        f();
    }

    /// What a job does when it begins.
    fn accept(&self) {
        let work = {
            let mut invited = lock(&self.0);
            invited.queued -= 1;
            invited.work.clone()
        };
        if let Some(work) = work {
            work.join();
        }
    }
}

/// Withdraws an invitation when it is dropped, and keeps it for the next product of this thread.
struct Open(Arc<Invitation>);

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0.0).work = None;
        let mut kept = INVITATIONS.take();
        kept.push(Arc::clone(&self.0));
        INVITATIONS.set(kept);
    }
}
