//! What bounds a launch, as a table of the parts of the GPU.

use super::{BOLD, columns::table, decimal, file, percent, wrapping::hanging};
use tilewright_explain::{Bound, Explanation, PartBound};

/// Parts that take less than this of the bound are left out.
const LEAST: f64 = 0.01;
/// How many parts are shown.
const PARTS: usize = 6;
/// How many reasons to wait are named.
const WAITS: usize = 3;
/// Reasons that make less of all waiting are not named.
const WORTH_NAMING: f64 = 0.1;

pub fn bounds(e: &Explanation, width: usize) -> String {
    let Some(b) = e.bound.as_ref().filter(|b| b.cycles > 0.0) else { return String::new() };
    let head = ["share", "part, and what asks most of it", "cycles each", "cycles"].map(String::from);
    let shown = b.parts.iter().filter(|part| part.share >= LEAST).take(PARTS);
    let rows: Vec<[String; 4]> = shown.map(|part| row(e, part)).collect();
    let title = format!(
        "{BOLD}bound{BOLD:#}  at least {}, likely {}; cycles are those of one multiprocessor; each is one {}",
        time(b.cycles, b),
        time(b.prediction.likely_cycles, b),
        b.work.each()
    );
    let waits: Vec<&str> = b
        .waits
        .iter()
        .filter(|wait| wait.share >= WORTH_NAMING)
        .take(WAITS)
        .map(|wait| wait.reason)
        .collect();
    let waits = if waits.is_empty() {
        String::new()
    } else {
        format!("warps likely wait for: {} (as Nsight Compute calls it); ", waits.join(", "))
    };
    let basis = format!("costs: {} on {}", b.rates, b.compute_capability);
    hanging("", &title, width)
        + &table(&head, &rows, width)
        + &hanging("  ", &format!("{waits}{basis}"), width)
}

/// Cycles, and seconds where the clock is known.
fn time(cycles: f64, b: &Bound) -> String {
    match b.clock_hz {
        Some(hertz) => format!(
            "{} cycles ({} us)",
            super::grouped(cycles.ceil() as u64),
            decimal(1e6 * cycles / hertz as f64)
        ),
        None => format!("{} cycles", super::grouped(cycles.ceil() as u64)),
    }
}

fn row(e: &Explanation, part: &PartBound) -> [String; 4] {
    let own = e.own_file();
    let line = part.lines.first().map_or(String::new(), |line| {
        let place = if line.file == own {
            format!("line {}", line.line)
        } else {
            format!("{}:{}", file(&line.file), line.line)
        };
        let share = if line.share > 0.995 { String::new() } else { format!(" ({})", percent(line.share)) };
        format!(": {place}, {}{share}", line.what)
    });
    [
        percent(part.share),
        format!("{}{line}", part.title),
        decimal(part.cycles_per_work),
        super::grouped(part.cycles.ceil() as u64),
    ]
}
