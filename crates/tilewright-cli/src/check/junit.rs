//! A report for test viewers, in the XML of JUnit.

use super::judge::{Fate, Verdict};
use std::fmt::Write;
use tilewright::{visible, visible_lines};

/// The document.
pub fn document(name: &str, verdicts: &[Verdict]) -> String {
    let failed = verdicts.iter().filter(|verdict| !verdict.passes() && !verdict.is_broken()).count();
    let broken = verdicts.iter().filter(|verdict| verdict.is_broken()).count();
    let seconds: f64 = verdicts.iter().map(|verdict| verdict.seconds).sum();
    let sums = format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"{broken}\" time=\"{seconds:.3}\"",
        verdicts.len()
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"tilewright\" {sums}>");
    let _ = writeln!(out, "  <testsuite name=\"{}\" {sums}>", escaped(name));
    for verdict in verdicts {
        case(&mut out, verdict);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, verdict: &Verdict) {
    let (kernel, name) = (escaped(&visible(&verdict.kernel)), escaped(&visible(&verdict.name)));
    let file = match verdict.file.is_empty() {
        true => String::new(),
        false => format!(" file=\"{}\"", escaped(&verdict.file)),
    };
    let _ = write!(
        out,
        "    <testcase classname=\"{kernel}\" name=\"{name}\"{file} time=\"{:.3}\"",
        verdict.seconds
    );
    let failures = failures(verdict);
    let told = told(verdict);
    if failures.is_empty() && told.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    if let Some((first, _)) = failures.first() {
        let element = if verdict.is_broken() { "error" } else { "failure" };
        let kind = escaped(&failures.iter().map(|(_, kind)| *kind).collect::<Vec<_>>().join(", "));
        let text = failures.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n\n");
        let head = escaped(first.lines().next().unwrap_or_default());
        let _ = writeln!(
            out,
            "      <{element} message=\"{head}\" type=\"{kind}\">{}</{element}>",
            escaped(&text)
        );
    }
    if !told.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(&told));
    }
    out.push_str("    </testcase>\n");
}

/// Each text, and its kind.
fn failures(verdict: &Verdict) -> Vec<(String, &'static str)> {
    let problems = verdict
        .problems
        .iter()
        .map(|problem| (format!("{}: {}", problem.kind.name(), problem.message), problem.kind.name()));
    let fails = verdict.findings.iter().filter(|judged| judged.fate == Fate::Fails);
    let findings = fails.map(|judged| (judged.text(), judged.found.kind.name()));
    problems.chain(findings).collect()
}

/// What does not fail.
fn told(verdict: &Verdict) -> String {
    let others = verdict.findings.iter().filter(|judged| judged.fate != Fate::Fails);
    others
        .map(|judged| judged.text() + "\n")
        .chain(verdict.notes.iter().map(|note| format!("note: {note}\n")))
        .collect()
}

/// Text for XML. Of what is not seen as itself there is an escape; what the format forbids altogether is left out.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\n\u{1}d"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;\\u{1}d");
    }
}
