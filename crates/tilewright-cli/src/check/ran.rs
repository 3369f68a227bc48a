//! What came of the launches of a case: all that is judged and reported, and kept by the cache.

use super::{
    arrays, budget,
    case::{self, Case, Launch, Origin, Wanted},
    manifest::Manifest,
    python,
};
use crate::hints;
use serde::{Deserialize, Serialize};
use std::{path::Path, sync::atomic::AtomicBool};
use tilewright::{Error, ErrorKind, Hint};
use tilewright_explain::{
    self as explain, Argument, Array, Blocks, Control, Explained, Finding, FindingKind, Request, Severity,
    Tolerance,
};
use tilewright_report::text;

/// A case that has run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    pub launches: Vec<Launched>,
    /// Results that are not as expected.
    pub differences: Vec<String>,
    /// What was not done, and why.
    pub notes: Vec<String>,
    /// Whether something was not compared for lack of Python.
    pub lacks_python: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    pub entry: String,
    /// By the names of budgets.
    pub numbers: Vec<(String, f64)>,
    pub findings: Vec<Found>,
}

/// A finding, as reports need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub severity: Severity,
    #[serde(with = "explain::by_name")]
    pub kind: FindingKind,
    pub message: String,
    pub fix: String,
    pub count: u64,
    /// The file and line that it is shown at; that of the kernel where it has none.
    pub file: String,
    pub line: Option<u32>,
    /// The text of that line, without indentation.
    pub source: String,
    pub sides: Vec<Side>,
}

/// One of those that take part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What is done where, by whom.
    pub text: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// What runs are made with.
pub struct Setting<'a> {
    pub manifest: &'a Manifest,
    pub stop: &'a AtomicBool,
}

/// Runs the launches of a case, and compares what is expected.
pub fn run(case: &Case<'_>, setting: &Setting<'_>) -> Result<Ran, Error> {
    let mut ran = Ran::default();
    let executed = execute(case, setting)?;
    ran.notes.clone_from(&executed.notes);
    for (explained, file) in executed.explained.iter().zip(&executed.files) {
        ran.launches.push(launched(explained, file));
    }
    let is_wrong = |launch: &Launched| launch.findings.iter().any(|found| found.severity == Severity::Error);
    // Behind an error results mean nothing.
    if ran.launches.iter().any(is_wrong) {
        let is_unfinished = executed.explained.iter().any(|one| one.explanation.is_only_unfinished());
        let why = if is_unfinished { "the launch is not finished" } else { "the launch had errors" };
        let note = |expect: &case::Expect| format!("{} is not compared: {why}", expect.array);
        ran.notes.extend(case.expect.iter().map(note));
        return Ok(ran);
    }
    for expect in &case.expect {
        compare(case, expect, &executed, setting, &mut ran)?;
    }
    Ok(ran)
}

struct Executed {
    explained: Vec<Explained>,
    /// The kernel's file of each launch.
    files: Vec<String>,
    /// Arrays before the first launch.
    before: Vec<Array>,
    notes: Vec<String>,
}

impl Executed {
    /// An array behind the last launch; of several with one name, that of the last launch.
    fn array(&self, name: &str) -> Result<&Array, Error> {
        let arrays: &[Array] = self.explained.last().map_or(&[], |last| &last.arrays);
        arrays.iter().rev().find(|array| array.name == name).ok_or_else(|| {
            let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
            let hint = match names[..] {
                [] => {
                    "there are none: arrays are arguments that are pointers, and variables of the file".into()
                }
                _ => format!("there are {}", names.join(", ")),
            };
            refused(format!("the array {name}"), "no launch has it", hint)
        })
    }
}

