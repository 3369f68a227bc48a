//! What is said at the end: a table for people, or one JSON object.

use super::launches::{Finding, Kernel};
use crate::terminal;
use serde::Serialize;
use std::{ffi::OsString, fmt::Write as _, io::Write as _};

/// The JSON object.
#[derive(Serialize)]
pub struct Document<'a> {
    schema: u32,
    program: Vec<String>,
    gpus: Vec<&'a str>,
    /// The program's own.
    exit_code: u8,
    seconds: f64,
    kernels: &'a [Kernel],
}

impl<'a> Document<'a> {
    pub fn new(
        program: &[OsString],
        gpus: &'a str,
        exit_code: u8,
        seconds: f64,
        kernels: &'a [Kernel],
    ) -> Self {
        let program = program.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Self { schema: 1, program, gpus: gpus.split("; ").collect(), exit_code, seconds, kernels }
    }
}

/// The table, on stderr: stdout is the program's.
pub fn print(kernels: &[Kernel], seconds: f64) {
    // Where stderr is closed there is nobody to tell.
    let _ = terminal::stderr().write_all(text(kernels, seconds).as_bytes());
}

/// The columns.
pub const COLUMNS: [&str; 8] =
    ["kernel", "launches", "failed", "seconds", "warp instr.", "load eff.", "store eff.", "bank conflicts"];

/// A row of the table.
pub fn row(kernel: &Kernel) -> [String; 8] {
    let percent = |part: Option<f64>| part.map_or("-".into(), |part| format!("{part:.0} %"));
    let counters = &kernel.counters;
    let conflicts = counters.shared_load.conflicts() + counters.shared_store.conflicts();
    [
        kernel.name.clone(),
        kernel.launches.to_string(),
        kernel.failed.to_string(),
        format!("{:.3}", kernel.seconds),
        counters.warp_instructions.to_string(),
        percent(counters.global_load.efficiency()),
        percent(counters.global_store.efficiency()),
        conflicts.to_string(),
    ]
}

/// Letters of a kernel's name: those of templates may have thousands.
const LONGEST_NAME: usize = 80;

/// The beginning of a name that is too long.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// The table, and all findings behind it.
fn text(kernels: &[Kernel], seconds: f64) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    if kernels.is_empty() {
        let _ = writeln!(out, "no kernel was launched in {seconds:.3} s");
        return out;
    }
    let shortened_row = |kernel: &Kernel| {
        let mut row = row(kernel);
        row[0] = shortened(&row[0]);
        row
    };
    let rows: Vec<_> = kernels.iter().map(shortened_row).collect();
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0).max(COLUMNS[column].len()))
        .collect();
    let mut line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    };
    line(&COLUMNS.map(str::to_owned));
    rows.iter().for_each(|row| line(row));
    let emphasis = terminal::emphasis();
    for kernel in kernels {
        for failure in &kernel.failures {
            let _ = writeln!(out, "\n{emphasis}{}{emphasis:#}: {failure}", shortened(&kernel.name));
        }
        for finding in &kernel.findings {
            let _ = writeln!(out, "\n{}", described(&shortened(&kernel.name), finding));
        }
    }
    out
}

fn described(kernel: &str, finding: &Finding) -> String {
    let style = if finding.severity == "error" { terminal::emphasis() } else { terminal::label() };
    let with = finding.with.as_ref().map_or(String::new(), |with| format!("\n  with {with}"));
    format!(
        "{style}{}: {}{style:#} in {kernel}: {}\n  at   {}{with}\n  fix: {} ({} time{})",
        finding.severity,
        finding.kind,
        finding.message,
        finding.at,
        finding.fix,
        finding.count,
        if finding.count == 1 { "" } else { "s" }
    )
}
