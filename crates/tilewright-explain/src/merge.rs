//! One finding for what is one fault: copies of a line that the compiler has unrolled, and instructions of one line that fail alike.

use crate::model::{Finding, Location};

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
        && (a.severity, &a.kind, a.participants.len()) == (b.severity, &b.kind, b.participants.len())
        && array(&a.message) == array(&b.message)
        && a.participants
            .iter()
            .zip(&b.participants)
            .all(|(x, y)| x.what == y.what && line(x.location.as_ref()) == line(y.location.as_ref()))
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
    known.copies += copy.copies;
    known.cost = known.cost.zip(copy.cost).map(|(a, b)| a + b).or(known.cost);
    for (mine, other) in known.participants.iter_mut().zip(copy.participants) {
        let first = mine.location.as_ref().and_then(|location| location.ptx_line);
        let others = other.location.and_then(|location| location.ptx_line).into_iter();
        for ptx_line in others.chain(other.further_ptx_lines) {
            if Some(ptx_line) != first && !mine.further_ptx_lines.contains(&ptx_line) {
                mine.further_ptx_lines.push(ptx_line);
            }
        }
    }
}
