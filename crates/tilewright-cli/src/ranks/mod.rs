//! Commands that many ranks compute together: what joins them, and what is said.

pub mod report;
mod trace;

use crate::{
    args::{Common, Ranks, TextFiles},
    failure::{DEVICE, Failure},
};
use report::Planned;
use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};
use tilewright::{Backend, Error, cuda::Engine, files};
use tilewright_distributed::{
    Abort, Group, Mpi, Patience, Shape, Watched, default_block, default_block_of_gpus, devices::Device,
    launched, store, threads,
};

/// How long a process that has been asked to end may take for it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Who computes together.
pub struct Workers<'a> {
    pub shape: Shape,
    /// GPUs of this process, which are the ranks then.
    pub devices: Option<&'a [usize]>,
    pub backend: Backend,
    /// How long a rank waits for others; for ever unless given.
    pub deadline: Option<Duration>,
    /// Where what GPUs did is written.
    pub trace: Option<&'a Path>,
}

impl<'a> Workers<'a> {
    /// # Errors
    /// A usage error for GPUs together with another backend, and for a trace without GPUs or in a folder that is not there.
    pub fn new(ranks: &'a Ranks, shape: Shape, backend: Backend) -> Result<Self, Failure> {
        if ranks.devices.is_some() && !matches!(backend, Backend::Auto | Backend::Cuda) {
            let what = format!("--devices with --backend {backend}");
            return Err(Failure::usage(what, "leave out one of both"));
        }
        let (devices, trace) = (ranks.devices.as_deref(), ranks.trace.as_deref());
        let workers = Self { shape, devices, backend, deadline: ranks.deadline, trace };
        if trace.is_some() && !workers.are_gpus() {
            let hint = "name GPUs by --devices, or let each rank have one by --backend cuda";
            return Err(Failure::usage("--trace without GPUs", hint));
        }
        let folder = trace.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let what = format!("--trace: there is no folder {}", folder.display());
            return Err(Failure::usage(what, "make it first, or choose another one"));
        }
        Ok(workers)
    }

    /// Whether matrices stay on a GPU of each rank.
    pub fn are_gpus(&self) -> bool {
        self.devices.is_some() || self.backend == Backend::Cuda
    }

    /// Where a rank computes what it does not on its GPU.
    pub fn host_backend(&self) -> Backend {
        match self.backend {
            // All ranks compute alike, so that none is waited for.
            Backend::Auto | Backend::Cuda => Backend::Cpu,
            other => other,
        }
    }

    /// The size of blocks, where none is asked for.
    pub fn default_block(&self, n: usize) -> usize {
        if self.are_gpus() { default_block_of_gpus(n) } else { default_block(n) }
    }

    /// How panels go from one GPU to another, where there are several.
    pub fn transport(&self, device: Option<&Device>) -> Option<&'static str> {
        device.filter(|_| self.shape.ranks() > 1).map(|device| device.transport().name())
    }
}

/// Prints what work would take, which needs no other ranks.
pub fn plan(
    common: &Common,
    planned: impl Fn(&dyn Group) -> Result<Planned, Error> + Sync,
) -> Result<(), Failure> {
    threads::run(1, |group| planned(group)?.print(common)).into_iter().collect()
}

