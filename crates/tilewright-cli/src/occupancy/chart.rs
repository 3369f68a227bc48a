//! Occupancy against threads, registers and shared memory, with the present configuration marked.

use super::{setting::Setting, target::Target, text};
use crate::failure::Failure;
use tilewright_arch::Vary;
use tilewright_charts::{Axis, Figure, Hue, Mark, Plot, Scale, Series};

/// A panel: what is varied, in which unit, and the colour.
struct Curve {
    quantity: Vary,
    heading: &'static str,
    axis: &'static str,
    /// Of the axis: in units of the quantity, and its name.
    unit: (f64, &'static str),
    hue: Hue,
}

const CURVES: [Curve; 3] = [
    Curve {
        quantity: Vary::Threads,
        heading: "Block size",
        axis: "threads per block",
        unit: (1.0, "threads"),
        hue: Hue::Blue,
    },
    Curve {
        quantity: Vary::Registers,
        heading: "Registers",
        axis: "registers per thread",
        unit: (1.0, "registers"),
        hue: Hue::Green,
    },
    Curve {
        quantity: Vary::SharedMemory,
        heading: "Shared memory",
        axis: "KiB of shared memory per block",
        unit: (1024.0, "KiB"),
        hue: Hue::Purple,
    },
];

pub fn figure(target: &Target, setting: &Setting) -> Result<Figure, Failure> {
    let occupancy = setting.outcome()?.occupancy;
    let figure = Figure::new(format!("Occupancy on {}", target.describe()))
        .subtitle(text::configuration(setting))
        .subtitle(text::result(&occupancy));
    CURVES.iter().try_fold(figure, |figure, curve| Ok(figure.panel(curve.plot(setting)?)))
}

impl Curve {
    fn plot(&self, setting: &Setting) -> Result<Plot, Failure> {
        let (unit, unit_name) = self.unit;
        let values: Vec<u32> = self.quantity.values(setting.limits).collect();
        let last = values.last().copied().unwrap_or(0);
        let x = Axis::new(self.axis, Scale::Binary, 0.0, f64::from(last) / unit);
        let most = f64::from(setting.limits.max_warps_per_sm());
        let y = Axis::new("warps per SM", Scale::Binary, 0.0, most);

        let present = setting.value(self.quantity);
        let warps = setting.outcome()?.occupancy.warps_per_sm;
        let position = f64::from(present) / unit;
        let label = format!("{warps} warps at {} {unit_name}", short(position));
        let plot =
            Plot::new(self.heading, x, y).series(Series::steps(self.hue, self.steps(setting, &values)?));
        Ok(plot.mark(Mark::new(position, f64::from(warps), label)))
    }

    /// Where the warps change. Between two values a block takes as much as at the upper one, so that a step begins
    /// right above the value before.
    fn steps(&self, setting: &Setting, values: &[u32]) -> Result<Vec<(f64, f64)>, Failure> {
        let (unit, _) = self.unit;
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut from = values.first().map_or(0, |&first| first.min(1));
        for &value in values {
            let warps = f64::from(setting.vary(self.quantity, value).outcome()?.occupancy.warps_per_sm);
            if points.last().is_none_or(|(_, before)| *before != warps) {
                points.push((f64::from(from) / unit, warps));
            }
            from = value + 1;
        }
        if let (Some(&last), Some(&(_, warps))) = (values.last(), points.last()) {
            points.push((f64::from(last) / unit, warps));
        }
        Ok(points)
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
