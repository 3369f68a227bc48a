//! Races, told so that they can be followed: which two threads, in which iteration, at which element, and where the barrier belongs.
//!
//! The emulator names two instructions and the threads of one meeting. What it does not know is found again in the recording of a block:
//! which execution each of the two is, and so whether they are in different iterations of a loop.

mod loops;
mod pair;

use crate::model::{Access, Finding, Line, Operation, Participant, Recording, Remedy, RemedyPlace, Severity};
use loops::Loops;
use pair::{Meeting, Side, meeting};
use tilewright_arch::memory::WARP_SIZE;
use tilewright_emulator::FindingKind;

/// What orders the threads of a race of this kind; `None` where order alone does not mend it.
fn synchronisation(kind: FindingKind) -> Option<(&'static str, &'static str)> {
    match kind {
        FindingKind::SharedRace | FindingKind::GlobalRace => {
            Some(("__syncthreads()", "every thread of the block"))
        }
        FindingKind::WarpRace => Some(("__syncwarp()", "every lane of the warp")),
        _ => None,
    }
}

/// Completes the races among the findings of a launch of this `ptx` in blocks of so many threads.
pub fn complete(findings: &mut [Finding], lines: &[Line], recording: &Recording, ptx: &str, block: [u32; 3]) {
    let mut loops = None;
    for finding in findings.iter_mut().filter(|finding| finding.severity == Severity::Error) {
        let Some((insert, whom)) = synchronisation(finding.kind) else { continue };
        let Some(sides) = sides(finding, lines, recording) else { continue };
        let wanted = finding.participants.iter().map(|p| threads_of(p, recording, block)).collect::<Vec<_>>();
        let in_step = finding.kind == FindingKind::WarpRace;
        let Some(met) = meeting(&sides, &[&wanted[0], &wanted[1]], in_step) else { continue };
        let loops = loops.get_or_insert_with(|| Loops::of(ptx));
        tell(finding, &sides, &met, recording, block);
        let place = place(&sides, &met, loops, lines);
        // Threads that write one place with one instruction cannot be kept apart by waiting for each other.
        if place == RemedyPlace::WithinLine && sides[0].access.ptx_line == sides[1].access.ptx_line {
            finding.fix =
                "let one thread write, or give each thread an element of its own: no barrier can order them"
                    .into();
            continue;
        }
        let (first, second) = in_order(finding);
        let after_line = match place {
            RemedyPlace::EndOfLoop => first.1.max(second.1),
            _ => first.1.min(second.1),
        };
        finding.fix = words(place, insert, whom, first, second);
        finding.remedy = Some(Remedy { insert, place, after_line });
    }
}

/// Races that follow from another fault. Behind a barrier that some threads skip, order is missing for that reason alone. And what orders warps in a
/// place orders the lanes of a warp there too.
pub fn follow(findings: &mut Vec<Finding>) {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let place = |finding: &Finding| finding.participants.first().and_then(|p| p.location.clone());
    let skipped = findings
        .iter()
        .filter(is_error)
        .find(|finding| finding.kind == FindingKind::BarrierDivergence)
        .and_then(place);
    if let Some(line) = skipped.and_then(|location| location.line) {
        for race in findings.iter_mut().filter(|finding| finding.remedy.is_some()) {
            race.fix = format!("mend the barrier of line {line} first, which some threads skip");
            race.remedy = None;
        }
    }
    let mended: Vec<(RemedyPlace, Option<u32>)> = findings
        .iter()
        .filter(|finding| finding.kind != FindingKind::WarpRace)
        .filter_map(|finding| finding.remedy.as_ref().map(|remedy| (remedy.place, remedy.after_line)))
        .collect();
    findings.retain(|finding| {
        let is_there = |remedy: &Remedy| mended.contains(&(remedy.place, remedy.after_line));
        !(finding.kind == FindingKind::WarpRace && finding.remedy.as_ref().is_some_and(is_there))
    });
}

/// The two accesses, and their executions; `None` where the recorded block does not have both.
fn sides<'a>(finding: &Finding, lines: &'a [Line], recording: &'a Recording) -> Option<[Side<'a>; 2]> {
    let [at, with] = &finding.participants[..] else { return None };
    let side = |participant: &Participant| {
        let ptx_line = participant.location.as_ref()?.ptx_line?;
        let access =
            lines.iter().flat_map(|line| &line.accesses).find(|access| access.ptx_line == ptx_line)?;
        let patterns = recording.patterns.iter().find(|patterns| patterns.access == access.id)?;
        Some(Side { access, patterns })
    };
    Some([side(at)?, side(with)?])
}

