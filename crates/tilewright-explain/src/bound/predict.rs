//! What a launch is likely to take.
//!
//! Parts work side by side, but not all the time: where two are busy, each now and then waits for the other. Their cycles are joined as the sides of a
//! box are to its diagonal, with an exponent between that of the longest and that of the sum. The chain of a warp is hidden by other blocks, as far
//! as there are any.
//!
//! [`EXPONENT`], [`CHAIN`] and the cost of the first access were fitted to the times of 255 of the 267 launches that were measured
//! on an H200: `scripts/nsight/bounds`.

use super::{
    Executed, Shape,
    chains::{Chains, Wait},
};
use crate::model::{Latency, PartBound, WaitShare};
use std::collections::BTreeMap;
use tilewright_arch::{Part, PartCosts};
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
    let [likely, high] = [chains.likely, chains.high].map(|chain| rounds * chain.cycles());
    let low = (shape.least_on_busiest / resident).max(1.0) * chains.low.cycles();
    let busy = busy(executed, costs, shape, parts);
    parts
        .iter_mut()
        .for_each(|part| part.likely_cycles = busy.get(&part.part).copied().unwrap_or(part.cycles));
    let is_memory_touched = executed.touched.once > 0;
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
            likely_chain_cycles_per_warp: chains.likely.cycles(),
            resident_blocks: executed.resident_blocks,
            cycles: [low, high],
        },
        cycles: [at_least, (launch + together + high).max(predicted).max(at_least)],
        likely: predicted.max(at_least),
        waits: waits(&busy, executed.global_share(), chains, rounds, predicted),
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
    let moved = executed.l2_likely(shape);
    let l2 = costs.l2_bytes_of_chip.unwrap_or(f64::INFINITY).min(costs.l2_bytes * shape.multiprocessors);
    more(Part::L2, (moved / l2).max(moved * shape.share() / costs.l2_bytes));
    let reached =
        if executed.written() > MIXED * executed.once() { costs.dram_copying } else { costs.dram_reading };
    more(Part::Dram, executed.once() / (executed.gpu.bytes_per_cycle() * reached));
    busy
}

/// From this part of all bytes on, writes make device memory turn around often.
const MIXED: f64 = 0.25;

/// 2 would be the diagonal of a box, and a large number the longest side.
const EXPONENT: f64 = 2.5;

/// How often the chain of a warp counts where a multiprocessor has one block.
const CHAIN: f64 = 1.5;

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
fn waits(
    busy: &BTreeMap<Part, f64>,
    global: f64,
    chains: &Chains,
    rounds: f64,
    cycles: f64,
) -> Vec<WaitShare> {
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
        *waits.entry(wait.name()).or_default() += rounds * chains.likely.of(wait) / cycles;
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
