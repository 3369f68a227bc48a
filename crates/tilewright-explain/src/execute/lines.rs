//! What was counted, by the lines that it belongs to.

use crate::{case::Launch, model::*};
use std::collections::{BTreeMap, HashMap};
use tilewright_emulator as emulator;
use tilewright_emulator::{AccessCounters, AccessKind};

/// What was seen of the recorded block.
pub struct Recorded<'a> {
    pub ids: &'a AccessIds,
    /// The array or variable of each access.
    pub names: &'a HashMap<usize, String>,
    pub recording: &'a Recording,
}

impl Recorded<'_> {
    /// Bytes between the nearest two lanes that want different places.
    fn lane_stride(&self, access: usize) -> Option<u64> {
        let patterns = self.recording.patterns.iter().find(|patterns| patterns.access == access)?;
        let mut offsets = patterns.shapes.first()?.offsets.clone();
        offsets.sort_unstable();
        offsets.dedup();
        offsets.windows(2).map(|pair| pair[1] - pair[0]).min()
    }

    /// How many lanes of a warp meet in one address, at the most crowded: the mean over the executions of an access.
    fn lanes_per_address(&self, access: usize) -> Option<f64> {
        let patterns = self.recording.patterns.iter().find(|patterns| patterns.access == access)?;
        let most = |shape: &Shape| {
            let mut lanes: HashMap<u64, u64> = HashMap::new();
            shape.offsets.iter().for_each(|&offset| *lanes.entry(offset).or_default() += 1);
            lanes.into_values().max().unwrap_or(0)
        };
        let executions: u64 = patterns.shapes.iter().map(|shape| shape.count).sum();
        let lanes: u64 = patterns.shapes.iter().map(|shape| shape.count * most(shape)).sum();
        (executions > 0).then(|| lanes as f64 / executions as f64)
    }
}

/// The number of each access, by its PTX line and kind.
pub type AccessIds = HashMap<(u32, AccessKind), usize>;

pub fn access_ids(counters: &emulator::Counters) -> AccessIds {
    let mut ids = AccessIds::new();
    for instruction in &counters.instructions {
        for (kind, _) in instruction.accesses.iter().filter(|(kind, _)| place(*kind).is_some()) {
            let next = ids.len();
            ids.entry((instruction.ptx_line, *kind)).or_insert(next);
        }
    }
    ids
}

/// Where an access goes; `None` for parameters, which are no traffic.
pub fn place(kind: AccessKind) -> Option<(Space, Operation)> {
    Some(match kind {
        AccessKind::GlobalLoad => (Space::Global, Operation::Load),
        AccessKind::GlobalStore => (Space::Global, Operation::Store),
        AccessKind::GlobalAtomic => (Space::Global, Operation::Atomic),
        AccessKind::SharedLoad => (Space::Shared, Operation::Load),
        AccessKind::SharedStore => (Space::Shared, Operation::Store),
        AccessKind::SharedAtomic => (Space::Shared, Operation::Atomic),
        AccessKind::LocalLoad => (Space::Local, Operation::Load),
        AccessKind::LocalStore => (Space::Local, Operation::Store),
        AccessKind::ConstantLoad => (Space::Constant, Operation::Load),
        AccessKind::Texture => (Space::Texture, Operation::Load),
        AccessKind::TextureStore => (Space::Texture, Operation::Store),
        AccessKind::Mixed => (Space::Generic, Operation::Load),
        _ => return None,
    })
}

pub fn sectors(counters: &AccessCounters) -> SectorTraffic {
    SectorTraffic {
        requests: counters.requests,
        sectors: counters.sectors,
        ideal_sectors: counters.ideal_sectors,
        lines: counters.lines,
        l1_wavefronts: counters.l1_wavefronts,
        bytes_requested: counters.bytes_requested,
    }
}

pub fn banks(counters: &AccessCounters) -> BankTraffic {
    BankTraffic {
        requests: counters.requests,
        wavefronts: counters.wavefronts,
        ideal_wavefronts: counters.ideal_wavefronts,
        bytes_requested: counters.bytes_requested,
        optimised: OptimisedTraffic {
            requests: counters.optimised.requests,
            wavefronts: counters.optimised.wavefronts,
        },
    }
}