fn execute(case: &Case<'_>, setting: &Setting<'_>) -> Result<Executed, Error> {
    let (whole, files) = sequence(case, setting.manifest)?;
    let before = whole.arrays.clone();
    let control = Control {
        max_steps: case.kernel.max_steps,
        max_time: case.kernel.max_time,
        schedule: case.kernel.schedule,
        strict: case.kernel.strict,
        stop: Some(setting.stop),
        words: Some(hints::keys),
        ..Control::default()
    };
    let explained = whole.explain_each(&case.gpu, &control)?;
    let last = explained.last().map(|last| &last.explanation);
    let mut notes = last.map(|last| last.notes.clone()).unwrap_or_default();
    notes.extend(last.into_iter().flat_map(|last| last.compiler_warnings.clone()));
    Ok(Executed { explained, files, before, notes })
}

/// All launches of a case on their arrays, and the file of each.
fn sequence(case: &Case<'_>, manifest: &Manifest) -> Result<(explain::Case, Vec<String>), Error> {
    // Of each shared array, where it lies once a launch has it.
    let mut shared: Vec<Option<usize>> = vec![None; case.arrays.len()];
    let mut whole: Option<explain::Case> = None;
    let mut files = Vec::new();
    for launch in &case.launches {
        let (next, file) = one(case, launch, manifest)?;
        let mut pairs = Vec::new();
        let mut place = whole.as_ref().map_or(0, |whole| whole.arrays.len());
        let mut next = next;
        for index in 0..next.arrays.len() {
            let named = shared_by(case, launch, &next, index);
            if let Some(known) = named.and_then(|named| shared[named]) {
                pairs.push((index, known));
                continue;
            }
            if let Some(named) = named {
                shared[named] = Some(place);
                next.arrays[index].name.clone_from(&case.arrays[named].0);
            }
            place += 1;
        }
        files.extend(next.launches.iter().map(|_| file.clone()));
        whole = Some(match whole {
            Some(whole) => whole.followed_by(next, &pairs),
            None => next,
        });
    }
    let whole = whole.ok_or_else(|| refused("this check", "it has no launch", ""))?;
    Ok((whole, files))
}

/// What stands before the name of a shared array.
const SHARED: char = '@';

/// The case of one launch.
fn one(case: &Case<'_>, launch: &Launch, manifest: &Manifest) -> Result<(explain::Case, String), Error> {
    let directory = case::beside(&manifest.path, "");
    // Behind a sign, so that no argument of the same name is meant.
    let shared = |text: &str| case.arrays.iter().find(|(name, _)| name == text);
    let load = |text: &str| match text.strip_prefix(SHARED).and_then(shared) {
        Some((name, described)) => arrays::described(name, described, &directory),
        None => arrays::of_file(text, &directory.join(text)),
    };
    let argument = |(name, text): &(String, String)| match shared(text) {
        Some(_) => (name.clone(), format!("{SHARED}{text}")),
        None => (name.clone(), text.clone()),
    };
    let request = Request {
        entry: launch.entry.clone(),
        options: case.options.clone(),
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        blocks: Blocks::of(launch.is_cooperative),
        dynamic_shared_memory: launch.dynamic_shared_memory,
        arguments: launch.arguments.iter().map(argument).collect(),
        ..Request::new(case.gpu, &load)
    };
    Ok(match &launch.source {
        Origin::File(path) => (explain::Case::of_file(path, &request)?, path.display().to_string()),
        Origin::Catalogue(kernel) => (explain::Case::of_kernel(kernel, &request)?, String::new()),
    })
}

/// The shared array that the argument of an array of `next` names.
fn shared_by(case: &Case<'_>, launch: &Launch, next: &explain::Case, array: usize) -> Option<usize> {
    let is_it = |argument: &Argument| match argument {
        Argument::Pointer(at) => *at == array,
        Argument::Texture(texture) => texture.array == array,
        Argument::Tensor(tensor) => tensor.memory == array,
        Argument::Scalar(_) | Argument::Bytes { .. } | Argument::TensorMap(_) => false,
    };
    let position = next.launches.first()?.arguments.iter().position(is_it)?;
    let parameter = &next.arrays[array].name;
    let is_for = |name: &str| {
        name == parameter || name.parse() == Ok(position) || name.ends_with(&format!("_param_{position}"))
    };
    let (_, text) = launch.arguments.iter().find(|(name, _)| is_for(name))?;
    case.arrays.iter().position(|(name, _)| name == text)
}

