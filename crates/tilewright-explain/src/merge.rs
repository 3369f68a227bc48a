//! One finding for what is one fault: copies of a line that the compiler has unrolled, and instructions of one line that fail alike.

use crate::model::{Finding, Location, Participant};

/// Merges findings of the same kind at the same lines about the same array; the first speaks for all.
pub fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        match merged.iter_mut().find(|known| is_same(known, &finding)) {
            Some(known) => absorb(known, finding),
            None => merged.push(finding),
        }
    }
    merged
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    let has_source = a.participants.iter().all(|p| line(p.location.as_ref()).is_some());
    has_source
        && !a.participants.is_empty()
        && (a.severity, &a.kind) == (b.severity, &b.kind)
        && array(&a.message) == array(&b.message)
        && sides(a) == sides(b)
}

/// What is done where, in the order of the source: a race is the same, whichever of the two came later.
fn sides(finding: &Finding) -> Vec<(Option<(&str, u32)>, &str)> {
    let mut sides: Vec<_> =
        finding.participants.iter().map(|p| (line(p.location.as_ref()), p.what.as_str())).collect();
    sides.sort_unstable();
    sides
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

fn absorb(known: &mut Finding, copy: Finding) {
    known.count += copy.count;
    let mut is_copy = false;
    known.cost = known.cost.zip(copy.cost).map(|(a, b)| a + b).or(known.cost);
    for mut other in copy.participants {
        let is_like = |mine: &&mut Participant| {
            mine.what == other.what && line(mine.location.as_ref()) == line(other.location.as_ref())
        };
        let Some(mine) = known.participants.iter_mut().find(is_like) else { continue };
        let first = mine.location.as_ref().and_then(|location| location.ptx_line);
        other.further_ptx_lines.extend(other.location.and_then(|location| location.ptx_line));
        for ptx_line in other.further_ptx_lines {
            if Some(ptx_line) != first && !mine.further_ptx_lines.contains(&ptx_line) {
                mine.further_ptx_lines.push(ptx_line);
                is_copy = true;
            }
        }
    }
    known.copies += if is_copy { copy.copies } else { 0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Severity;

    fn race(sides: [(&str, u32, u32); 2]) -> Finding {
        let participant = |(what, line, ptx_line): (&str, u32, u32)| {
            let file = Some("k.cu".to_owned());
            Participant::at(what, Location { file, line: Some(line), ptx_line: Some(ptx_line) })
        };
        Finding {
            severity: Severity::Error,
            kind: "shared-race".into(),
            message: "writes `tile[3]`".into(),
            participants: sides.map(participant).into(),
            count: 2,
            copies: 1,
            cost: None,
            fix: String::new(),
            remedy: None,
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
        assert_eq!(merged(vec![race([store, load]), race([store, ("ld", 8, 80)])]).len(), 2);
    }
}
