//! What the kernels of the ladder were measured at, so that a report can say what its counts are worth.

use crate::model::Explanation;
use serde::Serialize;
use tilewright_arch::{Device, Rate};
use tilewright_charts::{Bar, Bars, Figure, Hue, Theme};

/// The table of BENCHMARKS.md, "GPU: the ladder": a line for each kernel.
const LADDER: &str = include_str!("../data/ladder_h200.csv");

/// The rate of a kernel on a real GPU: plus-times on f32, `n` x `n` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Floating-point operations per second.
    pub flop_per_second: f64,
    /// The GPU.
    pub gpu: &'static str,
    /// M, N and K.
    pub n: u32,
}

/// The measured rate of a kernel of the ladder, or of `cuBLAS` beside it; `None` for others.
pub fn measured(kernel: &str) -> Option<Measured> {
    rows().find(|&(name, _)| name == kernel).map(|(_, gflop)| Measured {
        flop_per_second: gflop * 1e9,
        gpu: "H200",
        n: 4096,
    })
}

/// Names and GFLOP/s, from the slowest kernel to the library.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, f64)> {
    LADDER.lines().skip(1).filter_map(|row| {
        let mut cells = row.split(',');
        Some((cells.next()?, cells.next()?.parse().ok()?))
    })
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
    let bars = rows().map(bar).fold(Bars::new("", "TFLOP/s, f32"), Bars::bar);
    let title = "The ladder on one H200: n = 4096, from naive to faster than the library";
    Figure::new(title).panel(bars).to_svg(Theme::Auto)
}

/// The library beside the kernels, and the kernel that products use.
const LIBRARY: &str = "cuBLAS";
const PRODUCTION: &str = "simt";

/// The same for what was explained, if it is the program that was measured.
pub(crate) fn of(e: &Explanation) -> Option<Measured> {
    let is_measured = e.notes.iter().any(|note| note.starts_with("plus-times on f32"));
    if is_measured { measured(&e.kernel) } else { None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_benchmarks() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../BENCHMARKS.md");
        let text = std::fs::read_to_string(path).unwrap();
        let section = text.split("## GPU: the ladder").nth(1).unwrap().split("\n## ").next().unwrap();
        let mut count = 0;
        for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let published: f64 = cells[2].replace(',', "").parse().unwrap();
            assert_eq!(measured(cells[1]).unwrap().flop_per_second, published * 1e9, "{}", cells[1]);
            count += 1;
        }
        assert_eq!(count, rows().count());
    }

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
