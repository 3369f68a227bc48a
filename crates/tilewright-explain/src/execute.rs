//! Running a case on the emulator, and what comes of it.

mod control;
mod device;
mod findings;
mod launchable;
mod lines;
mod mbarriers;
mod missing;
mod observer;
mod rate;

use crate::{
    array::Array,
    bound::{Executed, Touched, bound},
    case::{Case, Launch, unsupported},
    model::*,
    results::Results,
};
pub use control::{Control, Progress};
use device::{Device, Ran};
use findings::{findings, say_how_far};
use launchable::LaunchShape;
use lines::{Recorded, access_ids, banks, instructions, lines, sectors, source_of};
use mbarriers::mbarriers;
use missing::missing;
use observer::Observer;
use std::collections::HashMap;
use tilewright_arch::{Gpu, memory::global::SECTOR_BYTES};
use tilewright_core::{Error, ErrorKind};
use tilewright_emulator as emulator;
use tilewright_emulator::{AccessKind, LaunchError, Program};

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
        let mut explanation = explanation(self, launch, gpu, &report, &seen, &curves, Touched::default());
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
        let (mut seen, touched) = observer.finish();
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
        let mut explanation = explanation(self, launch, gpu, &report, &seen, &curves, touched);
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

fn explanation(
    case: &Case,
    launch: &Launch,
    gpu: &Gpu,
    report: &emulator::Report,
    seen: &Recorded<'_>,
    curves: &OccupancyCurves,
    touched: Touched,
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
        sector_bytes * touched.once,
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
        bound: None,
        lines: lines(launch, counters, seen),
        unfinished: None,
        results: Results::default(),
        compiler_warnings: case.compiler_warnings.clone(),
        findings: Vec::new(),
        notes: case.notes.clone(),
        printed: report.printed.clone(),
    };
    explanation.bound = bound(&Executed {
        launch,
        counters,
        gpu,
        resident_blocks: explanation.totals.occupancy.as_ref().map_or(1, |o| o.blocks_per_sm),
        place: &|instruction| source_of(launch, instruction),
        deed: &deeds(&explanation, seen),
        touched,
    });
    explanation.findings = findings(&explanation, launch, report, seen.recording);
    explanation
}

/// What each access does, in words, by its line of the PTX and its kind.
fn deeds(
    explanation: &Explanation,
    seen: &Recorded<'_>,
) -> impl Fn(u32, AccessKind) -> Option<String> + use<> {
    let words: HashMap<usize, String> = explanation.accesses().map(|a| (a.id, a.describe())).collect();
    let ids = seen.ids.clone();
    move |ptx_line, kind| words.get(ids.get(&(ptx_line, kind))?).cloned()
}
