//! What each instruction asks of the parts.

use super::{Executed, code::is_block_barrier, opcodes};
use std::collections::HashSet;
use tilewright_arch::{Part, PartCosts, WARP_SIZE};
use tilewright_emulator::{AccessCounters, AccessKind, Counters, InstructionCounters};

/// What an instruction asks of a part, in the whole launch.
#[derive(Clone, Debug)]
pub struct Item {
    pub asked: Asked,
    /// The source and the line that it belongs to.
    pub place: Option<(usize, u32)>,
    /// What it does: `load of A`, `multiply-add`.
    pub what: String,
    /// Whether each lane takes a pass of its own, as all want one bank.
    pub wants_one_bank: bool,
}

/// Units that a part is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub part: Part,
    /// At least, and likely.
    pub units: [f64; 2],
    /// Cycles of a unit.
    pub cost: f64,
}

impl Asked {
    fn exactly(part: Part, units: f64, cost: f64) -> Self {
        Self { part, units: [units, units], cost }
    }

    pub fn cycles(&self) -> f64 {
        self.units[0] * self.cost
    }

    pub fn likely_cycles(&self) -> f64 {
        self.units[1] * self.cost
    }
}

/// Lines of the PTX.
pub struct Lines {
    /// They make what is stored.
    pub data: HashSet<u32>,
    /// They have a guard.
    pub guarded: HashSet<u32>,
}

/// Every demand.
pub fn items(executed: &Executed<'_>, costs: &PartCosts, known: &Lines) -> Vec<Item> {
    let mut items = Vec::new();
    for instruction in &executed.counters.instructions {
        let place = (executed.place)(instruction);
        let mut add = |asked: Asked, what: &str, wants_one_bank: bool| {
            if asked.units[1] > 0.0 {
                items.push(Item { asked, place, what: what.to_owned(), wants_one_bank });
            }
        };
        let warps = warps(instruction, known);
        let demand = opcodes::demand(&instruction.opcode, costs);
        if !demand.may_be_overhead || known.data.contains(&instruction.ptx_line) {
            let what = demand.work.unwrap_or(&instruction.opcode);
            let times = |each: f64| warps.map(|warps| warps * each);
            add(Asked { part: Part::Issue, units: times(demand.issued), cost: costs.issue() }, what, false);
            if let Some((part, least, cost)) = demand.part {
                let units = [warps[0] * least, warps[1] * demand.likely];
                add(Asked { part, units, cost }, what, false);
            }
        }
        if is_block_barrier(&instruction.opcode) {
            add(Asked { part: Part::Issue, units: warps, cost: costs.issue() }, "barrier", false);
            add(Asked { part: Part::Barriers, units: warps, cost: costs.barrier }, "barrier", false);
        }
        for (kind, access) in &instruction.accesses {
            let deed = (executed.deed)(instruction.ptx_line, *kind);
            let what = deed.as_deref().unwrap_or(&instruction.opcode);
            let wants_one_bank = *kind == AccessKind::GlobalLoad && is_one_pass_a_lane(access);
            for asked in of_access(instruction, *kind, access, costs, warps) {
                add(asked, what, wants_one_bank);
            }
        }
    }
    items
}

/// Warps that execute an instruction: at least, and likely. Those without an active lane may have jumped over it.
fn warps(instruction: &InstructionCounters, known: &Lines) -> [f64; 2] {
    let likely = instruction.executions.min(instruction.active_lanes);
    let full = instruction.active_lanes.div_ceil(u64::from(WARP_SIZE));
    let least = if known.guarded.contains(&instruction.ptx_line) { likely.min(full) } else { likely };
    [least as f64, likely as f64]
}

/// Most lanes of a request take a pass each: their addresses are a multiple of all banks apart.
fn is_one_pass_a_lane(access: &AccessCounters) -> bool {
    access.lanes >= MANY_LANES * access.requests && 10 * access.l1_wavefronts >= 9 * access.lanes
}

/// Fewer lanes are no column of a matrix.
const MANY_LANES: u64 = 16;

