//! Running a case on the emulator, and what comes of it.

mod control;
mod device;
mod launchable;
mod mbarriers;
mod missing;
mod observer;
mod rate;

use crate::{
    advise,
    array::Array,
    case::{Case, Launch, unsupported},
    charts::OccupancyCurves,
    merge,
    model::*,
    races,
    results::Results,
};
pub use control::{Control, Progress};
use device::{Device, Ran};
use launchable::LaunchShape;
use mbarriers::mbarriers;
use missing::missing;
use observer::Observer;
use std::collections::{BTreeMap, HashMap};
use tilewright_arch::{Gpu, memory::global::SECTOR_BYTES};
use tilewright_core::{Error, ErrorKind};
use tilewright_emulator as emulator;
use tilewright_emulator::{AccessCounters, AccessKind, FindingKind, LaunchError, Nature, Program};

/// What is known of a kernel after it was run.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The numbers.
    pub explanation: Explanation,
    /// The pictures.
    pub recording: Recording,
    /// What occupancy depends on.
    pub curves: OccupancyCurves,
    /// The arrays after the launch; as they were given where it was not clean.
    pub arrays: Vec<Array>,
    /// Whether the launch came to its end without an error, so that the arrays hold what it wrote.
    pub is_clean: bool,
}

impl Case {
    /// Runs the launches on the emulator, with all checks, and explains the last.
    ///
    /// # Errors
    /// For PTX that cannot be read, launches that cannot start, and instructions that the emulator does not know. A kernel
    /// that starts and then fails is explained; the failure is a finding.
    pub fn explain(self, gpu: &Gpu) -> Result<Explained, Error> {
        self.explain_under(gpu, &Control::default())
    }

    /// As [`Case::explain`]; `control` limits the launches, is told how far they are, and may stop them. A launch that ends early is
    /// explained as far as it came, with a finding that says where it was.
    ///
    /// # Errors
    /// As for [`Case::explain`]; and if a launch before the last one fails.
    pub fn explain_under(self, gpu: &Gpu, control: &Control<'_>) -> Result<Explained, Error> {
        let name = self.name.clone();
        let mut explained = self.run(gpu, control, Wanted::Last)?;
        explained.pop().ok_or_else(|| refused(&name, "it has no launch"))
    }

    /// Runs the launches, one after another on the same arrays, and explains each. The first in which an error is found is the last one that is
    /// run.
    ///
    /// # Errors
    /// As for [`Case::explain`].
    pub fn explain_each(self, gpu: &Gpu, control: &Control<'_>) -> Result<Vec<Explained>, Error> {
        self.run(gpu, control, Wanted::Each)
    }

    fn run(mut self, gpu: &Gpu, control: &Control<'_>, wanted: Wanted) -> Result<Vec<Explained>, Error> {
        let (name, launches) = (self.name.clone(), std::mem::take(&mut self.launches));
        let is_wanted = |index: usize| wanted == Wanted::Each || index + 1 == launches.len();
        // All texts are read before anything runs; the driver's codes do not say where one is wrong.
        let mut read = Vec::with_capacity(launches.len());
        for launch in &launches {
            let program = program(&name, launch)?;
            let shape = LaunchShape::new(launch, program.needs(&launch.entry), gpu);
            let missing = missing(&program, &launch.entry);
            self.notes.extend(missing.clone().filter(|note| !self.notes.contains(note)));
            read.push(Read { shape, refusal: shape.refusal(launch, gpu), missing });
        }
        let device = Device::new(&name, gpu, (&self.arrays, &self.links), &launches, control)?;
        let mut explained = Vec::new();
        for (index, launch) in launches.iter().enumerate() {
            if is_wanted(index) {
                let one = match &read[index].refusal {
                    Some(refusal) => self.refused_launch(launch, &read[index], refusal, gpu),
                    None => self.explain_launch(&device, launch, &read[index], gpu)?,
                };
                let has_failed = one.explanation.has_errors();
                explained.push(one);
                if has_failed {
                    break;
                }
            } else {
                if let Some(refusal) = &read[index].refusal {
                    return Err(refused(&name, format!("{}: {}", launch.entry, refusal.message)));
                }
                let report = device.launch(launch, &device.load(launch)?, None)?.report;
                if !report.is_clean() {
                    return Err(device.failed(launch, &report));
                }
            }
        }
        Ok(explained)
    }

