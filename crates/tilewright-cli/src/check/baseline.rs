//! What was known before: findings and numbers of each check.

use super::judge::{Fate, Verdict};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};
use tilewright::{ErrorKind, files};

const SCHEMA: u32 = 1;

/// The file of `--baseline`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub schema: u32,
    pub checks: BTreeMap<String, Check>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// By fingerprint, what it is, for readers.
    pub findings: BTreeMap<String, String>,
    pub launches: Vec<Launch>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub entry: String,
    pub numbers: Vec<(String, f64)>,
}

impl Baseline {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Failure::Engine(ErrorKind::Io { path: path.to_owned(), source }.into()))?;
        let bad = |problem: String| {
            let hint = Some("write it with `tilewright check --write-baseline`".into());
            Failure::Engine(ErrorKind::BadFile { path: path.to_owned(), problem, hint }.into())
        };
        let baseline: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        match baseline.schema {
            SCHEMA => Ok(baseline),
            other => Err(bad(format!("it has schema {other}, and {SCHEMA} is read"))),
        }
    }

    /// What holds now. Suppressed findings are left out: should the suppression go, they are new.
    pub fn of(verdicts: &[Verdict]) -> Self {
        let check = |verdict: &Verdict| {
            let kept = verdict.findings.iter().filter(|judged| !matches!(judged.fate, Fate::Suppressed(_)));
            let findings = kept.map(|judged| {
                let found = &judged.found;
                let line = found.line.map_or(String::new(), |line| format!(":{line}"));
                let what = format!("{} {} at {}{line}", found.severity.name(), found.kind, found.file);
                (judged.fingerprint.clone(), what)
            });
            let launches = verdict.numbers.iter();
            let launch = |(entry, numbers): &(String, Vec<(String, f64)>)| Launch {
                entry: entry.clone(),
                numbers: numbers.clone(),
            };
            (
                verdict.name.clone(),
                Check { findings: findings.collect(), launches: launches.map(launch).collect() },
            )
        };
        let ran = verdicts.iter().filter(|verdict| !verdict.is_broken());
        Self { schema: SCHEMA, checks: ran.map(check).collect() }
    }

    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        text.push('\n');
        Ok(files::write_bytes(path, text.as_bytes())?)
    }
}
