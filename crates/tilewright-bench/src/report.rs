//! Markdown tables and JSON.

use crate::{
    case::{Case, Group, Kind},
    libraries::{TILEWRIGHT, TILEWRIGHT_I32},
    statistics::{Summary, geometric_mean},
};
use std::fmt::Write;

/// One case with one thread count, measured.
pub struct Row {
    /// What was computed.
    pub case: Case,
    /// With how many threads.
    pub threads: usize,
    /// Every library with its times.
    pub times: Vec<(String, Summary)>,
}

impl Row {
    fn summary(&self, name: &str) -> Option<&Summary> {
        self.times.iter().find(|(n, _)| n == name).map(|(_, s)| s)
    }

    fn rate(&self, name: &str) -> Option<f64> {
        self.summary(name).map(|s| self.case.rate(s.median))
    }

    /// Our rate over that of the fastest other library; below 1 we lose.
    pub fn ratio(&self) -> Option<f64> {
        let others = self.times.iter().filter(|(n, _)| n != TILEWRIGHT && n != TILEWRIGHT_I32);
        let fastest = others.map(|(_, s)| s.median).min_by(f64::total_cmp)?;
        Some(fastest / self.summary(TILEWRIGHT)?.median)
    }
}

/// All tables of all rows.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::new();
    for group in Group::ALL {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.case.group == group).collect();
        if rows.is_empty() {
            continue;
        }
        line(&mut out, &format!("## {}\n", group.title()));
        let mut counts: Vec<usize> = rows.iter().map(|r| r.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        for &threads in &counts {
            let rows: Vec<&Row> = rows.iter().copied().filter(|r| r.threads == threads).collect();
            rates(&mut out, group, threads, &rows);
            relative(&mut out, &rows);
        }
        if let [one, .., many] = counts[..] {
            speedup(&mut out, &rows, one, many);
        }
    }
    out
}

fn rates(out: &mut String, group: Group, threads: usize, rows: &[&Row]) {
    let Some(first) = rows.first() else { return };
    let names: Vec<&str> = first.times.iter().map(|(name, _)| name.as_str()).collect();
    line(out, &format!("### {}, {}\n", plural(threads), group.unit()));
    line(out, &format!("| m x n x k | {} | ratio |", names.join(" | ")));
    line(out, &format!("|---|{}---:|", "---:|".repeat(names.len())));
    for row in rows {
        let cells: Vec<String> = names.iter().map(|name| cell(row, name)).collect();
        line(out, &format!("| {} | {} | {} |", row.case, cells.join(" | "), ratio(row.ratio())));
    }
    let mean = |rows: Vec<&&Row>| geometric_mean(&rows.iter().filter_map(|r| r.ratio()).collect::<Vec<_>>());
    let mut means: Vec<String> = Kind::ALL
        .iter()
        .filter_map(|kind| {
            let rows = rows.iter().filter(|r| r.case.kind == *kind).collect();
            mean(rows).map(|m| format!("{} {m:.2}", kind.name()))
        })
        .collect();
    if let Some(all) = mean(rows.iter().collect()) {
        means.push(format!("all {all:.2}"));
        line(out, &format!("\nGeometric means of the ratio: {}.", means.join(", ")));
    }
    line(out, "");
}

/// Rate with quartiles, and the rounds where there were fewer than seven.
fn cell(row: &Row, name: &str) -> String {
    let Some(s) = row.summary(name) else { return "".into() };
    let rate = |seconds| short(row.case.rate(seconds));
    let few = if s.rounds < 7 { format!(", {} rounds", s.rounds) } else { String::new() };
    format!("{} ({}–{}{few})", rate(s.median), rate(s.q3), rate(s.q1))
}

/// Our other shapes against our square of the same amount of work.
fn relative(out: &mut String, rows: &[&Row]) {
    let square = rows.iter().find(|r| r.case.kind == Kind::Square && r.case.m == 1024);
    let Some(square) = square.and_then(|r| r.rate(TILEWRIGHT)) else { return };
    let others: Vec<_> = rows.iter().filter(|r| r.case.kind != Kind::Square).collect();
    if others.is_empty() {
        return;
    }
    let names: Vec<String> = others.iter().map(|r| r.case.to_string()).collect();
    let cells: Vec<String> =
        others.iter().map(|r| ratio(r.rate(TILEWRIGHT).map(|rate| rate / square))).collect();
    line(out, "Tilewright's rate relative to its own at 1024:\n");
    line(out, &format!("| {} |", names.join(" | ")));
    line(out, &format!("|{}", "---:|".repeat(names.len())));
    line(out, &format!("| {} |\n", cells.join(" | ")));
}

