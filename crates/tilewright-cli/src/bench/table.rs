//! The table of one product.

use super::{
    library::{CUBLAS, CUBLASLT},
    report::Row,
};
use crate::{
    args::{Order, Size},
    terminal, wrapping,
};
use tilewright::{Backend, DType, SemiringId, plan::Query};

/// Sizes and order: the usual order is not mentioned.
pub fn product(Size { m, n, k }: Size, order: Order) -> String {
    product_named(m, n, k, order.name())
}

pub fn product_named(m: usize, n: usize, k: usize, order: &str) -> String {
    let order = if order == Order::Nn.name() { String::new() } else { format!(", {order}") };
    format!("{m} x {n} x {k}{order}")
}

/// The unit of rates in tables and charts: GFLOP/s for plus-times on floats, otherwise 10^9 terms per second.
pub fn unit(semiring: Option<SemiringId>, dtype: DType) -> &'static str {
    if semiring == Some(SemiringId::PlusTimes) && dtype.is_float() { "GFLOP/s" } else { "Gpair-op/s" }
}

/// The rate in that unit.
pub fn rate(row: &Row) -> Option<f64> {
    Some(row.flop_per_second.or(row.pair_ops_per_second)? / 1e9)
}

/// The table of one product.
pub fn text(query: &Query, rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let width = rows.iter().map(|row| row.contender().len()).max().unwrap_or(0).max(8);
    let (bold, faint) = (terminal::label(), terminal::faint());
    let conditions = rows.iter().find_map(|row| row.conditions).map_or(String::new(), |c| {
        let (clock, power, temperature) = (c.clock_hz / 1e6, c.power_watts, c.temperature_celsius);
        format!(" {faint}at {clock:.0} MHz, {power:.0} W, {temperature:.0} C{faint:#}")
    });
    let mut out = format!("{bold}{}{bold:#}{conditions}\n", first.product());
    let columns = columns(unit(query.own.is_none().then_some(query.semiring), query.dtype), rows);
    for (number, group) in
        groups(&columns, wrapping::columns().saturating_sub(width + 2)).into_iter().enumerate()
    {
        out += &format!("{faint}  {:width$}", "kernel");
        for (heading, width, _) in group {
            out += &format!(" {heading:>width$}");
        }
        out += &format!("{faint:#}\n");
        // What is wrong with a row is said once.
        for row in rows.iter().filter(|row| number == 0 || row.problem.is_none()) {
            out += &line(row, width, group);
        }
    }
    out
}

/// The columns in as many tables, one below the other, as it takes to fit `room`.
fn groups(columns: &[Column], room: usize) -> Vec<&[Column]> {
    let (mut groups, mut rest) = (Vec::new(), columns);
    while !rest.is_empty() {
        let widths = rest.iter().scan(0, |total, (_, width, _)| {
            *total += width + 1;
            Some(*total)
        });
        let (group, others) = rest.split_at(widths.take_while(|total| *total <= room).count().max(1));
        groups.push(group);
        rest = others;
    }
    groups
}

/// Columns for a reason at least.
const LEAST: usize = 24;

/// A heading, a width, and what stands below.
type Column = (&'static str, usize, fn(&Row) -> String);

fn columns(unit: &'static str, rows: &[Row]) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![
        ("time", 11, |row| row.seconds.map_or(String::new(), time)),
        ("spread", 7, |row| percent(row.spread)),
        (unit, 11, |row| number(rate(row), 1)),
    ];
    // The peaks, the libraries and the resources are the GPU's.
    if rows.iter().any(|row| row.backend == Backend::Cuda.name()) {
        columns.push(("of peak", 8, |row| percent(row.peak_fraction)));
        columns.push(("of roof", 9, |row| percent(row.roofline_fraction)));
        if rows.iter().any(|row| row.bound_seconds.is_some()) {
            columns.push(("bound", 11, |row| row.bound_seconds.map_or(String::new(), time)));
            columns.push(("of bound", 9, |row| percent(row.bound_fraction)));
            columns.push(("bound by", 12, |row| row.bound_part.unwrap_or_default().to_owned()));
        }
        let has = |library: &str| rows.iter().any(|row| row.kernel == library);
        if has(CUBLAS) {
            columns.push(("x cuBLAS", 9, |row| number(row.speed_against_cublas, 3)));
        }
        if has(CUBLASLT) {
            columns.push(("x cuBLASLt", 10, |row| number(row.speed_against_cublaslt, 3)));
        }
        columns.push(("regs", 5, |row| row.registers_per_thread.map_or(String::new(), |r| r.to_string())));
        columns.push(("occupancy", 9, |row| percent(row.occupancy)));
        columns.push(("workspace", 11, |row| match (row.workspace_bytes, row.workspace_limit_bytes) {
            (Some(bytes), _) => mebibytes(bytes),
            (None, Some(_)) => "its own".into(),
            (None, None) => String::new(),
        }));
    }
    columns
}

fn line(row: &Row, width: usize, columns: &[Column]) -> String {
    if let Some(problem) = &row.problem {
        let (style, label) = match row.verified {
            Some(false) => (terminal::emphasis(), "WRONG: "),
            _ => (terminal::faint(), ""),
        };
        let name = format!("  {:width$}", row.contender());
        let before = name.chars().count() + 1;
        let lines = wrapping::wrap(
            &format!("{label}{problem}"),
            wrapping::columns().saturating_sub(before).max(LEAST),
        );
        let text = lines.join(&format!("\n{:before$}", ""));
        return format!("{name} {style}{text}{style:#}\n");
    }
    let mut line = format!("  {:width$}", row.contender());
    for (_, width, cell) in columns {
        line += &format!(" {:>width$}", cell(row));
    }
    line.trim_end().to_owned() + "\n"
}

fn percent(part: Option<f64>) -> String {
    part.map_or(String::new(), |p| format!("{:.1} %", 100.0 * p))
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |v| format!("{v:.digits$}"))
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// In the unit that suits it.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_stand_in_a_table_of_their_own() {
        fn nothing(_: &Row) -> String {
            String::new()
        }
        let columns: [Column; 4] = [9, 9, 9, 20].map(|width| ("x", width, nothing as fn(&Row) -> String));
        let widths = |room| groups(&columns, room).iter().map(|group| group.len()).collect::<Vec<_>>();
        assert_eq!((widths(80), widths(30), widths(20)), (vec![4], vec![3, 1], vec![2, 1, 1]));
        // Something is shown however narrow it is.
        assert_eq!(widths(1), [1; 4]);
    }
}
