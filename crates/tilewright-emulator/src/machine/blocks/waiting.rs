//! Threads that look at an mbarrier again and again, and whether somebody may still come to it.

use super::{
    block::Block,
    warp::{State, Warp},
    worker::Worker,
};
use crate::check::{FindingKind, Severity};
use crate::machine::accesses::mbarrier::Missing;

/// So often threads look before they are taken to do nothing else: some give up after a number of looks.
const LOOKS: u32 = 4096;

/// Lanes of a warp that have looked at an mbarrier whose phase was not over.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The instruction.
    pub pc: u32,
    pub lanes: u32,
    /// The address that one of them waits at.
    pub at: u64,
    pub missing: Missing,
    /// What had happened at the cluster's mbarriers when they began to look, and how often they have.
    event: u64,
    looks: u32,
}

impl Warp {
    /// Lanes have looked in vain; `event` counts what has happened at mbarriers. Returns whether they begin to wait.
    pub fn keeps_waiting(&mut self, pc: u32, lanes: u32, at: u64, missing: Missing, event: u64) -> bool {
        let new = Waiting { pc, lanes, at, missing, event, looks: 0 };
        let Some(known) = self.waiting.iter_mut().find(|waiting| waiting.pc == pc) else {
            self.waiting.push(new);
            return true;
        };
        let is_same = (known.lanes, known.at) == (lanes, at);
        if is_same && known.event == event {
            known.looks += 1;
        } else {
            *known = new;
        }
        !is_same
    }

    /// Lanes do something else.
    pub fn stops_waiting(&mut self, lanes: u32) {
        self.waiting.retain(|waiting| waiting.lanes & lanes == 0);
    }

    /// Whether all that the warp does is wait.
    fn only_waits(&self, event: u64) -> bool {
        let lasting = self.waiting.iter().filter(|waiting| waiting.event == event && waiting.looks >= LOOKS);
        let lanes = lasting.fold(0, |lanes, waiting| lanes | waiting.lanes);
        self.paths.iter().all(|path| path.state != State::Ready || path.mask & !lanes == 0)
    }
}

impl Block {
    /// Whether all threads wait, some of them at mbarriers: if this is so of all blocks of a cluster, nobody comes any more.
    pub fn only_waits(&self) -> bool {
        let event = self.team.cluster.events.get();
        self.warps.iter().any(|warp| !warp.waiting.is_empty())
            && self.warps.iter().all(|warp| warp.only_waits(event))
    }

    /// Reports the threads that wait at mbarriers for ever.
    pub fn report_waiting(&self, worker: &mut Worker<'_>) {
        for warp in &self.warps {
            for waiting in &warp.waiting {
                let name = worker.launch.shared.name(waiting.at).to_owned();
                let side = worker.side(warp, &self.team, waiting.pc, waiting.lanes);
                worker.report(FindingKind::Deadlock, Severity::Error, side, || {
                    let (lacks, fix) = waiting.missing.sentences();
                    (format!("waits at the mbarrier `{name}` for ever: {lacks}"), fix.into())
                });
            }
        }
    }
}