/// Lets all ranks that were started together do their work, or a thread for each GPU of this process; one rank alone needs no MPI.
///
/// Rank 0 speaks for all. Where MPI itself has failed, or patience is at its end, each rank says what it knows, and ends the job.
pub fn run(
    workers: &Workers<'_>,
    common: &Common,
    work: impl Fn(&dyn Group, Option<&Device>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let on_gpu = |device: Device, group: &dyn Group| {
        let Some(path) = workers.trace else { return work(group, Some(&device)) };
        let device = device.traced();
        work(group, Some(&device))?;
        let spans = device.trace().map_or(Ok(Vec::new()), |trace| trace.of_all(group))?;
        if group.rank() == 0 { trace::write(path, spans) } else { Ok(()) }
    };
    if let Some(devices) = workers.devices {
        let gpus: Result<Vec<_>, _> = devices.iter().map(|&ordinal| Engine::open(ordinal)).collect();
        let gpus = gpus?;
        let here = |group: &dyn Group| on_gpu(Device::new(gpus[group.rank()].clone(), group)?, group);
        return threads::run(gpus.len(), here).into_iter().collect();
    }
    let with_gpu = |group: &dyn Group| {
        if workers.are_gpus() { on_gpu(Device::of_rank(group)?, group) } else { work(group, None) }
    };
    if workers.shape.ranks() == 1 && launched().is_none() {
        return threads::run(1, with_gpu).into_iter().collect();
    }
    let mpi = Mpi::open()?;
    let _guard = EndsAll(&mpi);
    let (abort, format) = (mpi.abort(), common.format);
    let patience = Patience { well: workers.deadline, ..Patience::default() };
    let watched = Watched::new(mpi.group(), patience, move |error| {
        let failure = Failure::from(error);
        let code = failure.code();
        let _ = failure.report(format);
        end(&abort, code);
    });
    let is_first = watched.rank() == 0;
    let done = with_gpu(&watched);
    let is_broken = mpi.is_broken();
    let done = done.map_err(|failure| {
        let code = failure.code();
        if is_first || is_broken {
            let _ = failure.report(common.format);
        }
        Failure::Program { code }
    });
    if is_broken {
        end(&mpi.abort(), done.as_ref().map_or_else(|failure| failure.code(), |_| DEVICE));
    }
    // What failed here has failed everywhere. A launcher ends all ranks when the first has ended badly: nobody goes before rank 0 has spoken.
    watched.exchange(&[0])?;
    drop(watched);
    mpi.leave()?;
    done
}

/// Ends this process and all others of the job: not every launcher does when one ends.
fn end(abort: &Abort, code: u8) -> ! {
    // MPI may be what does not answer.
    let _ = thread::Builder::new().spawn(|| {
        thread::sleep(LAST_WORDS);
        std::process::abort()
    });
    abort.now(code);
    std::process::exit(code.into())
}

/// Ends all ranks where this one panics.
struct EndsAll<'m>(&'m Mpi);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            end(&self.0.abort(), DEVICE);
        }
    }
}

/// Refuses the first option that is given and that one process alone understands.
pub fn refuse(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} with --distributed"), "leave out one of both"))
        }
        None => Ok(()),
    }
}

/// Refuses what says how files of text are read: ranks read none.
pub fn refuse_text(text: &TextFiles) -> Result<(), Failure> {
    refuse(&[
        ("--format-in", text.format_in.is_some()),
        ("--delimiter", text.delimiter.is_some()),
        ("--skip-rows", text.skip_rows > 0),
        ("--decimal-comma", text.decimal_comma),
        ("--comments", text.comments.is_some()),
        ("--trim", text.trim),
    ])
}

/// Refuses outputs of which one would replace another, or what lies in it.
pub fn refuse_nested(outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let given: Vec<(&str, &Path)> =
        outputs.iter().filter_map(|&(option, path)| path.map(|path| (option, path))).collect();
    for (at, &(one, a)) in given.iter().enumerate() {
        for &(other, b) in &given[at + 1..] {
            if files::is_same_file(a, b) || whole(a) == whole(b) {
                let what = format!("{one} and {other} both write to {}", a.display());
                return Err(Failure::usage(what, "choose two names"));
            }
            if whole(a).starts_with(whole(b)) || whole(b).starts_with(whole(a)) {
                let what = format!("{one} {} and {other} {} lie in one another", a.display(), b.display());
                return Err(Failure::usage(
                    what,
                    "choose folders side by side: they are replaced as a whole",
                ));
            }
        }
    }
    Ok(())
}

/// The path from the root on.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A `.npy` file to write, or a folder of blocks.
pub fn output(name: Option<&std::ffi::OsString>) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = name.map(Path::new) else { return Ok(None) };
    let is_other_file = !path.is_dir() && path.extension().is_some() && !store::is_file(path);
    if path == Path::new("-") || is_other_file {
        let what = format!("-o {} with --distributed", path.display());
        return Err(Failure::usage(
            what,
            "many ranks write a .npy file, or a folder of blocks, such as out/",
        ));
    }
    Ok(Some(path.to_path_buf()))
}

/// Refuses to replace what is read.
pub fn refuse_same(output: Option<&Path>, inputs: &[&Path]) -> Result<(), Failure> {
    let Some(output) = output else { return Ok(()) };
    match inputs.iter().find(|input| files::is_same_file(output, input)) {
        Some(input) => {
            let what = format!("-o {} would replace what is read", input.display());
            Err(Failure::usage(what, "choose another name"))
        }
        None => Ok(()),
    }
}
