//! What a launch is likely to take.
//!
//! Parts work side by side, but not all the time: where two are busy, each now and then waits for the other. Their cycles are joined as the sides of a
//! box are to its diagonal, with an exponent between that of the longest and that of the sum. The chain of a warp is hidden by other blocks, as far
//! as there are any.
//!
//! [`EXPONENT`] and the cost of the first access were fitted to the times of 255 of the 267 launches that were measured on an H200, and [`CHAIN`]
//! later to all of them: `scripts/nsight/bounds`.

use super::{
    Executed, Shape,
    chains::{Chain, Chains, Wait},
};
use crate::model::{Latency, PartBound, WaitShare};
use std::collections::BTreeMap;
use tilewright_arch::{Part, PartCosts, WARP_SIZE};
use tilewright_emulator::AccessKind;

pub struct Predicted {
    pub latency: Latency,
    pub cycles: [f64; 2],
    pub likely: f64,
    pub waits: Vec<WaitShare>,
}

pub fn predict(
    executed: &Executed<'_>,
    costs: &PartCosts,
    shape: &Shape,
    parts: &mut [PartBound],
    chains: &Chains,
) -> Predicted {
    let resident = f64::from(executed.resident_blocks.max(1)).min(shape.blocks_on_busiest.ceil());
    let rounds = (shape.blocks_on_busiest / resident).max(1.0);
    let rounds = if shape.blocks_on_busiest.fract() == 0.0 { rounds.ceil() } else { rounds };
    let chain = chains.from_l2.towards(&chains.from_dram, executed.new_to_chip(shape, rounds));
    let [likely, high] = [chain, chains.high].map(|chain| rounds * chain.cycles());
    let low = (shape.least_on_busiest / resident).max(1.0) * chains.low.cycles();
    let busy = busy(executed, costs, shape, parts);
    parts
        .iter_mut()
        .for_each(|part| part.likely_cycles = busy.get(&part.part).copied().unwrap_or(part.cycles));
    let is_memory_touched = executed.known.touched.once > 0;
    let first = if is_memory_touched { costs.first_access_seconds } else { 0.0 };
    let launch = (costs.likely_launch_seconds + first) * executed.gpu.clock_hz as f64;
    let together = together(&busy, shape.blocks * costs.block);
    let at_least = parts.iter().map(|part| part.cycles).fold(low, f64::max);
    let predicted = launch + (together + CHAIN * likely / resident).max(likely);
    Predicted {
        latency: Latency {
            warps: (resident * shape.warps_per_block) as u32,
            rounds,
            chain_cycles_per_warp: [chains.low.cycles(), chains.high.cycles()],
            likely_chain_cycles_per_warp: chain.cycles(),
            new_data_chain_cycles_per_warp: [chains.from_l2.cycles(), chains.from_dram.cycles()],
            resident_blocks: executed.resident_blocks,
            cycles: [low, high],
        },
        cycles: [at_least, (launch + together + high).max(predicted).max(at_least)],
        likely: predicted.max(at_least),
        waits: waits(&busy, executed.global_share(), &chain, rounds, predicted),
    }
}

/// Cycles that parts are likely to work: those of the items, with the instructions that find addresses, and with what blocks load again.
fn busy(
    executed: &Executed<'_>,
    costs: &PartCosts,
    shape: &Shape,
    parts: &[PartBound],
) -> BTreeMap<Part, f64> {
    let mut busy: BTreeMap<Part, f64> = parts.iter().map(|part| (part.part, part.likely_cycles)).collect();
    let mut more = |part, cycles: f64| {
        let known = busy.entry(part).or_insert(0.0);
        *known = known.max(cycles);
    };
    let counters = executed.counters;
    let merged: u64 = [AccessKind::SharedLoad, AccessKind::SharedStore]
        .iter()
        .filter_map(|kind| counters.accesses.get(kind))
        .map(|access| access.requests.saturating_sub(access.optimised.requests))
        .sum();
    let issued = counters.warp_instructions.saturating_sub(merged) as f64;
    more(Part::Issue, issued * costs.issue() * shape.share());
    let [loads, stores] = executed.l2_pieces(shape);
    more(Part::L2, l2(loads, (costs.l2_bytes_of_chip, costs.l2_bytes), shape));
    more(Part::L2, l2(stores, (costs.l2_bytes_written_of_chip, costs.l2_bytes_written), shape));
    more(Part::Atomics, atomics(executed, costs));
    let reached =
        if executed.written() > MIXED * executed.once() { costs.dram_copying } else { costs.dram_reading };
    more(Part::Dram, executed.once() / (executed.gpu.bytes_per_cycle() * reached));
    busy
}