/// Instructions gathered by the line of the source, or by that of the PTX where there is no source.
pub fn lines(launch: &Launch, counters: &emulator::Counters, seen: &Recorded<'_>) -> Vec<Line> {
    let mut lines: BTreeMap<(usize, u32), Line> = BTreeMap::new();
    for instruction in &counters.instructions {
        let source = source_of(launch, instruction);
        let key = source.unwrap_or((launch.sources.len().saturating_sub(1), instruction.ptx_line));
        if source.is_none() && !is_ptx(launch, key.0) {
            continue;
        }
        let line = lines.entry(key).or_insert_with(|| empty_line(launch, key));
        line.warp_instructions += instruction.executions;
        line.thread_instructions += instruction.active_lanes;
        line.flops += instruction.flops;
        line.barriers += if instruction.opcode.starts_with("bar") { instruction.executions } else { 0 };
        line.accesses.extend(instruction.accesses.iter().filter_map(|(kind, counters)| {
            access(instruction, *kind, counters, *seen.ids.get(&(instruction.ptx_line, *kind))?, seen)
        }));
    }
    lines.into_values().collect()
}

/// The file, as an index into the sources of the launch, and the line that an instruction comes from.
pub fn source_of(launch: &Launch, instruction: &emulator::InstructionCounters) -> Option<(usize, u32)> {
    place_of(launch, instruction.source.as_ref()?)
}

/// The same of a line that the PTX tells.
pub fn place_of(launch: &Launch, source: &emulator::SourceLine) -> Option<(usize, u32)> {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let exact = launch.sources.iter().position(|s| s.name == source.file);
    let similar = || launch.sources.iter().position(|s| file(&s.name) == file(&source.file));
    exact.or_else(similar).map(|index| (index, source.line))
}

/// The PTX that was executed, beside the lines that it comes from.
pub fn instructions(launch: &Launch, counters: &emulator::Counters) -> Vec<PtxInstruction> {
    let text: Vec<&str> = launch.ptx.lines().collect();
    let instruction = |counted: &emulator::InstructionCounters| {
        let source = source_of(launch, counted);
        let text = text.get((counted.ptx_line as usize).checked_sub(1)?)?;
        Some(PtxInstruction {
            ptx_line: counted.ptx_line,
            file: source.map_or(String::new(), |(index, _)| launch.sources[index].name.clone()),
            line: source.map_or(0, |(_, line)| line),
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            executions: counted.executions,
        })
    };
    let mut instructions: Vec<PtxInstruction> =
        counters.instructions.iter().filter_map(instruction).collect();
    instructions.sort_by_key(|instruction| instruction.ptx_line);
    instructions
}

/// Whether a source of the launch is its PTX: only that has PTX lines.
fn is_ptx(launch: &Launch, source: usize) -> bool {
    launch.sources.get(source).is_some_and(|source| source.name.ends_with(".ptx"))
}

fn empty_line(launch: &Launch, (source, number): (usize, u32)) -> Line {
    let source = launch.sources.get(source);
    let text = source.and_then(|s| s.text.lines().nth((number as usize).saturating_sub(1)));
    Line {
        file: source.map(|s| s.name.clone()).unwrap_or_default(),
        line: number,
        text: tilewright_core::visible_lines(text.unwrap_or_default().trim()).into_owned(),
        warp_instructions: 0,
        thread_instructions: 0,
        flops: 0,
        barriers: 0,
        accesses: Vec::new(),
    }
}

fn access(
    instruction: &emulator::InstructionCounters,
    kind: AccessKind,
    counters: &AccessCounters,
    id: usize,
    seen: &Recorded<'_>,
) -> Option<Access> {
    let (space, operation) = place(kind)?;
    let opcode = &instruction.opcode;
    let is_load_of_atomic = kind == AccessKind::SharedLoad
        && instruction.accesses.iter().any(|access| access.0 == AccessKind::SharedAtomic);
    Some(Access {
        id,
        ptx_line: instruction.ptx_line,
        instruction: if is_load_of_atomic { format!("{opcode} (load)") } else { opcode.clone() },
        space,
        operation,
        bytes_per_lane: counters.bytes_requested.checked_div(counters.lanes).unwrap_or(0) as u32,
        buffer: seen.names.get(&id).cloned(),
        executions: instruction.executions,
        lane_stride: seen.lane_stride(id),
        lanes_per_address: (operation == Operation::Atomic).then(|| seen.lanes_per_address(id)).flatten(),
        traffic: match space {
            Space::Shared | Space::Constant => Traffic::Banks(banks(counters)),
            _ => Traffic::Sectors(sectors(counters)),
        },
    })
}
