//! Rates as bars, and the roofline.

use super::{
    library::{CUBLAS, CUBLASLT},
    report::{Report, Row},
    table::rate,
};
use tilewright_charts::{Bar, Bars, Ceiling, Figure, Hue, Point, roofline};

pub fn figure(report: &Report, unit: &str) -> Figure {
    let title = format!("{} on {}", report.semiring, report.dtype);
    let machine =
        report.machine.gpu.as_ref().map(|gpu| gpu.name.clone()).or_else(|| report.machine.cpu.clone());
    let figure = Figure::new(title).subtitle(machine.unwrap_or_default());
    let figure =
        sizes(report).into_iter().fold(figure, |figure, rows| figure.panel(bars(report, rows, unit)));
    match roof(report) {
        Some(plot) => figure.panel(plot),
        None => figure,
    }
}

/// The rows of each product.
fn sizes(report: &Report) -> Vec<&[Row]> {
    report.results.chunk_by(|x, y| (x.m, x.n, x.k, x.order) == (y.m, y.n, y.k, y.order)).collect()
}

fn bars(report: &Report, rows: &[Row], unit: &str) -> Bars {
    let heading = rows.first().map_or(String::new(), Row::product);
    let bars = rows.iter().filter_map(|row| {
        let rate = rate(row)?;
        let percent = row.peak_fraction.map_or(String::new(), |p| format!(", {:.1} % of peak", 100.0 * p));
        let hue = match row.backend {
            "cpu" => Hue::Green,
            _ if row.kernel == CUBLAS => Hue::Orange,
            _ if row.kernel == CUBLASLT => Hue::Red,
            _ => Hue::Blue,
        };
        let bar = Bar::new(row.contender(), rate).note(format!("{rate:.0}{percent}")).hue(hue);
        // Times between the quartiles, as rates.
        Some(
            row.spread.map_or(bar.clone(), |spread| bar.spread(rate / (1.0 + spread), rate / (1.0 - spread))),
        )
    });
    let peak = peak(report).map(|(peak, name)| Bar::new(format!("peak: {name}"), peak / 1e9).hue(Hue::Grey));
    // The peak belongs to the GPU.
    let peak = peak.filter(|_| rows.iter().any(|row| row.backend == "cuda"));
    bars.chain(peak).fold(Bars::new(heading, unit), Bars::bar)
}

/// Operations per term: a multiplication and an addition count as two where rates are in FLOP.
fn operations(report: &Report) -> f64 {
    if report.results.iter().any(|row| row.flop_per_second.is_some()) { 2.0 } else { 1.0 }
}

fn peak(report: &Report) -> Option<(f64, &'static str)> {
    let gpu = report.machine.gpu.as_ref()?;
    Some((gpu.peak_pair_ops_per_second? * operations(report), gpu.peak_unit?))
}

/// The fastest kernel of each size under the GPU's roofline; others would lie below it on the same line.
fn roof(report: &Report) -> Option<tilewright_charts::Plot> {
    let gpu = report.machine.gpu.as_ref()?;
    let (peak, name) = peak(report)?;
    let points: Vec<Point> = sizes(report).into_iter().filter_map(fastest).collect();
    if points.is_empty() {
        return None;
    }
    let operation = if operations(report) == 1.0 { "OP" } else { "FLOP" };
    let ceiling = Ceiling { name: name.into(), tera_per_second: peak / 1e12, operations: vec![operation] };
    let bandwidth = gpu.memory_bytes_per_second / 1e12;
    let heading = match operations(report) {
        1.0 => {
            format!("Roofline, {bandwidth:.2} TB/s; an operation is a term, one of each of the semiring's")
        }
        _ => format!("Roofline, {bandwidth:.2} TB/s"),
    };
    Some(roofline(heading, bandwidth, &[ceiling], &points))
}

fn fastest(rows: &[Row]) -> Option<Point> {
    let on_gpu = rows.iter().filter(|row| row.backend == "cuda");
    let best = on_gpu.max_by(|x, y| rate(x).unwrap_or(0.0).total_cmp(&rate(y).unwrap_or(0.0)))?;
    let name = format!("{} at {}x{}x{}", best.kernel, best.m, best.n, best.k);
    Some(Point { name, intensity: best.operations_per_byte, tera_per_second: rate(best)? / 1e3 })
}
