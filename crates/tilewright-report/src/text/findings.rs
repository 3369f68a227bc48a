//! Findings, and who takes part in them.

use super::{BOLD, FAINT, grouped, index, place, wrapping::hanging};
use anstyle::{AnsiColor, Effects};
use std::fmt::Write;
use tilewright_core::visible_lines;
use tilewright_explain::{Explanation, Finding, Location, Participant, Severity};

/// How many threads of a finding are named, or rows of them.
const THREADS: usize = 4;

pub fn findings(e: &Explanation, width: usize) -> String {
    if e.findings.is_empty() {
        return format!("{BOLD}findings{BOLD:#}  none\n");
    }
    // What mends several is said once.
    let fix = |at: usize| {
        let fix = &e.findings[at].fix;
        if e.findings[..at].iter().any(|earlier| earlier.fix == *fix) { "as above" } else { fix }
    };
    let each = e.findings.iter().enumerate().map(|(at, finding)| one_finding(finding, fix(at), width));
    format!("{BOLD}findings{BOLD:#}  what costs most comes first\n{}", each.collect::<String>())
}

fn one_finding(finding: &Finding, fix: &str, width: usize) -> String {
    let style = match finding.severity {
        Severity::Error => AnsiColor::Red.on_default().effects(Effects::BOLD),
        Severity::Warning => AnsiColor::Yellow.on_default().effects(Effects::BOLD),
        Severity::Advice => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
    };
    let mut out = format!(
        "{style}{}{style:#} {}: {}",
        finding.severity.name(),
        finding.kind,
        visible_lines(&finding.message)
    );
    if finding.severity != Severity::Advice && finding.count > 1 {
        let _ = write!(out, " ({} times)", grouped(finding.count));
    }
    let mut out = hanging("  ", &out, width);
    for participant in &finding.participants {
        out += &hanging("    ", &self::participant(participant), width);
    }
    out + &hanging("    ", &format!("{FAINT}fix:{FAINT:#} {fix}"), width)
}

/// What was done, where and by whom, in words.
pub fn participant(p: &Participant) -> String {
    let mut out = p.what.clone();
    if let Some(element) = &p.element {
        let _ = write!(out, " on {element}");
    }
    if let Some(location) = &p.location {
        let _ = write!(out, " at {}", short(location));
    }
    match p.further_ptx_lines.len() {
        0 => {}
        1 => out += " and one more unrolled copy",
        more => drop(write!(out, " and {more} more unrolled copies")),
    }
    if let Some(block) = p.block {
        let _ = write!(out, ", block {}", index(block));
    }
    if !p.threads.is_empty() {
        let named = ranges(&p.threads);
        let word = if p.threads.len() == 1 { "thread" } else { "threads" };
        let _ = write!(out, ", {word} {}", named[..named.len().min(THREADS)].join(" "));
        if named.len() > THREADS {
            let _ = write!(out, " and {} more", named.len() - THREADS);
        }
    }
    if let Some(iteration) = p.iteration {
        let _ = write!(out, ", iteration {iteration}");
    }
    out
}

/// Threads, neighbours along x as one: `(0..31,0,0)`.
fn ranges(threads: &[[u32; 3]]) -> Vec<String> {
    let mut runs: Vec<([u32; 3], u32)> = Vec::new();
    for &[x, y, z] in threads {
        match runs.last_mut() {
            Some(([_, row, plane], last)) if (*row, *plane, *last + 1) == (y, z, x) => *last = x,
            _ => runs.push(([x, y, z], x)),
        }
    }
    let run = |&([x, y, z], last): &([u32; 3], u32)| match last - x {
        0 => index([x, y, z]),
        _ => format!("({x}..{last},{y},{z})"),
    };
    runs.iter().map(run).collect()
}

fn short(location: &Location) -> String {
    let ptx = location.ptx_line.map(|line| format!("PTX line {line}"));
    match (&location.file, location.line, ptx) {
        (Some(file), Some(line), Some(_)) if file.ends_with(".ptx") => place(file, line),
        (Some(file), Some(line), Some(ptx)) => format!("{} ({ptx})", place(file, line)),
        (Some(file), Some(line), None) => place(file, line),
        (_, _, ptx) => ptx.unwrap_or_default(),
    }
}
