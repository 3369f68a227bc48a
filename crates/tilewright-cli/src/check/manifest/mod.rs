//! What a manifest says: kernels, launches, and what is expected of them.

mod document;
mod keys;
mod schema;
#[cfg(test)]
mod tests;

pub use document::{Fault, Place, suggestion};
pub use schema::schema;

use super::budget::Budget;
use crate::hints;
use document::{Faults, Section};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tilewright_explain::{FindingKind, Schedule, Severity};

/// A text, and where it stands.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    pub text: String,
    pub place: Place,
}

#[derive(Debug)]
pub struct Manifest {
    pub path: PathBuf,
    pub kernels: Vec<Kernel>,
}

/// A kernel of the manifest, for all values of its matrix.
#[derive(Debug)]
pub struct Kernel {
    pub name: String,
    pub place: Place,
    pub launches: Vec<Launch>,
    /// Directories of headers.
    pub include: Vec<Placed>,
    /// Macros of the compiler.
    pub define: Vec<Placed>,
    /// Arrays that launches share.
    pub arrays: Vec<(String, Placed)>,
    pub gpus: Vec<Placed>,
    pub matrix: Vec<(String, Vec<String>)>,
    pub expect: Vec<Expect>,
    pub suppress: Vec<Suppress>,
    pub fail_on: Severity,
    pub max_time: Option<Duration>,
    pub max_steps: Option<u64>,
    pub schedule: Schedule,
    pub strict: bool,
}

#[derive(Clone, Debug)]
pub struct Launch {
    pub source: Source,
    pub entry: Option<Placed>,
    pub grid: Option<Placed>,
    pub block: Option<Placed>,
    pub cluster: Option<Placed>,
    pub is_cooperative: Option<bool>,
    pub dynamic_shared_memory: Option<Placed>,
    pub arguments: Vec<(String, Placed)>,
    pub budgets: Vec<Budget>,
}

