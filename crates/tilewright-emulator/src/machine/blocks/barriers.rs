//! Barriers of the block.

use super::block::Block;
use crate::check::{FindingKind, Severity};
use crate::machine::{
    lanes::frame::Frame,
    state::{
        team::{BARRIERS, Barrier, PartialArrival, Team},
        warp::{Path, State, Warp},
        worker::Worker,
    },
};
use crate::program::{
    Program,
    instruction::{Aligned, BarrierKind, Slot},
};

impl Block {
    /// The last path of warp `index` has arrived at a barrier, whose site is `site`. `false`: the barrier does not exist.
    pub fn arrive(&mut self, worker: &mut Worker<'_>, index: usize, site: u32) {
        let Block { warps, team } = self;
        let count = warps.len();
        let warp = &mut warps[index];
        let Some(mut path) = warp.paths.pop() else { return };
        let description = worker.program.sites.barriers[site as usize];
        let first = path.mask.trailing_zeros() as usize;
        // SAFETY: the path has executed in this frame, so that its storage exists.
        let frame = unsafe { Frame::new(&mut warp.registers, path.frame, &worker.program.constants) };
        let value = |slot: Option<Slot>| slot.map(|slot| frame.lane(slot, first) as u32);
        let id = value(description.id).unwrap_or(description.number) as usize % BARRIERS;
        let pc = path.pc - 1;
        worker.counts.barriers += 1;
        let predicate = description.predicate.map_or(0, |(slot, flip)| frame.predicate(slot.place) ^ flip);
        let barrier = &mut team.barriers[id];
        barrier.arrived.resize(count, 0);
        barrier.waiting.resize(count, 0);
        barrier.expected = value(description.threads);
        if barrier.expected.is_some() && barrier.arrived[index] & path.mask != 0 {
            // Each arrival counts, whoever has come before.
            barrier.again += counted(warp, barrier.arrived[index]);
            barrier.arrived[index] = 0;
        }
        barrier.arrived[index] |= path.mask;
        barrier.count += (predicate & path.mask).count_ones();
        barrier.pc = pc;
        if description.aligned == Aligned::Yes {
            note_partial(barrier, warp.index, pc, path.mask, warp.live);
        }
        if description.kind != BarrierKind::Arrive {
            barrier.waiting[index] |= path.mask;
            path.state = State::Barrier { id: id as u8, site };
        }
        warp.paths.push(path);
        self.complete(worker, id);
    }

    /// Lets the threads at barrier `id` go on if all that are expected are there.
    pub fn complete(&mut self, worker: &mut Worker<'_>, id: usize) {
        let Block { warps, team } = self;
        let barrier = &team.barriers[id];
        let arrived: u32 = barrier.arrived.iter().map(|mask| mask.count_ones()).sum();
        let complete = match barrier.expected {
            None => arrived >= team.live,
            Some(expected) => {
                let here: u32 =
                    warps.iter().zip(&barrier.arrived).map(|(warp, &mask)| counted(warp, mask)).sum();
                barrier.again + here >= expected
            }
        };
        if arrived == 0 || !complete {
            return;
        }
        let barrier = std::mem::take(&mut team.barriers[id]);
        report_divergence(worker, warps, team, &barrier);
        report_exited(worker, warps, team, &barrier);
        order(warps, team, &barrier);
        if barrier.expected.is_none() {
            worker.settle_contests(team);
        }
        let arrived_all = barrier.count == arrived;
        for warp in warps.iter_mut() {
            for path in &mut warp.paths {
                let State::Barrier { id: at, site } = path.state else { continue };
                if usize::from(at) != id {
                    continue;
                }
                path.state = State::Ready;
                let description = worker.program.sites.barriers[site as usize];
                let Some(dst) = description.dst else { continue };
                // SAFETY: the path has executed in this frame, so that its storage exists.
                let frame = unsafe { Frame::new(&mut warp.registers, path.frame, &worker.program.constants) };
                let result = match description.kind {
                    BarrierKind::Popc => u64::from(barrier.count),
                    BarrierKind::And => u64::from(arrived_all),
                    _ => u64::from(barrier.count > 0),
                };
                frame.fill(dst, result, path.mask);
            }
        }
    }
}

/// Threads that the hardware counts for lanes of a warp that have arrived: it counts warps, and a last one that is not full as a whole one.
fn counted(warp: &Warp, arrived: u32) -> u32 {
    match arrived {
        0 => 0,
        all if all & warp.live == warp.live => 32,
        some => some.count_ones(),
    }
}

