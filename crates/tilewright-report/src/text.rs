//! The report for terminals, in lines of a given width. Styles are ANSI; strip them for a pipe.

mod bounds;
mod columns;
mod findings;
mod mbarriers;
mod wrapping;

use crate::verdict::{Tone, Verdict, compared, verdict};
use anstyle::{AnsiColor, Effects, Style};
use columns::table;
use findings::findings;
pub use findings::participant;
use std::fmt::Write;
use tilewright_core::{visible, visible_lines};
use tilewright_explain::{Access, BankTraffic, Explanation, Line, Results, Traffic};
use wrapping::{hanging, styled};

const BOLD: Style = Style::new().effects(Effects::BOLD);
const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// How many opcodes of the instruction mix are shown.
const OPCODES: usize = 12;
/// How many elements of an array are shown.
const ELEMENTS: usize = 16;

/// The report on one kernel, in lines of `width` letters at most; only names and opcodes may be longer.
pub fn report(e: &Explanation, width: usize) -> String {
    let sections = [
        header(e, width),
        said(&verdict(e), width),
        compiler(e, width),
        occupancy(e, width),
        memory(e, width),
        optimised(e, width),
        mbarriers::mbarriers(e, width),
        instructions(e, width),
        arithmetic(e, width),
        bounds::bounds(e, width),
        findings(e, width),
        notes(e, width),
        printed(e),
        results(&e.results, width),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Two kernels side by side, then what was found in each; in lines of `width` letters.
pub fn comparison(left: &Explanation, right: &Explanation, width: usize) -> String {
    let column = left.kernel.len().max(16);
    let mut out = said(&compared(left, right), width);
    let _ = writeln!(out, "\n{BOLD}{:<34} {:>column$}  {:>16}{BOLD:#}", "", left.kernel, right.kernel);
    for (name, value) in COMPARED {
        let (a, b) = (value(left), value(right));
        if a.is_none() && b.is_none() {
            continue;
        }
        let [a, b] = [a, b].map(|value| value.unwrap_or_else(|| "-".into()));
        let _ = writeln!(out, "{name:<34} {a:>column$}  {b:>16}");
    }
    for e in [left, right] {
        let (findings, notes, compiler) = (findings(e, width), notes(e, width), compiler(e, width));
        let _ = write!(out, "\n{BOLD}{}{BOLD:#}\n{compiler}{findings}{notes}", e.kernel);
    }
    for e in [left, right] {
        let results = results(&e.results, width);
        out += if results.is_empty() { "" } else { "\n" };
        out += &results;
    }
    out
}

/// The verdict: its headline, then why.
fn said(verdict: &Verdict, width: usize) -> String {
    let colour = match verdict.tone {
        Tone::Error => AnsiColor::Red,
        Tone::Unsure | Tone::Slow => AnsiColor::Yellow,
        Tone::Good => AnsiColor::Green,
    };
    let style = colour.on_default().effects(Effects::BOLD);
    let details = verdict.details.iter().map(|detail| hanging("  ", &styled(detail), width));
    format!(
        "{style}verdict{style:#}\n{}{}",
        hanging("  ", &styled(&verdict.headline), width),
        details.collect::<String>()
    )
}

/// A number of a comparison, as text; `None` where a kernel has none.
type Value = fn(&Explanation) -> Option<String>;

/// The rows of a comparison, here and in the page.
pub(crate) const COMPARED: &[(&str, Value)] = &[
    ("grid", |e| Some(size(e.grid))),
    ("block", |e| Some(size(e.block))),
    ("occupancy", |e| e.totals.occupancy.as_ref().map(|o| percent(o.occupancy))),
    ("registers per thread", |e| Some(e.totals.occupancy.as_ref()?.registers_per_thread?.to_string())),
    ("warp instructions", |e| Some(grouped(e.totals.warp_instructions))),
    ("active lanes", |e| Some(percent(e.totals.active_lanes()))),
    ("global loads", |e| nonzero(e.totals.global_load.requests)),
    ("  sectors per request", |e| e.totals.global_load.sectors_per_request().map(decimal)),
    ("  of the moved bytes used", |e| e.totals.global_load.efficiency().map(percent)),
    ("global stores", |e| nonzero(e.totals.global_store.requests)),
    ("  sectors per request", |e| e.totals.global_store.sectors_per_request().map(decimal)),
    ("  of the moved bytes used", |e| e.totals.global_store.efficiency().map(percent)),
    ("shared loads", |e| nonzero(e.totals.shared_load.requests)),
    ("  wavefronts per request", |e| e.totals.shared_load.wavefronts_per_request().map(decimal)),
    ("  bank conflicts", |e| nonzero(e.totals.shared_load.conflicts())),
    ("  wavefronts, neighbours merged", |e| merged(&e.totals.shared_load)),
    ("shared stores", |e| nonzero(e.totals.shared_store.requests)),
    ("  wavefronts per request", |e| e.totals.shared_store.wavefronts_per_request().map(decimal)),
    ("  bank conflicts", |e| nonzero(e.totals.shared_store.conflicts())),
    ("  wavefronts, neighbours merged", |e| merged(&e.totals.shared_store)),
    ("barriers", |e| nonzero(e.totals.barriers)),
    ("FLOP", |e| nonzero(e.totals.flops)),
    ("FLOP per byte, no cache", |e| e.totals.arithmetic_intensity.per_sector_byte.map(decimal)),
    ("FLOP per byte, perfect cache", |e| e.totals.arithmetic_intensity.compulsory.map(decimal)),
    ("bound by", |e| Some(e.bound.as_ref()?.part.name().into())),
    ("  cycles each, at least", |e| Some(decimal(e.bound.as_ref()?.cycles_per_work))),
];

/// Predicted wavefronts of optimised code, where they are others.
fn merged(traffic: &BankTraffic) -> Option<String> {
    traffic.is_merged().then(|| grouped(traffic.optimised.wavefronts))
}

fn header(e: &Explanation, width: usize) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}", visible(&e.kernel));
    if e.entry != e.kernel {
        let _ = write!(out, " (entry {})", visible(&e.name));
    }
    let blocks = if e.grid == [1; 3] { "block" } else { "blocks" };
    let _ = write!(out, ": {} {blocks} of {} threads", size(e.grid), size(e.block));
    if let Some(cluster) = e.cluster {
        let _ = write!(out, ", in clusters of {}", size(cluster));
    }
    if e.dynamic_shared_memory > 0 {
        let _ = write!(out, ", {} bytes of dynamic shared memory", grouped(e.dynamic_shared_memory.into()));
    }
    if let Some(gpu) = &e.gpu {
        let _ = write!(out, ", for {gpu}");
    }
    hanging("", &out, width) + &hanging("", &format!("{FAINT}{}{FAINT:#}", e.level.describe()), width)
}