    /// A launch that the GPU does not take: nothing of it is executed.
    fn refused_launch(&self, launch: &Launch, read: &Read, refusal: &Finding, gpu: &Gpu) -> Explained {
        let curves = curves(&read.shape, gpu);
        let report = emulator::Report {
            counters: emulator::Counters::default(),
            findings: Vec::new(),
            printed: String::new(),
            error: None,
        };
        let recording = Recording {
            buffers: self.arrays.iter().map(Array::buffer).collect(),
            sources: launch.sources.clone(),
            ..Recording::default()
        };
        let (ids, names) = Default::default();
        let seen = Recorded { ids: &ids, names: &names, recording: &recording };
        let mut explanation = explanation(self, launch, gpu, &report, &seen, &curves, 0);
        explanation.findings = vec![refusal.clone()];
        Explained { explanation, recording, curves, arrays: self.arrays.clone(), is_clean: false }
    }

    fn explain_launch(
        &mut self,
        device: &Device<'_>,
        launch: &Launch,
        read: &Read,
        gpu: &Gpu,
    ) -> Result<Explained, Error> {
        let loaded = device.load(launch)?;
        let observer = Observer::new(loaded.addresses.iter().copied(), &self.arrays);
        let Ran { report, unfinished } = device.launch(launch, &loaded, Some(&observer))?;
        if let Some(error @ LaunchError::Unsupported { .. }) = &report.error {
            // All that is missing, not the first alone.
            let listed = read.missing.as_ref().map(|listed| format!("\n{listed}")).unwrap_or_default();
            return Err(device.refused(format!("{error}{listed}")));
        }
        // After a failure nothing can be read.
        if report.is_clean() {
            device.read(launch, &loaded, &mut self.arrays)?;
        }
        let curves = curves(&read.shape, gpu);
        let (mut seen, compulsory_sectors) = observer.finish();
        let ids = access_ids(&report.counters);
        let names = seen.names(&ids);
        let recording = Recording {
            instructions: instructions(launch, &report.counters),
            buffers: self.arrays.iter().map(Array::buffer).collect(),
            block: [0; 3],
            timeline: std::mem::take(&mut seen.timeline),
            patterns: seen.patterns(&ids),
            sources: launch.sources.clone(),
        };
        let seen = Recorded { ids: &ids, names: &names, recording: &recording };
        let mut explanation = explanation(self, launch, gpu, &report, &seen, &curves, compulsory_sectors);
        if let Some(unfinished) = unfinished {
            explanation.findings.iter_mut().for_each(|finding| say_how_far(finding, &unfinished));
            explanation.unfinished = Some(unfinished);
        }
        Ok(Explained {
            explanation,
            recording,
            curves,
            arrays: self.arrays.clone(),
            is_clean: report.is_clean(),
        })
    }
}

/// What is known of a launch before it runs.
struct Read {
    shape: LaunchShape,
    /// Why the GPU does not take it, if that is so.
    refusal: Option<Finding>,
    /// What is not executed.
    missing: Option<String>,
}

/// Which launches are explained.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Each,
    Last,
}

fn program(name: &str, launch: &Launch) -> Result<Program, Error> {
    Program::new(&launch.ptx).map_err(|error| {
        ErrorKind::BadFile { path: name.into(), problem: error.to_string(), hint: None }.into()
    })
}

/// A launch that cannot be done.
fn refused(name: &str, why: impl ToString) -> Error {
    unsupported(format!("this launch of {name}"), why.to_string(), "")
}

fn curves(shape: &LaunchShape, gpu: &Gpu) -> OccupancyCurves {
    OccupancyCurves { limits: gpu.limits, kernel: shape.kernel, launch: shape.block() }
}

/// What was seen of the recorded block.
struct Recorded<'a> {
    ids: &'a AccessIds,
    /// The array or variable of each access.
    names: &'a HashMap<usize, String>,
    recording: &'a Recording,
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
type AccessIds = HashMap<(u32, AccessKind), usize>;

