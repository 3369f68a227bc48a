//! Whether a case passes: errors, bounds, results, and what is worse than before.

use super::{
    baseline::{self, Baseline},
    budget::{Better, Budget, QUANTITIES},
    cache::hash,
    case::Case,
    manifest::Suppress,
    ran::{Found, Launched, Ran},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};
use tilewright_explain::{FindingKind, Severity};

/// A case, and what is to be said of it.
pub struct Verdict {
    /// Of the case.
    pub name: String,
    /// Of the kernel in the manifest.
    pub kernel: String,
    /// The file of its first launch; empty for a kernel of the catalogue.
    pub file: String,
    /// Gravest first.
    pub findings: Vec<Judged>,
    /// What fails beside findings.
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
    /// What was counted, launch by launch.
    pub numbers: Vec<(String, Vec<(String, f64)>)>,
    pub is_cached: bool,
    pub seconds: f64,
}

/// A finding, and what becomes of it.
pub struct Judged {
    pub found: Found,
    /// The launch that it was found in.
    pub entry: String,
    /// What it is known by, wherever its line moves.
    pub fingerprint: String,
    pub fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The check fails by it.
    Fails,
    /// It is not grave enough to fail.
    Told,
    /// The baseline has it.
    Known,
    /// It is accepted, for a reason.
    Suppressed(String),
}

impl Judged {
    /// All of it, in lines.
    pub fn text(&self) -> String {
        let found = &self.found;
        let place = found.line.map_or(String::new(), |line| format!(" at {}:{line}", found.file));
        let mut text = format!("{} {}{place}: {}", found.severity.name(), found.kind, found.message);
        for side in &found.sides {
            text += &format!("\n  {}", side.text);
        }
        text + "\n  fix: " + &found.fix
    }
}

/// A failure that is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    NotRun,
    UnexpectedResult,
    Budget,
    Worse,
}

impl ProblemKind {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotRun => "not-run",
            Self::UnexpectedResult => "unexpected-result",
            Self::Budget => "budget",
            Self::Worse => "worse",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::NotRun => "The kernel could not be compiled or launched.",
            Self::UnexpectedResult => "An array does not hold what the manifest expects.",
            Self::Budget => "A launch takes more than the manifest allows.",
            Self::Worse => "A launch takes more than in the baseline.",
        }
    }
}

impl Verdict {
    pub fn passes(&self) -> bool {
        self.problems.is_empty() && !self.findings.iter().any(|judged| judged.fate == Fate::Fails)
    }

    /// Whether nothing could be run.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.kind == ProblemKind::NotRun)
    }
}

/// A case that has run, or why it has not.
pub struct Outcome {
    pub ran: Result<Ran, String>,
    pub is_cached: bool,
    pub seconds: f64,
}

