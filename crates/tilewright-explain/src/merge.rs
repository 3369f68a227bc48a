//! One finding for what is one fault: all that a source line does wrong in the same way, whichever instructions, arrays and threads take part.

use crate::{
    model::{Finding, Location, Participant, Severity},
    races,
};
use std::cmp::Reverse;

/// How many arrays or lines a message names beside the first.
const NAMED: usize = 3;

/// Folds findings of one kind at one source line that one remedy ends, and ranks all: faults by gravity and then by line, advice by the
/// cycles that it costs.
pub fn merged(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let mut merged: Vec<Finding> = Vec::new();
    // What each has absorbed, so that a message names it once.
    let mut named: Vec<Vec<String>> = Vec::new();
    for finding in findings {
        match merged.iter().position(|known| is_same(known, &finding)) {
            Some(index) => absorb(&mut merged[index], &mut named[index], finding),
            None => {
                merged.push(finding);
                named.push(Vec::new());
            }
        }
    }
    for (finding, more) in merged.iter_mut().zip(named) {
        name(finding, &more);
    }
    // What was folded costs more together.
    merged.sort_by(|a, b| rank(a).cmp(&rank(b)));
    merged
}

/// Severity, gravity, cycles, cost, place, kind, the PTX lines farthest apart, message.
type Rank<'a> = (
    Severity,
    u8,
    Reverse<(Option<u64>, Option<u64>)>,
    Option<(&'a str, u32)>,
    &'a str,
    (Option<u32>, Option<u32>),
    &'a str,
);

fn rank(finding: &Finding) -> Rank<'_> {
    let gravity = match finding.severity {
        Severity::Advice => 0,
        _ => finding.kind.rank(),
    };
    // Of several that meet one access, the nearest speaks for all.
    let ptx_lines = || finding.participants.iter().filter_map(|p| p.location.as_ref()?.ptx_line);
    let ptx_lines = (ptx_lines().min(), ptx_lines().max());
    // What has no place concerns the whole, and comes behind.
    let place = anchor(finding).or(Some(("\u{10ffff}", 0)));
    (
        finding.severity,
        gravity,
        Reverse((finding.cost_cycles, finding.cost)),
        place,
        finding.kind.name(),
        ptx_lines,
        &finding.message,
    )
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    let has_source = a.participants.iter().all(|p| line(p.location.as_ref()).is_some());
    // Where a barrier belongs is known better than the words that name one pair of lines.
    let fixes_are_one = || match (&a.remedy, &b.remedy) {
        (Some(one), Some(other)) => one == other,
        _ => a.fix == b.fix,
    };
    let is_mended_alike = || a.participants.len() < 2 || lines_of(a) == lines_of(b) || fixes_are_one();
    has_source
        && !a.participants.is_empty()
        && (a.severity, a.kind) == (b.severity, b.kind)
        && anchor(a) == anchor(b)
        && is_mended_alike()
}

/// The lines of the two that meet in a race, in the order of the source.
fn lines_of(finding: &Finding) -> Vec<Option<(&str, u32)>> {
    let mut lines: Vec<_> = finding.participants.iter().take(2).map(|p| line(p.location.as_ref())).collect();
    lines.sort_unstable();
    lines
}

/// The line that a finding belongs to: the first that writes, as a race is the same whichever of the two came later; or the first.
fn anchor(finding: &Finding) -> Option<(&str, u32)> {
    let lines = |wanted: fn(&Participant) -> bool| {
        finding.participants.iter().filter(move |p| wanted(p)).filter_map(|p| line(p.location.as_ref())).min()
    };
    lines(|p| races::deed_of(&p.what) != "load").or_else(|| lines(|_| true))
}

/// File and CUDA line.
fn line(location: Option<&Location>) -> Option<(&str, u32)> {
    let location = location?;
    Some((location.file.as_deref()?, location.line?))
}

/// The array that a message names, without the element.
fn array(message: &str) -> Option<&str> {
    let name = message.split('`').nth(1)?;
    Some(name.split('[').next().unwrap_or(name))
}

fn absorb(known: &mut Finding, named: &mut Vec<String>, other: Finding) {
    known.count += other.count;
    let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b).or(a);
    known.cost = sum(known.cost, other.cost);
    known.cost_cycles = sum(known.cost_cycles, other.cost_cycles);
    let other_name = match other.severity {
        Severity::Advice if other.message != known.message => Some(other.message.clone()),
        _ => array(&other.message)
            .filter(|name| array(&known.message) != Some(name))
            .map(|name| format!("`{name}`")),
    };
    let (mut is_copy, mut is_new) = (false, None);
    for side in other.participants {
        let place = line(side.location.as_ref());
        let is_like =
            |mine: &&mut Participant| mine.what == side.what && line(mine.location.as_ref()) == place;
        match known.participants.iter_mut().find(is_like) {
            Some(mine) => is_copy |= join(mine, side),
            None => {
                let is_elsewhere =
                    known.participants.iter().all(|mine| line(mine.location.as_ref()) != place);
                is_new = place.filter(|_| is_elsewhere).map(|(_, line)| format!("line {line}")).or(is_new);
                known.participants.push(side);
            }
        }
    }
    known.copies += if is_copy { other.copies } else { 0 };
    let name = other_name.or(is_new);
    named.extend(name.filter(|name| !named.contains(name)));
}

