//! What bounds a launch: the cycles that each part of the GPU needs at least, and what that makes of its time.
//!
//! The model, its sources and what it cannot know: `docs/decisions/bounds.md`.

mod chains;
mod code;
mod data;
mod items;
mod opcodes;
mod predict;

use crate::{case::Launch, model::*};
use items::{Item, Lines};
use std::collections::{BTreeMap, HashMap, HashSet};
use tilewright_arch::{Gpu, Part, PartCosts, WARP_SIZE, memory::global::SECTOR_BYTES};
use tilewright_emulator::{AccessKind, Counters, InstructionCounters, parse::parse};

/// What is known of a launch that was executed.
pub struct Executed<'a> {
    pub launch: &'a Launch,
    pub counters: &'a Counters,
    pub gpu: &'a Gpu,
    /// Blocks that a multiprocessor holds at a time.
    pub resident_blocks: u32,
    /// The source and the line that an instruction belongs to.
    pub place: &'a dyn Fn(&InstructionCounters) -> Option<(usize, u32)>,
    /// What an access does, by its line of the PTX and its kind: `load of A`.
    pub deed: &'a dyn Fn(u32, AccessKind) -> Option<String>,
    /// How many lanes of an atomic meet in one word.
    pub lanes_per_word: &'a dyn Fn(u32, AccessKind) -> f64,
    pub known: &'a Known,
}

/// What was seen of the memory.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub touched: Touched,
    /// By the line of the PTX: the part of its rounds in which a load brings sectors that its block has not loaded before.
    pub news: HashMap<u32, f64>,
}

/// Sectors of device memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touched {
    /// Touched at all.
    pub once: u64,
    /// Loaded or updated.
    pub loaded: u64,
    /// Stored or updated.
    pub stored: u64,
    /// Loaded by the first block, each once.
    pub by_first_block: u64,
    /// Lines of 128 bytes that are updated.
    pub updated_lines: u64,
}

/// The bound; `None` where nothing was executed, or costs are not known.
pub fn bound(executed: &Executed<'_>) -> Option<Bound> {
    let Executed { launch, counters, gpu, .. } = executed;
    let costs = PartCosts::of(gpu.capability())?;
    if counters.warp_instructions == 0 {
        return None;
    }
    let module = parse(&launch.ptx).ok()?;
    let functions = code::functions(&module, &launch.entry);
    let known = Lines { data: data::lines(&functions), guarded: code::guarded(&functions) };
    let shape = Shape::new(executed);
    let items = items::items(executed, &costs, &known);
    let work = work(counters, &costs, &known.data, shape.warps);
    let mut parts = of_multiprocessor(executed, &items, &shape, work.count);
    parts.extend(of_chip(executed, &costs, &items, &shape, work.count));
    parts.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    let cycles = parts.first()?.cycles;
    parts.iter_mut().for_each(|part| part.share = if cycles > 0.0 { part.cycles / cycles } else { 0.0 });
    let busiest = parts.iter().find(|part| part.part != Part::Launch).or(parts.first())?;
    let (part, cycles_per_work) = (busiest.part, busiest.cycles_per_work);
    let chains = {
        let per_warp = |n: u64| n as f64 / shape.warps;
        let executions = counters.instructions.iter().map(|i| (i.ptx_line, per_warp(i.executions))).collect();
        chains::chains(
            &functions,
            &chains::Executions { times: executions, rounds: rounds(counters) },
            &costs.latencies,
            &executed.known.news,
        )
    };
    let predicted = predict::predict(executed, &costs, &shape, &mut parts, &chains);
    let clock = gpu.clock_hz as f64;
    let seconds = |cycles: f64| (clock > 0.0).then(|| cycles / clock);
    Some(Bound {
        compute_capability: gpu.capability().to_string(),
        rates: costs.basis.name(),
        sms: gpu.multiprocessors,
        clock_hz: (gpu.clock_hz > 0).then_some(gpu.clock_hz),
        peak_share: items::peak_cycles(work.name, counters, &costs, &known.data)
            .map(|least| (least / cycles_per_work).min(1.0)),
        work,
        blocks_on_busiest_sm: shape.blocks_on_busiest,
        part,
        cycles,
        seconds: seconds(cycles),
        cycles_per_work,
        parts,
        traffic: executed.traffic(&shape),
        latency: predicted.latency,
        prediction: Prediction {
            cycles: predicted.cycles,
            seconds: seconds(predicted.cycles[0]).zip(seconds(predicted.cycles[1])).map(|(a, b)| [a, b]),
            likely_cycles: predicted.likely,
            likely_seconds: seconds(predicted.likely),
        },
        waits: predicted.waits,
    })
}

