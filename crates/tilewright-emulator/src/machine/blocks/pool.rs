//! The registers that warps of a block give to each other by `setmaxnreg`.

use super::block::Block;
use crate::check::{FindingKind, Severity};
use crate::machine::state::{team::WARPS, warp::Warp, worker::Worker};

/// Registers of a multiprocessor.
const REGISTERS: u32 = 65536;

/// Registers are given to a lane in steps of so many.
const STEP: u32 = 8;

impl Block {
    /// At the end of a block: whether its warps have asked for more registers than it has, or those of a warpgroup for different numbers.
    ///
    /// How many a block has is up to the assembler, which is taken to use all that its block size leaves.
    pub fn check_registers(&self, worker: &mut Worker<'_>) {
        let Self { warps, team } = self;
        let Some(asked) = warps.iter().find(|warp| warp.own_registers.is_some()) else { return };
        let count = warps.len() as u32;
        let initial = (REGISTERS / (32 * count)).min(255) / STEP * STEP;
        let of = |warp: &Warp| warp.own_registers.map_or(initial, |(registers, _)| registers);
        let all: u32 = warps.iter().map(of).sum();
        let pc = |warp: &Warp| warp.own_registers.map_or(0, |(_, pc)| pc);
        if all > initial * count {
            let largest = warps.iter().max_by_key(|warp| warp.own_registers).unwrap_or(asked);
            let side = team.side(largest.index, pc(largest), largest.initial);
            worker.report(FindingKind::InvalidRegisters, Severity::Error, side, || {
                (
                    format!(
                        "asks for {} registers a thread; with those of the other warps the block needs {} and has {}: on a GPU it waits for ever",
                        of(largest),
                        32 * all,
                        32 * initial * count
                    ),
                    "let the other warps give back as many by setmaxnreg.dec".into(),
                )
            });
        }
        for group in warps.chunks(WARPS) {
            let Some(other) = group.iter().find(|warp| of(warp) != of(&group[0])) else { continue };
            let odd = if other.own_registers.is_some() { other } else { &group[0] };
            let side = team.side(odd.index, pc(odd), odd.initial);
            worker.report(FindingKind::InvalidRegisters, Severity::Error, side, || {
                (
                    "sets the registers of some warps of its warpgroup, and not of the others".into(),
                    "let all four warps of a warpgroup execute the same setmaxnreg".into(),
                )
            });
        }
    }
}