#[derive(Clone, Debug)]
pub enum Source {
    File(Placed),
    Catalogue(&'static tilewright::kernels::Kernel),
}

/// What an array is to hold.
#[derive(Clone, Debug)]
pub struct Expect {
    pub array: String,
    pub from: From,
    pub tolerance: f64,
}

#[derive(Clone, Debug)]
pub enum From {
    File(Placed),
    /// Another kernel, by its place in the manifest, and its array.
    Kernel(usize, String),
    Python(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Suppress {
    pub finding: FindingKind,
    pub reason: String,
    /// The severity that is accepted; without it all but errors.
    pub severity: Option<Severity>,
    pub file: Option<String>,
    pub line: Option<u64>,
    pub source: Option<String>,
}

/// Reads a manifest from its text.
///
/// # Errors
/// All faults, in the order of the file.
pub fn read(path: &Path, text: &str) -> Result<Manifest, Vec<Fault>> {
    let mut faults = Faults::new(text);
    let root = document::parse(text, &mut faults);
    if !faults.found.is_empty() {
        return Err(faults.into_sorted());
    }
    let root = Section::root(&root);
    let defaults = Defaults::new(&root, &mut faults);
    let mut kernels: Vec<Kernel> =
        root.sections("kernel").iter().map(|section| kernel(section, &defaults, &mut faults)).collect();
    for (index, one) in kernels.iter().enumerate() {
        if kernels[..index].iter().any(|other| other.name == one.name) {
            faults.add(&one.place, format!("there is a kernel {} already", one.name));
        }
    }
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.name.clone()).collect();
    for (kernel, section) in kernels.iter_mut().zip(root.sections("kernel")) {
        kernel.expect = expectations(&section, &names, &kernel.name, &defaults, &mut faults);
    }
    if faults.found.is_empty() {
        Ok(Manifest { path: path.to_owned(), kernels })
    } else {
        Err(faults.into_sorted())
    }
}

/// A fault that shows when values of the matrix are put in.
pub fn fault(text: &str, place: &Place, problem: impl Into<String>) -> Fault {
    let mut faults = Faults::new(text);
    faults.add(place, problem);
    faults.found.remove(0)
}

struct Defaults {
    gpus: Vec<Placed>,
    budgets: Vec<Budget>,
    suppress: Vec<Suppress>,
    fail_on: Severity,
    max_time: Option<Duration>,
    tolerance: f64,
}

impl Defaults {
    fn new(root: &Section<'_>, faults: &mut Faults<'_>) -> Self {
        let section = root.section("defaults");
        let of = |key| section.as_ref().map(|section| texts(section, key)).unwrap_or_default();
        Self {
            gpus: of("gpus"),
            budgets: budgets(&of("budgets"), faults),
            suppress: suppressions(root),
            fail_on: section
                .as_ref()
                .and_then(|section| severity(section, "fail-on"))
                .unwrap_or(Severity::Error),
            max_time: section.as_ref().and_then(seconds),
            tolerance: section.as_ref().and_then(|section| section.number("tolerance")).unwrap_or(0.0),
        }
    }
}

fn kernel(section: &Section<'_>, defaults: &Defaults, faults: &mut Faults<'_>) -> Kernel {
    let own = texts(section, "gpus");
    let mut kernel_budgets = defaults.budgets.clone();
    kernel_budgets.extend(budgets(&texts(section, "budgets"), faults));
    let mut suppress = suppressions(section);
    suppress.extend(defaults.suppress.iter().cloned());
    Kernel {
        name: section.text("name").map(|(name, _)| name).unwrap_or_default(),
        place: section.place.clone(),
        launches: launches(section, &kernel_budgets, faults),
        include: texts(section, "include"),
        define: texts(section, "define"),
        arrays: arguments(section, "arrays"),
        gpus: if own.is_empty() { defaults.gpus.clone() } else { own },
        matrix: matrix(section, faults),
        expect: Vec::new(),
        suppress,
        fail_on: severity(section, "fail-on").unwrap_or(defaults.fail_on),
        max_time: seconds(section).or(defaults.max_time),
        max_steps: section.count("max-steps"),
        schedule: schedule(section, faults),
        strict: flag(section, "strict").unwrap_or(false),
    }
}

/// The launches of a kernel; each takes what it does not say from the kernel.
fn launches(section: &Section<'_>, budgets: &[Budget], faults: &mut Faults<'_>) -> Vec<Launch> {
    let Some(source) = source(section, faults) else { return Vec::new() };
    let whole = Launch {
        source,
        entry: placed(section, "entry"),
        grid: extent(section, "grid"),
        block: extent(section, "block"),
        cluster: extent(section, "cluster"),
        is_cooperative: flag(section, "cooperative"),
        dynamic_shared_memory: value(section, "dynamic-shared-memory"),
        arguments: arguments(section, "args"),
        budgets: budgets.to_vec(),
    };
    let sections = section.sections("launch");
    if sections.is_empty() {
        return vec![whole];
    }
    if matches!(whole.source, Source::Catalogue(_)) {
        faults.add(&section.place, "a kernel of the catalogue has launches of its own: leave out launch");
    }
    sections
        .iter()
        .map(|section| {
            let mut launch = whole.clone();
            if let Some(file) = placed(section, "file") {
                launch.source = Source::File(file);
            }
            launch.entry = placed(section, "entry").or(launch.entry);
            launch.grid = extent(section, "grid").or(launch.grid);
            launch.block = extent(section, "block").or(launch.block);
            launch.cluster = extent(section, "cluster").or(launch.cluster);
            launch.is_cooperative = flag(section, "cooperative").or(launch.is_cooperative);
            launch.dynamic_shared_memory =
                value(section, "dynamic-shared-memory").or(launch.dynamic_shared_memory);
            let own = arguments(section, "args");
            launch.arguments.retain(|(name, _)| own.iter().all(|(other, _)| name != other));
            launch.arguments.extend(own);
            launch.budgets.extend(self::budgets(&texts(section, "budgets"), faults));
            launch
        })
        .collect()
}

fn source(section: &Section<'_>, faults: &mut Faults<'_>) -> Option<Source> {
    let every_launch_has_one = || {
        section.sections("launch").iter().all(|launch| launch.get("file").is_some())
            && section.get("launch").is_some()
    };
    match (placed(section, "file"), placed(section, "catalogue")) {
        (Some(file), None) => Some(Source::File(file)),
        (None, Some(name)) => match tilewright::kernels::find(&name.text) {
            Ok(kernel) => Some(Source::Catalogue(kernel)),
            Err(error) => {
                let hint =
                    hints::said(&error, hints::keys).map(|hint| format!("; {hint}")).unwrap_or_default();
                faults.add(&name.place, format!("{error}{hint}"));
                None
            }
        },
        (Some(_), Some(name)) => {
            faults.add(&name.place, "a kernel is of a file or of the catalogue: leave out one of the two");
            None
        }
        // Every launch replaces it.
        (None, None) if every_launch_has_one() => Some(Source::File(Placed::default())),
        (None, None) => {
            faults.add(&section.place, "neither file nor catalogue says where the kernel is");
            None
        }
    }
}

fn matrix(section: &Section<'_>, faults: &mut Faults<'_>) -> Vec<(String, Vec<String>)> {
    let Some(section) = section.section("matrix") else { return Vec::new() };
    let mut matrix = Vec::new();
    for (name, entry, place) in section.entries() {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            faults
                .add(&place, "names of the matrix are of letters, digits and underscores, as in expressions");
        }
        matrix.push((name, entry.each(&place).iter().map(|(entry, _)| entry.as_text()).collect()));
    }
    matrix
}

fn expectations(
    section: &Section<'_>,
    kernels: &[String],
    own: &str,
    defaults: &Defaults,
    faults: &mut Faults<'_>,
) -> Vec<Expect> {
    let Some(named) = section.section("expect") else { return Vec::new() };
    let mut expectations = Vec::new();
    for (array, _, place) in named.entries() {
        let Some(section) = named.section(&array) else { continue };
        let sources = [placed(&section, "file"), placed(&section, "kernel"), placed(&section, "python")];
        let from = match sources {
            [Some(file), None, None] => From::File(file),
            [None, Some(kernel), None] => {
                let Some(index) = kernels.iter().position(|name| *name == kernel.text && name != own) else {
                    let names: Vec<&str> =
                        kernels.iter().map(String::as_str).filter(|name| *name != own).collect();
                    let hint = suggestion(&kernel.text, &names);
                    faults.add(&kernel.place, format!("there is no other kernel {}; {hint}", kernel.text));
                    continue;
                };
                From::Kernel(index, section.text("array").map_or_else(|| array.clone(), |found| found.0))
            }
            [None, None, Some(python)] => From::Python(python.text),
            _ => {
                faults.add(&place, "one of file, kernel and python says what is expected");
                continue;
            }
        };
        let tolerance = section.number("tolerance").unwrap_or(defaults.tolerance);
        expectations.push(Expect { array, from, tolerance });
    }
    expectations
}

fn suppressions(section: &Section<'_>) -> Vec<Suppress> {
    let text = |section: &Section<'_>, key| section.text(key).map(|found| found.0);
    let suppress = |section: &Section<'_>| {
        Some(Suppress {
            finding: FindingKind::named(&text(section, "finding")?)?,
            reason: text(section, "reason").unwrap_or_default(),
            severity: severity(section, "severity"),
            file: text(section, "file"),
            line: section.count("line"),
            source: text(section, "source"),
        })
    };
    section.sections("suppress").iter().filter_map(suppress).collect()
}

