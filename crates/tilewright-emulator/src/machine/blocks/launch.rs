//! Launches: blocks over threads of this process, and what comes back.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{block::Progress, group::Group};
use crate::check::{Collector, Finding, FindingKind, Severity};
use crate::count::{Counters, RawCounts};
use crate::machine::{
    lanes::host_isa::HostIsa,
    state::{
        options::{BlockOrderPolicy, LaunchError},
        worker::{Launch, Worker},
    },
};
use crate::memory::Use;

/// What a launch did.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the hardware would count, at the level of PTX.
    pub counters: Counters,
    /// Faults, the worst first.
    pub findings: Vec<Finding>,
    /// What the kernel printed, block by block.
    pub printed: String,
    /// Why it ended early, if it did.
    pub error: Option<LaunchError>,
}

impl Report {
    /// Findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Whether another order of the blocks might have led to another report: there is something wrong, and it is not the host that ended it.
    pub(crate) fn depends_on_order(&self) -> bool {
        match self.error {
            // Who has left before a barrier is the same in every order.
            None => self.findings.iter().any(|finding| {
                finding.kind != FindingKind::BarrierDivergence || finding.severity != Severity::Note
            }),
            Some(
                LaunchError::Interrupted { .. }
                | LaunchError::TimeLimit { .. }
                | LaunchError::MemoryLimit { .. },
            ) => false,
            Some(_) => true,
        }
    }

    /// Whether the kernel ran to its end and no check found an error.
    pub fn is_clean(&self) -> bool {
        self.error.is_none() && self.errors().next().is_none()
    }
}

/// Warp instructions that a block executes before another one may start beside it: blocks may wait for later ones.
const TURN: i64 = 1 << 26;

/// Executes all blocks of a launch.
pub fn run(launch: &Launch<'_>, policy: BlockOrderPolicy, workers: usize) -> Report {
    let size = launch.cluster.iter().product::<u32>().max(1);
    let groups = launch.grid.iter().product::<u32>() / size;
    let resident = (launch.resident / size as usize).max(1);
    let turn = if policy == BlockOrderPolicy::Cooperative { 1 << 16 } else { TURN };
    let next = AtomicU32::new(0);
    let host_isa = HostIsa::detect();
    let mut results: Vec<Option<Outcome>> = (0..workers).map(|_| None).collect();
    if workers == 1 {
        results[0] = Some(work(launch, host_isa, &next, groups, resident, turn));
    } else {
        rayon::scope(|scope| {
            for result in &mut results {
                let next = &next;
                scope.spawn(move |_| *result = Some(work(launch, host_isa, next, groups, resident, turn)));
            }
        });
    }
    let program = launch.program;
    let mut counts = RawCounts::new(program.blocks.len(), program.code.len(), program.accesses.len());
    let mut findings = Collector::default();
    let mut printed = Vec::new();
    let mut error = None;
    for outcome in results.into_iter().flatten() {
        counts.add(&outcome.counts);
        findings.merge(outcome.findings);
        printed.extend(outcome.printed);
        error = error.or(outcome.error);
    }
    printed.sort_by_key(|line: &(u32, String)| line.0);
    Report {
        counters: Counters::new(program, &launch.shared, &counts),
        findings: findings.finish(),
        printed: printed.into_iter().map(|line| line.1).collect(),
        error,
    }
}

/// What a worker brings back.
struct Outcome {
    counts: RawCounts,
    findings: Collector,
    printed: Vec<(u32, String)>,
    error: Option<LaunchError>,
}

fn work(
    launch: &Launch<'_>,
    host_isa: HostIsa,
    next: &AtomicU32,
    groups: u32,
    resident: usize,
    turn: i64,
) -> Outcome {
    let mut worker = Worker::new(launch, host_isa);
    let mut queue = std::collections::VecDeque::new();
    let turn = launch.step_limit.map_or(turn, |limit| turn.min(limit.min(i64::MAX as u64) as i64));
    loop {
        if queue.len() < resident {
            let number = next.fetch_add(1, Relaxed);
            if number < groups {
                queue.push_front(Group::new(launch, number));
            } else {
                // The counter stays where it is for a grid of 2^32 - 1 blocks too.
                next.fetch_sub(1, Relaxed);
            }
        }
        let Some(mut group) = queue.pop_front() else { break };
        let progress = group.run(&mut worker, turn);
        let steps = worker.tell_steps();
        if worker.error.is_none() {
            let is_last = progress == Progress::Done && queue.is_empty() && next.load(Relaxed) >= groups;
            worker.error = launch.cut_off(steps, is_last);
            let rest = std::iter::once(&group).chain(&queue).flat_map(Group::blocks);
            rest.for_each(|block| block.unfinished(&mut worker));
        }
        if worker.error.is_some() || progress == Progress::Failed {
            launch.failed.store(true, Relaxed);
        }
        if launch.failed.load(Relaxed) {
            break;
        }
        match progress {
            Progress::More => queue.push_back(group),
            Progress::Done => {
                launch.budget.give(Use::Calls, group.deep_bytes(launch.program));
                if let Some(block_done) = launch.watch.block_done {
                    group.blocks().iter().for_each(|_| block_done());
                }
            }
            Progress::Failed => {}
        }
    }
    worker.settle();
    Outcome { counts: worker.counts, findings: worker.findings, printed: worker.printed, error: worker.error }
}