/// How often an atomic goes round that is a loop, by the line of the PTX.
fn rounds(counters: &Counters) -> HashMap<u32, f64> {
    let is_loop = |i: &&InstructionCounters| {
        i.accesses
            .iter()
            .any(|(kind, access)| *kind == AccessKind::SharedAtomic && access.requests > i.executions)
    };
    let of = |i: &InstructionCounters| {
        let requests =
            i.accesses.iter().filter(|(kind, _)| *kind == AccessKind::SharedAtomic).map(|(_, a)| a.requests);
        (i.ptx_line, requests.sum::<u64>() as f64 / i.executions.max(1) as f64)
    };
    counters.instructions.iter().filter(is_loop).map(of).collect()
}

/// Bytes that L2 moves in one piece: a sector takes as long as two that lie together.
const PIECE: u64 = 64;

/// How a launch lies on the chip.
pub struct Shape {
    pub blocks: f64,
    pub warps: f64,
    pub warps_per_block: f64,
    pub multiprocessors: f64,
    /// Blocks of the busiest multiprocessor, as they are likely.
    pub blocks_on_busiest: f64,
    /// The same, at least, in blocks that do as much as the mean.
    pub least_on_busiest: f64,
}

impl Shape {
    fn new(executed: &Executed<'_>) -> Self {
        let product = |sides: [u32; 3]| sides.into_iter().map(f64::from).product::<f64>();
        let shape = &executed.launch.shape;
        let blocks = product(shape.grid);
        let warps_per_block = (product(shape.block) / f64::from(WARP_SIZE)).ceil();
        let multiprocessors = f64::from(executed.gpu.multiprocessors);
        let even = blocks / multiprocessors;
        // Where each block does the same, one multiprocessor has the blocks that are left over. Counts that are multiples of
        // the blocks do not prove it.
        let is_uniform = executed.counters.instructions.iter().all(|i| i.executions % blocks as u64 == 0);
        let blocks_on_busiest = if is_uniform { even.ceil() } else { even.max(1.0) };
        // One multiprocessor has as much as the mean at least, and one has the block that does most.
        let least_on_busiest = even.max(1.0);
        let warps = blocks * warps_per_block;
        Self { blocks, warps, warps_per_block, multiprocessors, blocks_on_busiest, least_on_busiest }
    }

    /// The part of all work that the busiest multiprocessor has at least.
    pub fn least_share(&self) -> f64 {
        self.least_on_busiest / self.blocks
    }

    /// The part of all work that the busiest multiprocessor has, likely.
    pub fn share(&self) -> f64 {
        self.blocks_on_busiest / self.blocks
    }
}