/// The threads that a finding names, as (warp, lane), where they are of the recorded block.
fn threads_of(participant: &Participant, recording: &Recording, block: [u32; 3]) -> Vec<(u32, u32)> {
    if participant.block != Some(recording.block) {
        return Vec::new();
    }
    let linear = |[x, y, z]: &[u32; 3]| (z * block[1] + y) * block[0] + x;
    let warp = WARP_SIZE as u32;
    participant.threads.iter().map(linear).map(|thread| (thread / warp, thread % warp)).collect()
}

/// Puts what is known of the meeting into the finding.
fn tell(finding: &mut Finding, sides: &[Side<'_>; 2], met: &Meeting, recording: &Recording, block: [u32; 3]) {
    let in_loop = met.executions.iter().any(|&executions| executions > 1);
    let element = element(sides[0].access, met.address, recording);
    for (i, participant) in finding.participants.iter_mut().enumerate() {
        let (warp, lane) = met.threads[i];
        let thread = warp * WARP_SIZE as u32 + lane;
        participant.threads =
            vec![[thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]]];
        participant.block = Some(recording.block);
        participant.element = Some(element.clone());
        participant.iteration = in_loop.then_some(met.iterations[i]);
    }
    // In the order in which the source has them, which need not be that of the emulator.
    let key = |i: usize| (met.iterations[i], sides[i].access.ptx_line);
    let (first, second) = if key(0) <= key(1) { (0, 1) } else { (1, 0) };
    let deed = |i: usize, what: &str| {
        let participant = &finding.participants[i];
        let [x, y, z] = participant.threads[0];
        let verb = match sides[i].access.operation {
            Operation::Load => "reads",
            Operation::Store => "writes",
            Operation::Atomic => "updates",
        };
        let when = participant.iteration.map_or(String::new(), |n| format!(" in iteration {n}"));
        format!("thread ({x},{y},{z}) {verb} {what}{when}")
    };
    let barrier = if finding.kind == FindingKind::WarpRace { "no __syncwarp()" } else { "no barrier" };
    let line =
        |i: usize| finding.participants[i].location.as_ref().and_then(|l| Some((l.file.as_ref()?, l.line?)));
    let one_line = match (line(0), line(1)) {
        (Some(a), Some(b)) if a == b => format!("; both are on line {}", a.1),
        _ => String::new(),
    };
    finding.message = format!(
        "{}, {}, and {barrier} lies between{one_line}",
        deed(first, &format!("`{element}`")),
        deed(second, "it")
    );
}

/// Where the synchronisation belongs.
fn place(sides: &[Side<'_>; 2], met: &Meeting, loops: &Loops, lines: &[Line]) -> RemedyPlace {
    let [a, b] = [sides[0].access, sides[1].access];
    if loops.have_both(a.ptx_line, b.ptx_line) && met.iterations[0] != met.iterations[1] {
        return RemedyPlace::EndOfLoop;
    }
    let line_of =
        |access: &Access| lines.iter().position(|line| line.accesses.iter().any(|x| x.id == access.id));
    let (Some(first), Some(second)) = (line_of(a), line_of(b)) else { return RemedyPlace::Between };
    if first != second {
        return RemedyPlace::Between;
    }
    // Several copies of an access on a line are iterations of a loop that the compiler has unrolled.
    let copies = |access: &Access| {
        let is_copy = |x: &&Access| x.instruction == access.instruction && x.buffer == access.buffer;
        lines[first].accesses.iter().filter(is_copy).count()
    };
    let is_unrolled = a.ptx_line != b.ptx_line && copies(a).min(copies(b)) > 1;
    // A load and the next store behind it are of one copy.
    let (early, late) = if a.ptx_line < b.ptx_line { (a, b) } else { (b, a) };
    let ends_between = lines[first].accesses.iter().any(|x| {
        x.operation == Operation::Store
            && x.buffer == late.buffer
            && (early.ptx_line..late.ptx_line).contains(&x.ptx_line)
    });
    if is_unrolled && ends_between { RemedyPlace::EndOfLoop } else { RemedyPlace::WithinLine }
}

/// What is done, and on which line.
type Deed<'a> = (&'a str, Option<u32>);

/// What the two do, in the order of the source.
fn in_order(finding: &Finding) -> (Deed<'_>, Deed<'_>) {
    let side = |i: usize| {
        let participant = &finding.participants[i];
        let what = deed_of(&participant.what);
        (what, participant.location.as_ref().and_then(|location| location.line))
    };
    let (a, b) = (side(0), side(1));
    let ptx_line =
        |i: usize| finding.participants[i].location.as_ref().and_then(|location| location.ptx_line);
    if (a.1, ptx_line(0)) <= (b.1, ptx_line(1)) { (a, b) } else { (b, a) }
}

