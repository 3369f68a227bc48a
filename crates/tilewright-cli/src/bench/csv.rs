//! The report as CSV: a line for each contender and product.

use super::report::{Report, Row};

type Cell = fn(&Report, &Row) -> String;

/// The columns; the names are those of JSON.
const COLUMNS: [(&str, Cell); 35] = [
    ("semiring", |report, _| semiring(&report.semiring)),
    ("dtype", |report, _| report.dtype.into()),
    ("m", |_, row| row.m.to_string()),
    ("n", |_, row| row.n.to_string()),
    ("k", |_, row| row.k.to_string()),
    ("order", |_, row| row.order.into()),
    ("backend", |_, row| row.backend.into()),
    ("kernel", |_, row| text(Some(&row.kernel))),
    ("threads", |_, row| number(row.threads)),
    ("terms", |_, row| row.terms.name().to_owned()),
    ("seconds", |_, row| number(row.seconds)),
    ("spread", |_, row| number(row.spread)),
    ("samples", |_, row| row.samples.to_string()),
    ("pair_ops_per_second", |_, row| number(row.pair_ops_per_second)),
    ("flop_per_second", |_, row| number(row.flop_per_second)),
    ("peak_pair_ops_per_second", |report, row| number(report.peak_of(row))),
    ("operations_per_byte", |_, row| number(Some(row.operations_per_byte))),
    ("peak_fraction", |_, row| number(row.peak_fraction)),
    ("roofline_fraction", |_, row| number(row.roofline_fraction)),
    ("bound_seconds", |_, row| number(row.bound_seconds)),
    ("bound_part", |_, row| number(row.bound_part)),
    ("bound_fraction", |_, row| number(row.bound_fraction)),
    ("predicted_seconds", |_, row| number(row.predicted_seconds)),
    ("speed_against_cublas", |_, row| number(row.speed_against_cublas)),
    ("speed_against_cublaslt", |_, row| number(row.speed_against_cublaslt)),
    ("memory_bytes", |_, row| number(row.memory_bytes)),
    ("workspace_bytes", |_, row| number(row.workspace_bytes)),
    ("workspace_limit_bytes", |_, row| number(row.workspace_limit_bytes)),
    ("algorithms_tried", |_, row| number(row.algorithms_tried)),
    ("registers_per_thread", |_, row| number(row.registers_per_thread)),
    ("occupancy", |_, row| number(row.occupancy)),
    ("verified", |_, row| number(row.verified)),
    ("problem", |_, row| text(row.problem.as_deref())),
    ("clock_hz", |_, row| number(row.conditions.map(|c| c.clock_hz))),
    ("power_watts", |_, row| number(row.conditions.map(|c| c.power_watts))),
];

pub fn header() -> String {
    COLUMNS.map(|(name, _)| name).join(",") + "\n"
}

pub fn lines(report: &Report, rows: &[Row]) -> String {
    rows.iter().map(|row| COLUMNS.map(|(_, cell)| cell(report, row)).join(",") + "\n").collect()
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A name as it is; the text of a semiring has commas.
fn semiring(name: &str) -> String {
    if name.contains('=') { text(Some(name)) } else { name.to_owned() }
}

/// Quoted, with quotes doubled.
fn text(value: Option<&str>) -> String {
    value.map_or_else(String::new, |text| format!("\"{}\"", text.replace('"', "\"\"")))
}
