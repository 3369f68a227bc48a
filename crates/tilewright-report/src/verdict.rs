//! The first thing to say about a launch. The order is: does it launch, is it right, is it safe, is it fast.
//!
//! Sentences follow from counts alone. In them `code` stands in backquotes, and what matters most between double asterisks.

mod bounds;
mod fails;

use crate::text::grouped;
use fails::fails;
use serde::Serialize;
use std::collections::BTreeSet;
use tilewright_arch::memory::global::SECTOR_BYTES;
use tilewright_explain::{Access, Explanation, Finding, FindingKind, Line, Severity, measured, measured_of};

/// What kind of verdict it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// The kernel is wrong.
    Error,
    /// It was ended before its end, or may be wrong.
    Unsure,
    /// It loses something.
    Slow,
    /// Nothing stands out.
    #[default]
    Good,
}

/// A sentence that says it, and some that say more.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// What kind it is.
    pub tone: Tone,
    /// The sentence.
    pub headline: String,
    /// Why, and how much it is.
    pub details: Vec<String>,
}

/// A loss below this part of all passes is no headline.
const WORTH_SAYING: f64 = 0.02;
/// Two counts that differ by less are the same.
const SAME: f64 = 1.01;

/// The verdict on one launch.
pub fn verdict(e: &Explanation) -> Verdict {
    let (tone, headline, details) = fails(e).unwrap_or_else(|| speed(e));
    Verdict { tone, headline, details }
}

/// The verdict on two launches beside each other.
pub fn compared(a: &Explanation, b: &Explanation) -> Verdict {
    let failures = [a, b].into_iter().filter_map(fails);
    // Of two that fail, the one that is wrong; of two that are wrong, the first.
    if let Some((tone, headline, details)) = failures.min_by_key(|failure| failure.0 != Tone::Error) {
        return Verdict { tone, headline, details };
    }
    let counts = COUNTS.map(|(unit, of)| (unit, of(a), of(b)));
    let ratio = |(_, x, y): &(&str, u64, u64)| (*x.max(y) as f64) / (*x.min(y)).max(1) as f64;
    let differing: Vec<_> = counts.iter().filter(|count| ratio(count) > SAME).collect();
    let Some(most) = differing.iter().max_by(|x, y| ratio(x).total_cmp(&ratio(y))) else {
        let headline =
            format!("`{}` and `{}` cost the same, as far as these counts tell.", a.kernel, b.kernel);
        return Verdict { tone: Tone::Good, headline, details: Vec::new() };
    };
    let name = |x: u64, y: u64| if x > y { &a.kernel } else { &b.kernel };
    let same = if a.totals.warp_instructions == b.totals.warp_instructions {
        format!("Same {} instructions. ", grouped(a.totals.warp_instructions))
    } else {
        String::new()
    };
    let headline = format!(
        "{same}`{}` {} **{} times** the {}.",
        name(most.1, most.2),
        VERBS(most.0),
        short(ratio(most)),
        most.0
    );
    let mut details = Vec::new();
    for e in [a, b] {
        if let Some((_, why, more)) = loss(e) {
            details.push(format!("`{}`: {why}", e.kernel));
            details.extend(more.into_iter().take(1));
        }
    }
    let others = differing.iter().filter(|count| count.0 != most.0);
    details.extend(others.map(|count| {
        format!(
            "`{}` {} {} times the {}.",
            name(count.1, count.2),
            VERBS(count.0),
            short(ratio(count)),
            count.0
        )
    }));
    details.extend(measured_factor(a, b));
    details.extend(bounds::moved(a, b));
    Verdict { tone: Tone::Slow, headline, details }
}

type Parts = (Tone, String, Vec<String>);

/// What is compared: a unit, and how many of it a launch has.
type Count = (&'static str, fn(&Explanation) -> u64);

const COUNTS: [Count; 3] = [
    ("bytes", moved_bytes),
    ("passes over the banks", shared_passes),
    ("instructions", |e| e.totals.warp_instructions),
];

/// What a kernel does with a unit.
const VERBS: fn(&str) -> &'static str = |unit| match unit {
    "bytes" => "moves",
    "instructions" => "executes",
    _ => "needs",
};