/// Cycles in which L2 moves bytes in one direction, at a rate of the chip and one of a multiprocessor.
fn l2(bytes: f64, (of_chip, of_one): (Option<f64>, f64), shape: &Shape) -> f64 {
    let together = bytes / of_chip.unwrap_or(f64::INFINITY);
    together.max(bytes * shape.share() / of_one)
}

/// Cycles of atomics in L2: by their lines, or one after another where they meet.
fn atomics(executed: &Executed<'_>, costs: &PartCosts) -> f64 {
    let (mut lines, mut turns) = (0.0, 0.0);
    for instruction in &executed.counters.instructions {
        for (kind, access) in
            instruction.accesses.iter().filter(|(kind, _)| *kind == AccessKind::GlobalAtomic)
        {
            lines += access.lines as f64;
            turns += costs.contention.map_or(0.0, |contention| {
                let lane =
                    if is_of_floats(&instruction.opcode) { contention.float } else { contention.integer };
                let lanes = (executed.lanes_per_word)(instruction.ptx_line, *kind);
                (access.lanes as f64 / f64::from(WARP_SIZE) * contention.line)
                    .max(access.lines as f64 * lanes * lane)
            });
        }
    }
    let apart = costs.atomic_lines_of_chip.map_or(0.0, |rate| lines / rate);
    apart.max(turns / executed.known.touched.updated_lines.max(1) as f64)
}

fn is_of_floats(opcode: &str) -> bool {
    opcode.split('.').any(|word| matches!(word, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64"))
}

/// From this part of all bytes on, writes make device memory turn around often.
const MIXED: f64 = 0.25;

/// 2 would be the diagonal of a box, and a large number the longest side.
const EXPONENT: f64 = 2.5;

/// How much of the chain of a warp is added where a multiprocessor has one block.
const CHAIN: f64 = 0.75;

/// How long parts take that disturb each other, and the starts of all blocks. A request goes through both paths of L1 in one; barriers are no units.
fn together(busy: &BTreeMap<Part, f64>, starts: f64) -> f64 {
    let of = |part| busy.get(&part).copied().unwrap_or(0.0);
    let is_apart =
        |part: &Part| !matches!(part, Part::L1Address | Part::L1Data | Part::Barriers | Part::Launch);
    let l1 = of(Part::L1Address).max(of(Part::L1Data));
    let others = busy.iter().filter(|(part, _)| is_apart(part)).map(|(_, &cycles)| cycles);
    others.chain([l1, starts]).map(|cycles| cycles.powf(EXPONENT)).sum::<f64>().powf(1.0 / EXPONENT)
}

/// Parts that are busy for less of the time make nobody wait.
const BUSY: f64 = 0.25;

/// `global` is the part of the passes of L1 that is not of shared memory.
fn waits(busy: &BTreeMap<Part, f64>, global: f64, chain: &Chain, rounds: f64, cycles: f64) -> Vec<WaitShare> {
    let mut waits: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (&part, &busy) in busy.iter().filter(|(_, busy)| **busy > BUSY * cycles) {
        let share = busy / cycles;
        let reasons = match part {
            Part::L1Data => vec![(LG_THROTTLE, global), (MIO_THROTTLE, 1.0 - global)],
            _ => reason(part).map(|reason| (reason, 1.0)).into_iter().collect(),
        };
        for (reason, part) in reasons {
            let known = waits.entry(reason).or_default();
            *known = known.max(part * share * share);
        }
    }
    for wait in Wait::ALL {
        *waits.entry(wait.name()).or_default() += rounds * chain.of(wait) / cycles;
    }
    let sum: f64 = waits.values().sum();
    let mut waits: Vec<WaitShare> = waits
        .into_iter()
        .map(|(reason, weight)| WaitShare { reason, share: weight / sum })
        .filter(|wait| wait.share >= 0.01)
        .collect();
    waits.sort_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

const LG_THROTTLE: &str = "lg_throttle";
const MIO_THROTTLE: &str = "mio_throttle";

/// What Nsight Compute calls waiting for a part.
const fn reason(part: Part) -> Option<&'static str> {
    Some(match part {
        Part::Issue => "not_selected",
        Part::Fma | Part::IntegerMultiply | Part::Alu | Part::Xu | Part::F64 | Part::F16 | Part::Tensor => {
            "math_pipe_throttle"
        }
        Part::L1Address | Part::Atomics => LG_THROTTLE,
        Part::L1Data => MIO_THROTTLE,
        Part::Constant => "imc_miss",
        Part::Texture => "tex_throttle",
        Part::Barriers => "barrier",
        Part::L2 | Part::Dram => "long_scoreboard",
        Part::Launch => return None,
    })
}
