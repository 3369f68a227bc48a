//! Threads that look at an mbarrier again and again, and whether somebody may still come to it.

use super::block::Block;
use crate::check::{FindingKind, Severity};
use crate::machine::state::{
    warp::{State, Warp},
    worker::Worker,
};

impl Block {
    /// Whether all threads wait, some of them at mbarriers: if this is so of all blocks of a cluster, nobody comes any more.
    pub fn only_waits(&self) -> bool {
        let event = self.team.cluster.events.get();
        let only_waits = |warp: &Warp| {
            let lanes = warp.waiting.lasting(event);
            warp.paths.iter().all(|path| path.state != State::Ready || path.mask & !lanes == 0)
        };
        self.warps.iter().any(|warp| !warp.waiting.is_empty()) && self.warps.iter().all(only_waits)
    }

    /// Reports the threads that wait at mbarriers for ever.
    pub fn report_waiting(&self, worker: &mut Worker<'_>) {
        for warp in &self.warps {
            for waiting in warp.waiting.all() {
                let name = worker.launch.shared.name(waiting.at).to_owned();
                let side = self.team.side(warp.index, waiting.pc, waiting.lanes);
                worker.report(FindingKind::Deadlock, Severity::Error, side, || {
                    let (lacks, fix) = waiting.missing.sentences();
                    (format!("waits at the mbarrier `{name}` for ever: {lacks}"), fix.into())
                });
            }
        }
    }
}
