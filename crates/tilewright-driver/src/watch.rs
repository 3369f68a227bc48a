//! Who is told of launches: a caller in this process, or a file and the standard streams.

use std::cell::Cell;
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::json;
use tilewright_emulator::{
    AccessCounters, Counters, LaunchError, LaunchOptions, Report, Surface, Texture, Watch, kernel_name,
};

use crate::code::Code;
use crate::settings::{self, Messages};

/// A launch that has ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Launched<'a> {
    /// The entry.
    pub kernel: &'a str,
    /// The GPU.
    pub gpu: &'a str,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// How long it took here.
    pub seconds: f64,
    /// What it did, or why it did not start.
    pub outcome: &'a Result<Report, LaunchError>,
    /// What the program gets, now or with a later call.
    pub code: Code,
}

/// What a caller in this process wants to know of the launches of its thread.
#[derive(Clone, Copy, Default)]
pub struct Watcher<'a> {
    /// Is told what launches do while they run, and may end them.
    pub watch: Watch<'a>,
    /// Checks, order and limits of launches in place of those of the [settings](crate::Settings).
    pub options: Option<&'a LaunchOptions>,
    /// Registers of a thread of the kernels that are launched, where they are known; 0 if they are not to be a limit. Otherwise the driver
    /// estimates them.
    pub registers: Option<u32>,
    /// Surfaces that launches find beside those of the driver, by their handles.
    pub surfaces: &'a [(u64, Surface)],
    /// Textures, in the same way.
    pub textures: &'a [(u64, Texture)],
    /// Is called after each launch.
    pub launched: Option<&'a dyn Fn(&Launched<'_>)>,
}

thread_local! {
    static WATCHER: Cell<*const Watcher<'static>> = const { Cell::new(ptr::null()) };
}