fn speedup(out: &mut String, rows: &[&Row], one: usize, many: usize) {
    let Some(first) = rows.first() else { return };
    let names: Vec<&str> = first.times.iter().map(|(name, _)| name.as_str()).collect();
    line(out, &format!("### Speed-up of {} over {}\n", plural(many), plural(one)));
    line(out, &format!("| m x n x k | {} |", names.join(" | ")));
    line(out, &format!("|---|{}", "---:|".repeat(names.len())));
    for row in rows.iter().filter(|r| r.threads == one) {
        let Some(other) = rows.iter().find(|r| r.threads == many && r.case == row.case) else { continue };
        let gain = |name: &&str| Some(other.rate(name)? / row.rate(name)?);
        let cells: Vec<String> = names.iter().map(|name| ratio(gain(name))).collect();
        line(out, &format!("| {} | {} |", row.case, cells.join(" | ")));
    }
    line(out, "");
}

/// The machine's facts as a table.
pub fn facts(facts: &[(&str, String)]) -> String {
    let mut out = String::from("| | |\n|---|---|\n");
    for (name, value) in facts {
        line(&mut out, &format!("| {name} | {value} |"));
    }
    out
}

/// Everything as one JSON object; times in seconds, rates in 10^9 operations a second.
pub fn json(machine: &[(&str, String)], rows: &[Row]) -> String {
    let machine: Vec<String> = machine.iter().map(|(k, v)| format!("{}: {}", quote(k), quote(v))).collect();
    let rows: Vec<String> = rows.iter().map(json_row).collect();
    format!(
        "{{\n\"schema\": 1,\n\"machine\": {{{}}},\n\"rows\": [\n{}\n]\n}}\n",
        machine.join(", "),
        rows.join(",\n")
    )
}

fn json_row(row: &Row) -> String {
    let times: Vec<String> = row
        .times
        .iter()
        .map(|(name, s)| {
            format!(
                "{{\"library\": {}, \"seconds\": {{\"q1\": {:e}, \"median\": {:e}, \"q3\": {:e}}}, \"rounds\": {}, \"rate\": {:.4}}}",
                quote(name), s.q1, s.median, s.q3, s.rounds, row.case.rate(s.median)
            )
        })
        .collect();
    let c = &row.case;
    format!(
        "{{\"group\": {}, \"kind\": {}, \"case\": {}, \"m\": {}, \"n\": {}, \"k\": {}, \"threads\": {}, \"ratio\": {}, \"times\": [{}]}}",
        quote(c.group.name()),
        quote(c.kind.name()),
        quote(&c.to_string()),
        c.m,
        c.n,
        c.k,
        row.threads,
        row.ratio().map_or("null".into(), |r| format!("{r:.4}")),
        times.join(", ")
    )
}

fn quote(text: &str) -> String {
    let escaped: String =
        text.chars().flat_map(|c| (c == '"' || c == '\\').then_some('\\').into_iter().chain([c])).collect();
    format!("\"{escaped}\"")
}

fn plural(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

fn short(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { format!("{rate:.1}") }
}

fn ratio(value: Option<f64>) -> String {
    value.map_or("–".into(), |v| format!("{v:.2}"))
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(threads: usize, ours: f64, theirs: f64) -> Row {
        let summary = |s| Summary { q1: s, median: s, q3: s, rounds: 7 };
        let times = vec![(TILEWRIGHT.to_owned(), summary(ours)), ("other".to_owned(), summary(theirs))];
        let case = Case::all(Group::MinPlusF32).nth(4).unwrap();
        Row { case, threads, times }
    }

    #[test]
    fn a_loss_is_shown_as_a_loss() {
        let text = markdown(&[row(1, 2.0, 1.0), row(2, 1.0, 1.0)]);
        assert!(text.contains("| 1024 | 0.54 (0.54–0.54) | 1.07 (1.07–1.07) | 0.50 |"), "{text}");
        assert!(text.contains("| 1024 | 2.00 | 1.00 |"), "{text}");
        assert!(text.contains("square 0.50, all 0.50"), "{text}");
    }

    #[test]
    fn json_is_quoted() {
        let text = json(&[("processor", "a \"fast\" one".into())], &[row(1, 2.0, 1.0)]);
        assert!(text.contains(r#""a \"fast\" one""#) && text.contains("\"ratio\": 0.5000"), "{text}");
    }
}
