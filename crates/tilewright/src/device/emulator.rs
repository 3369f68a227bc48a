//! Products on the emulator: the engine of GPUs, on a driver that executes kernels here.

use super::{Failure, Job, cuda};
use crate::{
    backend::Backend,
    options::{Options, Report},
};
use std::cell::Cell;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use std::time::{Duration, Instant};
use tilewright_arch::Gpu;
use tilewright_core::{Cancel, DynMut, DynRef, Error, ErrorKind, Hint, Setting};
use tilewright_cuda::Engine;
use tilewright_driver::{Launched, Watcher, observe};
use tilewright_emulator::{Finding, FindingKind, LaunchError, LaunchOptions, Severity, Watch};
use tilewright_kernels::{Launch, Recipe};

pub(super) fn run(
    job: &Job<'_>,
    operands: (DynRef<'_>, DynRef<'_>),
    c: DynMut<'_>,
    arg: Option<DynMut<'_>>,
) -> Result<Report, Failure> {
    let gpu = job.options.gpu.copied().unwrap_or_default();
    let began = Instant::now();
    let request = job.request(operands, &c, arg.is_some(), gpu)?;
    let engine = take_engine(&gpu)?;
    let chosen = engine.chosen(request, job.options.kernel)?;
    let prepare = began.elapsed();

    let terms = request.problem.pair_ops() * job.count as f64;
    let options = LaunchOptions {
        workers: job.options.threads,
        step_limit: job.options.max_steps,
        time_limit: time_limit(job.options, terms),
        ..LaunchOptions::default()
    };
    let threads = chosen.recipe().launches().iter().map(|launch| options.workers(blocks(launch))).max();
    let progress = Progress::new(chosen.recipe(), terms, job.options);
    let (block_done, steps_done) = (|| progress.block_done(), |_| progress.tell(0));
    let watch = Watch {
        block_done: Some(&block_done),
        steps_done: Some(&steps_done),
        stop: job.options.cancel.map(Cancel::flag),
        ..Watch::default()
    };
    let findings = Cell::new(0);
    let launched = |launched: &Launched<'_>| {
        findings.set(findings.get() + launched.outcome.as_ref().map_or(0, |report| report.findings.len()))
    };
    let watcher = Watcher { watch, options: Some(&options), launched: Some(&launched), ..Watcher::default() };
    let ran = observe(&watcher, || cuda::run_on(&engine, job, &chosen, operands, c, arg));
    let ran = ran.map_err(|failure| Failure { error: translated(&engine, failure.error), ..failure })?;
    let mut report = ran.report;
    drop(ran.prepared);
    give_back(&gpu, engine);
    let imitated = format!("imitates {}, compute capability {}", gpu.name, gpu.capability());
    report.backend = Backend::Emulator;
    report.threads = threads.unwrap_or(1);
    report.findings = findings.get();
    report.prepare_seconds += prepare.as_secs_f64();
    report.why = chosen
        .passed_over()
        .map_or(imitated.clone(), |p| format!("{imitated}; without {}: {}", p.candidate, p.reason))
        .into();
    Ok(report)
}

/// Calls `f`, whose launches take at most so many threads and end where that is asked for.
///
/// # Errors
/// Those of `f`, in the words of the emulator where it knows more.
#[cfg(feature = "paths")]
pub(crate) fn watched<T>(
    engine: &Engine,
    options: &tilewright_cpu::Options<'_>,
    f: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let launch = LaunchOptions { workers: options.threads, ..LaunchOptions::default() };
    let watch = Watch { stop: options.cancel.map(Cancel::flag), ..Watch::default() };
    let watcher = Watcher { watch, options: Some(&launch), ..Watcher::default() };
    observe(&watcher, f).map_err(|error| translated(engine, error))
}

/// Most time of a launch: what is asked for, or more than any right kernel takes for so many terms.
fn time_limit(options: &Options<'_>, terms: f64) -> Option<Duration> {
    let enough = || LaunchOptions::TIME.saturating_add(Duration::from_micros(terms as u64));
    options.max_time.or_else(|| options.max_steps.is_none().then(enough))
}

