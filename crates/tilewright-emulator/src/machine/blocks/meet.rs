//! The warps of a warpgroup meet at a matrix instruction.

use super::block::Block;
use crate::check::{FindingKind, Severity};
use crate::machine::{
    state::{
        step::Step,
        team::WARPS,
        warp::{Path, State, Warp},
        worker::Worker,
    },
    tensor::wgmma::Operand,
};

impl Block {
    /// A warp has come to a matrix instruction, or has exited: the instruction is executed if all of its warpgroup are there.
    pub fn meet_warpgroup(&mut self, worker: &mut Worker<'_>, index: usize) {
        let Block { warps, team } = self;
        let first = index / WARPS * WARPS;
        let end = (first + WARPS).min(warps.len());
        let is_missing = |warp: &Warp| warp.live != 0 && waiting(warp).is_none();
        if warps[first..end].iter().any(is_missing) {
            return;
        }
        let here: Vec<_> = (first..end).filter_map(|index| Some((index, waiting(&warps[index])?))).collect();
        let Some(&(_, Path { pc, .. })) = here.first() else { return };
        let together =
            here.len() == WARPS && here.iter().all(|(_, path)| path.mask == u32::MAX && path.pc == pc);
        let mut b: Option<(u32, u64, Operand)> = None;
        for &(index, path) in &here {
            let mut step = Step::of_path(worker, &mut warps[index], team, &path);
            if !together {
                step.report(FindingKind::BarrierDivergence, Severity::Error, path.mask, || {
                    (
                        "executes a matrix instruction of a warpgroup without all lanes of its four warps".into(),
                        "let all four warps execute the same `wgmma`, with all lanes: launch multiples of 128 threads, and branch by warpgroup"
                            .into(),
                    )
                });
            }
            step.wgmma(&mut b);
        }
        for &(index, path) in &here {
            for other in warps[index].paths.iter_mut().filter(|other| other.state == State::Warpgroup) {
                *other = Path { pc: path.pc + 1, state: State::Ready, ..path };
            }
        }
        let group: Vec<u32> = here.iter().map(|&(index, _)| index as u32).collect();
        team.order.group(&group);
    }
}

/// The path of a warp that waits for others of its warpgroup.
fn waiting(warp: &Warp) -> Option<Path> {
    warp.paths.iter().find(|path| path.state == State::Warpgroup).copied()
}
