//! `tilewright explain`: what a kernel does to the memory of a GPU.

pub mod arrays;
mod outcome;
mod picture;

use crate::{
    args::{Common, Explain, Extent, Format},
    failure::Failure,
    hints, interrupt, json,
    occupancy::{DEFAULT, Target, say_which},
    progress::Steps,
    terminal, wrapping,
};
use arrays::Arrays;
use outcome::Wanted;
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tilewright::files;
use tilewright_explain::{Blocks, Case, Control, Explained, Gpu, Request};
use tilewright_report::{Document, html, text, timeline_svg};

pub fn run(args: &Explain, common: &Common) -> Result<(), Failure> {
    let gpu = gpu(args)?;
    if let Some(name) = &args.gpu {
        say_which(common, name);
    }
    arrays::check_pipes(args)?;
    let picture = args.picture.as_deref().map(picture::Wanted::parse).transpose()?;
    args.timeline.as_deref().map(picture::check_svg).transpose()?;
    interrupt::watch();
    let arrays = Arrays::default();
    let wanted = Wanted::of(args, &arrays)?;
    // Beside another kernel each takes what it knows of the launch and of the arguments.
    let is_compared = args.compare.is_some();
    let run = |kernel: &Path| explain(kernel, args, common, &gpu, &arrays, &wanted, is_compared);
    let first = run(&args.kernel)?;
    let other = args.compare.as_deref().filter(|_| !interrupt::was_asked());
    let second = other.map(run).transpose()?;
    let all: Vec<&Explained> = [Some(&first), second.as_ref()].into_iter().flatten().collect();

    if let Some(path) = &args.report {
        files::write_bytes(path, page(&all)?.as_bytes())?;
        terminal::note(common, "report", &format!("wrote {}", path.display()));
    }
    if let Some(picture) = picture {
        let path = picture.write(&first)?;
        terminal::note(common, "picture", &format!("wrote {}", path.display()));
    }
    if let Some(path) = &args.timeline {
        let none = || {
            Failure::usage(
                "--timeline: nothing happens at mbarriers in block (0,0,0)",
                "it is for kernels that use them",
            )
        };
        let svg = timeline_svg(&first.recording.timeline).ok_or_else(none)?;
        files::write_bytes(path, svg.as_bytes())?;
        terminal::note(common, "timeline", &format!("wrote {}", path.display()));
    }
    let other = second.as_ref().map(|second| &second.explanation);
    match common.format {
        Format::Json => json::print(&Document::new(&first.explanation, other))?,
        Format::Table | Format::Csv => {
            let report = match other {
                Some(other) => text::comparison(&first.explanation, other, wrapping::columns()),
                None => text::report(&first.explanation, wrapping::columns()),
            };
            terminal::stdout().write_all(report.as_bytes())?;
        }
    }
    if interrupt::was_asked() {
        let what = "interrupted; the numbers are those until then".into();
        return Err(Failure::Interrupted { what });
    }
    wanted.write(&first, common)?;
    outcome::check(&all)
}

fn gpu(args: &Explain) -> Result<Gpu, Failure> {
    let name = args.gpu.as_deref().or(args.cc.is_none().then_some(DEFAULT));
    let target = Target::find(name, args.cc)?
        .ok_or_else(|| Failure::usage("no GPU is given", "name it with --gpu"))?;
    target.gpu()
}

/// A file and the kernel of it that `FILE:KERNEL` names, or the whole.
fn file_and_entry(text: &Path) -> (PathBuf, Option<String>) {
    let split = text.to_str().and_then(|text| {
        [".cu", ".ptx"].iter().find_map(|ending| {
            let (file, entry) = text.split_once(&format!("{ending}:"))?;
            (!entry.is_empty()).then(|| (format!("{file}{ending}").into(), Some(entry.to_owned())))
        })
    });
    split.unwrap_or_else(|| (text.to_owned(), None))
}

/// A name of the catalogue, or a file.
fn explain(
    kernel: &Path,
    args: &Explain,
    common: &Common,
    gpu: &Gpu,
    arrays: &Arrays,
    wanted: &Wanted,
    is_compared: bool,
) -> Result<Explained, Failure> {
    let load = |name: &str| arrays.load(name);
    let (file, entry) = file_and_entry(kernel);
    // Two kernels of a file are told apart by both names.
    let full_name = entry.is_some().then(|| kernel.display().to_string());
    let kernel = file.as_path();
    // The recipe of a kernel of the catalogue chooses its launch; beside a file, what is said of launches is for that.
    let is_beside_file = is_compared
        && kernel.extension().is_none()
        && [Some(&args.kernel), args.compare.as_ref()]
            .into_iter()
            .flatten()
            .any(|other| other.extension().is_some());
    let for_file = |extent: Option<Extent>| extent.filter(|_| !is_beside_file).map(|extent| extent.0);
    let request = Request {
        entry: entry.or_else(|| args.entry.clone()),
        options: args.compiler.options(),
        grid: for_file(args.grid),
        block: for_file(args.block),
        cluster: for_file(args.cluster),
        blocks: Blocks::of(args.cooperative && !is_beside_file),
        dynamic_shared_memory: args.dynamic_smem.filter(|_| !is_beside_file),
        arguments: args.arguments.clone(),
        shares_arguments: is_compared,
        ..Request::new(*gpu, &load)
    };
    if kernel.extension().is_none() && !is_beside_file && args.compiler.options() != Default::default() {
        let what = format!("options of the compiler: {} comes with its own", kernel.display());
        return Err(Failure::usage(what, "leave them out, or give a file"));
    }
    let extents = [args.grid, args.block, args.cluster];
    if kernel.extension().is_none()
        && !is_beside_file
        && (extents.iter().any(Option::is_some) || args.dynamic_smem.is_some() || args.cooperative)
    {
        let what = format!(
            "--grid, --block, --cluster, --cooperative and --dynamic-smem: the recipe of {} chooses them",
            kernel.display()
        );
        return Err(Failure::usage(what, "leave them out, or give a file"));
    }
    let mut case = match kernel.extension() {
        Some(_) => Case::of_file(kernel, &request)?,
        None => Case::of_kernel(tilewright::kernels::find(&kernel.to_string_lossy())?, &request)?,
    };
    case.name = full_name.unwrap_or(case.name);
    wanted.check_before(&case)?;
    let deferred = interrupt::Deferred::new();
    let steps = Steps::new();
    let show = |progress| steps.show(progress);
    let control = Control {
        max_steps: args.max_steps,
        max_time: args.max_time,
        schedule: args.schedule,
        strict: args.strict,
        stop: Some(deferred.asked().flag()),
        progress: if common.quiet { None } else { Some(&show) },
        words: Some(hints::options),
    };
    let explained = case.explain_under(gpu, &control);
    steps.finish();
    let mut explained = explained?;
    explained.explanation.results = wanted.results(&explained)?;
    Ok(explained)
}

fn page(all: &[&Explained]) -> Result<String, Failure> {
    let exhibits: Vec<html::Exhibit<'_>> = all
        .iter()
        .map(|explained| html::Exhibit {
            explanation: &explained.explanation,
            recording: &explained.recording,
            curves: Some(explained.curves),
        })
        .collect();
    Ok(html::page(&exhibits).map_err(std::io::Error::from)?)
}