/// Does something, such as running an engine on this driver; `watcher` is told of the launches of this thread meanwhile. They are executed
/// where they are asked for.
///
/// ```
/// use std::cell::Cell;
/// use tilewright_driver::{Watcher, observe};
/// let launches = Cell::new(0);
/// let count = |_: &tilewright_driver::Launched<'_>| launches.set(launches.get() + 1);
/// let answer = observe(&Watcher { launched: Some(&count), ..Watcher::default() }, || 42);
/// assert_eq!((answer, launches.get()), (42, 0));
/// ```
pub fn observe<R>(watcher: &Watcher<'_>, run: impl FnOnce() -> R) -> R {
    /// Puts back what was there, however `run` ends.
    struct Restore(*const Watcher<'static>);
    impl Drop for Restore {
        fn drop(&mut self) {
            WATCHER.set(self.0);
        }
    }
    let _restore = Restore(WATCHER.replace(ptr::from_ref(watcher).cast()));
    run()
}

/// The watcher of this thread.
fn with<R>(use_it: impl FnOnce(Option<&Watcher<'_>>) -> R) -> R {
    // SAFETY: it is null, or a watcher that is borrowed until `observe` puts back what was there before.
    use_it(unsafe { WATCHER.get().as_ref() })
}

/// How a launch of this thread is executed.
pub(crate) fn options() -> LaunchOptions {
    with(|watcher| watcher.and_then(|watcher| watcher.options).cloned())
        .unwrap_or_else(|| settings::read(|settings| settings.options.clone()))
}

/// The registers of a kernel that is launched by this thread, where they are known.
pub(crate) fn registers() -> Option<u32> {
    with(|watcher| watcher.and_then(|watcher| watcher.registers))
}

/// The surfaces of a launch of this thread.
pub(crate) fn surfaces() -> Vec<(u64, Surface)> {
    with(|watcher| watcher.map_or_else(Vec::new, |watcher| watcher.surfaces.to_vec()))
}

/// The textures of a launch of this thread.
pub(crate) fn textures() -> Vec<(u64, Texture)> {
    with(|watcher| watcher.map_or_else(Vec::new, |watcher| watcher.textures.to_vec()))
}

/// After so long a launch says that it still runs; and again after each of the longer ones.
const FIRST_WORD: Duration = Duration::from_secs(1);
const NEXT_WORD: u64 = 10;

/// Runs a launch with who watches it.
pub(crate) fn watched<R>(kernel: &str, run: impl FnOnce(Watch<'_>) -> R) -> R {
    if settings::read(|settings| settings.messages) == Messages::Nowhere {
        return with(|watcher| run(watcher.map_or_else(Watch::default, |watcher| watcher.watch)));
    }
    let (began, steps, next) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(FIRST_WORD.as_secs()));
    let steps_done = |more| {
        let steps = steps.fetch_add(more, Relaxed) + more;
        let (seconds, due) = (began.elapsed().as_secs(), next.load(Relaxed));
        if seconds >= due && next.compare_exchange(due, seconds + NEXT_WORD, Relaxed, Relaxed).is_ok() {
            eprintln!("tilewright: {kernel} has run for {seconds} s, {steps} warp instructions so far");
        }
    };
    run(Watch { steps_done: Some(&steps_done), ..Watch::default() })
}

/// Tells of a launch that has ended.
pub(crate) fn tell(launched: &Launched<'_>) {
    with(|watcher| {
        if let Some(told) = watcher.and_then(|watcher| watcher.launched) {
            told(launched);
        }
    });
    let (messages, log) = settings::read(|settings| (settings.messages, settings.log.clone()));
    if let (Messages::Streams, Ok(report)) = (messages, launched.outcome)
        && !report.printed.is_empty()
    {
        // A closed stdout has no reader to report it to.
        let _ = std::io::stdout().write_all(report.printed.as_bytes());
    }
    if let Some(path) = log {
        let line = format!("{}\n", line(launched));
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        // One write for each line: several processes may add to one file. A file that cannot be written does not end the program.
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// A launch as JSON.
fn line(launched: &Launched<'_>) -> serde_json::Value {
    let report = launched.outcome.as_ref().ok();
    let error = match launched.outcome {
        Ok(report) => report.error.as_ref(),
        Err(error) => Some(error),
    };
    let findings = report.map_or(&[][..], |report| &report.findings);
    json!({
        "kernel": launched.kernel,
        "name": kernel_name(launched.kernel),
        "gpu": launched.gpu,
        "grid": launched.grid,
        "block": launched.block,
        "dynamic_shared_memory": launched.dynamic_shared,
        "seconds": launched.seconds,
        "code": launched.code.name().map(|name| name.to_string_lossy()),
        "error": error.map(ToString::to_string),
        "counters": report.map(|report| counters(&report.counters)),
        "findings": findings.iter().map(|finding| json!({
            "kind": finding.kind.title(),
            "severity": finding.severity.name(),
            "message": finding.message,
            "at": finding.at.to_string(),
            "with": finding.with.as_ref().map(ToString::to_string),
            "fix": finding.fix,
            "count": finding.count,
        })).collect::<Vec<_>>(),
    })
}

fn counters(counters: &Counters) -> serde_json::Value {
    let global = |access: &AccessCounters| {
        json!({
            "requests": access.requests,
            "sectors": access.sectors,
            "bytes_requested": access.bytes_requested,
        })
    };
    let shared = |access: &AccessCounters| {
        json!({
            "requests": access.requests,
            "wavefronts": access.wavefronts,
            "ideal_wavefronts": access.ideal_wavefronts,
        })
    };
    json!({
        "warp_instructions": counters.warp_instructions,
        "thread_instructions": counters.thread_instructions,
        "flops": counters.flops,
        "barriers": counters.barriers,
        "global_load": global(&counters.global_load),
        "global_store": global(&counters.global_store),
        "shared_load": shared(&counters.shared_load),
        "shared_store": shared(&counters.shared_store),
    })
}