/// Adds another execution of the same line; whether it was by another copy of its instruction.
fn join(mine: &mut Participant, other: Participant) -> bool {
    let first = mine.location.as_ref().and_then(|location| location.ptx_line);
    let lines = other.further_ptx_lines.into_iter();
    let mut is_copy = false;
    for ptx_line in lines.chain(other.location.and_then(|location| location.ptx_line)) {
        if Some(ptx_line) != first && !mine.further_ptx_lines.contains(&ptx_line) {
            mine.further_ptx_lines.push(ptx_line);
            is_copy = true;
        }
    }
    mine.further_ptx_lines.sort_unstable();
    // Where an element and an iteration are named, they are those of one thread.
    if mine.block == other.block && mine.element.is_none() {
        mine.threads.extend(other.threads);
        mine.threads.sort_unstable_by_key(|&[x, y, z]| (z, y, x));
        mine.threads.dedup();
    }
    is_copy
}

/// Says what a line does in the same way to other arrays, or together with other lines.
fn name(finding: &mut Finding, more: &[String]) {
    if more.is_empty() {
        return;
    }
    let shown = more.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
    let rest = match more.len() - shown.len() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    finding.message += &match finding.severity {
        Severity::Advice => format!("; {}{rest}", shown.join("; ")),
        _ => format!("; the same with {}{rest}", shown.join(", ")),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Remedy, RemedyPlace};
    use FindingKind::{BankConflict, FailedLaunch, OutOfBounds, SharedRace, Uncoalesced};
    use tilewright_emulator::FindingKind;

    fn race(sides: [(&str, u32, u32); 2]) -> Finding {
        let participant = |(what, line, ptx_line): (&str, u32, u32)| {
            let file = Some("k.cu".to_owned());
            Participant::at(what, Location { file, line: Some(line), ptx_line: Some(ptx_line) })
        };
        Finding {
            participants: sides.map(participant).into(),
            count: 2,
            ..Finding::new(Severity::Error, SharedRace, "writes `tile[3]`", "")
        }
    }

    #[test]
    fn a_race_seen_from_both_sides_is_one_and_an_unrolled_copy_is_a_copy() {
        let (store, load) = (("st", 5, 50), ("ld", 7, 70));
        let both_ways = merged(vec![race([store, load]), race([load, store])]);
        assert_eq!((both_ways.len(), both_ways[0].count, both_ways[0].copies), (1, 4, 1));
        let unrolled = merged(vec![race([store, load]), race([store, ("ld", 7, 71)])]);
        assert_eq!((unrolled.len(), unrolled[0].copies), (1, 2));
        assert_eq!(unrolled[0].participants[1].further_ptx_lines, [71]);
    }

    #[test]
    fn a_line_that_races_with_several_is_one_finding_unless_their_fixes_differ() {
        let (store, load, later) = (("st", 5, 50), ("ld", 7, 70), ("ld", 8, 80));
        let one = merged(vec![race([store, load]), race([store, later])]);
        assert_eq!((one.len(), one[0].participants.len(), one[0].copies), (1, 3, 1));
        assert_eq!(one[0].message, "writes `tile[3]`; the same with line 8");
        let other = Finding { fix: "another".into(), ..race([store, later]) };
        assert_eq!(merged(vec![race([store, load]), other]).len(), 2);
        // One barrier behind the store, whatever the words.
        let behind = |line, words: &str| {
            let remedy =
                Remedy { insert: "__syncthreads()", place: RemedyPlace::Between, after_line: Some(5) };
            Finding { fix: words.into(), remedy: Some(remedy), ..race([store, ("ld", line, 10 * line)]) }
        };
        let one =
            merged(vec![behind(9, "before line 9"), behind(7, "before line 7"), behind(8, "before line 8")]);
        assert_eq!((one.len(), one[0].fix.as_str()), (1, "before line 7"));
        let next = race([("st", 6, 60), load]);
        assert_eq!(merged(vec![race([store, load]), next]).len(), 2);
    }

    #[test]
    fn arrays_and_threads_of_a_line_are_folded() {
        let out = |message: &str, ptx_line, thread| {
            let mut finding = race([("st", 5, ptx_line), ("st", 5, ptx_line)]);
            finding.participants.truncate(1);
            finding.participants[0].threads = vec![thread];
            (finding.kind, finding.message) = (OutOfBounds, message.into());
            finding
        };
        let all = vec![
            out("leaves `b[64]`", 51, [2, 0, 0]),
            out("leaves `a[64]`", 50, [1, 0, 0]),
            out("leaves `a[64]`", 50, [0, 0, 0]),
        ];
        let mut reversed = all.clone();
        reversed.reverse();
        let folded = merged(all);
        // Whatever the order in which they are found.
        assert_eq!(folded, merged(reversed));
        assert_eq!(folded.len(), 1);
        assert_eq!(folded[0].message, "leaves `a[64]`; the same with `b`");
        assert_eq!(folded[0].participants[0].threads, [[0, 0, 0], [1, 0, 0], [2, 0, 0]]);
    }

    #[test]
    fn the_gravest_is_first_and_advice_goes_by_cost() {
        let of = |severity, kind, line, cost| {
            let mut finding = race([("st", line, line), ("ld", line, line)]);
            (finding.severity, finding.kind, finding.cost) = (severity, kind, cost);
            finding
        };
        let ranked = merged(vec![
            of(Severity::Advice, Uncoalesced, 1, Some(5)),
            of(Severity::Advice, BankConflict, 2, Some(50)),
            of(Severity::Error, FailedLaunch, 3, None),
            of(Severity::Error, SharedRace, 4, None),
            of(Severity::Error, OutOfBounds, 5, None),
        ]);
        let kinds: Vec<_> = ranked.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [OutOfBounds, SharedRace, FailedLaunch, BankConflict, Uncoalesced]);
    }
}
