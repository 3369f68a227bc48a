//! The JSON object of `check`; the fields are its keys.

use super::{
    judge::{Fate, Judged, Verdict},
    manifest::Suppress,
    ran::Found,
};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub struct Report<'a> {
    schema: u32,
    manifest: String,
    passed: usize,
    failed: usize,
    seconds: f64,
    checks: Vec<Check<'a>>,
    unused_suppressions: Vec<Unused<'a>>,
}

#[derive(Serialize)]
struct Check<'a> {
    name: &'a str,
    kernel: &'a str,
    passed: bool,
    cached: bool,
    seconds: f64,
    problems: Vec<Problem<'a>>,
    findings: Vec<Finding<'a>>,
    launches: Vec<Launch<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Problem<'a> {
    kind: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Finding<'a> {
    #[serde(flatten)]
    found: &'a Found,
    entry: &'a str,
    fingerprint: &'a str,
    /// `fails`, `told`, `known` or `suppressed`.
    fate: &'static str,
    /// Why it is suppressed.
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Launch<'a> {
    entry: &'a str,
    numbers: BTreeMap<&'a str, f64>,
}

#[derive(Serialize)]
struct Unused<'a> {
    finding: &'a str,
    reason: &'a str,
}

impl<'a> Report<'a> {
    pub fn new(manifest: String, verdicts: &'a [Verdict], unused: &'a [Suppress], seconds: f64) -> Self {
        let passed = verdicts.iter().filter(|verdict| verdict.passes()).count();
        Self {
            schema: 1,
            manifest,
            passed,
            failed: verdicts.len() - passed,
            seconds,
            checks: verdicts.iter().map(check).collect(),
            unused_suppressions: unused
                .iter()
                .map(|suppress| Unused { finding: suppress.finding.name(), reason: &suppress.reason })
                .collect(),
        }
    }
}

fn check(verdict: &Verdict) -> Check<'_> {
    Check {
        name: &verdict.name,
        kernel: &verdict.kernel,
        passed: verdict.passes(),
        cached: verdict.is_cached,
        seconds: verdict.seconds,
        problems: verdict
            .problems
            .iter()
            .map(|problem| Problem { kind: problem.kind.name(), message: &problem.message })
            .collect(),
        findings: verdict.findings.iter().map(finding).collect(),
        launches: verdict
            .numbers
            .iter()
            .map(|(entry, numbers)| Launch {
                entry,
                numbers: numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
            })
            .collect(),
        notes: &verdict.notes,
    }
}

fn finding(judged: &Judged) -> Finding<'_> {
    let (fate, reason) = match &judged.fate {
        Fate::Fails => ("fails", None),
        Fate::Told => ("told", None),
        Fate::Known => ("known", None),
        Fate::Suppressed(reason) => ("suppressed", Some(reason.as_str())),
    };
    let Judged { found, entry, fingerprint, .. } = judged;
    Finding { found, entry, fingerprint, fate, reason }
}