fn budgets(texts: &[Placed], faults: &mut Faults<'_>) -> Vec<Budget> {
    let budget =
        |placed: &Placed| placed.text.parse().map_err(|why: String| faults.add(&placed.place, why)).ok();
    texts.iter().filter_map(budget).collect()
}

fn placed(section: &Section<'_>, key: &str) -> Option<Placed> {
    section.text(key).map(|(text, place)| Placed { text, place })
}

/// A text or number, as a text.
fn value(section: &Section<'_>, key: &str) -> Option<Placed> {
    section.get(key).map(|(entry, place)| Placed { text: entry.as_text(), place })
}

fn flag(section: &Section<'_>, key: &str) -> Option<bool> {
    section.get(key).map(|(entry, _)| entry.as_text() == "true")
}

/// One to three extents, as a text with commas.
fn extent(section: &Section<'_>, key: &str) -> Option<Placed> {
    let (entry, place) = section.get(key)?;
    let parts: Vec<String> = entry.each(&place).iter().map(|(entry, _)| entry.as_text()).collect();
    Some(Placed { text: parts.join(","), place })
}

fn texts(section: &Section<'_>, key: &str) -> Vec<Placed> {
    let Some((entry, place)) = section.get(key) else { return Vec::new() };
    entry.each(&place).into_iter().map(|(entry, place)| Placed { text: entry.as_text(), place }).collect()
}

fn arguments(section: &Section<'_>, key: &str) -> Vec<(String, Placed)> {
    let entries = section.section(key).map(|section| section.entries()).unwrap_or_default();
    entries.into_iter().map(|(name, entry, place)| (name, Placed { text: entry.as_text(), place })).collect()
}

fn severity(section: &Section<'_>, key: &str) -> Option<Severity> {
    let word = section.text(key)?.0;
    [Severity::Error, Severity::Warning, Severity::Advice]
        .into_iter()
        .find(|severity| severity.name() == word)
}

fn schedule(section: &Section<'_>, faults: &mut Faults<'_>) -> Schedule {
    let Some((text, place)) = section.text("schedule") else { return Schedule::default() };
    text.parse().unwrap_or_else(|why| {
        faults.add(&place, format!("schedule = \"{text}\": {why}"));
        Schedule::default()
    })
}

/// 0: no limit.
fn seconds(section: &Section<'_>) -> Option<Duration> {
    let seconds = section.number("max-time")?;
    let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Some(if time.is_zero() { Duration::MAX } else { time })
}