fn measured_factor(a: &Explanation, b: &Explanation) -> Option<String> {
    let (x, y) = (measured_of(a)?, measured_of(b)?);
    let (fast, slow, faster, slower) =
        if x.flop_per_second > y.flop_per_second { (x, y, a, b) } else { (y, x, b, a) };
    Some(format!(
        "Measured on an {} (n = {}): `{}` is **{} times as fast** as `{}`, {} against {} TFLOP/s.",
        fast.gpu,
        fast.n,
        faster.kernel,
        short(fast.flop_per_second / slow.flop_per_second),
        slower.kernel,
        short(fast.flop_per_second / 1e12),
        short(slow.flop_per_second / 1e12)
    ))
}

/// How fast a launch is that is neither wrong nor unsafe: that it is right comes first, where that was asked.
fn speed(e: &Explanation) -> Parts {
    let (tone, headline, mut details) = loss(e).unwrap_or_else(|| nothing(e));
    let mut said = fails::right(e);
    said.push(headline);
    details.extend(fails::warned(e));
    details.extend(measured_rate(e));
    details.extend(bounds::said(e));
    (tone, said.join(" "), details)
}

fn measured_rate(e: &Explanation) -> Option<String> {
    let own = measured_of(e)?;
    let tera = short(own.flop_per_second / 1e12);
    let library = measured("cuBLAS")
        .map_or(String::new(), |library| format!("; cuBLAS reaches {:.1}", library.flop_per_second / 1e12));
    Some(format!("Measured on an {} (n = {}): **{tera} TFLOP/s**{library}.", own.gpu, own.n))
}

/// What the launch loses most by.
fn loss(e: &Explanation) -> Option<Parts> {
    let worst = e
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Advice)
        .max_by_key(|f| (f.cost_cycles, f.cost))?;
    let share = worst.cost? as f64 / passes(e).max(1) as f64;
    if share < WORTH_SAYING {
        return None;
    }
    let place = places(e, worst);
    let place = place.strip_prefix(", line").map_or(place.clone(), |line| format!("Line{line}"));
    let access = access_of(e, worst);
    let what = access.map_or(String::new(), |access| format!(", {}", emphasised(access)));
    let (said, more) = match (worst.kind, access) {
        (FindingKind::Uncoalesced | FindingKind::MisalignedSectors, Some(access)) => {
            sectors(e, worst, access)?
        }
        (FindingKind::BankConflict, Some(access)) => banks(access)?,
        (FindingKind::ConstantDivergence, Some(access)) => constants(access)?,
        (FindingKind::AtomicContention, Some(_)) => {
            let (_, rest) = worst.message.split_once(": ")?;
            let (said, why) = rest.split_once(": ").unwrap_or((rest, ""));
            (format!("{said}."), sentence(why))
        }
        _ => {
            let said = worst.message.split_once(": ").map_or(&*worst.message, |(_, rest)| rest);
            (format!("{said}."), String::new())
        }
    };
    let copies =
        if worst.copies > 1 { format!(" ({} unrolled copies)", worst.copies) } else { String::new() };
    let mut details: Vec<String> = Some(more).filter(|more| !more.is_empty()).into_iter().collect();
    if let Some(share) = share_of_passes(e, worst) {
        details
            .push(format!("That is **{}** of all passes between the SM and its memories.", percent(share)));
    }
    details.push(format!("Fix: {}.", worst.fix));
    Some((Tone::Slow, format!("{place}{what}{copies}: {said}"), details))
}

/// What a finding costs as a part of all passes; `None` where it costs instructions or waiting, or nothing is known.
pub(crate) fn share_of_passes(e: &Explanation, finding: &Finding) -> Option<f64> {
    let costs_passes = !matches!(finding.kind, FindingKind::Divergence | FindingKind::AtomicContention);
    Some(finding.cost? as f64 / passes(e) as f64).filter(|share| costs_passes && share.is_finite())
}

fn sectors(e: &Explanation, finding: &Finding, access: &Access) -> Option<(String, String)> {
    let participant = finding.participants.first()?;
    let is_copy = |other: &&Access| {
        participant.further_ptx_lines.contains(&other.ptx_line)
            && (other.space, other.operation) == (access.space, access.operation)
    };
    let copies = e.accesses().filter(is_copy).filter_map(Access::sectors);
    let mut sum = *access.sectors()?;
    copies.for_each(|more| sum += *more);
    let said = format!("**{}** of the moved bytes are used.", percent(sum.efficiency()?));
    let more = format!(
        "A request moves {} sectors where {} would hold its data.",
        short(sum.sectors_per_request()?),
        short(sum.ideal_sectors as f64 / sum.requests as f64)
    );
    Some((said, more))
}