fn occupancy(e: &Explanation, width: usize) -> String {
    let Some(o) = &e.totals.occupancy else { return String::new() };
    let registers = match o.registers_per_thread {
        Some(registers) => format!("{registers} registers per thread"),
        None => "registers unknown, not counted".into(),
    };
    let out = format!(
        "{BOLD}occupancy{BOLD:#}  {}: {} of {} warps, {} per SM ({registers})",
        percent(o.occupancy),
        o.warps_per_sm,
        o.max_warps_per_sm,
        plural(o.blocks_per_sm.into(), "block"),
    );
    let allowed = [
        ("warps", Some(o.limits.warps)),
        ("registers", o.limits.registers),
        ("shared_memory", o.limits.shared_memory),
        ("blocks", Some(o.limits.blocks)),
        ("barriers", o.limits.barriers),
    ];
    let each: Vec<String> = allowed
        .iter()
        .filter_map(|(name, blocks)| Some(format!("{} {}", name.replace('_', " "), (*blocks)?)))
        .collect();
    let limits = o.limited_by.join(" and ").replace('_', " ");
    let limits = format!("limited by {limits}; blocks that each allows: {}", each.join(", "));
    hanging("", &out, width) + &hanging("           ", &limits, width)
}

/// A row for each access, one for all copies of it that cost the same. Lines are those of the kernel's own file, unless another is named.
fn memory(e: &Explanation, width: usize) -> String {
    let own = e.own_file();
    let mut rows: Vec<([String; 6], usize)> = Vec::new();
    for line in &e.lines {
        let from = rows.len();
        for row in line.accesses.iter().map(|access| row(own, line, access)) {
            match rows[from..].iter_mut().find(|(known, _)| *known == row) {
                Some((_, copies)) => *copies += 1,
                None => rows.push((row, 1)),
            }
        }
    }
    let counted = |(mut row, copies): ([String; 6], usize)| {
        if copies > 1 {
            row[1] = format!("{copies} x {}", row[1]);
        }
        row
    };
    let rows: Vec<_> = rows.into_iter().map(counted).collect();
    let head = ["line", "access", "requests", "each", "ideal", ""].map(String::from);
    if rows.is_empty() {
        return String::new();
    }
    format!("{BOLD}memory{BOLD:#}  of {}\n{}", file(own), table(&head, &rows, width))
}

