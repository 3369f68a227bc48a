//! Barriers in shared memory, with names that a reader of the source knows.

use super::place_of;
use crate::{
    case::Launch,
    model::{Mbarrier, MbarrierUse},
};
use tilewright_emulator::{Counters, MbarrierCounters, MbarrierLine};

/// Bytes of an mbarrier.
const BYTES: u64 = 8;

/// Those of a launch at which something happens.
pub fn mbarriers(launch: &Launch, counters: &Counters) -> Vec<Mbarrier> {
    let is_used =
        |barrier: &&MbarrierCounters| barrier.uses.iter().any(|line| line.done != Default::default());
    let all: Vec<_> = counters.mbarriers.iter().filter(is_used).collect();
    let named = |barrier: &&MbarrierCounters| Mbarrier {
        name: name(barrier, &all),
        phases: barrier.phases(),
        uses: barrier.uses.iter().map(|line| used(launch, line)).collect(),
    };
    all.iter().map(named).collect()
}

/// `full[1]`, or `full` where nothing else of the variable is one.
fn name(barrier: &MbarrierCounters, all: &[&MbarrierCounters]) -> String {
    let MbarrierCounters { variable, offset, .. } = barrier;
    let is_alone = all.iter().filter(|other| other.variable == *variable).count() == 1;
    // Names with spaces are those of memory without a variable.
    match offset % BYTES {
        0 if is_alone && *offset == 0 => variable.clone(),
        0 if !variable.contains(' ') => format!("{variable}[{}]", offset / BYTES),
        _ => format!("{variable} + {offset}"),
    }
}

fn used(launch: &Launch, line: &MbarrierLine) -> MbarrierUse {
    MbarrierUse {
        ptx_line: line.ptx_line,
        line: line.source.as_ref().and_then(|source| place_of(launch, source)).map(|(_, line)| line),
        instruction: line.opcode.clone(),
        arrivals: line.done.arrivals,
        waits: line.done.waits,
        looks_in_vain: line.done.looks,
        copies: line.done.copies,
        bytes: line.done.bytes,
    }
}