/// Units of parts and the cycles of each.
fn of_access(
    instruction: &InstructionCounters,
    kind: AccessKind,
    access: &AccessCounters,
    costs: &PartCosts,
    warps: [f64; 2],
) -> Vec<Asked> {
    let issue = |requests: u64| Asked::exactly(Part::Issue, requests as f64, costs.issue());
    let lines = Asked::exactly(Part::L1Address, access.lines as f64, costs.l1_line);
    let data = |wavefronts: u64| Asked::exactly(Part::L1Data, wavefronts as f64, costs.wavefront);
    // Tensor cores and the units of bulk copies reach shared memory past the path of loads and stores.
    let is_bulk = instruction.opcode.starts_with("cp.async.bulk");
    let is_of_warps = !instruction.opcode.starts_with("wgmma") && !is_bulk;
    // One instruction of the machine that stores to shared memory what it loads.
    let is_copy = instruction.opcode.starts_with("cp.async.") && !is_bulk;
    let likely = |asked: Asked| Asked { units: [0.0, asked.units[1]], ..asked };
    let is_loop = access.requests > instruction.executions;
    let is_merged = may_be_of_one_lane(&instruction.opcode);
    let merged = |units: u64| {
        let least = if is_merged { access.requests.min(units) } else { units };
        [least as f64, units as f64]
    };
    match kind {
        AccessKind::GlobalLoad if is_copy => vec![issue(access.requests), lines],
        AccessKind::GlobalLoad if is_of_warps => {
            vec![issue(access.requests), lines, data(access.l1_wavefronts)]
        }
        AccessKind::GlobalStore if is_of_warps => vec![issue(access.requests), lines],
        // The assembler may keep an array of a thread in registers after all.
        AccessKind::LocalLoad | AccessKind::LocalStore if is_of_warps => {
            [issue(access.requests), lines, data(access.l1_wavefronts)].map(likely).to_vec()
        }
        AccessKind::GlobalAtomic => {
            let sectors = Asked { part: Part::Atomics, units: merged(access.sectors), cost: 0.0 };
            vec![issue(access.requests), sectors]
        }
        AccessKind::SharedStore if is_copy => vec![data(access.optimised.wavefronts)],
        AccessKind::SharedLoad | AccessKind::SharedStore if is_of_warps && !is_loop => {
            vec![issue(access.optimised.requests), data(access.optimised.wavefronts)]
        }
        // The rounds of an atomic that is a loop depend on timing. Likely are those of a block whose warps come together.
        AccessKind::SharedAtomic if is_loop => {
            let rounds = (ROUND * access.requests) as f64;
            let issued = Asked { part: Part::Issue, units: [warps[0], rounds], cost: costs.issue() };
            vec![issued, likely(data(access.wavefronts))]
        }
        AccessKind::SharedLoad if is_loop => vec![likely(data(access.wavefronts))],
        AccessKind::SharedAtomic => {
            let passes =
                Asked { part: Part::L1Data, units: merged(access.wavefronts), cost: costs.wavefront };
            vec![issue(access.requests), passes]
        }
        AccessKind::ConstantLoad => {
            vec![Asked::exactly(Part::Constant, access.conflicts() as f64, costs.constant_address)]
        }
        // Four lanes a cycle; likely is a whole request.
        AccessKind::Texture | AccessKind::TextureStore => {
            let full = access.lanes as f64 / f64::from(WARP_SIZE);
            let requests = access.requests as f64;
            let units = [full.min(requests), requests];
            vec![issue(access.requests), Asked { part: Part::Texture, units, cost: costs.texture }]
        }
        _ => Vec::new(),
    }
}

/// Instructions of a round: load, compute, compare and swap, test, branch.
const ROUND: u64 = 5;

/// Whether the assembler may let one lane do it for all lanes with the same address: atomics of integers whose order does not matter.
fn may_be_of_one_lane(opcode: &str) -> bool {
    let mut words = opcode.split('.');
    let is_atomic = matches!(words.next(), Some("atom" | "red"));
    let words: Vec<&str> = words.collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    is_atomic
        && has(&["add", "min", "max", "and", "or", "xor"])
        && has(&["u32", "s32", "b32", "u64", "s64", "b64"])
}

/// The cycles of work on the unit that does it, which are those of its peak; `None` where there is no such work.
pub fn peak_cycles(work: &str, counters: &Counters, costs: &PartCosts, data: &HashSet<u32>) -> Option<f64> {
    let demands = counters
        .instructions
        .iter()
        .map(|i| (i.executions, data.contains(&i.ptx_line), opcodes::demand(&i.opcode, costs)));
    let of_work = demands
        .filter(|(_, is_data, demand)| demand.work == Some(work) && (*is_data || !demand.may_be_overhead));
    let (_, units, cost) = of_work.max_by_key(|&(executions, ..)| executions)?.2.part?;
    Some(units * cost).filter(|&cycles| cycles > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_arch::ComputeCapability;

    fn of(opcode: &str, kind: AccessKind, access: &AccessCounters) -> Vec<Asked> {
        let costs = PartCosts::of(ComputeCapability::new(9, 0)).expect("known");
        let instruction = InstructionCounters {
            ptx_line: 1,
            source: None,
            opcode: opcode.into(),
            executions: 10,
            active_lanes: 320,
            flops: 0,
            accesses: Vec::new(),
        };
        of_access(&instruction, kind, access, &costs, [10.0, 10.0])
    }

    fn units(asked: &[Asked], part: Part) -> Option<[f64; 2]> {
        asked.iter().find(|asked| asked.part == part).map(|asked| asked.units)
    }

    #[test]
    fn one_lane_may_add_for_a_warp() {
        let access = AccessCounters { requests: 10, lanes: 320, wavefronts: 320, ..Default::default() };
        let least = |opcode| units(&of(opcode, AccessKind::SharedAtomic, &access), Part::L1Data);
        assert_eq!(least("red.shared.add.u32"), Some([10.0, 320.0]));
        assert_eq!(least("atom.shared.max.s32"), Some([10.0, 320.0]));
        assert_eq!(least("atom.shared.exch.b32"), Some([320.0, 320.0]));
        assert_eq!(least("atom.shared.add.f32"), Some([320.0, 320.0]));
        let access = AccessCounters { sectors: 40, ..access };
        let sectors = units(&of("red.global.add.u32", AccessKind::GlobalAtomic, &access), Part::Atomics);
        assert_eq!(sectors, Some([10.0, 40.0]));
    }

    #[test]
    fn an_asynchronous_copy_is_one_instruction() {
        let mut access = AccessCounters { requests: 10, lines: 40, l1_wavefronts: 40, ..Default::default() };
        (access.optimised.requests, access.optimised.wavefronts) = (10, 40);
        let sides = [AccessKind::GlobalLoad, AccessKind::SharedStore]
            .map(|kind| of("cp.async.cg.shared.global", kind, &access));
        let of_part = |part| sides.each_ref().map(|side| units(side, part).map(|units| units[0]));
        assert_eq!(of_part(Part::Issue), [Some(10.0), None]);
        assert_eq!(of_part(Part::L1Data), [None, Some(40.0)]);
    }

    #[test]
    fn only_active_lanes_fetch_texels() {
        let access = AccessCounters { requests: 10, lanes: 160, ..Default::default() };
        let asked = of("tex.1d.v4.f32.f32", AccessKind::Texture, &access);
        assert_eq!(units(&asked, Part::Texture), Some([5.0, 10.0]));
    }
}
