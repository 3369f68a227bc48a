//! Draws one figure of each sort: `cargo run -p tilewright-charts --features png --example gallery DIRECTORY`

use std::{error::Error, fs, path::PathBuf};
use tilewright_charts::{
    Axis, Bar, Bars, Ceiling, Figure, Hue, Mark, Plot, Point, Scale, Series, Theme, roofline,
};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    fs::create_dir_all(&directory)?;
    for (name, figure) in [("steps", steps()), ("rates", rates()), ("roofline", roof())] {
        fs::write(directory.join(format!("{name}.svg")), figure.to_svg(Theme::Auto))?;
        #[cfg(feature = "png")]
        for (theme, suffix) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
            fs::write(directory.join(format!("{name}-{suffix}.png")), figure.to_png(theme, 2.0)?)?;
        }
    }
    Ok(())
}

fn steps() -> Figure {
    let points = (1..=32).map(|warps| {
        let threads = f64::from(warps * 32);
        (threads - 31.0, f64::from(48 / warps * warps))
    });
    let plot = Plot::new(
        "A staircase and a mark",
        Axis::new("threads per block", Scale::Binary, 0.0, 1024.0),
        Axis::new("warps per SM", Scale::Binary, 0.0, 48.0),
    );
    let plot = plot.series(Series::steps(Hue::Blue, points.collect()));
    Figure::new("Steps").subtitle("A line below the title").panel(plot.mark(Mark::new(1024.0, 32.0, "here")))
}

fn rates() -> Figure {
    let sizes = || (8..=13).map(|power| f64::from(1 << power));
    let curve = |top: f64| sizes().map(|n| (n, top * n / (n + 700.0))).collect();
    let plot = Plot::new(
        "Rate against size",
        Axis::new("m = n = k", Scale::Log2, 256.0, 8192.0),
        Axis::covering("TFLOP/s", Scale::Linear, [52.0]),
    );
    let plot = plot
        .series(Series::line(Hue::Blue, curve(52.0)).named("one library"))
        .series(Series::line(Hue::Orange, curve(44.0)).named("another"))
        .series(Series::dots(Hue::Green, curve(30.0)).named("measured once"));
    let bars = Bars::new("A ladder", "GFLOP/s")
        .bar(Bar::new("naive", 499.0))
        .bar(Bar::new("coalesced", 6250.0))
        .bar(Bar::new("warp-tile", 36267.0).hue(Hue::Green).note("36,267: 71 % of the library"));
    Figure::new("Rates").panel(plot).panel(bars).note("A note at the foot")
}

fn roof() -> Figure {
    let ceiling =
        |name: &str, rate| Ceiling { name: name.into(), tera_per_second: rate, operations: vec!["FLOP"] };
    let ceilings = [ceiling("bf16 tensor", 989.0), ceiling("tf32 tensor", 495.0), ceiling("f32 FMA", 67.0)];
    let point = Point { name: "a kernel".into(), intensity: 4.0, tera_per_second: 9.0 };
    Figure::new("Roofline").panel(roofline("4.8 TB/s", 4.8, &ceilings, &[point]))
}
