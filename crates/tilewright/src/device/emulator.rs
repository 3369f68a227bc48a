//! Products on the emulator: from the host's matrices to memory that stands for a device's, and back.

use super::{Job, image::Image};
use crate::{
    backend::Backend,
    options::{Options, Report},
    plan::Gpu,
    selection::{Selection, select_with_ptx},
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tilewright_core::{Cancel, DynMut, DynRef, Error, ErrorKind};
use tilewright_cuda::ProgramPtx;
use tilewright_emulator::{
    self as emulator, Finding, FindingKind, HostArray, LaunchError, LaunchOptions, Program, Stage,
    StagedArgument, Watch,
};
use tilewright_kernels::{Buffer, Launch, Recipe, Role};

pub(super) fn run(job: &Job<'_>, a: DynRef<'_>, b: DynRef<'_>, c: DynMut<'_>) -> Result<Report, Error> {
    let gpu = job.options.gpu.map_or_else(|| Gpu::named(Gpu::EMULATED), |gpu| Ok(gpu.clone()))?;
    let began = Instant::now();
    let select = |asked| select_with_ptx(asked, job.options.kernel);
    let (Selection { request, recipe, passed_over, .. }, places) =
        job.select(a, b, &c, gpu.target(), &select)?;
    let programs =
        recipe.launches().iter().map(|launch| program(launch, &gpu)).collect::<Result<Vec<_>, _>>()?;
    let prepare = began.elapsed();

    let copying = Instant::now();
    let mut images = vec![Image::of("A", places[0], a)?, Image::of("B", places[1], b)?];
    images.push(match job.joining.reads_c() {
        true => Image::of("C", places[2], c.as_ref())?,
        false => Image::room("C", places[2], c.dtype())?,
    });
    for &bytes in recipe.workspaces() {
        images.push(Image::workspace(bytes)?);
    }
    let mut transfer = copying.elapsed();

    let computing = Instant::now();
    let terms = request.problem.pair_ops() * job.count as f64;
    let options = LaunchOptions {
        workers: job.options.threads,
        multiprocessors: gpu.multiprocessors,
        step_limit: job.options.max_steps,
        time_limit: time_limit(job.options, terms),
        ..LaunchOptions::default()
    };
    let progress = Progress::new(&recipe, terms, job.options);
    let mut threads = 1;
    for (launch, program) in recipe.launches().iter().zip(programs) {
        threads =
            threads.max(options.workers(launch.grid().iter().map(|&extent| u64::from(extent)).product()));
        job.options.check_cancelled()?;
        execute(launch, program, &mut images, &options, &progress)?;
    }
    let seconds = computing.elapsed().as_secs_f64();

    let copying = Instant::now();
    images[C].copy_to(c);
    transfer += copying.elapsed();
    let imitated = format!("imitates {}, compute capability {}", gpu.name, gpu.capability);
    Ok(Report {
        backend: Backend::Emulator,
        kernel: recipe.kernel().name.into(),
        threads,
        seconds,
        transfer_seconds: transfer.as_secs_f64(),
        prepare_seconds: prepare.as_secs_f64(),
        why: passed_over
            .map_or(imitated.clone(), |p| format!("{imitated}; without {}: {}", p.candidate, p.reason))
            .into(),
    })
}

/// Most time of a launch: what is asked for, or more than any right kernel takes for so many terms.
fn time_limit(options: &Options<'_>, terms: f64) -> Option<Duration> {
    let enough = || LaunchOptions::TIME.saturating_add(Duration::from_micros(terms as u64));
    options.max_time.or_else(|| options.max_steps.is_none().then(enough))
}

/// Where C is in the list of images; workspaces come behind it.
const C: usize = 2;

fn place(buffer: Buffer) -> Option<usize> {
    match buffer {
        Buffer::A => Some(0),
        Buffer::B => Some(1),
        Buffer::C => Some(C),
        Buffer::Workspace(index) => Some(C + 1 + index),
        Buffer::Input | Buffer::Output => None,
    }
}

fn program(launch: &Launch, gpu: &Gpu) -> Result<Program, Error> {
    let ptx = ProgramPtx::of(launch.program(), gpu.capability)?;
    Program::new(&ptx.text).map_err(|problem| unsupported(launch, problem.to_string()))
}

/// Runs a launch on a machine of its own, and takes over what it left in memory.
fn execute(
    launch: &Launch,
    program: Program,
    images: &mut [Image],
    options: &LaunchOptions,
    progress: &Progress<'_>,
) -> Result<(), Error> {
    let extents = emulator::Launch::new(launch.grid(), launch.block())
        .dynamic_shared(launch.dynamic_shared_memory())
        .options(options.clone());
    let arguments: Option<Vec<_>> =
        launch.arguments().iter().map(|a| StagedArgument::of_recipe(a.value, &place)).collect();
    let arguments =
        arguments.ok_or_else(|| unsupported(launch, "it names memory that is not there".into()))?;
    let mut stage = {
        let arrays: Vec<HostArray<'_>> = images.iter().map(Image::array).collect();
        Stage::new(program, extents, &arguments, &arrays).map_err(|e| unsupported(launch, e.to_string()))?
    };
    for symbol in launch.symbols() {
        stage
            .machine
            .write_symbol(symbol.name, &symbol.bytes)
            .map_err(|e| unsupported(launch, e.to_string()))?;
    }
    let block_done = || {
        if launch.role() == Role::Product {
            progress.block_done();
        }
    };
    let steps_done = |_| progress.tell(0);
    let watch = Watch {
        block_done: Some(&block_done),
        steps_done: Some(&steps_done),
        stop: progress.cancel.map(Cancel::flag),
        ..Watch::default()
    };
    let report = stage.machine.launch_watched(launch.entry(), &stage.launch, watch);
    let report = report.map_err(|e| failed(launch, e))?;
    if let Some(error) = report.error.as_ref().and_then(|error| cut_off(launch, error, &report.findings)) {
        return Err(error);
    }
    progress.cancel.map_or(Ok(()), Cancel::check)?;
    if let Some(error) = report.error {
        return Err(failed(launch, error));
    }
    if let Some(finding) = report.errors().next() {
        return Err(fault(launch, finding.kind.title(), report.errors().count(), finding.to_string()));
    }
    for (index, image) in images.iter_mut().enumerate() {
        let bytes = image.array().bytes.len();
        image.replace(stage.read(index, bytes).map_err(|e| unsupported(launch, e.to_string()))?);
    }
    Ok(())
}

/// Terms that are finished, block by block of the launches that multiply, and whether to go on.
struct Progress<'a> {
    cancel: Option<&'a Cancel>,
    told: Option<&'a (dyn Fn(u64) + Sync)>,
    terms: u128,
    blocks: u128,
    done: AtomicU64,
}

