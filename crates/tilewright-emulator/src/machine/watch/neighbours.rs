//! Blocks of a cluster that use each other's shared memory: it must be there, and nobody may be busy with it.

use super::progress::Progress;
use crate::check::{Actor, Entry, Event, FindingKind, Severity, Side, Strength};
use crate::machine::state::{
    cluster::{Incoming, Touch},
    team::Team,
    transfer::Transfer,
    worker::Worker,
};
use crate::program::{address, instruction::Space};

impl Team {
    /// Notes an access to the shared memory of another block.
    pub fn touch(&self, space: Space, at: u64, side: Side) {
        let is_shared = match space {
            Space::Generic => address::window(at) == address::SHARED_WINDOW,
            space => space == Space::Shared,
        };
        if !is_shared {
            return;
        }
        let Some(rank) = address::rank_of(at).filter(|&rank| rank != self.rank && self.shadow.is_some())
        else {
            return;
        };
        let mut touches = self.cluster.touches.borrow_mut();
        touches.retain(|touch| (touch.rank, touch.side.block) != (rank, side.block));
        touches.push(Touch { rank, stamp: self.order.now, side });
    }

    /// Notes a copy to the shared memory of another block.
    pub fn comes_in(&self, transfer: &Transfer, is_done: bool) {
        let Some(rank) = address::rank_of(transfer.shared).filter(|&rank| rank != self.rank) else { return };
        // The swizzle exchanges pieces within the box, which is looked at as a whole.
        let start = address::without_rank(transfer.shared);
        let places = transfer.rows.iter().map(|row| (start + u64::from(row.shared), row.bytes)).collect();
        let known = self.known.clone();
        let incoming = Incoming { rank, places, is_done, known, side: transfer.side() };
        self.cluster.incoming.borrow_mut().push(incoming);
    }
}

impl Worker<'_> {
    /// The threads of a block have exited: nobody may come to its shared memory any more.
    pub fn check_exit(&mut self, team: &Team) {
        let cluster = &team.cluster;
        cluster.gone.set(cluster.gone.get() | 1 << team.rank);
        for Touch { rank, stamp, side } in &*cluster.touches.borrow() {
            let is_known = || self.launch.blocks.before(&team.known, side.block, *stamp);
            if *rank == team.rank && !is_known() {
                self.report(FindingKind::ExitedBlock, Severity::Error, *side, || {
                    sentences("uses", "shared memory")
                });
            }
        }
        for copy in &*cluster.loads.borrow() {
            if address::rank_of(copy.shared) == Some(team.rank) {
                self.report(FindingKind::PendingCopy, Severity::Error, copy.side(), || {
                    let message =
                        "the block exits while this bulk copy to its shared memory may still be on its way";
                    (message.into(), "wait at the mbarrier of the copy before the block exits".into())
                });
            }
        }
    }

    /// Asks a block about the copies that others have sent to it since it had its turn last.
    pub fn check_incoming(&mut self, team: &mut Team) {
        let all = team.cluster.incoming.take();
        let (mine, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|incoming| incoming.rank == team.rank);
        *team.cluster.incoming.borrow_mut() = rest;
        for Incoming { places, is_done, known, side, .. } in mine {
            let mut asked = None;
            let mut is_busy = |entry: &Entry| {
                // Granules in a row mostly have the same story.
                let is_new = asked.replace(entry.moment) != Some(entry.moment);
                is_new && !self.launch.blocks.before(&known, team.number, entry.stamp())
            };
            let busy = places.iter().find_map(|&(at, bytes)| {
                let offset = self.offset_of(at)?;
                team.shadow.as_ref()?.accesses(offset, bytes).find(&mut is_busy).map(|entry| (at, entry))
            });
            for &(at, bytes) in &places {
                self.check_overwritten(team, side, at, bytes);
            }
            if !is_done {
                let actor =
                    Actor { warp: side.warp, pc: side.pc.unwrap_or_default(), strength: Strength::Plain };
                let lane = side.lanes.trailing_zeros() as usize & 31;
                for &(at, bytes) in &places {
                    self.shadow_progress(team, actor, lane, at, bytes, Progress::Issued);
                }
            }
            let Some((at, entry)) = busy else { continue };
            let with = team.earlier(entry);
            let name = self.launch.shared.name(at).to_owned();
            let (kind, naming) = (FindingKind::SharedRace, self.naming());
            self.findings.report(naming, (kind, side.pc, with.pc), || Event {
                kind,
                severity: Severity::Error,
                at: side,
                with: Some(with),
                message: format!("copies to `{name}` of another block, which may still use it"),
                fix: "let the threads of each block that use the tile arrive, when they are done, at the mbarrier that the issuing \
                      thread waits at: mapa gives its address, mbarrier.arrive.release.cluster.shared::cluster arrives there"
                    .into(),
                race: None,
            });
        }
    }
}

/// What is wrong with an access to a block that exits, and what to do about it.
pub fn sentences(verb: &str, object: &str) -> (String, String) {
    (
        format!("{verb} `{object}` of another block of the cluster, which has exited or may have"),
        "let the blocks of a cluster meet before they exit, behind the last access to each other's shared memory: cluster.sync()".into(),
    )
}
