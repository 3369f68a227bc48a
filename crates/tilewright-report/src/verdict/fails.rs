//! What comes before speed, in this order: does it launch, is it right, is it safe, did it end.

use super::{Parts, Tone, places, sentence};
use tilewright_explain::{Explanation, Finding, FindingKind, Nature, Severity, Unfinished};

/// The gravest of it.
pub fn fails(e: &Explanation) -> Option<Parts> {
    does_not_launch(e)
        .or_else(|| is_not_right(e))
        .or_else(|| is_not_safe(e))
        .or_else(|| is_not_finished(e))
        .or_else(|| may_not_be_safe(e))
}

/// What is right, or was not compared; to be said before anything about speed. Empty where nothing was expected.
pub fn right(e: &Explanation) -> Vec<String> {
    let right = e.results.comparisons.iter().filter(|comparison| comparison.is_same());
    let said = right.map(|one| format!("`{}` is as expected, {} elements.", one.name, one.elements));
    said.chain(not_compared(e)).collect()
}

/// What the compiler warned of, as a pointer to it.
pub fn warned(e: &Explanation) -> Option<String> {
    match e.compiler_warnings.len() {
        0 => None,
        1 => Some("The compiler has a warning, below.".into()),
        more => Some(format!("The compiler has {more} warnings, below.")),
    }
}

fn not_compared(e: &Explanation) -> Option<String> {
    let names = e.results.not_compared.join("`, `");
    let why = if e.unfinished.is_some() { "the launch is not finished" } else { "the launch had errors" };
    let verb = if e.results.not_compared.len() > 1 { "are" } else { "is" };
    (!names.is_empty()).then(|| format!("`{names}` {verb} not compared: {why}."))
}

fn of_severity(e: &Explanation, severity: Severity) -> Vec<&Finding> {
    e.findings.iter().filter(|finding| finding.severity == severity).collect()
}

fn does_not_launch(e: &Explanation) -> Option<Parts> {
    let errors = of_severity(e, Severity::Error);
    let first = errors.first()?;
    let what = match first.kind {
        FindingKind::CannotLaunch => "**cannot launch**",
        FindingKind::DoesNotCompile => "**does not compile** for this GPU",
        _ => return None,
    };
    let headline = format!("`{}` {what}: nothing of it was executed.", e.kernel);
    Some((Tone::Error, headline, told(e, &errors)))
}

fn is_not_right(e: &Explanation) -> Option<Parts> {
    let wrong: Vec<_> = e.results.wrong().collect();
    let first = wrong.first()?;
    let headline = format!(
        "`{}` computes a **wrong {}**: {} of {} elements differ.",
        e.kernel, first.name, first.different, first.elements
    );
    let mut details: Vec<String> = Vec::new();
    details.extend(first.describe_worst().map(|worst| format!("Most of all {worst}.")));
    details.extend(wrong.iter().skip(1).map(|other| {
        format!("`{}` is wrong, too: {} of {} elements differ.", other.name, other.different, other.elements)
    }));
    details.extend(right(e));
    details.extend(warned(e));
    Some((Tone::Error, headline, details))
}

fn is_not_safe(e: &Explanation) -> Option<Parts> {
    let mut errors = of_severity(e, Severity::Error);
    errors.retain(|finding| finding.kind.nature() != Nature::Note);
    let first = errors.first()?;
    let headline = format!("`{}` is wrong: **{}**{}.", e.kernel, first.kind.words(), places(e, first));
    let mut details = told(e, &errors);
    let unfinished = |unfinished: &Unfinished| sentence(&unfinished.describe());
    details.extend(e.unfinished.as_ref().map(unfinished));
    Some((Tone::Error, headline, details))
}

fn is_not_finished(e: &Explanation) -> Option<Parts> {
    let unfinished = e.unfinished.as_ref()?;
    let notes = e.findings.iter().filter(|finding| finding.kind.nature() == Nature::Note);
    let place = notes.map(|finding| places(e, finding)).find(|place| !place.is_empty()).unwrap_or_default();
    let headline = format!("`{}` is **not finished**: {}{place}.", e.kernel, unfinished.describe());
    let mut details = vec!["The counts are those until then.".to_owned()];
    details.extend(not_compared(e));
    if unfinished.blocks_done == 0 {
        details
            .push("No block came to its end: if one should have, look at what ends the loop there.".into());
    }
    details.push(format!("Fix: {}.", unfinished.hint));
    details.extend(warned(e));
    Some((Tone::Unsure, headline, details))
}

/// Warnings come before speed, and behind all that is certain.
fn may_not_be_safe(e: &Explanation) -> Option<Parts> {
    let warnings = of_severity(e, Severity::Warning);
    let first = warnings.first()?;
    let headline = format!("`{}` may be wrong: **{}**{}.", e.kernel, first.kind.words(), places(e, first));
    let mut details = right(e);
    details.extend([sentence(&first.message), format!("Fix: {}.", first.fix)]);
    details.extend(warned(e));
    Some((Tone::Unsure, headline, details))
}

/// The first of some errors, and how many more there are.
fn told(e: &Explanation, errors: &[&Finding]) -> Vec<String> {
    let Some(first) = errors.first() else { return Vec::new() };
    let mut details = vec![sentence(&first.message), format!("Fix: {}.", first.fix)];
    if errors.len() > 1 {
        let more = errors.len() - 1;
        details.push(format!("{more} more {} below.", if more == 1 { "error is" } else { "errors are" }));
    }
    details.extend(not_compared(e));
    details.extend(warned(e));
    details
}