impl Executed<'_> {
    /// Bytes that are stored or updated, and pass L1 each time.
    fn written(&self) -> f64 {
        let atomics = self.counters.accesses.get(&AccessKind::GlobalAtomic);
        let sectors = self.counters.global_store.sectors + atomics.map_or(0, |atomics| atomics.sectors);
        (sectors * u64::from(SECTOR_BYTES)) as f64
    }

    /// Bytes that are loaded, if each block loads a sector once.
    fn loaded_by_blocks(&self, shape: &Shape) -> f64 {
        let sector = f64::from(SECTOR_BYTES);
        let asked = self.counters.global_load.sectors as f64 * sector;
        (self.known.touched.by_first_block as f64 * sector * shape.blocks).min(asked)
    }

    /// Bytes that L2 moves likely.
    fn l2_likely(&self, shape: &Shape) -> f64 {
        self.loaded_by_blocks(shape) + self.written()
    }

    /// The same in pieces: of loads, and of what is stored or updated. Arrays of threads pass L1, too.
    fn l2_pieces(&self, shape: &Shape) -> [f64; 2] {
        let (mut asked, mut pieces, mut stored) = (0.0, 0.0, 0.0);
        for (kind, access) in self.counters.instructions.iter().flat_map(|i| &i.accesses) {
            let bytes = (access.sectors * u64::from(SECTOR_BYTES)) as f64;
            let in_pieces = bytes.max((access.lines * PIECE) as f64);
            match kind {
                AccessKind::GlobalLoad => {
                    asked += bytes;
                    pieces += in_pieces;
                }
                AccessKind::GlobalStore | AccessKind::GlobalAtomic | AccessKind::LocalStore => {
                    stored += in_pieces
                }
                _ => {}
            }
        }
        let spread = if asked > 0.0 { pieces / asked } else { 1.0 };
        [self.loaded_by_blocks(shape) * spread, stored]
    }

    /// The part of the new data of blocks that is new to the chip: no other block has loaded it, or those that have are at it now.
    fn new_to_chip(&self, shape: &Shape, rounds: f64) -> f64 {
        let moved = self.l2_likely(shape);
        let first = if moved > 0.0 { self.once() / moved } else { 0.0 };
        first.max(1.0 / rounds).min(1.0)
    }

    /// The part of the passes of L1 and of shared memory that is of L1.
    fn global_share(&self) -> f64 {
        let of = |kind| self.counters.accesses.get(&kind).copied().unwrap_or_default();
        let global = of(AccessKind::GlobalLoad).l1_wavefronts + of(AccessKind::LocalLoad).l1_wavefronts;
        let shared = [AccessKind::SharedLoad, AccessKind::SharedStore, AccessKind::SharedAtomic]
            .map(|kind| of(kind).optimised.wavefronts);
        global as f64 / ((global + shared.iter().sum::<u64>()).max(1)) as f64
    }

    fn once(&self) -> f64 {
        (self.known.touched.once * u64::from(SECTOR_BYTES)) as f64
    }

    fn traffic(&self, shape: &Shape) -> TrafficBounds {
        let asked = (self.counters.global_load.sectors * u64::from(SECTOR_BYTES)) as f64 + self.written();
        // A launch may find what it loads in L2, and leave there what it stores.
        let beyond_l2 =
            |sectors: u64| ((sectors * u64::from(SECTOR_BYTES)) as f64 - self.gpu.l2_bytes as f64).max(0.0);
        let beyond = beyond_l2(self.known.touched.loaded) + beyond_l2(self.known.touched.stored);
        let [likely_l2_load_bytes, likely_l2_store_bytes] = self.l2_pieces(shape);
        TrafficBounds {
            l2_bytes: [self.once(), asked.max(self.once())],
            likely_l2_bytes: self.l2_likely(shape),
            likely_l2_load_bytes,
            likely_l2_store_bytes,
            dram_bytes: [beyond, self.l2_likely(shape).max(self.once()).max(beyond)],
        }
    }
}

/// What is counted in: the most frequent arithmetic.
fn work(counters: &Counters, costs: &PartCosts, data: &HashSet<u32>, warps: f64) -> Work {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for instruction in &counters.instructions {
        let demand = opcodes::demand(&instruction.opcode, costs);
        let is_needed = !demand.may_be_overhead || data.contains(&instruction.ptx_line);
        if let Some(name) = demand.work.filter(|_| is_needed) {
            *counts.entry(name).or_default() += instruction.executions;
        }
    }
    let most = counts.into_iter().max_by_key(|&(_, count)| count).filter(|&(_, count)| count as f64 >= warps);
    most.map_or(Work { name: "warp", count: warps as u64 }, |(name, count)| Work { name, count })
}

/// Lines that are named for each part.
const NAMED_LINES: usize = 6;