/// What the assembler is predicted to make of the accesses of shared memory, if it changes them.
fn optimised(e: &Explanation, width: usize) -> String {
    let kinds = [("shared loads", &e.totals.shared_load), ("shared stores", &e.totals.shared_store)];
    let merged = kinds.iter().filter(|(_, t)| t.is_merged());
    let rows: Vec<[String; 6]> = merged
        .map(|(name, t)| {
            let o = t.optimised;
            let numbers = [t.requests, o.requests, t.wavefronts, o.wavefronts].map(grouped);
            let [requests, merged_requests, wavefronts, merged_wavefronts] = numbers;
            [(*name).into(), String::new(), requests, merged_requests, wavefronts, merged_wavefronts]
        })
        .collect();
    let head = ["", "", "requests", "merged", "wavefronts", "merged"].map(String::from);
    let what = "neighbours that the optimising assembler is predicted to merge";
    if rows.is_empty() {
        String::new()
    } else {
        format!("{BOLD}{what}{BOLD:#}\n{}", table(&head, &rows, width))
    }
}

/// Units, of several and of one.
const SECTORS: (&str, &str) = ("sectors", "sector");
const PASSES: (&str, &str) = ("passes", "pass");

fn row(own: &str, line: &Line, access: &Access) -> [String; 6] {
    let per = |total: u64, unit: (&str, &str)| match access.traffic.requests() {
        0 => "-".to_owned(),
        requests => match decimal(total as f64 / requests as f64) {
            one if one == "1" => format!("{one} {}", unit.1),
            more => format!("{more} {}", unit.0),
        },
    };
    let (each, ideal, remark) = match &access.traffic {
        // Lanes that share a sector cost less than the ideal of lanes that do not.
        Traffic::Sectors(t) if t.sectors < t.ideal_sectors => {
            (per(t.sectors, SECTORS), String::new(), "broadcast".into())
        }
        Traffic::Sectors(t) => {
            let used = t.efficiency().map_or_else(String::new, |used| format!("{} used", percent(used)));
            (per(t.sectors, SECTORS), per(t.ideal_sectors, ("", "")), used)
        }
        Traffic::Banks(t) => {
            let conflicts = nonzero(t.conflicts()).map_or_else(String::new, |n| format!("{n} conflicts"));
            (per(t.wavefronts, PASSES), per(t.ideal_wavefronts, ("", "")), conflicts)
        }
    };
    let place = if line.file == own { line.line.to_string() } else { place(&line.file, line.line) };
    [place, said_of(access), grouped(access.traffic.requests()), each, ideal, remark]
}

/// What an access does to what, and in which way if that is not the usual one.
fn said_of(access: &Access) -> String {
    let words = access.describe();
    match (access.instruction.ends_with(" (load)"), rounds(access)) {
        (true, _) => format!("{words} (its loads)"),
        (_, Some(rounds)) => format!("{words}, {rounds} rounds"),
        _ => words,
    }
}

/// Rounds of an atomic for each time that a warp executes it, where there are several. `wgmma` has several requests.
fn rounds(access: &Access) -> Option<String> {
    if access.instruction.starts_with("wgmma") {
        return None;
    }
    let rounds = access.traffic.requests() as f64 / access.executions.max(1) as f64;
    (rounds > 1.01).then(|| decimal(rounds))
}

fn instructions(e: &Explanation, width: usize) -> String {
    let t = &e.totals;
    let mut out = format!(
        "{BOLD}instructions{BOLD:#}  {} of warps, {} of their lanes active",
        grouped(t.warp_instructions),
        percent(t.active_lanes()).trim_start()
    );
    if t.barriers > 0 {
        let _ = write!(out, ", {}", plural(t.barriers, "barrier"));
    }
    let mut out = hanging("", &out, width);
    let mut mix: Vec<(&String, u64)> = t.instruction_mix.iter().map(|(name, count)| (name, *count)).collect();
    mix.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let rest: u64 = mix.iter().skip(OPCODES).map(|(_, count)| count).sum();
    let named = mix.iter().take(OPCODES).map(|(name, count)| (name.as_str(), *count));
    let others = (rest > 0).then_some(("others", rest));
    for (name, count) in named.chain(others) {
        let part = count as f64 / t.warp_instructions.max(1) as f64;
        let _ = writeln!(out, "  {name:<28} {:>14}  {}", grouped(count), percent(part));
    }
    out
}

