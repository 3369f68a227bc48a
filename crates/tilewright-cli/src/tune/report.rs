//! What is said about a tuning.

use super::{chooser::median, measure::Ways};
use crate::{
    args::{Order, Size},
    failure::Failure,
    terminal, wrapping,
};
use serde::Serialize;
use std::io::Write;
use tilewright::cuda::Tuning;

/// The JSON object of `tune`; the fields are its keys.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub gpu: String,
    pub driver: String,
    pub semiring: &'static str,
    pub dtype: &'static str,
    pub products: Vec<Product>,
}

#[derive(Serialize)]
pub struct Product {
    m: usize,
    n: usize,
    k: usize,
    order: &'static str,
    /// The fastest first.
    ways: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    way: String,
    kernel: &'static str,
    tile: [u32; 6],
    packed: [bool; 2],
    /// Null where the model decides.
    parts: Option<u32>,
    /// The median.
    seconds: f64,
    /// By the model.
    estimated_seconds: f64,
    samples: usize,
    /// The time of the model's choice over this one: above 1 is faster.
    speed_against_model: f64,
    is_models_choice: bool,
    kept: bool,
}

impl Report {
    pub fn heading(&self) -> String {
        let bold = terminal::label();
        let on = wrapping::paragraph(&format!("GPU {}, driver for CUDA {}", self.gpu, self.driver));
        format!("{bold}{} on {}{bold:#}\n{on}", self.semiring, self.dtype)
    }
}

impl Product {
    /// What was measured, with the number of the way that is kept.
    pub fn new(Size { m, n, k }: Size, order: Order, measured: &Ways, best: usize) -> Self {
        let model = measured.samples.first().map_or(f64::NAN, |seconds| median(seconds));
        let of = |(number, (way, samples)): (usize, (&tilewright_kernels::Way, &Vec<f64>))| {
            let seconds = median(samples);
            Measured {
                estimated_seconds: measured.estimates[number],
                way: way.to_string(),
                kernel: way.kernel,
                tile: way.tile,
                packed: way.pack,
                parts: way.splits,
                seconds,
                samples: samples.len(),
                speed_against_model: model / seconds,
                is_models_choice: number == 0,
                kept: number == best,
            }
        };
        let mut ways: Vec<_> = measured.ways.iter().zip(&measured.samples).enumerate().map(of).collect();
        ways.sort_by(|x, y| x.seconds.total_cmp(&y.seconds));
        Self { m, n, k, order: order.name(), ways }
    }

    pub fn text(&self) -> String {
        let bold = terminal::label();
        let mut text = format!("{bold}{} x {} x {}, {}{bold:#}\n", self.m, self.n, self.k, self.order);
        for one in &self.ways {
            let said = match (one.kept, one.is_models_choice) {
                (true, true) => "kept, the model's choice",
                (true, false) => "kept",
                (false, true) => "the model's choice",
                (false, false) => "",
            };
            let (micros, speed) = (one.seconds * 1e6, one.speed_against_model);
            let estimated = one.estimated_seconds * 1e6;
            let line = format!(
                "  {micros:>11.2} us, estimated {estimated:>11.2} {speed:>7.3} x  {}  {said}",
                one.way
            );
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

/// The JSON object of `tune --list` and `tune --clear`; the fields are its keys.
#[derive(Serialize)]
pub struct Kept {
    schema: u32,
    directory: String,
    removed: u64,
    tunings: Vec<One>,
}

#[derive(Serialize)]
struct One {
    product: String,
    way: String,
    seconds: f64,
    speed_against_model: f64,
}

impl Kept {
    pub fn new(directory: String, removed: u64, tunings: &[Tuning]) -> Self {
        let one = |t: &Tuning| One {
            product: t.product.clone(),
            way: t.way.to_string(),
            seconds: t.seconds,
            speed_against_model: t.model_seconds / t.seconds,
        };
        Self { schema: 1, directory, removed, tunings: tunings.iter().map(one).collect() }
    }

    pub fn text(&self) -> String {
        let mut rows =
            vec![("directory", self.directory.clone()), ("tunings", self.tunings.len().to_string())];
        if self.removed > 0 {
            rows.push(("removed", self.removed.to_string()));
        }
        for one in &self.tunings {
            rows.push(("product", one.product.clone()));
            let (micros, speed) = (one.seconds * 1e6, one.speed_against_model);
            rows.push((
                "way",
                format!("{}: {micros:.2} us, {speed:.3} times as fast as the model's choice", one.way),
            ));
        }
        wrapping::rows(rows, 10)
    }
}

pub fn print(text: &str) -> Result<(), Failure> {
    Ok(terminal::stdout().write_all(text.as_bytes())?)
}
