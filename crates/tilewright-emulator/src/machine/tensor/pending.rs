//! Accesses to shared memory that a bulk copy is on its way to: which mbarrier and which parity to wait for.

use crate::check::{Entry, Mode};
use crate::machine::{
    accesses::mbarrier::parity_of,
    state::{team::Team, transfer::Transfer, worker::Worker},
};
use crate::program::{
    address,
    instruction::{Op, Rare},
};

impl Team {
    /// A warp's wait at an mbarrier has passed, though copies that complete there are on their way: it was for an earlier phase.
    pub fn note_passed(&self, warp: u32, barrier: u64) {
        let barrier = Some(self.ranked(barrier));
        let mut loads = self.cluster.loads.borrow_mut();
        let here = loads.iter_mut().filter(|load| load.barrier == barrier);
        here.for_each(|load| load.passed_by |= 1 << (warp & 31));
    }
}

impl Worker<'_> {
    /// What is wrong with an access of `warp` to `name` at `at`, and what to do; `None` if it is no bulk copy that is on its way there.
    pub fn pending_bulk(
        &self,
        team: &Team,
        copy: Entry,
        (warp, at): (u32, u64),
        name: &str,
        mode: Mode,
    ) -> Option<(String, String)> {
        let op = self.program.code[copy.pc()? as usize].op;
        if op != Op::Rare(Rare::BulkLoad) {
            return None;
        }
        let verb = mode.verb();
        let unknown = || {
            (
                format!("{verb} `{name}` where a bulk copy may still arrive: nobody has waited for it"),
                "wait at the mbarrier of the copy before the access".into(),
            )
        };
        let loads = team.cluster.loads.borrow();
        let covers = |load: &&Transfer| {
            let start = team.own(load.shared);
            let bytes: u64 = load.rows.iter().map(|row| u64::from(row.bytes)).sum();
            Some(load.pc) == copy.pc() && (start..start + bytes).contains(&at)
        };
        let Some(load) = loads.iter().find(covers) else { return Some(unknown()) };
        let Some((barrier, parity)) = load.barrier.and_then(|at| Some((at, self.parity_at(team, at)?)))
        else {
            return Some(unknown());
        };
        let barrier = self.launch.shared.name(address::without_rank(barrier));
        let why = match load.passed_by >> (warp & 31) & 1 {
            1 => format!("the wait at `{barrier}` before it has passed for an earlier phase"),
            _ => format!("the warp has not waited at `{barrier}` for it"),
        };
        Some((
            format!("{verb} `{name}` where a bulk copy may still arrive: {why}"),
            format!(
                "wait at `{barrier}` with parity {parity} before the access: with parity {} a wait is for the phase before, and passes at once",
                1 - parity
            ),
        ))
    }

    /// The parity that waits for the present phase of an mbarrier.
    fn parity_at(&self, team: &Team, barrier: u64) -> Option<u32> {
        let (_, object) = team.cluster.object(&self.launch.shared, barrier)?;
        let offset = barrier.wrapping_sub(object.start);
        if object.bytes.checked_sub(8).is_none_or(|limit| offset > limit) {
            return None;
        }
        // SAFETY: the eight bytes lie inside of the object.
        parity_of(crate::memory::read(unsafe { object.data.add(offset as usize) }, 8))
    }
}
