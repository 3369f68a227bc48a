//! Accesses of one lane by instructions that are not plain loads and stores.

use crate::check::{Access, Actor, Conflict, Entry, Event, FindingKind, Mode, Severity, Side, Strength, fix};
use crate::machine::{
    blocks::{team::Team, warp::Warp, worker::Worker},
    watch::faults::Faults,
};
use crate::program::{address, instruction::Space};

impl Worker<'_> {
    /// Tells the shadow of shared memory about one lane's access.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn shadow_bytes(
        &mut self,
        warp: &Warp,
        team: &mut Team,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        strength: Strength,
        pc: u32,
    ) {
        if address::rank_of(at).is_some() {
            // It may be that of another block.
            return;
        }
        let Some(object) = team.shared.object(&self.launch.shared, at) else { return };
        let start = object.data as usize - team.shared.data() as usize;
        let Some(mut shadow) = team.shadow.take() else { return };
        let offset = (at - object.start) as u32 + start as u32;
        let actor = Actor { warp: warp.index, pc, strength };
        let mut found = None;
        let access = Access { actor, mode, offsets: &[offset; 32], bytes, mask: 1 << lane };
        shadow.access(&team.order, &access, &mut |_, conflict| found = Some(conflict));
        team.shadow = Some(shadow);
        let side = self.side(warp, team, pc, 1 << lane);
        let name = self.launch.shared.name(at).to_string();
        match found {
            None => {}
            Some(Conflict::Uninitialised) => {
                self.report(FindingKind::UninitialisedShared, Severity::Error, side, || {
                    (
                        format!("reads `{name}`, which no thread has written"),
                        "write it first, and put a barrier between the store and the load".into(),
                    )
                })
            }
            Some(Conflict::Pending { copy }) => self.report_pending(copy, side, &name, mode),
            Some(Conflict::Race { earlier, .. }) => {
                let kind = if earlier.warp() == warp.index {
                    FindingKind::WarpRace
                } else {
                    FindingKind::SharedRace
                };
                let with =
                    Side { pc: earlier.pc(), block: team.number, warp: earlier.warp(), lanes: earlier.lanes };
                let naming = self.naming();
                self.findings.report(naming, (kind, Some(pc), earlier.pc()), || Event {
                    kind,
                    severity: Severity::Error,
                    at: side,
                    with: Some(with),
                    message: format!("accesses `{name}` without a barrier since another thread's access"),
                    fix: fix(kind, mode, false),
                    mode: Some(mode),
                });
            }
        }
    }

    /// Reports an access of what an asynchronous copy is on its way to.
    pub fn report_pending(&mut self, copy: Entry, at: Side, name: &str, mode: Mode) {
        let with = Side { pc: copy.pc(), warp: copy.warp(), lanes: copy.lanes, ..at };
        let kind = FindingKind::PendingCopy;
        let naming = self.naming();
        self.findings.report(naming, (kind, at.pc, with.pc), || Event {
            kind,
            severity: Severity::Error,
            at,
            with: Some(with),
            message: format!("{} `{name}` where an asynchronous copy may still arrive: the thread that copies has not waited for it", mode.verb()),
            fix: "let the thread that copies wait first, with cp.async.wait_all, or with cp.async.commit_group and a \
                  cp.async.wait_group that leaves fewer groups open; threads that it does not copy for need a barrier behind that"
                .into(),
            mode: None,
        });
    }

    /// Checks one lane's rows or elements and tells the shadow; `None` after a fault.
    #[allow(clippy::too_many_arguments, reason = "an access has this many sides")]
    pub fn element(
        &mut self,
        space: Space,
        warp: &mut Warp,
        team: &mut Team,
        at: u64,
        lane: usize,
        bytes: u32,
        mode: Mode,
        faults: &mut Faults,
        pc: u32,
    ) -> Option<*mut u8> {
        match self.lane_data(space, warp, team, at, lane, bytes, bytes, mode) {
            Ok(data) => {
                if space == Space::Shared && team.shadow.is_some() {
                    self.shadow_bytes(warp, team, at, lane, bytes, mode, Strength::Plain, pc);
                }
                Some(data)
            }
            Err(fault) => {
                faults.add(lane, at, fault);
                None
            }
        }
    }
}