fn arithmetic(e: &Explanation, width: usize) -> String {
    let t = &e.totals;
    if t.flops == 0 {
        return String::new();
    }
    let i = &t.arithmetic_intensity;
    let operation = t.roofline.map_or("FLOP", |r| r.operation);
    let mut out = format!("{BOLD}arithmetic{BOLD:#}  {} {operation}\n", grouped(t.flops));
    for (name, value) in [
        ("per byte that lanes ask for", i.per_requested_byte),
        ("per byte of sectors, no cache", i.per_sector_byte),
        ("per byte of sectors, perfect cache", i.compulsory),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "  {name:<36} {:>9} {operation}", decimal(value));
        }
    }
    if let Some(r) = &t.roofline {
        let tera = |rate: f64| decimal(rate / 1e12);
        let words = format!(
            "roofline ({}, ridge at {} {operation} per byte): at most {} T{operation}/s without a cache, {} with a perfect one, of {}; \
             limited by {}",
            r.rate,
            decimal(r.ridge),
            tera(r.attainable_without_cache),
            tera(r.attainable_with_perfect_cache),
            tera(r.peak_per_second),
            r.bound
        );
        out += &hanging("  ", &words, width);
    }
    out
}

fn notes(e: &Explanation, width: usize) -> String {
    e.notes
        .iter()
        .map(|note| hanging("", &format!("{FAINT}note:{FAINT:#} {}", visible_lines(note)), width))
        .collect()
}

/// What the compiler warned of; its lines stay as they are.
fn compiler(e: &Explanation, width: usize) -> String {
    let style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
    let lines = e.compiler_warnings.iter().flat_map(|warning| warning.lines());
    let lines: String = lines.map(|line| hanging("  ", &visible(line), width)).collect();
    if lines.is_empty() { lines } else { format!("{style}compiler{style:#}\n{lines}") }
}

/// What came out of a launch: the first elements of arrays, and differences from what was expected.
fn results(results: &Results, width: usize) -> String {
    if *results == Results::default() {
        return String::new();
    }
    let mut out = format!("{BOLD}results{BOLD:#}\n");
    for array in &results.arrays {
        let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
        let plain = |value: &serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let first: Vec<String> = array.values.iter().take(ELEMENTS).map(plain).collect();
        let more = if array.values.len() > ELEMENTS { ", ..." } else { "" };
        let words =
            format!("{} {}[{}]: {}{more}", array.name, array.element, extents.join(","), first.join(", "));
        out += &hanging("  ", &words, width);
    }
    for comparison in &results.comparisons {
        let colour = if comparison.is_same() { AnsiColor::Green } else { AnsiColor::Red };
        let style = colour.on_default().effects(Effects::BOLD);
        let word = if comparison.is_same() { "ok" } else { "different" };
        out += &hanging("  ", &format!("{style}{word}{style:#} {}", comparison.describe()), width);
    }
    for name in &results.not_compared {
        out +=
            &hanging("  ", &format!("{name} is not compared: the launch did not come to a good end"), width);
    }
    out
}

fn printed(e: &Explanation) -> String {
    if e.printed.is_empty() {
        String::new()
    } else {
        format!("{BOLD}printed{BOLD:#}\n{}\n", e.printed.trim_end())
    }
}

/// The file without its directories, and the line.
fn place(file: &str, line: u32) -> String {
    format!("{}:{line}", visible(self::file(file)))
}

/// The file without its directories.
fn file(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn size(n: [u32; 3]) -> String {
    match n {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    }
}

fn index([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// Two decimals at most.
fn decimal(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// With commas between thousands.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let lead = digits.len() % 3;
    let groups = digits.char_indices().map(|(i, digit)| match i > 0 && i % 3 == lead {
        true => format!(",{digit}"),
        false => digit.to_string(),
    });
    groups.collect()
}

fn nonzero(n: u64) -> Option<String> {
    (n > 0).then(|| grouped(n))
}

fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}
