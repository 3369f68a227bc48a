//! Annotations for GitHub Actions: lines of a log that the platform shows at the source.

use super::{judge::Verdict, places::reported, sarif::checks};
use std::fmt::Write;
use tilewright::{visible, visible_lines};
use tilewright_explain::Severity;

/// The platform shows as many of each kind for a step.
const MOST: usize = 10;

/// A line for each, what fails first; known and suppressed ones are left out.
pub fn annotations(verdicts: &[Verdict]) -> String {
    let all = reported(verdicts);
    let mut out = String::new();
    for (severity, command) in
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Advice, "notice")]
    {
        let of_severity =
            || all.iter().filter(|one| one.severity == severity && !one.is_known && one.suppressed.is_none());
        for one in of_severity().take(MOST) {
            let title = format!("{} in {}", one.kind.replace('-', " "), checks(&one.checks));
            let _ = writeln!(
                out,
                "::{command} file={},line={},title={}::{}",
                property(&one.file),
                one.line,
                property(&title),
                message(&one.message)
            );
        }
    }
    out
}

fn message(text: &str) -> String {
    visible_lines(text).replace('%', "%25").replace('\n', "%0A").replace("##[", "## [")
}

fn property(text: &str) -> String {
    message(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(property("a: b, 5 %\n\u{202e}"), "a%3A b%2C 5 %25\\n\\u{202e}");
        assert_eq!(message("a\nb\r\u{9b}"), "a%0Ab\\r\\u{9b}");
        assert_eq!(message("a: b"), "a: b");
    }
}
