//! What each instruction asks of the parts.

use super::{Executed, opcodes};
use std::collections::HashSet;
use tilewright_arch::{Part, PartCosts};
use tilewright_emulator::{AccessCounters, AccessKind, Counters, InstructionCounters};

/// What an instruction asks of a part, in the whole launch.
#[derive(Clone, Debug)]
pub struct Item {
    pub part: Part,
    pub units: f64,
    /// Cycles of a unit.
    pub cost: f64,
    /// The source and the line that it belongs to.
    pub place: Option<(usize, u32)>,
    /// What it does: `load of A`, `multiply-add`.
    pub what: String,
}

impl Item {
    pub fn cycles(&self) -> f64 {
        self.units * self.cost
    }
}

/// Every demand. Lines in `data` make what is stored.
pub fn items(executed: &Executed<'_>, costs: &PartCosts, data: &HashSet<u32>) -> Vec<Item> {
    let mut items = Vec::new();
    for instruction in &executed.counters.instructions {
        let place = (executed.place)(instruction);
        let mut add = |part, units: f64, cost, what: &str| {
            if units > 0.0 {
                items.push(Item { part, units, cost, place, what: what.to_owned() });
            }
        };
        // Warps without an active lane may have jumped over it.
        let warps = instruction.executions.min(instruction.active_lanes) as f64;
        let demand = opcodes::demand(&instruction.opcode, costs);
        if !demand.may_be_overhead || data.contains(&instruction.ptx_line) {
            let what = demand.work.unwrap_or(&instruction.opcode);
            add(Part::Issue, warps * demand.issued, costs.issue(), what);
            if let Some((part, units, cost)) = demand.part {
                add(part, warps * units, cost, what);
            }
        }
        if instruction.opcode.starts_with("bar") {
            add(Part::Issue, warps, costs.issue(), "barrier");
            add(Part::Barriers, warps, costs.barrier, "barrier");
        }
        for (kind, access) in &instruction.accesses {
            let deed = (executed.deed)(instruction.ptx_line, *kind);
            let what = deed.as_deref().unwrap_or(&instruction.opcode);
            for (part, units, cost) in of_access(instruction, *kind, access, costs) {
                add(part, units, cost, what);
            }
        }
    }
    items
}

/// Units of parts and the cycles of each.
fn of_access(
    instruction: &InstructionCounters,
    kind: AccessKind,
    access: &AccessCounters,
    costs: &PartCosts,
) -> Vec<(Part, f64, f64)> {
    let issue = |requests: u64| (Part::Issue, requests as f64, costs.issue());
    let lines = (Part::L1Address, access.lines as f64, costs.l1_line);
    let data = |wavefronts: u64| (Part::L1Data, wavefronts as f64, costs.wavefront);
    // Tensor cores and the units of bulk copies reach shared memory past the path of loads and stores.
    let is_of_warps =
        !instruction.opcode.starts_with("wgmma") && !instruction.opcode.starts_with("cp.async.bulk");
    let is_loop = access.requests > instruction.executions;
    match kind {
        AccessKind::GlobalLoad | AccessKind::LocalLoad if is_of_warps => {
            vec![issue(access.requests), lines, data(access.l1_wavefronts)]
        }
        AccessKind::GlobalStore | AccessKind::LocalStore if is_of_warps => {
            vec![issue(access.requests), lines]
        }
        AccessKind::GlobalAtomic => {
            vec![issue(access.requests), (Part::Atomics, access.sectors as f64, 0.0)]
        }
        AccessKind::SharedLoad | AccessKind::SharedStore if is_of_warps && !is_loop => {
            vec![issue(access.optimised.requests), data(access.optimised.wavefronts)]
        }
        // The rounds of an atomic that is a loop depend on timing.
        AccessKind::SharedAtomic if is_loop => vec![issue(instruction.executions)],
        AccessKind::SharedAtomic => vec![issue(access.requests), data(access.wavefronts)],
        AccessKind::ConstantLoad => {
            vec![(Part::Constant, access.conflicts() as f64, costs.constant_address)]
        }
        AccessKind::Texture | AccessKind::TextureStore => {
            vec![issue(access.requests), (Part::Texture, access.requests as f64, costs.texture)]
        }
        _ => Vec::new(),
    }
}

/// The cycles of work on the unit that does it, which are those of its peak; `None` where there is no such work.
pub fn peak_cycles(work: &str, counters: &Counters, costs: &PartCosts) -> Option<f64> {
    let demands = counters.instructions.iter().map(|i| (i.executions, opcodes::demand(&i.opcode, costs)));
    let of_work = demands.filter(|(_, demand)| demand.work == Some(work));
    let (_, units, cost) = of_work.max_by_key(|&(executions, _)| executions)?.1.part?;
    Some(units * cost).filter(|&cycles| cycles > 0.0)
}
