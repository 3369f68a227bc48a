//! What is said about a measurement.

use super::{
    cuda::CUBLAS,
    measured::{Measured, Outcome},
    monitor::Conditions,
};
use crate::{args::Size, terminal};
use serde::Serialize;
use std::collections::BTreeMap;
use tilewright::{
    Backend, DType, SemiringId,
    plan::{Floor, Query, Work},
};

/// The JSON object of `bench`; the fields are its keys.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub version: &'static str,
    pub semiring: &'static str,
    pub dtype: &'static str,
    pub machine: Machine,
    pub results: Vec<Row>,
}

/// What was measured on.
#[derive(Serialize)]
pub struct Machine {
    pub cpu: Option<String>,
    pub threads: Option<usize>,
    pub gpu: Option<GpuFacts>,
}

#[derive(Serialize)]
pub struct GpuFacts {
    pub name: String,
    pub compute_capability: String,
    pub multiprocessors: u32,
    pub driver: Option<String>,
    pub cublas: Option<u32>,
    /// The math mode that was set.
    pub cublas_math: Option<&'static str>,
    /// Variables that let cuBLAS compute in another way, and their values.
    pub cublas_overrides: BTreeMap<&'static str, String>,
    /// Whether a repetition may begin before the one before it has ended.
    pub repetitions_overlap: bool,
    /// The peak for this semiring and type, at the boost clock.
    pub peak_pair_ops_per_second: Option<f64>,
    pub peak_unit: Option<&'static str>,
    pub memory_bytes_per_second: f64,
}

impl GpuFacts {
    /// On what terms the contenders meet, a line each.
    pub fn terms(&self) -> String {
        let mut lines = Vec::new();
        if let (Some(version), Some(math)) = (self.cublas, self.cublas_math) {
            let mut line = format!("cuBLAS {version}, default algorithm, {math}");
            for (name, value) in &self.cublas_overrides {
                line += &format!("; {name}={value}");
            }
            if self.cublas_overrides.is_empty() {
                line += "; no override of it in the environment";
            }
            lines.push(line);
        }
        if !self.repetitions_overlap {
            lines.push("repetitions do not overlap: each is timed by itself".into());
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A contender at one size. Rates and fractions are null where it was not timed.
#[derive(Clone, Serialize)]
pub struct Row {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub backend: &'static str,
    pub kernel: String,
    /// The median.
    pub seconds: Option<f64>,
    /// Half of the distance between the quartiles, as a part of the median.
    pub spread: Option<f64>,
    pub samples: usize,
    pub pair_ops_per_second: Option<f64>,
    pub flop_per_second: Option<f64>,
    /// Operations for each byte that has to be moved: floating-point ones, or terms.
    pub operations_per_byte: f64,
    /// Of the GPU's peak of arithmetic.
    pub peak_fraction: Option<f64>,
    /// Of what arithmetic and memory together allow at this size.
    pub roofline_fraction: Option<f64>,
    /// The vendor's time over this one: above 1 is faster.
    pub speed_against_cublas: Option<f64>,
    pub registers_per_thread: Option<u32>,
    pub occupancy: Option<f64>,
    pub verified: Option<bool>,
    /// What it needs that this product has not, or where its result is wrong.
    pub problem: Option<String>,
    /// The GPU during the race.
    pub conditions: Option<Conditions>,
}

/// The contenders at one size, with what to compare them with.
pub struct Standings<'a> {
    pub size: Size,
    pub work: Work,
    pub floor: Option<&'a Floor>,
    pub conditions: Option<Conditions>,
    pub measured: &'a [Measured],
}

impl Standings<'_> {
    pub fn rows(&self) -> Vec<Row> {
        self.measured.iter().map(|one| self.row(one)).collect()
    }

    fn row(&self, one: &Measured) -> Row {
        let Size { m, n, k } = self.size;
        let seconds = one.timing().map(|timing| timing.median());
        let rate = seconds.map(|s| self.work.pair_ops / s);
        let floor = self.floor.filter(|_| one.backend == Backend::Cuda);
        let (verified, problem) = match &one.outcome {
            Outcome::Timed(_) => (Some(true), None),
            Outcome::Wrong(fault) => (Some(false), Some(fault.clone())),
            Outcome::Refused(reason) => (None, Some(reason.clone())),
        };
        Row {
            m,
            n,
            k,
            backend: one.backend.name(),
            kernel: one.name.clone(),
            seconds,
            spread: one.timing().map(|timing| timing.spread()),
            samples: one.timing().map_or(0, |timing| timing.seconds.len()),
            pair_ops_per_second: rate,
            flop_per_second: seconds.and_then(|s| Some(self.work.flops? / s)),
            operations_per_byte: self.work.flops.unwrap_or(self.work.pair_ops) / self.work.bytes,
            peak_fraction: rate.and_then(|rate| Some(rate / floor?.peak.pair_ops_per_second)),
            roofline_fraction: seconds.and_then(|s| Some(floor?.seconds / s)),
            speed_against_cublas: seconds.and_then(|s| Some(self.cublas()? / s)),
            registers_per_thread: one.resources.map(|r| r.registers),
            occupancy: one.resources.map(|r| r.occupancy),
            verified,
            problem,
            conditions: self.conditions.filter(|_| one.backend == Backend::Cuda),
        }
    }

    fn cublas(&self) -> Option<f64> {
        Some(self.measured.iter().find(|one| one.name == CUBLAS)?.timing()?.median())
    }
}

/// The unit of rates in tables and charts: GFLOP/s for plus-times on floats, otherwise 10^9 terms per second.
pub fn unit(semiring: SemiringId, dtype: DType) -> &'static str {
    if semiring == SemiringId::PlusTimes && dtype.is_float() { "GFLOP/s" } else { "Gpair-op/s" }
}