impl<'a> Progress<'a> {
    fn new(recipe: &Recipe, terms: f64, options: &Options<'a>) -> Self {
        let product = recipe.launches().iter().filter(|launch| launch.role() == Role::Product);
        let blocks =
            product.map(|launch| launch.grid().iter().map(|&extent| u128::from(extent)).product::<u128>());
        let Options { cancel, progress: told, .. } = *options;
        Self { cancel, told, terms: terms as u128, blocks: blocks.sum(), done: AtomicU64::new(0) }
    }

    fn block_done(&self) {
        let before = u128::from(self.done.fetch_add(1, Relaxed));
        // Rounded so that the sum over all blocks is the number of terms.
        let until = |blocks: u128| self.terms * blocks / self.blocks.max(1);
        self.tell(u64::try_from(until(before + 1) - until(before)).unwrap_or(u64::MAX));
    }

    fn tell(&self, terms: u64) {
        if let Some(told) = self.told {
            told(terms);
        }
    }
}

fn unsupported(launch: &Launch, why: String) -> Error {
    let what = format!("{} on the emulator", launch.program().name());
    ErrorKind::Unsupported { what, why, hint: "compute on the processor".into() }.into()
}

/// A launch that did not start or did not end.
fn failed(launch: &Launch, error: LaunchError) -> Error {
    match error {
        LaunchError::MemoryLimit { bytes, .. } => {
            ErrorKind::OutOfMemory { what: "the emulator", bytes }.into()
        }
        LaunchError::Unsupported { .. } => unsupported(launch, error.to_string()),
        error => fault(launch, "the launch failed", 1, error.to_string()),
    }
}

/// A launch that came to a limit or was cancelled, and where it was then.
fn cut_off(launch: &Launch, error: &LaunchError, findings: &[Finding]) -> Option<Error> {
    let place = |kind| {
        let place = findings.iter().find(|finding| finding.kind == kind);
        place.map_or_else(|| error.to_string(), Finding::to_string)
    };
    let limit = |kind, name: &str, hint: &str| ErrorKind::Device {
        doing: format!("emulating {}", launch.program().name()),
        name: name.into(),
        number: 1,
        text: place(kind),
        hint: hint.into(),
    };
    let kind = match error {
        LaunchError::StepLimit { .. } => limit(
            FindingKind::StepLimit,
            "limit of steps",
            "multiply smaller matrices, or allow more: `max_steps`",
        ),
        LaunchError::TimeLimit { .. } => limit(
            FindingKind::TimeLimit,
            "limit of time",
            "multiply smaller matrices, or allow more: `max_time`",
        ),
        LaunchError::Interrupted { .. } => {
            ErrorKind::Cancelled { place: Some(place(FindingKind::Interrupted)) }
        }
        _ => return None,
    };
    Some(kind.into())
}

/// A kernel that is wrong, whatever it computed.
fn fault(launch: &Launch, name: &str, count: usize, text: String) -> Error {
    ErrorKind::Device {
        doing: format!("emulating {}", launch.program().name()),
        name: name.into(),
        number: i32::try_from(count).unwrap_or(i32::MAX),
        text,
        hint: "this is a fault of the kernel: please report it".into(),
    }
    .into()
}
