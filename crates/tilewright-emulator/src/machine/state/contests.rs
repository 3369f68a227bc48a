//! Which warps of a block come together to an atomic that is a loop on the hardware.
//!
//! Here warps execute one after another. On the hardware they go side by side, and the `n`th execution of an instruction by one warp meets the
//! `n`th by the others, counted from the last barrier of the whole block. So addresses are kept until all warps have come, or can come no more.

use std::collections::BTreeMap;

use crate::count::Contender;

/// How many executions of warps a block keeps. Where one warp is so far ahead of others, its first ones no longer wait for them.
const MOST_WAITING: usize = 1 << 12;

/// An atomic of the program, and which of its executions.
type Contest = (u32, u32);

/// The contests of a block.
#[derive(Debug)]
pub struct Contests {
    warps: usize,
    /// Executions since the last barrier, by atomic and warp.
    executions: BTreeMap<(u32, u32), u32>,
    open: BTreeMap<Contest, Vec<Contender>>,
    waiting: usize,
}

impl Contests {
    /// Of a block of so many warps.
    pub fn new(warps: usize) -> Self {
        Self { warps, executions: BTreeMap::new(), open: BTreeMap::new(), waiting: 0 }
    }

    /// A warp comes to an atomic. Returns a contest that is over, if there is one.
    pub fn join(&mut self, atomic: u32, warp: u32, contender: Contender) -> Option<(u32, Vec<Contender>)> {
        let execution = self.executions.entry((atomic, warp)).or_default();
        let contest = (atomic, *execution);
        *execution += 1;
        let all = self.open.entry(contest).or_default();
        all.push(contender);
        self.waiting += 1;
        let over = if all.len() == self.warps {
            self.open.remove_entry(&contest)
        } else if self.waiting > MOST_WAITING {
            self.open.pop_first()
        } else {
            None
        };
        let ((atomic, _), contenders) = over?;
        self.waiting -= contenders.len();
        Some((atomic, contenders))
    }

    /// All contests that are open: whoever has not come does not meet those that have.
    pub fn settle(&mut self) -> impl Iterator<Item = (u32, Vec<Contender>)> + use<> {
        self.executions.clear();
        self.waiting = 0;
        std::mem::take(&mut self.open).into_iter().map(|((atomic, _), contenders)| (atomic, contenders))
    }
}