/// Engines that wait for another product, each with the GPU that it imitates: their kernels are loaded. One that is in use is not here, so that products of
/// several threads do not wait for each other; one that has failed does not come back.
static IDLE: Mutex<Vec<(Gpu, Engine)>> = Mutex::new(Vec::new());

/// Most engines that wait.
const MOST_IDLE: usize = 4;

pub(crate) fn take_engine(gpu: &Gpu) -> Result<Engine, Error> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = idle.iter().rposition(|(known, _)| known == gpu) {
        return Ok(idle.swap_remove(found).1);
    }
    drop(idle);
    Engine::emulated(*gpu)
}

pub(crate) fn give_back(gpu: &Gpu, engine: Engine) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let oldest = (idle.len() >= MOST_IDLE).then(|| idle.remove(0));
    idle.push((*gpu, engine));
    // Its device goes when nobody waits for the lock.
    drop(idle);
    drop(oldest);
}

fn blocks(launch: &Launch) -> u64 {
    launch.grid().iter().map(|&extent| u64::from(extent)).product()
}

/// Terms that are finished, block by block of all launches.
struct Progress<'a> {
    told: Option<&'a (dyn Fn(u64) + Sync)>,
    terms: u128,
    blocks: u128,
    done: AtomicU64,
}

impl<'a> Progress<'a> {
    fn new(recipe: &Recipe, terms: f64, options: &Options<'a>) -> Self {
        let blocks = recipe.launches().iter().map(|launch| u128::from(blocks(launch))).sum();
        Self { told: options.progress, terms: terms as u128, blocks, done: AtomicU64::new(0) }
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

/// An error of the engine, in the words of the emulator where it knows more.
fn translated(engine: &Engine, error: Error) -> Error {
    let Some(failure) = engine.failure() else { return error };
    let kernel = failure.kernel.as_str();
    if let Some(error) = failure.error.as_ref().and_then(|error| cut_off(kernel, error, &failure.findings)) {
        return error;
    }
    match &failure.error {
        Some(LaunchError::MemoryLimit { bytes, .. }) => {
            ErrorKind::OutOfMemory { what: "the emulator", bytes: *bytes }.into()
        }
        Some(error @ LaunchError::Unsupported { .. }) => {
            let what = format!("{kernel} on the emulator");
            ErrorKind::Unsupported { what, why: error.to_string(), hint: "compute on the processor".into() }
                .into()
        }
        Some(error) => fault(kernel, "the launch failed", 1, error.to_string()),
        None => {
            let errors = || failure.findings.iter().filter(|finding| finding.severity == Severity::Error);
            errors().next().map_or(error, |finding| {
                fault(kernel, finding.kind.title(), errors().count(), finding.to_string())
            })
        }
    }
}

/// A launch that came to a limit or was cancelled, and where it was then.
fn cut_off(kernel: &str, error: &LaunchError, findings: &[Finding]) -> Option<Error> {
    let place = |kind| {
        let place = findings.iter().find(|finding| finding.kind == kind);
        place.map_or_else(|| error.to_string(), Finding::to_string)
    };
    let limit = |kind, name: &str, more| ErrorKind::Device {
        doing: format!("emulating {kernel}"),
        name: name.into(),
        number: 1,
        text: place(kind),
        hint: Hint::from("multiply smaller matrices").also(Hint::from("or allow more with ").set(more)),
    };
    let kind = match error {
        LaunchError::StepLimit { .. } => limit(FindingKind::StepLimit, "limit of steps", Setting::MaxSteps),
        LaunchError::TimeLimit { .. } => limit(FindingKind::TimeLimit, "limit of time", Setting::MaxTime),
        LaunchError::Interrupted { .. } => {
            ErrorKind::Cancelled { place: Some(place(FindingKind::Interrupted)) }
        }
        _ => return None,
    };
    Some(kind.into())
}

/// A kernel that is wrong, whatever it computed.
fn fault(kernel: &str, name: &str, findings: usize, first: String) -> Error {
    ErrorKind::KernelFault { program: kernel.to_owned(), name: name.to_owned(), findings, first }.into()
}