/// What an opcode does to memory.
pub fn deed_of(opcode: &str) -> &'static str {
    let mut parts = opcode.split('.');
    match (parts.next().unwrap_or_default(), parts.next()) {
        ("ld" | "ldu" | "ldmatrix" | "suld", _) | ("wmma", Some("load")) => "load",
        ("st" | "stmatrix" | "sust", _) | ("wmma", Some("store")) => "store",
        ("cp", _) => "copy",
        _ => "atomic",
    }
}

fn words(place: RemedyPlace, insert: &str, whom: &str, first: Deed<'_>, second: Deed<'_>) -> String {
    let line = |line: Option<u32>| line.map_or(String::new(), |line| format!(" of line {line}"));
    match place {
        RemedyPlace::EndOfLoop => format!(
            "put {insert} at the end of the loop's body, behind the {}{}, and outside of any `if` that some skip: {whom} must pass \
             it in every iteration",
            second.0,
            line(second.1)
        ),
        RemedyPlace::WithinLine => format!(
            "split the line{}: read into a variable, then {insert}, then write; {whom} must pass it",
            second.1.map_or(String::new(), |line| format!(" {line}")),
        ),
        RemedyPlace::Between => format!(
            "put {insert} between the {}{} and the {}{}, where {whom} passes: outside of any `if` that some skip",
            first.0,
            line(first.1),
            second.0,
            line(second.1)
        ),
    }
}

/// The element at `address` bytes from the start of the array of an access, as the source would write it.
fn element(access: &Access, address: i64, recording: &Recording) -> String {
    let name = access.buffer.as_deref().unwrap_or("memory");
    let bytes = element_bytes(&access.instruction);
    if address % bytes != 0 {
        return format!("byte {address} of {name}");
    }
    let index = address / bytes;
    let sources = recording.sources.iter().flat_map(|source| source.text.lines());
    match sources.filter(|line| line.contains("__shared__")).find_map(|line| extents(line, name)) {
        Some(Declared::Scalar) => name.to_owned(),
        Some(Declared::Array(inner)) => format!("{name}{}", subscripts(index, &inner)),
        None => format!("{name}[{index}]"),
    }
}

/// Bytes of the type that ends an opcode.
fn element_bytes(opcode: &str) -> i64 {
    let ty = opcode.split([' ', '(']).next().unwrap_or_default().rsplit('.').next().unwrap_or_default();
    let bits: i64 = ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(32);
    (bits / 8).max(1)
}

/// How a shared variable is declared.
#[derive(Debug, PartialEq)]
enum Declared {
    Scalar,
    /// The extents but the first; none where they are no numbers.
    Array(Vec<i64>),
}

/// The declaration of `name` in a line of the source, if it is there.
fn extents(line: &str, name: &str) -> Option<Declared> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let at = line
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|&at| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))?;
    let mut rest = line[at + name.len()..].trim_start();
    if !rest.starts_with('[') {
        return Some(Declared::Scalar);
    }
    let mut inner = Vec::new();
    let mut is_first = true;
    while let Some((extent, behind)) = rest.strip_prefix('[').and_then(|text| text.split_once(']')) {
        if !std::mem::take(&mut is_first) {
            match extent.trim().parse().ok().filter(|&n| n > 0) {
                Some(number) => inner.push(number),
                None => return Some(Declared::Array(Vec::new())),
            }
        }
        rest = behind.trim_start();
    }
    Some(Declared::Array(inner))
}

/// `[1][8]` for element 40 of `[..][32]`.
fn subscripts(index: i64, inner: &[i64]) -> String {
    let mut rest = index;
    let mut parts = Vec::new();
    for extent in inner.iter().rev() {
        parts.push(rest % extent);
        rest /= extent;
    }
    parts.push(rest);
    parts.iter().rev().map(|part| format!("[{part}]")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_as_in_the_source() {
        let declared = |line| extents(line, "tile");
        assert_eq!(declared("    __shared__ float tile[32][33];"), Some(Declared::Array(vec![33])));
        assert_eq!(declared("__shared__ T tile [64], other[2];"), Some(Declared::Array(vec![])));
        assert_eq!(declared("__shared__ T tile[BLOCK][BLOCK];"), Some(Declared::Array(vec![])));
        assert_eq!(declared("__shared__ int tile;"), Some(Declared::Scalar));
        assert_eq!(declared("__shared__ int tiles[4], my_tile;"), None);
        assert_eq!(subscripts(40, &[32]), "[1][8]");
        assert_eq!(subscripts(40, &[]), "[40]");
        assert_eq!(subscripts(123, &[5, 4]), "[6][0][3]");
    }

    #[test]
    fn an_opcode_tells_its_type() {
        let opcodes = [
            "ld.shared.f32",
            "st.shared.v4.f64",
            "atom.shared.add.u32 (load)",
            "ld.global.nc.b16",
            "st.shared.u8",
        ];
        assert_eq!(opcodes.map(element_bytes), [4, 8, 4, 2, 1]);
    }
}
