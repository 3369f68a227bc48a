//! `tilewright check`: the kernels of a project, as tests.

mod arrays;
mod baseline;
mod budget;
mod cache;
mod case;
mod expression;
mod github;
mod judge;
mod junit;
mod manifest;
mod places;
mod print;
mod python;
mod ran;
mod report;
mod sarif;
mod work;

use crate::{
    args::{Check, Common, Format},
    failure::Failure,
    interrupt, json, terminal,
};
use baseline::Baseline;
use cache::Cache;
use manifest::{Fault, Manifest};
use ran::Setting;
use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};
use tilewright::{files, visible};

/// The manifest of a directory.
const NAME: &str = "tilewright.toml";

pub fn run(args: &Check, common: &Common) -> Result<(), Failure> {
    if args.schema {
        return json::print(&manifest::schema());
    }
    let path = manifest_path(&args.manifest);
    let (manifest, text) = read(&path)?;
    let mut cases = case::cases(&manifest, &text, &args.gpus).map_err(|faults| faulty(&path, &faults))?;
    if let Some(part) = &args.filter {
        cases.retain(|case| case.name.contains(part.as_str()));
        if cases.is_empty() {
            let what = format!("--filter {part}: no check of {} has a name with it", path.display());
            return Err(Failure::usage(what, "leave it out to see their names"));
        }
    }
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    interrupt::watch();
    let deferred = interrupt::Deferred::new();
    let setting = Setting { manifest: &manifest, stop: deferred.asked().flag() };
    let cache = if args.no_cache { None } else { Cache::of_user() };
    let began = Instant::now();
    let jobs =
        args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let outcomes = work::run(&cases, &setting, cache.as_ref(), jobs);
    drop(deferred);
    if interrupt::was_asked() {
        return Err(Failure::Interrupted { what: "interrupted; nothing was written".into() });
    }
    let (verdicts, mut unused) = judge::judge(&cases, outcomes, &path, baseline.as_ref());
    if args.filter.is_some() {
        unused.clear();
    }
    let seconds = began.elapsed().as_secs_f64();

    write(args.junit.as_deref(), common, || junit::document(&path.display().to_string(), &verdicts))?;
    write(args.sarif.as_deref(), common, || format!("{:#}\n", sarif::document(&verdicts)))?;
    if let Some(path) = &args.write_baseline {
        Baseline::of(&verdicts).write(path)?;
        terminal::note(common, "baseline", &format!("wrote {}", path.display()));
    }
    match common.format {
        Format::Json => {
            json::print(&report::Report::new(path.display().to_string(), &verdicts, &unused, seconds))?
        }
        Format::Table | Format::Csv => {
            let lines: String = verdicts.iter().map(print::line).collect();
            let report = lines + &print::details(&verdicts, &unused) + &print::sum(&verdicts, seconds);
            terminal::stdout().write_all(report.as_bytes())?;
        }
    }
    if args.github {
        // Beside JSON on stdout, the log is where the platform looks, too.
        match common.format {
            Format::Json => std::io::stderr().lock().write_all(github::annotations(&verdicts).as_bytes())?,
            _ => std::io::stdout().lock().write_all(github::annotations(&verdicts).as_bytes())?,
        }
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passes()).count();
    if failed == 0 {
        return Ok(());
    }
    let what = format!("{failed} of {} checks failed", verdicts.len());
    Err(Failure::Check { what, hint: "see above for what is wrong".into() })
}

/// That of a directory, or the file itself.
fn manifest_path(given: &Path) -> PathBuf {
    match given {
        _ if given == Path::new(".") => PathBuf::from(NAME),
        directory if directory.is_dir() => directory.join(NAME),
        file => file.to_owned(),
    }
}

fn read(path: &Path) -> Result<(Manifest, String), Failure> {
    let text = std::fs::read(path).map_err(|error| {
        let hint = "name a manifest, or a directory that has a tilewright.toml; docs/check.md says what stands in it";
        Failure::usage(format!("{}: {error}", path.display()), hint)
    })?;
    let text = String::from_utf8(text)
        .map_err(|_| Failure::usage(format!("{}: it is no UTF-8 text", path.display()), ""))?;
    let manifest = manifest::read(path, &text).map_err(|faults| faulty(path, &faults))?;
    Ok((manifest, text))
}

/// Every fault on a line of its own, with file, line and key.
fn faulty(path: &Path, faults: &[Fault]) -> Failure {
    let lines: Vec<String> =
        faults.iter().map(|fault| format!("{}:{}", path.display(), visible(&fault.to_string()))).collect();
    let count = match faults.len() {
        1 => "the manifest has a fault".to_owned(),
        more => format!("the manifest has {more} faults"),
    };
    Failure::usage(
        format!("{count}\n{}", lines.join("\n")),
        "`tilewright check --schema` prints what a manifest may have",
    )
}

fn write(path: Option<&Path>, common: &Common, text: impl Fn() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    files::write_bytes(path, text().as_bytes())?;
    terminal::note(common, "report", &format!("wrote {}", path.display()));
    Ok(())
}
