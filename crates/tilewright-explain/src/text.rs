//! The report for terminals. Styles are ANSI; strip them for a pipe.

use crate::model::{Access, BankTraffic, Explanation, Finding, Location, Participant, Severity, Traffic};
use anstyle::{AnsiColor, Effects, Style};
use std::fmt::Write;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// How many opcodes of the instruction mix are shown.
const OPCODES: usize = 12;
/// How many threads of a finding are named.
const THREADS: usize = 4;

/// The report on one kernel.
pub fn report(e: &Explanation) -> String {
    let sections = [
        header(e),
        occupancy(e),
        memory(e),
        optimised(e),
        instructions(e),
        arithmetic(e),
        findings(e),
        notes(e),
        printed(e),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Two kernels side by side, then what was found in each.
pub fn comparison(left: &Explanation, right: &Explanation) -> String {
    let width = left.kernel.len().max(16);
    let mut out = format!("{BOLD}{:<34} {:>width$}  {:>16}{BOLD:#}\n", "", left.kernel, right.kernel);
    for (name, value) in COMPARED {
        let (a, b) = (value(left), value(right));
        if a.is_none() && b.is_none() {
            continue;
        }
        let [a, b] = [a, b].map(|value| value.unwrap_or_else(|| "-".into()));
        let _ = writeln!(out, "{name:<34} {a:>width$}  {b:>16}");
    }
    for e in [left, right] {
        let _ = write!(out, "\n{BOLD}{}{BOLD:#}\n{}{}", e.kernel, findings(e), notes(e));
    }
    out
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
    ("  efficiency", |e| e.totals.global_load.efficiency().map(percent)),
    ("global stores", |e| nonzero(e.totals.global_store.requests)),
    ("  sectors per request", |e| e.totals.global_store.sectors_per_request().map(decimal)),
    ("  efficiency", |e| e.totals.global_store.efficiency().map(percent)),
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
];

/// Predicted wavefronts of optimised code, where they are others.
fn merged(traffic: &BankTraffic) -> Option<String> {
    traffic.is_merged().then(|| grouped(traffic.optimised.wavefronts))
}

fn header(e: &Explanation) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}", e.kernel);
    if e.entry != e.kernel {
        let _ = write!(out, " (entry {})", e.entry);
    }
    let _ = write!(out, ": {} blocks of {} threads", size(e.grid), size(e.block));
    if e.dynamic_shared_memory > 0 {
        let _ = write!(out, ", {} bytes of dynamic shared memory", grouped(e.dynamic_shared_memory.into()));
    }
    if let Some(gpu) = &e.gpu {
        let _ = write!(out, ", for {gpu}");
    }
    let _ = writeln!(out, "\n{FAINT}{}{FAINT:#}", e.level.describe());
    out
}

