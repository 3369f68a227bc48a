//! Asynchronous copies to shared memory, as the race checks see them.

use crate::check::Actor;
use crate::machine::state::{team::Team, worker::Worker};
use crate::program::address;

/// How far a copy is.
#[derive(Clone, Copy)]
pub enum Progress {
    /// On its way.
    Issued,
    /// There.
    Done,
    /// There, from another block.
    DoneElsewhere,
}

impl Worker<'_> {
    /// Tells the shadow of shared memory how far a copy to `at` is.
    pub fn shadow_progress(
        &self,
        team: &mut Team,
        actor: Actor,
        lane: usize,
        at: u64,
        bytes: u32,
        progress: Progress,
    ) {
        let Some(offset) = self.offset_of(at) else { return };
        let Team { shadow: Some(shadow), order, .. } = team else { return };
        match progress {
            Progress::Issued => shadow.issue(actor, lane as u32, offset, bytes),
            Progress::Done => shadow.complete(order, actor, lane as u32, offset, bytes),
            Progress::DoneElsewhere => shadow.written_elsewhere(order, offset, bytes),
        }
    }

    /// Where an address of the own block lies in the storage.
    pub fn offset_of(&self, at: u64) -> Option<u32> {
        let place = self.launch.shared.place(at).filter(|_| address::rank_of(at).is_none())?;
        Some((at - self.launch.shared.start(at)) as u32 + place.offset)
    }
}