/// Remembers lanes that came without the rest of their warp, or adds them to those at the same instruction.
fn note_partial(barrier: &mut Barrier, warp: u32, pc: u32, came: u32, live: u32) {
    match barrier.partial.iter_mut().find(|partial| (partial.warp, partial.pc) == (warp, pc)) {
        Some(partial) => partial.came |= came,
        None if came != live => barrier.partial.push(PartialArrival { warp, pc, came, live, skipped: 0 }),
        None => {}
    }
}

/// Notes that lanes go on behind a branch in which others of their warp wait at a barrier: they have gone around it.
pub fn note_skipped(program: &Program, team: &mut Team, warp: u32, skipped: &Path) {
    if program.exits_at(skipped.pc) {
        // No different from threads that return before the barrier.
        return;
    }
    for partial in team.barriers.iter_mut().flat_map(|barrier| &mut barrier.partial) {
        if partial.warp == warp {
            partial.skipped |= skipped.mask;
        }
    }
}

/// Reports the warps of which some lanes never came to the same barrier.
pub fn report_divergence(worker: &mut Worker<'_>, warps: &[Warp], team: &Team, barrier: &Barrier) {
    for partial in &barrier.partial {
        let PartialArrival { warp, pc, came, live, skipped } = *partial;
        let mut missing = live & !came;
        if worker.program.has_independent_threads() {
            missing &= warps[warp as usize].live | skipped;
        }
        if missing == 0 {
            continue;
        }
        let side = team.side(warp, pc, came);
        worker.report(FindingKind::BarrierDivergence, Severity::Error, side, || {
            (
                format!(
                    "lanes {came:#010x} of warp {warp} come to the barrier without lanes {missing:#010x}"
                ),
                "take the barrier out of the branch and leave the work inside: end the branch before the barrier and begin it \
                 again behind it, at every barrier that it holds (one serves both sides of a branch); a loop with a barrier \
                 must go round equally often in all threads"
                    .into(),
            )
        });
    }
}

/// Threads that exited before a barrier of the whole block. From compute capability 7.0 on it waits for those alone that have not; before, it works
/// on hardware, and the programming model does not promise it.
fn report_exited(worker: &mut Worker<'_>, warps: &[Warp], team: &Team, barrier: &Barrier) {
    if barrier.expected.is_some() || team.live == team.threads {
        return;
    }
    let Some(warp) = warps.iter().find(|warp| warp.live != warp.initial) else { return };
    let lanes = warp.initial & !warp.live;
    let side = team.side(warp.index, barrier.pc, lanes);
    let promised = worker.program.has_independent_threads();
    let severity = if promised { Severity::Note } else { Severity::Warning };
    let gone = team.threads - team.live;
    worker.report(FindingKind::BarrierDivergence, severity, side, || {
        let promise = if promised {
            "; from compute capability 7.0 on it waits for the others alone, which is promised. Before that it is not, and \
             compute-sanitizer's synccheck asks for all threads everywhere"
        } else {
            "; before compute capability 7.0 nothing promises that it does not wait for them"
        };
        (
            format!("{gone} threads of the block have returned before this barrier{promise}"),
            "let all threads reach the barrier, and guard the work instead of returning early".into(),
        )
    });
}

/// What a completed barrier orders.
fn order(warps: &[Warp], team: &mut Team, barrier: &Barrier) {
    let everyone = warps.iter().zip(&barrier.waiting).all(|(warp, &mask)| mask & warp.live == warp.live);
    if everyone {
        team.order.all();
        return;
    }
    // Order between warps is kept for whole warps: one that is only partly there neither learns nor teaches.
    let whole = |masks: &[u32]| -> Vec<u32> {
        let there =
            warps.iter().zip(masks).filter(|(warp, mask)| **mask != 0 && **mask & warp.live == warp.live);
        there.map(|(warp, _)| warp.index).collect()
    };
    let (learners, teachers) = (whole(&barrier.waiting), whole(&barrier.arrived));
    for warp in warps {
        let mask = barrier.waiting[warp.index as usize];
        if mask != 0 {
            if mask & warp.live == warp.live {
                team.order.whole_warp(warp.index);
            } else {
                team.order.some_lanes(warp.index, mask);
            }
        }
    }
    team.order.some_warps(&learners, &teachers);
}
