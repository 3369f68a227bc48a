//! Findings by their place: one for each fingerprint, whichever checks have it.

use super::judge::{Fate, Judged, Verdict};
use std::path::{Component, Path};
use tilewright_explain::Severity;

/// A finding, or a failure that is none, of one or several checks.
pub struct Reported<'a> {
    pub kind: &'static str,
    /// What this kind is.
    pub about: &'static str,
    pub severity: Severity,
    pub message: String,
    /// Seen from the working directory.
    pub file: String,
    pub line: u32,
    pub fingerprint: String,
    /// Where the others that take part are.
    pub others: Vec<(String, u32, &'a str)>,
    /// Why it is accepted, if it is.
    pub suppressed: Option<&'a str>,
    pub is_known: bool,
    /// Names of the checks.
    pub checks: Vec<&'a str>,
}

/// All of them: what fails first, then by gravity, in the order of the checks.
pub fn reported(verdicts: &[Verdict]) -> Vec<Reported<'_>> {
    let mut all: Vec<Reported<'_>> = Vec::new();
    let mut ranks = Vec::new();
    for verdict in verdicts {
        let problems = verdict.problems.iter().filter(|_| !verdict.file.is_empty()).map(|problem| {
            let fingerprint =
                super::cache::hash(format!("{}\n{}", problem.kind.name(), verdict.name).as_bytes());
            let one = Reported {
                kind: problem.kind.name(),
                about: problem.kind.about(),
                severity: Severity::Error,
                message: problem.message.clone(),
                file: shown(&verdict.file),
                line: 1,
                fingerprint: fingerprint[..32].to_owned(),
                others: Vec::new(),
                suppressed: None,
                is_known: false,
                checks: vec![&verdict.name],
            };
            (0, one)
        });
        let findings = verdict.findings.iter().filter_map(|judged| {
            let file = if judged.found.file.is_empty() { &verdict.file } else { &judged.found.file };
            (!file.is_empty()).then(|| (rank(judged), finding(judged, file, &verdict.name)))
        });
        for (rank, one) in problems.chain(findings) {
            let same =
                |known: &Reported<'_>| known.fingerprint == one.fingerprint && known.message == one.message;
            let of_finding = |known: &Reported<'_>| known.fingerprint == one.fingerprint && rank > 0;
            match all.iter().position(|known| same(known) || of_finding(known)) {
                Some(index) => {
                    ranks[index] = rank.min(ranks[index]);
                    if !all[index].checks.contains(&verdict.name.as_str()) {
                        all[index].checks.push(&verdict.name);
                    }
                }
                None => {
                    ranks.push(rank);
                    all.push(one);
                }
            }
        }
    }
    let mut ranked: Vec<(u32, Reported<'_>)> = ranks.into_iter().zip(all).collect();
    ranked.sort_by_key(|(rank, one)| (*rank, one.severity));
    ranked.into_iter().map(|(_, one)| one).collect()
}

fn rank(judged: &Judged) -> u32 {
    match judged.fate {
        Fate::Fails => 1,
        Fate::Told => 2,
        Fate::Known => 3,
        Fate::Suppressed(_) => 4,
    }
}

fn finding<'a>(judged: &'a Judged, file: &str, check: &'a str) -> Reported<'a> {
    let found = &judged.found;
    let other =
        |side: &'a super::ran::Side| Some((shown(side.file.as_ref()?), side.line?, side.text.as_str()));
    Reported {
        kind: found.kind.name(),
        about: "Found by executing the kernel, with all checks, without a GPU.",
        severity: found.severity,
        message: format!("{}. Fix: {}.", found.message, found.fix),
        file: shown(file),
        line: found.line.unwrap_or(1),
        fingerprint: judged.fingerprint.clone(),
        others: found.sides.iter().skip(1).filter_map(other).collect(),
        suppressed: match &judged.fate {
            Fate::Suppressed(reason) => Some(reason),
            _ => None,
        },
        is_known: judged.fate == Fate::Known,
        checks: vec![check],
    }
}

/// A path seen from the working directory, with slashes.
fn shown(file: &str) -> String {
    let path = Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect::<std::path::PathBuf>().to_string_lossy().replace('\\', "/")
}