/// The rate in that unit.
pub fn rate(row: &Row) -> Option<f64> {
    Some(row.flop_per_second.or(row.pair_ops_per_second)? / 1e9)
}

/// The table of one size.
pub fn table(query: &Query, rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let width = rows.iter().map(|row| row.kernel.len()).max().unwrap_or(0).max(8);
    let (bold, faint) = (terminal::label(), terminal::faint());
    let conditions = rows.iter().find_map(|row| row.conditions).map_or(String::new(), |c| {
        let (clock, power, temperature) = (c.clock_hz / 1e6, c.power_watts, c.temperature_celsius);
        format!(" {faint}at {clock:.0} MHz, {power:.0} W, {temperature:.0} C{faint:#}")
    });
    let mut out = format!("{bold}{} x {} x {}{bold:#}{conditions}\n", first.m, first.n, first.k);
    let unit = unit(query.semiring, query.dtype);
    out += &format!("{faint}  {:width$} {:>11} {:>7} {unit:>11}", "kernel", "time", "spread");
    // The peaks, the vendor and the resources are the GPU's.
    if rows.iter().any(|row| row.backend == Backend::Cuda.name()) {
        out += &format!(
            " {:>8} {:>9} {:>10} {:>5} {:>9}",
            "of peak", "of roof", "x cuBLAS", "regs", "occupancy"
        );
    }
    out += &format!("{faint:#}\n");
    for row in rows {
        out += &line(row, width);
    }
    out
}