/// The parts of a multiprocessor.
fn of_multiprocessor(executed: &Executed<'_>, items: &[Item], shape: &Shape, work: u64) -> Vec<PartBound> {
    let mut parts: BTreeMap<Part, Vec<&Item>> = BTreeMap::new();
    for item in
        items.iter().filter(|item| !item.asked.part.is_of_the_chip() && item.asked.likely_cycles() > 0.0)
    {
        parts.entry(item.asked.part).or_default().push(item);
    }
    let of_part = |(part, items): (Part, Vec<&Item>)| {
        let total: f64 = items.iter().map(|item| item.asked.cycles()).sum();
        let likely: f64 = items.iter().map(|item| item.asked.likely_cycles()).sum();
        let mut lines: BTreeMap<(usize, u32, &str), (f64, bool)> = BTreeMap::new();
        for item in items.iter().filter(|item| item.asked.cycles() > 0.0) {
            if let Some((source, line)) = item.place {
                let known = lines.entry((source, line, &item.what)).or_default();
                known.0 += item.asked.cycles();
                known.1 |= item.wants_one_bank;
            }
        }
        let mut lines: Vec<LineBound> = lines
            .into_iter()
            .map(|((source, line, what), (cycles, wants_one_bank))| LineBound {
                file: executed
                    .launch
                    .sources
                    .get(source)
                    .map(|source| source.name.clone())
                    .unwrap_or_default(),
                line,
                what: what.to_owned(),
                cycles: cycles * shape.least_share(),
                cycles_per_work: cycles / work as f64,
                share: cycles / total,
                wants_one_bank,
            })
            .collect();
        lines.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
        lines.truncate(NAMED_LINES);
        let cycles = total * shape.least_share();
        PartBound {
            part,
            title: part.title(),
            cycles,
            cycles_per_work: total / work as f64,
            likely_cycles: cycles.max(likely * shape.share()),
            share: 0.0,
            units: items.iter().map(|item| item.asked.units[0]).sum(),
            unit: part.unit(),
            lines,
        }
    };
    parts.into_iter().map(of_part).collect()
}

/// The parts that all multiprocessors share.
fn of_chip(
    executed: &Executed<'_>,
    costs: &PartCosts,
    items: &[Item],
    shape: &Shape,
    work: u64,
) -> Vec<PartBound> {
    let gpu = executed.gpu;
    let l2_bytes = costs.l2_bytes_of_chip.unwrap_or(costs.l2_bytes * shape.multiprocessors);
    let [moved, _] = executed.traffic(shape).l2_bytes;
    let [beyond, _] = executed.traffic(shape).dram_bytes;
    let of_atomics = |end: usize| -> f64 {
        let items = items.iter().filter(|item| item.asked.part == Part::Atomics);
        items.map(|item| item.asked.units[end]).sum()
    };
    let [atomics, likely_atomics] = [of_atomics(0), of_atomics(1)];
    let atomic = costs.atomic_sectors_of_chip.map_or(0.0, |sectors| 1.0 / sectors);
    let launch = (costs.launch_seconds * gpu.clock_hz as f64).max(shape.blocks * costs.block);
    let l2 = moved / l2_bytes;
    let dram = beyond / gpu.bytes_per_cycle();
    // Units, and cycles at least and likely. What `predict` knows better comes later.
    let rows = [
        (Part::L2, moved, [l2, l2]),
        (Part::Dram, beyond, [dram, dram]),
        (Part::Atomics, atomics, [atomics, likely_atomics].map(|sectors| sectors * atomic)),
        (Part::Launch, shape.blocks, [launch, launch]),
    ];
    let of_row = |(part, units, [cycles, likely_cycles]): (Part, f64, [f64; 2])| PartBound {
        part,
        title: part.title(),
        cycles,
        cycles_per_work: cycles * shape.multiprocessors / work as f64,
        likely_cycles,
        share: 0.0,
        units,
        unit: part.unit(),
        lines: Vec::new(),
    };
    // Device memory that L2 stands for works likely.
    let has_work = |row: &(Part, f64, [f64; 2])| row.1 > 0.0 || (row.0 == Part::Dram && moved > 0.0);
    rows.into_iter().filter(has_work).map(of_row).collect()
}
