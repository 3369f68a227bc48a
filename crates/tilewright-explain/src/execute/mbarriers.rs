//! Barriers in shared memory, with names that a reader of the source knows.

use super::lines::place_of;
use crate::{
    case::Launch,
    model::{Mbarrier, MbarrierUse, mbarrier_name},
};
use tilewright_emulator::{Counters, MbarrierCounters, MbarrierLine};

/// Those of a launch at which something happens.
pub fn mbarriers(launch: &Launch, counters: &Counters) -> Vec<Mbarrier> {
    let is_used =
        |barrier: &&MbarrierCounters| barrier.uses.iter().any(|line| line.done != Default::default());
    let all: Vec<_> = counters.mbarriers.iter().filter(is_used).collect();
    let is_alone = |variable: &str| all.iter().filter(|other| other.variable == variable).count() == 1;
    let named = |barrier: &&MbarrierCounters| Mbarrier {
        name: mbarrier_name(&barrier.variable, barrier.offset, is_alone(&barrier.variable)),
        phases: barrier.phases(),
        uses: barrier.uses.iter().map(|line| used(launch, line)).collect(),
    };
    all.iter().map(named).collect()
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
