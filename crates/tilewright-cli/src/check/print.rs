//! The report for terminals: a line for each check, then what failed, then the sum.

use super::{
    judge::{Fate, Judged, Problem, ProblemKind, Verdict},
    manifest::Suppress,
};
use crate::{terminal, wrapping};
use anstyle::{AnsiColor, Effects, Style};
use std::fmt::Write;
use tilewright::{visible, visible_lines};
use tilewright_explain::Severity;

const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// How many findings that do not fail are told of a check that fails.
const TOLD: usize = 3;

/// `ok      name` or `FAILED  name`.
pub fn line(verdict: &Verdict) -> String {
    let Verdict { name, is_cached, .. } = verdict;
    let name = visible(name);
    let cached = if *is_cached { " (cached)" } else { "" };
    match verdict.passes() {
        true => format!("{GREEN}ok{GREEN:#}      {name}{cached}\n"),
        false => format!("{RED}FAILED{RED:#}  {name}{cached}\n"),
    }
}

/// What failed and why, and what else is to be known.
pub fn details(verdicts: &[Verdict], unused: &[Suppress]) -> String {
    let mut out = String::new();
    for verdict in verdicts.iter().filter(|verdict| !verdict.passes()) {
        let _ = write!(out, "\n{BOLD}{}{BOLD:#}\n", visible(&verdict.name), BOLD = terminal::label());
        // Is it right, is it safe, is it fast.
        let (right, fast): (Vec<_>, Vec<_>) = verdict
            .problems
            .iter()
            .partition(|problem| matches!(problem.kind, ProblemKind::NotRun | ProblemKind::UnexpectedResult));
        right.into_iter().for_each(|one| problem(&mut out, one));
        let fails = verdict.findings.iter().filter(|judged| judged.fate == Fate::Fails);
        fails.for_each(|judged| finding(&mut out, judged));
        fast.into_iter().for_each(|one| problem(&mut out, one));
        let told: Vec<&Judged> = verdict.findings.iter().filter(|judged| judged.fate == Fate::Told).collect();
        told.iter().take(TOLD).for_each(|judged| finding(&mut out, judged));
        if told.len() > TOLD {
            push(&mut out, 2, &format!("{} more that do not fail", told.len() - TOLD));
        }
    }
    let notes = verdicts.iter().flat_map(|verdict| verdict.notes.iter().map(|note| (&verdict.name, note)));
    let mut notes: Vec<String> =
        notes.map(|(name, note)| format!("note: {}: {}", visible(name), visible_lines(note))).collect();
    notes.extend(unused.iter().map(|suppress| {
        let Suppress { finding, reason, .. } = suppress;
        format!("note: nothing needs the suppression of {finding} ({})", visible(reason))
    }));
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| push(&mut out, 0, note));
    }
    out
}

fn problem(out: &mut String, problem: &Problem) {
    let kind = problem.kind.name().replace('-', " ");
    push(out, 2, &format!("{RED}{kind}{RED:#}: {}", visible_lines(&problem.message)));
}

fn finding(out: &mut String, judged: &Judged) {
    let found = &judged.found;
    let style = match found.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Advice => terminal::faint(),
    };
    let times = if found.count > 1 && found.severity != Severity::Advice {
        format!(" ({} times)", found.count)
    } else {
        String::new()
    };
    let place = found.line.map_or(String::new(), |line| format!("{}:{line}: ", visible(&found.file)));
    let head = format!(
        "{style}{}{style:#} {}: {place}{}{times}",
        found.severity.name(),
        found.kind,
        visible_lines(&found.message)
    );
    push(out, 2, &head);
    for side in &found.sides {
        push(out, 4, &visible_lines(&side.text));
    }
    push(out, 4, &format!("fix: {}", visible_lines(&found.fix)));
}

/// A paragraph that is indented; lines of its own, such as a compiler's, stay.
fn push(out: &mut String, indent: usize, text: &str) {
    for line in text.lines() {
        for line in wrapping::wrap(&format!("{:indent$}{line}", ""), wrapping::columns()) {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// `10 checks: 9 ok, 1 FAILED, 4 of them cached`.
pub fn sum(verdicts: &[Verdict], seconds: f64) -> String {
    let failed = verdicts.iter().filter(|verdict| !verdict.passes()).count();
    let cached = verdicts.iter().filter(|verdict| verdict.is_cached).count();
    let findings = || verdicts.iter().flat_map(|verdict| &verdict.findings);
    let count = |wanted: fn(&Fate) -> bool| findings().filter(|judged| wanted(&judged.fate)).count();
    let (suppressed, known) =
        (count(|fate| matches!(fate, Fate::Suppressed(_))), count(|fate| *fate == Fate::Known));
    let word = if verdicts.len() == 1 { "check" } else { "checks" };
    let mut out = format!("\n{} {word}: {} ok", verdicts.len(), verdicts.len() - failed);
    if failed > 0 {
        let _ = write!(out, ", {RED}{failed} FAILED{RED:#}");
    }
    for (count, what) in
        [(cached, "cached"), (suppressed, "findings suppressed"), (known, "findings known before")]
    {
        if count > 0 {
            let _ = write!(out, "; {count} {what}");
        }
    }
    let _ = writeln!(out, "; {seconds:.1} s");
    out
}
