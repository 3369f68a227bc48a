//! The warps of a block are executed one after another until all have exited.

use super::{
    barriers::{note_skipped, report_divergence},
    block::{Block, Progress},
};
use crate::check::{FindingKind, Severity};
use crate::machine::{
    state::{
        options::LaunchError,
        team::BARRIERS,
        warp::State,
        worker::{Executing, Worker},
    },
    steps::interpret::{self, FUEL, Stop},
};
use crate::program::{Program, instruction::Op};

/// Rounds in which all warps of a block wait before other blocks have their turn.
const ROUNDS: u32 = 64;

/// Steps of a warp that does not wait: it has used up most of its turn.
const LONG: i64 = FUEL / 2;

impl Block {
    /// Executes for at most `turn` instructions, roughly.
    pub fn run(&mut self, worker: &mut Worker<'_>, turn: i64) -> Progress {
        let end = worker.steps.saturating_add(turn);
        // Rounds in which every warp gave way at once: it waits for another block, perhaps for one that has not begun.
        let mut rounds_of_waiting = 0;
        loop {
            let (mut ran, mut works) = (false, false);
            for index in 0..self.warps.len() {
                while self.warps[index].paths.iter().any(|path| path.state == State::Ready) {
                    ran = true;
                    let (live, before) = (self.team.live, worker.steps);
                    worker.executing = Executing {
                        block: self.team.number,
                        warp: self.warps[index].index,
                        epoch: self.team.order.barrier,
                    };
                    let stop =
                        interpret::run(worker.host_isa, worker, &mut self.warps[index], &mut self.team);
                    if self.team.live != live {
                        worker.bulk_exit(&mut self.warps[index], &mut self.team);
                        self.after_exits(worker, index);
                    }
                    works |= stop != Stop::Fuel || worker.steps - before >= LONG;
                    match stop {
                        Stop::Barrier(site) => self.arrive(worker, index, site),
                        Stop::Warpgroup => self.meet_warpgroup(worker, index),
                        Stop::Idle => {}
                        Stop::Fuel => {}
                        Stop::Failed => return Progress::Failed,
                    }
                    if self.team.live > 0 && worker.is_to_stop() {
                        return Progress::More;
                    }
                    // A warp that is a block by itself passes its barriers without a stop.
                    if stop == Stop::Fuel || worker.steps >= end {
                        break;
                    }
                }
            }
            if self.team.live == 0 {
                worker.settle_contests(&mut self.team);
                self.check_registers(worker);
                worker.check_exit(&self.team);
                worker.check_tiles(&mut self.team);
                return Progress::Done;
            }
            if !ran && !self.unblock(worker.program) {
                worker.settle_contests(&mut self.team);
                self.deadlock(worker);
                return Progress::Done;
            }
            rounds_of_waiting = if works { 0 } else { rounds_of_waiting + 1 };
            if worker.steps >= end || rounds_of_waiting == ROUNDS {
                return Progress::More;
            }
        }
    }

    /// Barriers and the warpgroup no longer wait for threads of a warp that have exited.
    fn after_exits(&mut self, worker: &mut Worker<'_>, index: usize) {
        self.meet_warpgroup(worker, index);
        for id in 0..BARRIERS {
            if self.team.barriers[id].arrived.iter().any(|&mask| mask != 0) {
                self.complete(worker, id);
            }
        }
    }

    /// Nothing can go on: warp instructions whose missing members have exited can, and lanes that wait for others where all meet.
    pub fn unblock(&mut self, program: &Program) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            for index in 0..warp.paths.len() {
                let State::Members { members } = warp.paths[index].state else { continue };
                let here = warp
                    .paths
                    .iter()
                    .filter(|path| path.state == State::Members { members })
                    .fold(0, |sum, path| sum | path.mask);
                if members & warp.live & !here == 0 {
                    warp.paths[index].state = State::Ready;
                    any = true;
                    break;
                }
            }
        }
        if any {
            return true;
        }
        let Self { warps, team } = self;
        for warp in warps.iter_mut() {
            for released in warp.release_joins() {
                any = true;
                note_skipped(program, team, warp.index, &released);
            }
        }
        if any {
            return true;
        }
        for path in
            warps.iter_mut().flat_map(|warp| &mut warp.paths).filter(|path| path.state == State::Aligned)
        {
            (path.state, path.alone, any) = (State::Ready, true, true);
        }
        any
    }

    /// Reports every group of threads that waits for ever.
    pub fn deadlock(&mut self, worker: &mut Worker<'_>) {
        for barrier in &self.team.barriers {
            report_divergence(worker, &self.warps, &self.team, barrier);
        }
        self.report_waiting(worker);
        for warp in &self.warps {
            for path in &warp.paths {
                // A barrier has been passed by the program counter, others have not.
                let (pc, message, fix) = match path.state {
                    State::Barrier { id, .. } => (
                        path.pc - 1,
                        format!("waits at barrier {id} for threads that do not come"),
                        "make every thread of the block reach the barrier, with the same number and count",
                    ),
                    State::Members { members } => (
                        path.pc,
                        format!(
                            "waits for lanes {:#010x} of its warp, which do not come",
                            members & warp.live & !path.mask
                        ),
                        "name in the mask only the lanes that execute the instruction",
                    ),
                    State::Warpgroup => (
                        path.pc,
                        "waits at a matrix instruction for the other warps of its warpgroup, which do not come".into(),
                        "let all four warps of a warpgroup execute the same `wgmma` instructions",
                    ),
                    State::Ready | State::Aligned => continue,
                };
                let side = self.team.side(warp.index, pc, path.mask);
                worker.report(FindingKind::Deadlock, Severity::Error, side, || (message, fix.into()));
            }
        }
    }

    /// If the launch is cut off: reports where every group of threads is that has not come to its end.
    pub fn unfinished(&self, worker: &mut Worker<'_>) {
        let (kind, severity, when) = match &worker.error {
            Some(LaunchError::StepLimit { limit }) => {
                let when = format!("after {limit} warp instructions of the launch, the limit of steps");
                (FindingKind::StepLimit, Severity::Error, when)
            }
            Some(LaunchError::TimeLimit { limit }) => {
                let when = format!("{limit:?} after the launch began, the limit of time");
                (FindingKind::TimeLimit, Severity::Error, when)
            }
            Some(LaunchError::Interrupted { .. }) => {
                (FindingKind::Interrupted, Severity::Warning, "when the launch was interrupted".into())
            }
            _ => return,
        };
        for warp in &self.warps {
            for path in &warp.paths {
                let (pc, what) = match path.state {
                    State::Barrier { id, .. } => (path.pc - 1, format!("still waits at barrier {id}")),
                    State::Members { .. } | State::Aligned => {
                        (path.pc, "still waits for other lanes of its warp".into())
                    }
                    State::Warpgroup => (path.pc, "still waits for other warps of its warpgroup".into()),
                    // The marker of a basic block is no instruction.
                    State::Ready => {
                        let is_marker = worker.program.code[path.pc as usize].op == Op::Enter;
                        (path.pc + u32::from(is_marker), "is still running here".into())
                    }
                };
                let side = self.team.side(warp.index, pc, path.mask);
                worker.report(kind, severity, side, || {
                    let fix = "look at what ends the loop around it, and who changes that: threads that wait for each other never do; if \
                               it only takes long, give it less to do, or a higher limit";
                    (format!("{what} {when}"), fix.into())
                });
            }
        }
    }
}