/// The verdicts on all cases, and suppressions that nothing needs: those of a case that could not run may be needed.
pub fn judge(
    cases: &[Case<'_>],
    outcomes: Vec<Outcome>,
    manifest: &Path,
    baseline: Option<&Baseline>,
) -> (Vec<Verdict>, Vec<Suppress>) {
    let marks = Fingerprints::new(&outcomes, manifest);
    let broken = cases.iter().zip(&outcomes).filter(|(_, outcome)| outcome.ran.is_err());
    let mut used: Vec<Suppress> = broken.flat_map(|(case, _)| case.kernel.suppress.clone()).collect();
    let verdicts: Vec<Verdict> = cases
        .iter()
        .zip(outcomes)
        .map(|(case, outcome)| verdict(case, outcome, &marks, baseline, &mut used))
        .collect();
    let mut unused: Vec<Suppress> = Vec::new();
    for suppress in cases.iter().flat_map(|case| &case.kernel.suppress) {
        if !used.contains(suppress) && !unused.contains(suppress) {
            unused.push(suppress.clone());
        }
    }
    (verdicts, unused)
}

fn verdict(
    case: &Case<'_>,
    outcome: Outcome,
    marks: &Fingerprints<'_>,
    baseline: Option<&Baseline>,
    used: &mut Vec<Suppress>,
) -> Verdict {
    let file = case.launches.first().map_or(String::new(), |launch| match &launch.source {
        super::case::Origin::File(path) => path.display().to_string(),
        super::case::Origin::Catalogue(_) => String::new(),
    });
    let mut verdict = Verdict {
        name: case.name.clone(),
        kernel: case.kernel.name.clone(),
        file,
        findings: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
        numbers: Vec::new(),
        is_cached: outcome.is_cached,
        seconds: outcome.seconds,
    };
    let ran = match outcome.ran {
        Ok(ran) => ran,
        Err(message) => {
            verdict.problems.push(Problem { kind: ProblemKind::NotRun, message });
            return verdict;
        }
    };
    let known = baseline.and_then(|baseline| baseline.checks.get(&case.name));
    // Whether it is right comes before how fast it is.
    let unexpected = |message| Problem { kind: ProblemKind::UnexpectedResult, message };
    verdict.problems.extend(ran.differences.into_iter().map(unexpected));
    for (index, launch) in ran.launches.iter().enumerate() {
        let from = verdict.findings.len();
        for found in &launch.findings {
            let fingerprint = marks.of(found);
            let fate = fate(case, found, &fingerprint, known, used);
            verdict.findings.push(Judged {
                found: found.clone(),
                entry: launch.entry.clone(),
                fingerprint,
                fate,
            });
        }
        let before = known.and_then(|known| known.launches.get(index)).map(|launch| &launch.numbers);
        let budgets =
            case.launches.get(index).or(case.launches.last()).map_or(&[][..], |launch| &launch.budgets);
        for budget in budgets {
            let broken = broken(budget, launch, &verdict.findings[from..]);
            verdict.problems.extend(broken.filter(|_| !is_no_worse(budget, launch, before)));
        }
        if let Some(before) = before {
            verdict.problems.extend(worse(launch, before));
        }
        verdict.numbers.push((launch.entry.clone(), launch.numbers.clone()));
    }
    // Stable: within a severity they are ranked already.
    verdict.findings.sort_by_key(|judged| judged.found.severity);
    verdict.notes = ran.notes;
    verdict.notes.extend(graver(case, &verdict.findings));
    verdict
}

fn fate(
    case: &Case<'_>,
    found: &Found,
    fingerprint: &str,
    known: Option<&baseline::Check>,
    used: &mut Vec<Suppress>,
) -> Fate {
    if let Some(suppress) = case.kernel.suppress.iter().find(|suppress| accepts(suppress, found)) {
        if !used.contains(suppress) {
            used.push(suppress.clone());
        }
        return Fate::Suppressed(suppress.reason.clone());
    }
    match known {
        Some(known) if known.findings.contains_key(fingerprint) => Fate::Known,
        // What was not there before is worse, however grave it is.
        Some(_) => Fate::Fails,
        None if found.severity <= case.kernel.fail_on => Fate::Fails,
        None => Fate::Told,
    }
}

/// Says which suppressions do not accept an error, as they do not say so.
fn graver(case: &Case<'_>, findings: &[Judged]) -> Vec<String> {
    let fails = |suppress: &&Suppress| {
        let is_graver =
            |judged: &Judged| judged.found.severity == Severity::Error && names(suppress, &judged.found);
        suppress.severity.is_none()
            && findings.iter().any(|judged| is_graver(judged) && judged.fate == Fate::Fails)
    };
    let note = |suppress: &Suppress| {
        format!(
            "the suppression of {} ({}) accepts no error; with severity = \"error\" it would",
            suppress.finding, suppress.reason
        )
    };
    case.kernel.suppress.iter().filter(fails).map(note).collect()
}

fn accepts(suppress: &Suppress, found: &Found) -> bool {
    let severity = match suppress.severity {
        Some(severity) => found.severity == severity,
        None => found.severity != Severity::Error,
    };
    severity && names(suppress, found)
}

/// The advice that once had the name of a fault, and that name: manifests may still have it.
const FORMERLY: (FindingKind, FindingKind) = (FindingKind::MisalignedSectors, FindingKind::Misaligned);

/// Whether a suppression is of a finding, however grave it is.
fn names(suppress: &Suppress, found: &Found) -> bool {
    (suppress.finding == found.kind || (found.kind, suppress.finding) == FORMERLY)
        && suppress.file.as_ref().is_none_or(|file| Path::new(&found.file).ends_with(file))
        && suppress.line.is_none_or(|line| found.line.map(u64::from) == Some(line))
        && suppress.source.as_ref().is_none_or(|text| found.source.contains(text.as_str()))
}

/// What a budget counts: a number of the launch, or findings.
fn counted(budget: &Budget, launch: &Launched, findings: &[Judged]) -> Option<f64> {
    let count = |wanted: &dyn Fn(&Found) -> bool| {
        let counts =
            |judged: &&Judged| matches!(judged.fate, Fate::Fails | Fate::Told) && wanted(&judged.found);
        Some(findings.iter().filter(counts).count() as f64)
    };
    match budget.name {
        "races" => count(&|found| {
            let is_unordered = matches!(found.kind, FindingKind::LostUpdate | FindingKind::PendingCopy);
            (found.kind.is_race() || is_unordered) && found.severity != Severity::Advice
        }),
        "errors" => count(&|found| found.severity == Severity::Error),
        "warnings" => count(&|found| found.severity == Severity::Warning),
        "advice" => count(&|found| found.severity == Severity::Advice),
        name => number(&launch.numbers, name),
    }
}

fn number(numbers: &[(String, f64)], name: &str) -> Option<f64> {
    numbers.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
}

fn broken(budget: &Budget, launch: &Launched, findings: &[Judged]) -> Option<Problem> {
    let what = match counted(budget, launch, findings) {
        Some(value) if budget.holds(value) => return None,
        Some(value) => format!("it is {}", short(value)),
        None if budget.holds_without() => return None,
        None => "it is not known: NVRTC or ptxas is needed".into(),
    };
    Some(Problem {
        kind: ProblemKind::Budget,
        message: format!("{}: {budget} is asked for, {what}", launch.entry),
    })
}

/// Whether a number is in the baseline, and is no worse now.
fn is_no_worse(budget: &Budget, launch: &Launched, before: Option<&Vec<(String, f64)>>) -> bool {
    let Some(before) = before.and_then(|before| number(before, budget.name)) else { return false };
    number(&launch.numbers, budget.name).is_some_and(|now| !is_worse(budget.name, before, now))
}

fn worse(launch: &Launched, before: &[(String, f64)]) -> Vec<Problem> {
    let problem = |(name, now): &(String, f64)| {
        let before = number(before, name)?;
        is_worse(name, before, *now).then(|| Problem {
            kind: ProblemKind::Worse,
            message: format!("{}: {name} was {}, and is {}", launch.entry, short(before), short(*now)),
        })
    };
    launch.numbers.iter().filter_map(problem).collect()
}

/// Means of the same counts may differ in their last digit.
const SAME: f64 = 1e-9;

fn is_worse(name: &str, before: f64, now: f64) -> bool {
    let better = QUANTITIES.iter().find(|quantity| quantity.name == name).map(|quantity| quantity.better);
    let by = SAME * before.abs().max(1.0);
    match better {
        Some(Better::Less) => now > before + by,
        Some(Better::More) => now < before - by,
        _ => false,
    }
}

/// Three decimals at most.
pub fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What findings are known by: kind, file and text of the line, so that lines may move; and which of several such lines it is.
struct Fingerprints<'a> {
    manifest: &'a Path,
    /// By kind, file and text: the lines that have it.
    lines: BTreeMap<String, BTreeSet<Option<u32>>>,
}

impl<'a> Fingerprints<'a> {
    fn new(outcomes: &[Outcome], manifest: &'a Path) -> Self {
        let mut all = Self { manifest, lines: BTreeMap::new() };
        let ran = outcomes.iter().filter_map(|outcome| outcome.ran.as_ref().ok());
        for found in ran.flat_map(|ran| &ran.launches).flat_map(|launch| &launch.findings) {
            all.lines.entry(all.base(found)).or_default().insert(found.line);
        }
        all
    }

    fn base(&self, found: &Found) -> String {
        let path = Path::new(&found.file);
        let directory = self.manifest.parent().unwrap_or(Path::new(""));
        let inside = path.strip_prefix(directory).ok().filter(|path| path.is_relative());
        let file = inside.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
        let text: String = found.source.split_whitespace().collect();
        format!("{}\n{}\n{text}", found.kind, file.to_string_lossy().replace('\\', "/"))
    }

    fn of(&self, found: &Found) -> String {
        let base = self.base(found);
        let before = self.lines.get(&base).map_or(0, |lines| lines.range(..found.line).count());
        hash(format!("{base}\n{before}").as_bytes())[..32].to_owned()
    }
}