fn banks(access: &Access) -> Option<(String, String)> {
    let banks = access.banks()?;
    let said = format!(
        "a request takes **{} passes** over the banks where {} would do.",
        short(banks.wavefronts_per_request()?),
        short(banks.ideal_per_request()?)
    );
    Some((said, "Its lanes want different words of the same bank.".into()))
}

fn constants(access: &Access) -> Option<(String, String)> {
    let passes = access.banks()?.wavefronts_per_request()?;
    let said = format!("a request takes **{} passes** where 1 would do.", short(passes));
    Some((said, "Constant memory serves one address at a time.".into()))
}

fn nothing(e: &Explanation) -> Parts {
    let used =
        used(e).map_or(String::new(), |used| format!(" {} of the bytes that move are used.", percent(used)));
    let headline =
        format!("Nothing stands out in `{}`: no errors, and no line moves much for nothing.{used}", e.kernel);
    let total = passes(e);
    let of_line = |line: &Line| line.accesses.iter().map(Access::passes).sum::<u64>();
    let busiest = e.lines.iter().max_by_key(|line| of_line(line)).filter(|_| total > 0);
    let most = busiest.map(|line| {
        format!(
            "Most passes are those of line {}: {}.",
            numbered(e, &line.file, line.line),
            percent(of_line(line) as f64 / total as f64)
        )
    });
    (Tone::Good, headline, most.into_iter().collect())
}

/// The access that a finding is about. One instruction may be two, a load and a store: the message says which is meant.
fn access_of<'a>(e: &'a Explanation, finding: &Finding) -> Option<&'a Access> {
    let ptx_line = finding.participants.first()?.location.as_ref()?.ptx_line?;
    let is_named = |access: &&Access| finding.message.starts_with(&format!("{}:", access.describe()));
    let at_line = || e.accesses().filter(|access| access.ptx_line == ptx_line);
    at_line().find(is_named).or_else(|| at_line().next())
}

fn emphasised(access: &Access) -> String {
    let words = access.describe();
    match &access.buffer {
        // The name stands at the end, and may be a part of the words before it.
        Some(buffer) => match words.strip_suffix(buffer.as_str()) {
            Some(before) => format!("{before}**{buffer}**"),
            None => words,
        },
        None => words,
    }
}

/// `, line 12`, `, lines 12 and 14`, `, line 13 of vector.cuh`, or nothing.
fn places(e: &Explanation, finding: &Finding) -> String {
    let lines = finding.participants.iter().filter_map(|p| p.location.as_ref());
    let mut lines: Vec<String> = lines
        .filter_map(|l| {
            let line = l.line.map(|line| numbered(e, l.file.as_deref().unwrap_or_default(), line));
            line.or_else(|| Some(format!("{} of the PTX", l.ptx_line?)))
        })
        .collect();
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    match &lines[..] {
        [] => String::new(),
        [line] => format!(", line {line}"),
        [lines @ .., last] => format!(", lines {} and {last}", lines.join(", ")),
    }
}

/// The number of a line, and its file where that is another than the kernel's own.
fn numbered(e: &Explanation, file: &str, line: u32) -> String {
    if file == e.own_file() || file.is_empty() {
        return line.to_string();
    }
    format!("{line} of {}", file.rsplit('/').next().unwrap_or(file))
}

/// Bytes that move between the multiprocessors and their caches.
pub(crate) fn moved_bytes(e: &Explanation) -> u64 {
    u64::from(SECTOR_BYTES) * e.accesses().filter_map(Access::sectors).map(|t| t.sectors).sum::<u64>()
}

fn shared_passes(e: &Explanation) -> u64 {
    e.accesses().filter_map(Access::banks).map(|t| t.wavefronts).sum()
}

/// Passes of 128 bytes, to the cache and over the banks.
pub(crate) fn passes(e: &Explanation) -> u64 {
    e.accesses().map(Access::passes).sum()
}

/// Requested bytes as a part of those that move, at most 1.
pub(crate) fn used(e: &Explanation) -> Option<f64> {
    let requested: u64 = e.accesses().filter_map(Access::sectors).map(|t| t.bytes_requested).sum();
    let moved = moved_bytes(e);
    (moved > 0).then(|| (requested as f64 / moved as f64).min(1.0))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

fn percent(part: f64) -> String {
    format!("{} %", short(100.0 * part))
}

/// Three digits at most, without needless zeros.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 10.0 && (v - v.round()).abs() < 0.05 => 0,
        v if v >= 100.0 => 0,
        v if v >= 1.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') && value.abs() >= 1.0 {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}
