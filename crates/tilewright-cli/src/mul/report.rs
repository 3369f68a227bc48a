//! What is said about a product.

use super::{compute::Computed, entry::Entry, inputs::Inputs, resolved::Resolved};
use crate::{failure::Failure, terminal, wrapping};
use serde::Serialize;
use std::io::Write;
use tilewright::{Activation, Joining, Report, SemiringId, Verification, extents, stack::Shapes};

/// The JSON object of `mul`; the fields are its keys.
#[derive(Serialize)]
pub struct Summary {
    schema: u32,
    semiring: String,
    dtype: &'static str,
    m: usize,
    n: usize,
    k: usize,
    /// Dimensions in front of those of a matrix; empty for one product.
    batch: Vec<usize>,
    backend: &'static str,
    kernel: String,
    threads: usize,
    seconds: f64,
    read_seconds: f64,
    write_seconds: f64,
    transfer_seconds: f64,
    #[serde(skip)]
    prepare_seconds: f64,
    pair_ops_per_second: f64,
    /// What the emulator found that is no error.
    findings: usize,
    verified: Option<Verified>,
    output: Option<String>,
    arg_output: Option<String>,
    /// With `--from` and `--to`.
    pub entry: Option<Entry>,
    #[serde(skip)]
    is_number_product: bool,
    #[serde(skip)]
    formula: String,
}

/// JSON has no infinity: a `max_error` that is infinite becomes null.
#[derive(Serialize)]
struct Verified {
    max_error: f64,
    bound: f64,
    rows_checked: usize,
    passed: bool,
}

/// What C is.
fn formula(asked: &Resolved) -> String {
    let product = match asked.joining {
        Joining::Replace => "A x B",
        Joining::Accumulate => "C0 + A x B",
        Joining::Scale { beta: None, .. } => "alpha A x B",
        Joining::Scale { beta: Some(_), .. } => "alpha A x B + beta C0",
    };
    let scales = match asked.scales.is_none() {
        true => String::new(),
        false => format!(" with {}", asked.scales.name()),
    };
    let bias = if asked.bias.is_some() { " + bias" } else { "" };
    match asked.activation {
        Activation::None => format!("{product}{scales}{bias}"),
        activation => format!("{activation}({product}{scales}{bias})"),
    }
}

impl Summary {
    pub fn new(
        asked: &Resolved,
        inputs: &Inputs,
        computed: &Computed,
        verified: Option<&Verification>,
        write_seconds: f64,
    ) -> Self {
        let Shapes { m, n, k, batch, .. } = &inputs.shapes;
        let report = computed.report.as_ref();
        let seconds = |of: fn(&Report) -> f64| report.map_or(0.0, of);
        let pair_ops = inputs.shapes.terms();
        Self {
            schema: 1,
            semiring: asked.semiring.name().to_owned(),
            dtype: inputs.dtype.name(),
            m: *m,
            n: *n,
            k: *k,
            batch: batch.clone(),
            backend: report.map_or(asked.backend, |report| report.backend).name(),
            kernel: report.map_or("none: an empty stack".into(), |report| report.kernel.to_string()),
            threads: report.map_or(0, |report| report.threads),
            seconds: seconds(|report| report.seconds),
            read_seconds: inputs.seconds,
            write_seconds,
            transfer_seconds: seconds(|report| report.transfer_seconds),
            prepare_seconds: seconds(|report| report.prepare_seconds),
            pair_ops_per_second: match seconds(|report| report.seconds) {
                s if s > 0.0 => pair_ops / s,
                _ => 0.0,
            },
            findings: report.map_or(0, |report| report.findings),
            verified: verified.map(|v| Verified {
                max_error: v.max_error,
                bound: v.bound,
                rows_checked: v.rows_checked,
                passed: v.passed,
            }),
            output: asked.outputs.c(),
            arg_output: asked.outputs.arg(),
            entry: None,
            is_number_product: asked.semiring.is(SemiringId::PlusTimes),
            formula: formula(asked),
        }
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        Ok(terminal::stdout().write_all(wrapping::rows(self.rows(), 10).as_bytes())?)
    }

    /// The whole in one line.
    pub fn line(&self) -> String {
        let rows = self.rows();
        rows.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let Self { m, n, k, semiring, dtype, kernel, threads, .. } = self;
        let plural = if *threads == 1 { "" } else { "s" };
        let mut rows = vec![
            (
                "product",
                format!("C {m}x{n} = {}, k = {k}, {semiring} on {dtype}{}", self.formula, self.stacked()),
            ),
            ("backend", format!("{} ({kernel}), {threads} thread{plural}", self.backend)),
            ("time", self.times()),
            ("rate", self.rate()),
        ];
        if let Some(v) = &self.verified {
            let verdict = if v.passed { "passed" } else { "FAILED" };
            let size = match v.bound {
                0.0 if v.passed => "exact".to_owned(),
                0.0 => "not exact".to_owned(),
                bound => format!("error {:.2e}, bound {bound:.2e}", v.max_error),
            };
            rows.push((
                "verified",
                format!(
                    "{verdict}: {size}, {} of {} rows",
                    v.rows_checked,
                    m * self.batch.iter().product::<usize>()
                ),
            ));
        }
        let written = |name, file: &Option<String>| file.as_ref().map(|f| (name, format!("wrote {f}")));
        if self.verified.as_ref().is_none_or(|v| v.passed) {
            rows.extend(written("output", &self.output).into_iter().chain(written("arg", &self.arg_output)));
        }
        rows
    }

    /// How many products there are, where it is not one.
    fn stacked(&self) -> String {
        match self.batch[..] {
            [] => String::new(),
            [count] => format!(", {count} times"),
            _ => format!(", {} times", extents(&self.batch)),
        }
    }

    fn times(&self) -> String {
        let mut text = format!("{} (read {}", time(self.seconds), time(self.read_seconds));
        for (what, seconds) in [("prepare", self.prepare_seconds), ("transfer", self.transfer_seconds)] {
            if seconds > 0.0 {
                text += &format!(", {what} {}", time(seconds));
            }
        }
        if self.output.is_some() || self.arg_output.is_some() {
            text += &format!(", write {}", time(self.write_seconds));
        }
        text + ")"
    }

    fn rate(&self) -> String {
        let rate = self.pair_ops_per_second;
        let flops = match self.is_number_product {
            true => format!(", {}", scaled(2.0 * rate, "FLOP/s")),
            false => String::new(),
        };
        format!("{}{flops}", scaled(rate, "pair-ops/s"))
    }
}

/// Four digits that count, with the prefix that suits them.
fn scaled(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) = PREFIXES.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    let value = value / scale;
    let decimals = match value {
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$} {prefix}{unit}")
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::{scaled, time};

    #[test]
    fn rates_are_never_nothing() {
        assert_eq!(scaled(8.0e5, "pair-ops/s"), "800.0 kpair-ops/s");
        assert_eq!(scaled(3.2e11, "FLOP/s"), "320.0 GFLOP/s");
        assert_eq!(scaled(1.5e7, "FLOP/s"), "15.00 MFLOP/s");
    }

    #[test]
    fn times_have_readable_units() {
        assert_eq!([time(2.5), time(0.0123), time(4e-6)], ["2.500 s", "12.300 ms", "4.0 us"]);
    }
}
