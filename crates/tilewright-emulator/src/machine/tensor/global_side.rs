//! The bytes of global memory that bulk copies read and write, as the race checks see them: at any time between a copy's issue and the
//! wait for it.

use crate::check::{
    Actor, Event, FindingKind, GlobalAccess, GlobalConflict, Mode, Present, Severity, Side, Strength,
    WAIT_FOR_STORE, fix,
};
use crate::machine::state::{
    team::Team,
    transfer::{Far, Transfer},
    worker::Worker,
};
use crate::program::address;

/// Where a copy stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It is issued.
    Issued,
    /// Somebody has waited for it.
    Done,
}

impl Worker<'_> {
    /// A copy is issued, or done: what others do with its bytes of global memory must be ordered behind its end or before its issue.
    pub fn check_global_side(&mut self, team: &mut Team, transfer: &mut Transfer, moment: Moment) {
        // What orders the copies that one block lets another have is not followed.
        let is_own = transfer.block == team.number && address::rank_of(transfer.shared) == Some(team.rank);
        if transfer.far != Far::Global || transfer.repeats || !is_own || self.shadow.is_none() {
            return;
        }
        let mode = match (transfer.is_load, transfer.reduction) {
            (true, _) => Mode::Read,
            (false, None) => Mode::Write,
            (false, Some(_)) => Mode::Update,
        };
        let strength = if mode == Mode::Update { Strength::Atomic } else { Strength::Plain };
        let actor = Actor { warp: transfer.warp, pc: transfer.pc, strength };
        let lane = u32::from(transfer.lane);
        let (mut early, mut conflict) = (None, None);
        let memory = self.launch.memory;
        for row in transfer.rows.iter().filter(|row| row.first < row.end) {
            let (at, bytes) = (row.global, row.end - row.first);
            let Some(object) = memory.object(at) else { continue };
            let (region, offset) = (memory.slot(object.start), at - object.start);
            if object.bytes.checked_sub(bytes.into()).is_none_or(|limit| offset > limit) {
                continue;
            }
            let Some(shadow) = &mut self.shadow else { return };
            if mode != Mode::Read {
                shadow.keep(region, &object, offset, bytes);
            }
            let (order, known, blocks) = (&team.order, &team.known, &self.launch.blocks);
            let present = Present { block: team.number, order, known, blocks };
            let access = GlobalAccess { present, actor, mode, region };
            if moment == Moment::Done && early.is_none() {
                let since = shadow.since(access, lane, offset, bytes, transfer.stamp);
                early = since.map(|since| (at, since));
            }
            let found = shadow.copy(access, lane, offset, bytes);
            // Who came after the issue has found it, and been reported.
            let found = found.filter(|_| moment == Moment::Issued);
            conflict = conflict.or(found.map(|found| (at, found)));
        }
        if moment == Moment::Issued {
            transfer.stamp = team.order.now;
            team.order.now += 1;
        }
        if let Some((at, (entry, earlier_mode))) = early {
            let with = Side { pc: entry.pc(), warp: entry.warp(), lanes: entry.lanes, ..transfer.side() };
            self.report_early(transfer, at, with, mode, earlier_mode);
        }
        if let Some((at, conflict)) = conflict {
            self.report_conflict(team, transfer, actor, at, mode, conflict);
        }
    }

    fn report_early(&mut self, transfer: &Transfer, at: u64, with: Side, mode: Mode, earlier_mode: Mode) {
        let name = self.launch.memory.name(at).unwrap_or_default().to_owned();
        let (kind, at, naming) = (FindingKind::PendingCopy, transfer.side(), self.naming());
        self.findings.report(naming, (kind, at.pc, with.pc), || {
            let does = if mode == Mode::Read { "reads" } else { "writes" };
            let was = if earlier_mode == Mode::Read { "read" } else { "written" };
            let fix = match mode {
                Mode::Read => "wait at the mbarrier of the copy before the store",
                _ => WAIT_FOR_STORE,
            };
            Event {
                kind,
                severity: Severity::Error,
                at,
                with: Some(with),
                message: format!(
                    "{does} `{name}` in global memory, which was {was} before anybody had waited for this copy"
                ),
                fix: fix.into(),
                race: None,
            }
        });
    }

    fn report_conflict(
        &mut self,
        team: &Team,
        transfer: &Transfer,
        actor: Actor,
        address: u64,
        mode: Mode,
        conflict: GlobalConflict,
    ) {
        let GlobalConflict { earlier, block, earlier_mode, .. } = conflict;
        let with = Side { pc: earlier.pc(), block, warp: earlier.warp(), lanes: earlier.lanes };
        let same_block = block == team.number;
        let kind = if !same_block {
            FindingKind::BlockRace
        } else if earlier.warp() == transfer.warp {
            FindingKind::WarpRace
        } else {
            FindingKind::GlobalRace
        };
        let name = self.launch.memory.name(address).unwrap_or_default().to_owned();
        let setting = self.setting(transfer.pc, earlier, actor.strength, same_block, false);
        let (at, naming) = (transfer.side(), self.naming());
        let is_copy = self.is_bulk_store(earlier);
        self.findings.report(naming, (kind, at.pc, with.pc), || {
            let does = if mode == Mode::Read { "reads" } else { "writes" };
            let was = if earlier_mode == Mode::Read { "has read" } else { "has written" };
            let whom = if same_block { "another thread of the block" } else { "a thread of another block" };
            Event {
                kind,
                severity: Severity::Error,
                at,
                with: Some(with),
                message: format!(
                    "this bulk copy {does} `{name}` in global memory, which {whom} {was}, and nothing orders the two"
                ),
                fix: if same_block && is_copy { WAIT_FOR_STORE.into() } else { fix(kind, mode, setting) },
                race: Some((mode, setting)),
            }
        });
    }
}
