//! Findings for code scanning, as SARIF 2.1.0.

use super::{
    judge::Verdict,
    places::{Reported, reported},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tilewright::{visible, visible_lines};
use tilewright_explain::Severity;

/// As many as GitHub's code scanning shows of one upload; of more than 25,000 it takes none.
const MOST_RESULTS: usize = 5_000;
/// Further places of a result that are shown there.
const MOST_PLACES: usize = 100;
/// Of names of checks in a message.
const MOST_NAMES: usize = 5;

/// The document.
pub fn document(verdicts: &[Verdict]) -> Value {
    let all = reported(verdicts);
    let shown = &all[..all.len().min(MOST_RESULTS)];
    let kinds: BTreeMap<&str, &str> = shown.iter().map(|one| (one.kind, one.about)).collect();
    let rules: Vec<Value> = kinds.iter().map(|(kind, about)| rule(kind, about)).collect();
    let results: Vec<Value> =
        shown.iter().map(|one| result(one, kinds.keys().position(|kind| *kind == one.kind))).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tilewright",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "automationDetails": { "id": "tilewright/" },
            "results": results,
        }],
    })
}

/// All texts of a rule are asked for by the platform.
fn rule(kind: &str, about: &str) -> Value {
    json!({
        "id": kind,
        "name": kind,
        "shortDescription": { "text": kind.replace('-', " ") },
        "fullDescription": { "text": about },
        "help": { "text": "The message says what to do. `tilewright explain` shows the line, its lanes and what they cost." },
        "properties": { "tags": ["cuda", "gpu"] },
    })
}

fn result(one: &Reported<'_>, rule: Option<usize>) -> Value {
    let level = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "note",
    };
    let mut result = json!({
        "ruleId": one.kind,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": visible_lines(&format!("{} ({})", one.message, checks(&one.checks))) },
        "locations": [location(&one.file, one.line)],
        "partialFingerprints": { "tilewright/v1": one.fingerprint },
        "suppressions": [],
    });
    if !one.others.is_empty() {
        let others = one.others.iter().take(MOST_PLACES).enumerate().map(|(id, (file, line, text))| {
            let mut place = location(file, *line);
            place["id"] = json!(id + 1);
            place["message"] = json!({ "text": visible_lines(text) });
            place
        });
        result["relatedLocations"] = others.collect();
    }
    if let Some(reason) = one.suppressed {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": visible(reason) }]);
    }
    if one.is_known {
        result["baselineState"] = json!("unchanged");
    }
    result
}

/// The names, the first of many.
pub fn checks(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn location(file: &str, line: u32) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line },
    } })
}

/// A path as a relative reference; an absolute one as a file's address.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~+@,=".contains(&byte);
    let escaped = path.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    scheme.to_owned() + &escaped.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("kernels/a b.cu"), "kernels/a%20b.cu");
        assert_eq!(uri("/tmp/ä.cu"), "file:///tmp/%C3%A4.cu");
    }

    #[test]
    fn many_checks_are_counted() {
        assert_eq!(checks(&["a", "b"]), "a, b");
        assert_eq!(checks(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
