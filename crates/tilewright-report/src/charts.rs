//! Charts: occupancy as a function of what limits it, the roofline, and the measured ladder.

use tilewright_arch::{Device, Occupancy, Rate, Vary};
use tilewright_charts::{
    Axis, Bar, Bars, Ceiling, Figure, Hue, Mark, Plot, Point, Scale, Series, Theme, roofline,
};
use tilewright_explain::{Explanation, Intensity, OccupancyCurves, RooflinePosition, measured_ladder};

/// Narrow enough for a phone, wide enough for half a desktop.
const WIDTH: f64 = 520.0;

/// What is varied, in which unit.
struct Curve {
    quantity: Vary,
    heading: &'static str,
    axis: &'static str,
    /// Of the axis, in units of the quantity.
    unit: f64,
    hue: Hue,
}

const CURVES: [Curve; 3] = [
    Curve {
        quantity: Vary::Threads,
        heading: "Block size",
        axis: "threads per block",
        unit: 1.0,
        hue: Hue::Blue,
    },
    Curve {
        quantity: Vary::Registers,
        heading: "Registers",
        axis: "registers per thread",
        unit: 1.0,
        hue: Hue::Green,
    },
    Curve {
        quantity: Vary::SharedMemory,
        heading: "Shared memory",
        axis: "KiB of shared memory per block",
        unit: 1024.0,
        hue: Hue::Purple,
    },
];

/// One SVG figure with a panel for each quantity; `None` for a launch that has no occupancy.
pub fn occupancy_svg(of: &OccupancyCurves) -> Option<String> {
    let now = Occupancy::of(&of.limits, &of.kernel, &of.launch).ok()?;
    let title = format!("Warps per SM on compute capability {}", of.limits.compute_capability);
    let mut figure = Figure::new(title).width(WIDTH);
    for curve in &CURVES {
        if curve.quantity == Vary::Registers && of.kernel.registers_per_thread == 0 {
            continue;
        }
        figure = figure.panel(plot(of, curve, &now)?);
    }
    Some(figure.to_svg(Theme::Auto))
}

fn plot(of: &OccupancyCurves, curve: &Curve, now: &Occupancy) -> Option<Plot> {
    let values: Vec<u32> = curve.quantity.values(&of.limits).collect();
    let last = f64::from(values.last().copied()?) / curve.unit;
    let x = Axis::new(curve.axis, Scale::Binary, 0.0, last);
    let y = Axis::new("warps per SM", Scale::Binary, 0.0, f64::from(now.max_warps_per_sm));
    let points = Occupancy::curve(&of.limits, &of.kernel, &of.launch, curve.quantity, values).ok()?;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    // Between two values a block takes as much as at the upper one: a step begins right above the value before.
    let mut from = points.first()?.value.min(1);
    for point in &points {
        let warps = f64::from(point.occupancy.warps_per_sm);
        if steps.last().is_none_or(|&(_, before)| before != warps) {
            steps.push((f64::from(from) / curve.unit, warps));
        }
        from = point.value + 1;
    }
    steps.push((last, steps.last()?.1));
    let present = f64::from(curve.quantity.value(&of.kernel, &of.launch)) / curve.unit;
    let mark = Mark::new(present, f64::from(now.warps_per_sm), format!("{} warps", now.warps_per_sm));
    Some(Plot::new(curve.heading, x, y).series(Series::steps(curve.hue, steps)).mark(mark))
}

/// The roofline with two marks for each kernel: without a cache, and with a perfect one. `None` where no kernel has a
/// position.
pub fn roofline_svg(explanations: &[&Explanation]) -> Option<String> {
    let first = explanations.iter().find_map(|e| e.totals.roofline.as_ref().map(|r| (e, r)))?;
    let (explanation, position) = first;
    let (mut points, mut ceilings) = (Vec::new(), Vec::<Ceiling>::new());
    for e in explanations {
        let Some(position) = &e.totals.roofline else { continue };
        let ceiling = Ceiling {
            name: format!("{} peak", position.rate),
            tera_per_second: position.peak_per_second / 1e12,
            operations: vec![position.operation],
        };
        if !ceilings.contains(&ceiling) {
            ceilings.push(ceiling);
        }
        let who = if explanations.len() > 1 { format!("{}, ", e.kernel) } else { String::new() };
        points.extend(marks(&who, position, &e.totals.arithmetic_intensity));
    }
    let heading = explanation.gpu.clone().unwrap_or_default();
    let plot = roofline(heading, position.bandwidth_bytes_per_second / 1e12, &ceilings, &points);
    let figure = Figure::new("Roofline").width(WIDTH).panel(plot);
    let note = "Upper bounds, no measurements: DRAM traffic lies between the two marks.";
    Some(figure.note(note).to_svg(Theme::Auto))
}

fn marks(who: &str, position: &RooflinePosition, intensity: &Intensity) -> Vec<Point> {
    let point = |name: &str, intensity: Option<f64>, attainable: f64| {
        intensity.map(|intensity| Point {
            name: format!("{who}{name}"),
            intensity,
            tera_per_second: attainable / 1e12,
        })
    };
    let without = point("no cache", intensity.per_sector_byte, position.attainable_without_cache);
    let perfect = point("perfect cache", intensity.compulsory, position.attainable_with_perfect_cache);
    without.into_iter().chain(perfect).collect()
}

/// The chart of the ladder: the rate of every kernel, from the recorded numbers, and the library beside them; SVG for light and dark pages.
pub fn ladder_svg() -> String {
    let peak = Device::find("h200").ok().and_then(|device| device.peak(Rate::F32));
    let bar = |(name, gflop): (&str, f64)| {
        let hue = match name {
            LIBRARY => Hue::Orange,
            PRODUCTION => Hue::Green,
            _ => Hue::Blue,
        };
        let part = peak.map_or(String::new(), |peak| format!(", {:.1} % of the peak", 100e9 * gflop / peak));
        Bar::new(name, gflop / 1e3).note(format!("{:.2}{part}", gflop / 1e3)).hue(hue)
    };
    let bars = measured_ladder().map(bar).fold(Bars::new("", "TFLOP/s, f32"), Bars::bar);
    let title = "The ladder on one H200: n = 4096, from naive to faster than the library";
    Figure::new(title).panel(bars).to_svg(Theme::Auto)
}

/// The library beside the kernels, and the kernel that products use.
const LIBRARY: &str = "cuBLAS";
const PRODUCTION: &str = "simt";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_chart_in_the_repository_is_drawn_from_these_numbers() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks/ladder-h200.svg");
        let svg = ladder_svg();
        if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
            std::fs::write(path, &svg).unwrap();
        }
        let recorded = std::fs::read_to_string(path).unwrap_or_default();
        assert!(recorded == svg, "TILEWRIGHT_BLESS=1 renews docs/benchmarks/ladder-h200.svg");
        assert!(
            svg.contains("0.50, 0.7 % of the peak") && svg.contains("53.89, 80.5 % of the peak"),
            "{svg}"
        );
    }
}
