//! The roofline model: what a device can attain at an arithmetic intensity.
//!
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
//! multicore architectures", Communications of the ACM 52(4), 2009.

use crate::{
    axis::{Axis, Scale},
    plot::{Mark, Plot, Series},
    theme::Hue,
};
use std::collections::BTreeSet;

/// A peak rate: the flat part of a roof.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Such as `f32 FMA`.
    pub name: String,
    /// 10^12 operations per second.
    pub tera_per_second: f64,
    /// What it calls its operations: `FLOP`, `OP` for integers; both where two kinds share a line.
    pub operations: Vec<&'static str>,
}

/// A kernel on the roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What is written beside it.
    pub name: String,
    /// Operations per byte of memory traffic.
    pub intensity: f64,
    /// 10^12 operations per second.
    pub tera_per_second: f64,
}

/// The attainable rate `min(peak, intensity x bandwidth)` for each ceiling, both axes logarithmic, with the points
/// marked.
///
/// `bandwidth` is in TB/s, so that FLOP/byte times TB/s gives TFLOP/s. The axes name every kind of operation that a ceiling has. Values that are not positive are left out.
pub fn roofline(heading: impl Into<String>, bandwidth: f64, ceilings: &[Ceiling], points: &[Point]) -> Plot {
    let is_drawable = |value: f64| value > 0.0 && value.is_finite();
    let drawable = |c: &&Ceiling| is_drawable(c.tera_per_second) && is_drawable(bandwidth);
    let ceilings: Vec<&Ceiling> = ceilings.iter().filter(drawable).collect();
    let points = points.iter().filter(|p| is_drawable(p.intensity) && is_drawable(p.tera_per_second));
    let points: Vec<&Point> = points.collect();

    let ridge = |c: &Ceiling| c.tera_per_second / bandwidth;
    let ridges = || ceilings.iter().map(|c| ridge(c));
    // Some room around the ridges shows both slopes.
    let reach = ridges().flat_map(|r| [r / 4.0, r * 8.0]).chain(points.iter().map(|p| p.intensity));
    let operations: BTreeSet<&str> = ceilings.iter().flat_map(|c| c.operations.iter().copied()).collect();
    let either = |name: fn(&str) -> String| {
        operations.iter().map(|operation| name(operation)).collect::<Vec<_>>().join(" or ")
    };
    let intensity = format!("arithmetic intensity, {} per byte", either(str::to_owned));
    let x = Axis::covering(intensity, Scale::Log10, reach);
    let heights = ceilings.iter().flat_map(|c| [c.tera_per_second * 1.3, x.low() * bandwidth]);
    let heights = heights.chain(points.iter().map(|p| p.tera_per_second));
    let y = Axis::covering(either(|operation| format!("T{operation}/s")), Scale::Log10, heights);

    let (low, high) = (x.low(), x.high());
    let mut plot = Plot::new(heading, x, y).height(360.0);
    // The slope belongs to the memory, not to any one ceiling.
    if let Some(last) = ridges().reduce(f64::max) {
        let slope = vec![(low, low * bandwidth), (last, last * bandwidth)];
        plot = plot.series(Series::line(Hue::Grey, slope));
    }
    for (i, ceiling) in ceilings.iter().enumerate() {
        let peak = ceiling.tera_per_second;
        let roof = vec![(ridge(ceiling), peak), (high, peak)];
        plot = plot.series(Series::line(Hue::of(i), roof).labelled(ceiling.label()));
    }
    merged(&points).into_iter().fold(plot, |plot, (x, y, name)| plot.mark(Mark::new(x, y, name)))
}

/// Points that lie on each other are one, with the names of all.
fn merged(points: &[&Point]) -> Vec<(f64, f64, String)> {
    let mut merged: Vec<(f64, f64, String)> = Vec::new();
    let is_near = |a: f64, b: f64| (a / b).ln().abs() < 0.005;
    for p in points {
        let same =
            merged.iter_mut().find(|(x, y, _)| is_near(*x, p.intensity) && is_near(*y, p.tera_per_second));
        match same {
            Some((_, _, names)) if names.split("; ").any(|name| name == p.name) => {}
            Some((_, _, names)) => *names += &format!("; {}", p.name),
            None => merged.push((p.intensity, p.tera_per_second, p.name.clone())),
        }
    }
    merged
}

impl Ceiling {
    /// Its name and rate, in the unit of its own operations.
    fn label(&self) -> String {
        let kinds: BTreeSet<&str> = self.operations.iter().copied().collect();
        let units: Vec<String> = kinds.iter().map(|kind| format!("T{kind}/s")).collect();
        let digits = usize::from(self.tera_per_second < 100.0);
        format!("{}: {:.digits$} {}", self.name, self.tera_per_second, units.join(" and "))
    }
}