fn compare(
    case: &Case<'_>,
    expect: &case::Expect,
    executed: &Executed,
    setting: &Setting<'_>,
    ran: &mut Ran,
) -> Result<(), Error> {
    let found = executed.array(&expect.array)?;
    let expected = match &expect.from {
        Wanted::File(path) => arrays::of_file(&expect.array, path)?,
        Wanted::Case(reference) => {
            let other = case::same_with(setting.manifest, reference.kernel, case)
                .map_err(|problem| refused("the kernel that gives what is expected", &problem, ""))?;
            let other_ran = execute(&other, setting)?;
            if other_ran.explained.iter().any(|explained| explained.explanation.has_errors()) {
                let what = format!(
                    "{} cannot tell what {} should be: errors are found in it",
                    other.name, expect.array
                );
                ran.differences.push(what);
                return Ok(());
            }
            other_ran.array(&reference.array)?.clone()
        }
        Wanted::Python(expression) => match python::evaluate(expression, &executed.before, &case.bindings) {
            Ok(array) => array,
            Err(python::Trouble::Missing(why)) => {
                ran.notes.push(format!("{} is not compared: {why}", expect.array));
                ran.lacks_python = true;
                return Ok(());
            }
            Err(python::Trouble::Wrong(why)) => {
                ran.differences.push(format!("the expression for {} fails: {why}", expect.array));
                return Ok(());
            }
        },
    };
    let tolerance = Tolerance::new(expect.tolerance).unwrap_or_default();
    let comparison = explain::compare(found, &expected, tolerance)?;
    if !comparison.is_same() {
        ran.differences.push(comparison.describe());
    }
    Ok(())
}

fn refused(what: impl Into<String>, why: &str, hint: impl Into<Hint>) -> Error {
    ErrorKind::Unsupported { what: what.into(), why: why.into(), hint: hint.into() }.into()
}

fn launched(explained: &Explained, file: &str) -> Launched {
    let explanation = &explained.explanation;
    let sources = &explained.recording.sources;
    let text_of = |file: &str, line: u32| {
        let source = sources.iter().find(|source| source.name == file)?;
        source.text.lines().nth((line as usize).checked_sub(1)?).map(|text| text.trim().to_owned())
    };
    // PTX names its sources without the folder that they lie in.
    let place_of = |name: &str| {
        let beside = || Some(Path::new(file).parent()?.join(Path::new(name).file_name()?));
        let nearby = beside().filter(|path| !Path::new(name).exists() && path.exists());
        nearby.map_or_else(|| name.to_owned(), |path| path.display().to_string())
    };
    let found = |finding: &Finding| {
        let sides: Vec<Side> = finding
            .participants
            .iter()
            .map(|participant| Side {
                text: text::participant(participant),
                file: participant.location.as_ref().and_then(|location| location.file.clone()),
                line: participant.location.as_ref().and_then(|location| location.line),
            })
            .collect();
        let place = sides.iter().find_map(|side| Some((side.file.clone()?, side.line?)));
        let source = place.as_ref().and_then(|(file, line)| text_of(file, *line)).unwrap_or_default();
        let sides: Vec<Side> =
            sides.into_iter().map(|side| Side { file: side.file.as_deref().map(place_of), ..side }).collect();
        Found {
            severity: finding.severity,
            kind: finding.kind,
            message: finding.message.clone(),
            fix: finding.fix.clone(),
            count: finding.count,
            file: place.as_ref().map_or_else(|| file.to_owned(), |(file, _)| place_of(file)),
            line: place.map(|(_, line)| line),
            source,
            sides,
        }
    };
    Launched {
        entry: explanation.entry.clone(),
        numbers: budget::measured(explanation),
        findings: explanation.findings.iter().map(found).collect(),
    }
}
