//! `run`: a program on the emulated driver.

mod launches;
pub mod library;
mod page;
mod report;

use crate::{
    args::{Common, Format, Run},
    failure::Failure,
    json, terminal,
};
use launches::Kernel;
use library::Library;
use std::{
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};
use tilewright::{Error, ErrorKind, files};
use tilewright_arch::Device;
use tilewright_driver::Settings;

pub fn run(args: &Run, common: &Common) -> Result<(), Failure> {
    let gpus = names(args)?;
    let library = Library::find()?;
    let log = library.directory().join("launches");
    let (program, arguments) = args.program.split_first().ok_or_else(|| {
        Failure::usage("there is no program to run", "name it behind --: tilewright run -- ./program")
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env(Settings::GPUS, &gpus).env(Settings::LOG, &log);
    for (name, value) in library.environment() {
        command.env(name, value);
    }
    if let Some(steps) = args.max_steps {
        command.env(Settings::MAX_STEPS, steps.to_string());
    }
    if let Some(time) = args.max_time {
        // What is less than a second is rounded up: none would be no limit at all.
        let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
        command.env(Settings::MAX_SECONDS, seconds.to_string());
    }
    command.env(Settings::SCHEDULE, args.schedule.to_string());
    if args.strict {
        command.env(Settings::RACES, "strict");
    }
    if common.format == Format::Json {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    terminal::note(common, "run", &format!("{} on {gpus}", program.to_string_lossy()));
    let began = Instant::now();
    let status =
        command.status().map_err(|source| Error::from(ErrorKind::Io { path: program.into(), source }))?;
    let seconds = began.elapsed().as_secs_f64();
    let kernels = launches::read(&log)?;
    let code = code_of(status);
    if let Some(path) = &args.report {
        let page = page::page(&args.program, &gpus, &kernels);
        files::write_bytes(path, page.as_bytes())?;
        terminal::note(common, "report", &format!("wrote {}", path.display()));
    }
    match common.format {
        Format::Json => json::print(&report::Document::new(&args.program, &gpus, code, seconds, &kernels))?,
        Format::Table | Format::Csv if common.quiet => {}
        Format::Table | Format::Csv => report::print(&kernels, seconds),
    }
    let errors: u64 = kernels.iter().map(Kernel::errors).sum();
    if errors > 0 {
        let what = format!(
            "{errors} error{} found in the program's kernels",
            if errors == 1 { " was" } else { "s were" }
        );
        return Err(Failure::Check { what, hint: "see the findings above".into() });
    }
    if code == 0 { Ok(()) } else { Err(Failure::Program { code }) }
}

/// The names of the GPUs in full, as the library reads them.
fn names(args: &Run) -> Result<String, Failure> {
    let asked = if args.gpus.is_empty() { vec!["h200".to_owned()] } else { args.gpus.clone() };
    let found = asked.iter().map(|name| Device::find(name).map(|device| device.name));
    let names = found.collect::<Result<Vec<_>, _>>();
    let names = names.map_err(|e| Failure::usage(e.to_string(), "`tilewright gpus` lists them"))?;
    Ok(names.join("; "))
}

/// What a shell would say of it.
fn code_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