fn occupancy(e: &Explanation) -> String {
    let Some(o) = &e.totals.occupancy else { return String::new() };
    let registers = match o.registers_per_thread {
        Some(registers) => format!("{registers} registers per thread"),
        None => "registers unknown, not counted".into(),
    };
    let mut out = format!(
        "{BOLD}occupancy{BOLD:#}  {}: {} of {} warps, {} per SM ({registers})\n",
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
    let _ = writeln!(out, "           limited by {limits}; blocks that each allows: {}", each.join(", "));
    out
}

fn memory(e: &Explanation) -> String {
    let rows: Vec<[String; 7]> = e
        .lines
        .iter()
        .flat_map(|line| line.accesses.iter().map(|a| row(&place(&line.file, line.line), a)))
        .collect();
    let rows: Vec<_> = rows.chunk_by(|x, y| x == y).filter_map(repeated).collect();
    let head =
        ["line", "access", "requests", "per request", "ideal", "efficiency", "conflicts"].map(String::from);
    if rows.is_empty() { String::new() } else { format!("{BOLD}memory{BOLD:#}\n{}", table(&head, &rows)) }
}

/// What the assembler is predicted to make of the accesses of shared memory, if it changes them.
fn optimised(e: &Explanation) -> String {
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
    if rows.is_empty() { String::new() } else { format!("{BOLD}{what}{BOLD:#}\n{}", table(&head, &rows)) }
}

/// One row for the same access of an unrolled loop again and again.
fn repeated(rows: &[[String; 7]]) -> Option<[String; 7]> {
    let mut row = rows.first()?.clone();
    if rows.len() > 1 {
        row[1] = format!("{} times {}", rows.len(), row[1]);
    }
    Some(row)
}

fn row(place: &str, access: &Access) -> [String; 7] {
    let dash = || "-".to_owned();
    let (name, requests) = (access.instruction.clone(), grouped(access.traffic.requests()));
    let per = |total: u64, requests: u64, unit: &str| match requests {
        0 => dash(),
        _ => format!("{} {unit}", decimal(total as f64 / requests as f64)),
    };
    match &access.traffic {
        Traffic::Sectors(t) => [
            place.into(),
            name,
            requests,
            per(t.sectors, t.requests, "sectors"),
            per(t.ideal_sectors, t.requests, ""),
            t.efficiency().map_or_else(dash, percent),
            String::new(),
        ],
        Traffic::Banks(t) => [
            place.into(),
            name,
            requests,
            per(t.wavefronts, t.requests, "wavefronts"),
            per(t.ideal_wavefronts, t.requests, ""),
            String::new(),
            grouped(t.conflicts()),
        ],
    }
}

/// Two columns of words, then numbers.
fn table<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> String {
    let mut widths = head.each_ref().map(|cell| cell.len());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.trim_end().chars().count());
        }
    }
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(widths).enumerate().map(|(i, (cell, width))| match i {
            0 | 1 => format!("{:<width$}", cell.trim_end()),
            _ => format!("{:>width$}", cell.trim_end()),
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let body: String = rows.iter().map(line).collect();
    format!("{FAINT}{}{FAINT:#}{body}", line(head))
}

fn instructions(e: &Explanation) -> String {
    let t = &e.totals;
    let mut out = format!(
        "{BOLD}instructions{BOLD:#}  {} of warps, {} of their lanes active",
        grouped(t.warp_instructions),
        percent(t.active_lanes()).trim_start()
    );
    if t.barriers > 0 {
        let _ = write!(out, ", {}", plural(t.barriers, "barrier"));
    }
    out.push('\n');
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

fn arithmetic(e: &Explanation) -> String {
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
        let _ = writeln!(
            out,
            "  roofline ({}, ridge at {} {operation} per byte): at most {} T{operation}/s without a cache, {} with a perfect one, of {}; \
             limited by {}",
            r.rate,
            decimal(r.ridge),
            tera(r.attainable_without_cache),
            tera(r.attainable_with_perfect_cache),
            tera(r.peak_per_second),
            r.bound
        );
    }
    out
}

fn findings(e: &Explanation) -> String {
    if e.findings.is_empty() {
        return format!("{BOLD}findings{BOLD:#}  none\n");
    }
    let mut out = format!("{BOLD}findings{BOLD:#}\n");
    for finding in &e.findings {
        out += &one_finding(finding);
    }
    out
}

fn one_finding(finding: &Finding) -> String {
    let style = match finding.severity {
        Severity::Error => AnsiColor::Red.on_default().effects(Effects::BOLD),
        Severity::Warning => AnsiColor::Yellow.on_default().effects(Effects::BOLD),
        Severity::Advice => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
    };
    let mut out =
        format!("  {style}{}{style:#} {}: {}", finding.severity.name(), finding.kind, finding.message);
    if finding.severity != Severity::Advice && finding.count > 1 {
        let _ = write!(out, " ({} times)", grouped(finding.count));
    }
    out.push('\n');
    for participant in &finding.participants {
        let _ = writeln!(out, "    {}", who(participant));
    }
    let _ = writeln!(out, "    {FAINT}fix:{FAINT:#} {}", finding.fix);
    out
}

/// What was done, where and by whom, in words.
fn who(p: &Participant) -> String {
    let mut out = p.what.clone();
    if let Some(location) = &p.location {
        let _ = write!(out, " at {}", short(location));
    }
    if let Some(block) = p.block {
        let _ = write!(out, ", block {}", index(block));
    }
    if !p.threads.is_empty() {
        let named: Vec<String> = p.threads.iter().take(THREADS).map(|&thread| index(thread)).collect();
        let word = if p.threads.len() == 1 { "thread" } else { "threads" };
        let _ = write!(out, ", {word} {}", named.join(" "));
        if p.threads.len() > THREADS {
            let _ = write!(out, " and {} more", p.threads.len() - THREADS);
        }
    }
    out
}

fn short(location: &Location) -> String {
    let ptx = location.ptx_line.map(|line| format!("PTX line {line}"));
    match (&location.file, location.line, ptx) {
        (Some(file), Some(line), Some(ptx)) => format!("{} ({ptx})", place(file, line)),
        (Some(file), Some(line), None) => place(file, line),
        (_, _, ptx) => ptx.unwrap_or_default(),
    }
}

fn notes(e: &Explanation) -> String {
    e.notes.iter().map(|note| format!("{FAINT}note:{FAINT:#} {note}\n")).collect()
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
    format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
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
fn grouped(n: u64) -> String {
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