fn access_ids(counters: &emulator::Counters) -> AccessIds {
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
fn place(kind: AccessKind) -> Option<(Space, Operation)> {
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

fn sectors(counters: &AccessCounters) -> SectorTraffic {
    SectorTraffic {
        requests: counters.requests,
        sectors: counters.sectors,
        ideal_sectors: counters.ideal_sectors,
        bytes_requested: counters.bytes_requested,
    }
}

fn banks(counters: &AccessCounters) -> BankTraffic {
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

fn explanation(
    case: &Case,
    launch: &Launch,
    gpu: &Gpu,
    report: &emulator::Report,
    seen: &Recorded<'_>,
    curves: &OccupancyCurves,
    compulsory_sectors: u64,
) -> Explanation {
    let counters = &report.counters;
    let (loads, stores) = (sectors(&counters.global_load), sectors(&counters.global_store));
    let atomics = counters.accesses.get(&AccessKind::GlobalAtomic).map(sectors).unwrap_or_default();
    let moved = |of: fn(&SectorTraffic) -> u64| [&loads, &stores, &atomics].into_iter().map(of).sum::<u64>();
    let flops = counters.flops + counters.matrix_operations;
    let sector_bytes = u64::from(SECTOR_BYTES);
    let arithmetic_intensity = Intensity::new(
        flops,
        moved(|t| t.bytes_requested),
        sector_bytes * moved(|t| t.sectors),
        sector_bytes * compulsory_sectors,
    );
    let rate = rate::most_of(counters);
    let roofline = gpu.device().and_then(|device| device.roofline(rate));
    let mut explanation = Explanation {
        kernel: case.name.clone(),
        entry: launch.entry.clone(),
        name: emulator::kernel_name(&launch.entry),
        gpu: Some(gpu.name.into()),
        level: Level::Ptx,
        grid: launch.shape.grid,
        block: launch.shape.block,
        cluster: launch.shape.cluster,
        dynamic_shared_memory: launch.shape.dynamic_shared_memory,
        totals: Totals {
            warp_instructions: counters.warp_instructions,
            thread_instructions: counters.thread_instructions,
            global_load: loads,
            global_store: stores,
            shared_load: banks(&counters.shared_load),
            shared_store: banks(&counters.shared_store),
            barriers: counters.barriers,
            mbarriers: mbarriers(launch, counters),
            flops,
            instruction_mix: counters.instruction_mix.clone(),
            arithmetic_intensity,
            roofline: roofline.and_then(|r| RooflinePosition::new(rate, &r, &arithmetic_intensity)),
            occupancy: OccupancySummary::of(&curves.limits, &curves.kernel, &curves.launch),
        },
        lines: lines(launch, counters, seen),
        unfinished: None,
        results: Results::default(),
        compiler_warnings: case.compiler_warnings.clone(),
        findings: Vec::new(),
        notes: case.notes.clone(),
        printed: report.printed.clone(),
    };
    // A barrier mends most races; where one waits for another it would wait for ever.
    let (mended, others): (Vec<_>, Vec<_>) = report.findings.iter().partition(|found| found.wants_barrier);
    let [mut faults, mut others] =
        [mended, others].map(|found| found.into_iter().map(finding).collect::<Vec<_>>());
    [&mut faults, &mut others].into_iter().for_each(|faults| place_in_ptx(faults, launch));
    races::complete(&mut faults, &explanation.lines, seen.recording, &launch.ptx, launch.shape.block);
    faults.extend(others);
    races::follow(&mut faults);
    faults.extend(report.error.as_ref().map(failure));
    // How fast a wrong kernel is says nothing.
    if !faults.iter().any(|fault| fault.severity == Severity::Error) {
        let printing = printing_lines(launch, counters);
        faults.extend(advise(&explanation).into_iter().filter(|advice| !is_of_printf(advice, &printing)));
    }
    explanation.findings = merge::merged(faults);
    explanation
}

/// File and line of the calls of `printf`.
fn printing_lines(launch: &Launch, counters: &emulator::Counters) -> Vec<(String, u32)> {
    let text: Vec<&str> = launch.ptx.lines().collect();
    let prints = |counted: &&emulator::InstructionCounters| {
        let statement = text.iter().skip((counted.ptx_line as usize).saturating_sub(1));
        let mut lines = statement.scan(false, |is_over, line| {
            let taken = (!*is_over).then_some(line);
            *is_over = line.contains(';');
            taken
        });
        counted.opcode.starts_with("call") && lines.any(|line| line.contains("vprintf"))
    };
    let calls = counters.instructions.iter().filter(prints);
    calls
        .filter_map(|counted| {
            let (index, line) = source_of(launch, counted)?;
            Some((launch.sources[index].name.clone(), line))
        })
        .collect()
}

/// Whether advice is on what `printf` puts its arguments into, which is no array of the kernel's own.
fn is_of_printf(advice: &Finding, printing: &[(String, u32)]) -> bool {
    let Some(store) = advice.participants.first().filter(|one| one.what.starts_with("st.local")) else {
        return false;
    };
    let is_there = |(file, line): &(String, u32)| {
        store.location.as_ref().is_some_and(|at| at.file.as_ref() == Some(file) && at.line == Some(*line))
    };
    advice.kind == FindingKind::LocalMemory && printing.iter().any(is_there)
}

/// Instructions gathered by the line of the source, or by that of the PTX where there is no source.
fn lines(launch: &Launch, counters: &emulator::Counters, seen: &Recorded<'_>) -> Vec<Line> {
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
fn source_of(launch: &Launch, instruction: &emulator::InstructionCounters) -> Option<(usize, u32)> {
    place_of(launch, instruction.source.as_ref()?)
}

/// The same of a line that the PTX tells.
fn place_of(launch: &Launch, source: &emulator::SourceLine) -> Option<(usize, u32)> {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let exact = launch.sources.iter().position(|s| s.name == source.file);
    let similar = || launch.sources.iter().position(|s| file(&s.name) == file(&source.file));
    exact.or_else(similar).map(|index| (index, source.line))
}

/// The PTX that was executed, beside the lines that it comes from.
fn instructions(launch: &Launch, counters: &emulator::Counters) -> Vec<PtxInstruction> {
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

fn finding(finding: &emulator::Finding) -> Finding {
    let severity = match finding.severity {
        // Where a launch was when a limit ended it is no fault.
        _ if finding.kind.nature() == Nature::Note => Severity::Warning,
        emulator::Severity::Error => Severity::Error,
        emulator::Severity::Warning => Severity::Warning,
        emulator::Severity::Note => Severity::Advice,
    };
    Finding {
        participants: [&finding.at].into_iter().chain(&finding.with).map(participant).collect(),
        count: finding.count,
        ..Finding::new(severity, finding.kind, &finding.message, &finding.fix)
    }
}

fn participant(party: &emulator::Party) -> Participant {
    let location = Location {
        file: party.source.as_ref().map(|s| s.file.clone()),
        line: party.source.as_ref().map(|s| s.line),
        ptx_line: Some(party.ptx_line),
    };
    Participant {
        block: Some(party.block),
        threads: party.threads.clone(),
        ..Participant::at(party.opcode.clone(), location)
    }
}

/// Where the PTX is the source, its lines are those of the source.
fn place_in_ptx(faults: &mut [Finding], launch: &Launch) {
    let Some(ptx) = launch.sources.last().filter(|source| source.name.ends_with(".ptx")) else { return };
    let participants = faults.iter_mut().flat_map(|finding| &mut finding.participants);
    for location in participants.filter_map(|participant| participant.location.as_mut()) {
        if location.file.is_none() {
            (location.file, location.line) = (Some(ptx.name.clone()), location.ptx_line);
        }
    }
}

/// Why a launch ended early.
fn failure(error: &emulator::LaunchError) -> Finding {
    use emulator::LaunchError as E;
    let severity = match error {
        E::Interrupted { .. } => Severity::Warning,
        _ => Severity::Error,
    };
    let (kind, fix) = match error {
        E::StepLimit { .. } | E::TimeLimit { .. } | E::Interrupted { .. } => {
            (FindingKind::NotFinished, "the counts are those until then")
        }
        _ => (
            FindingKind::FailedLaunch,
            "the counts are those until then; mend the kernel or its arguments first",
        ),
    };
    Finding::new(severity, kind, format!("the launch did not end: {error}"), fix)
}

/// Says in the finding of a launch that was ended how far it was, and what lets it go on.
fn say_how_far(finding: &mut Finding, unfinished: &Unfinished) {
    if finding.kind == FindingKind::NotFinished {
        finding.message += &format!("; {}", unfinished.describe());
        finding.fix = format!("{}; {}", unfinished.hint(), finding.fix);
    }
}