fn line(row: &Row, width: usize) -> String {
    if let Some(problem) = &row.problem {
        let (style, label) = match row.verified {
            Some(false) => (terminal::emphasis(), "WRONG: "),
            _ => (terminal::faint(), ""),
        };
        return format!("  {:width$} {style}{label}{problem}{style:#}\n", row.kernel);
    }
    let percent = |part: Option<f64>| part.map_or(String::new(), |p| format!("{:.1} %", 100.0 * p));
    let number = |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
    let line = format!(
        "  {:width$} {:>11} {:>7} {:>11} {:>8} {:>9} {:>10} {:>5} {:>9}",
        row.kernel,
        row.seconds.map_or(String::new(), time),
        percent(row.spread),
        number(rate(row), 1),
        percent(row.peak_fraction),
        percent(row.roofline_fraction),
        number(row.speed_against_cublas, 3),
        row.registers_per_thread.map_or(String::new(), |r| r.to_string()),
        percent(row.occupancy)
    );
    line.trim_end().to_owned() + "\n"
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::{
        Layout, Problem,
        cuda::Timing,
        plan::{Floor, Gpu},
    };

    #[test]
    fn the_terms_name_the_math_mode_and_what_overrides_it() {
        let mut gpu = GpuFacts {
            name: "H200".into(),
            compute_capability: "9.0".into(),
            multiprocessors: 132,
            driver: None,
            cublas: Some(130_100),
            cublas_math: Some("CUBLAS_DEFAULT_MATH"),
            cublas_overrides: BTreeMap::new(),
            repetitions_overlap: true,
            peak_pair_ops_per_second: None,
            peak_unit: None,
            memory_bytes_per_second: 1.0,
        };
        assert_eq!(
            gpu.terms(),
            "cuBLAS 130100, default algorithm, CUBLAS_DEFAULT_MATH; no override of it in the environment\n"
        );
        gpu.cublas_overrides.insert("NVIDIA_TF32_OVERRIDE", "1".into());
        gpu.repetitions_overlap = false;
        let terms = gpu.terms();
        assert!(terms.contains("CUBLAS_DEFAULT_MATH; NVIDIA_TF32_OVERRIDE=1\n"), "{terms}");
        assert!(terms.contains("repetitions do not overlap"), "{terms}");
        let json = serde_json::to_value(&gpu).unwrap();
        assert_eq!(json["cublas_math"], "CUBLAS_DEFAULT_MATH");
        assert_eq!(json["cublas_overrides"]["NVIDIA_TF32_OVERRIDE"], "1");
        assert_eq!(json["repetitions_overlap"], false);
        gpu.cublas = None;
        assert!(!gpu.terms().contains("cuBLAS"));
    }

    fn measured(name: &str, seconds: f64) -> Measured {
        let timing = Timing { name: name.into(), seconds: vec![seconds; 3] };
        Measured {
            backend: Backend::Cuda,
            name: name.into(),
            outcome: Outcome::Timed(timing),
            resources: None,
        }
    }

    #[test]
    fn rates_are_compared_with_peak_roofline_and_vendor() {
        let l = Layout::row_major(4096, 4096);
        let query = Query::new(SemiringId::PlusTimes, DType::F32, Problem::new(l, l, l).unwrap());
        let work = query.work();
        let floor = Floor::on(&Gpu::named("h200").unwrap(), &query, &work).unwrap();
        let mut measured = vec![measured("simt", 2.7e-3), measured(CUBLAS, 2.8e-3), measured("broken", 1.0)];
        measured[2].outcome = Outcome::Wrong("C[0, 0] is 1, not 2".into());
        let size = Size::square(4096);
        let standings = Standings { size, work, floor: Some(&floor), conditions: None, measured: &measured };
        let rows = standings.rows();
        let flops = 2.0 * 4096f64.powi(3);
        assert!((rows[0].flop_per_second.unwrap() / (flops / 2.7e-3) - 1.0).abs() < 1e-12);
        assert!((rows[0].speed_against_cublas.unwrap() - 2.8 / 2.7).abs() < 1e-12);
        // 50.9 of 66.9 TFLOP/s; at this size the roofline is the peak.
        assert!((rows[0].peak_fraction.unwrap() - 0.761).abs() < 0.002, "{:?}", rows[0].peak_fraction);
        let [peak, roofline] = [rows[0].peak_fraction, rows[0].roofline_fraction].map(Option::unwrap);
        assert!((peak - roofline).abs() < 1e-12, "{peak} {roofline}");
        assert_eq!((rows[2].verified, rows[2].seconds), (Some(false), None));
        let table = table(&query, &rows);
        assert!(table.contains("broken   ") && table.contains("WRONG: C[0, 0] is 1, not 2"), "{table}");
        assert!(table.contains("50903") && table.contains("76.1 %") && table.contains("1.037"), "{table}");
    }
}
