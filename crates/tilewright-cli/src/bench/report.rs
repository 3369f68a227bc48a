//! What is said about a measurement.

use super::{
    library::{ALGORITHMS, CUBLAS, CUBLASLT, LEAST_WORKSPACE},
    measured::{Measured, Outcome, Terms},
    monitor::Conditions,
    table,
};
use crate::args::{Order, Size};
use serde::Serialize;
use std::collections::BTreeMap;
use tilewright::{
    Backend,
    plan::{Floor, Work},
};

/// The JSON object of `bench`; the fields are its keys.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub version: &'static str,
    pub semiring: String,
    pub dtype: &'static str,
    pub data: &'static str,
    pub machine: Machine,
    pub results: Vec<Row>,
}

impl Report {
    /// The most terms per second that a contender could compute; `None` for the processor.
    pub fn peak_of(&self, row: &Row) -> Option<f64> {
        self.machine.gpu.as_ref().filter(|_| row.backend == Backend::Cuda.name())?.peak_pair_ops_per_second
    }
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
    pub cublaslt: Option<u32>,
    /// Its compute type.
    pub cublaslt_compute: Option<&'static str>,
    /// Variables that let these libraries compute in another way, and their values.
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
            lines.push(format!("{CUBLAS} {version}, its own choice of algorithm, {math}"));
        }
        if let (Some(version), Some(compute)) = (self.cublaslt, self.cublaslt_compute) {
            lines.push(format!(
                "{CUBLASLT} {version}, the fastest of at most {ALGORITHMS} algorithms that its heuristics name, {compute}"
            ));
        }
        if !lines.is_empty() {
            let set = |(name, value): (&&str, &String)| format!("{name}={value}");
            let overrides: Vec<_> = self.cublas_overrides.iter().map(set).collect();
            lines.push(match overrides.is_empty() {
                true => "no override of their arithmetic in the environment".into(),
                false => format!("overrides of their arithmetic: {}", overrides.join(", ")),
            });
            let least = LEAST_WORKSPACE >> 20;
            lines.push(format!(
                "workspace of a library: that of the kernels beside it, and at least {least} MiB; {CUBLAS}'s own where it is faster so"
            ));
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
    /// How A and B lie: n by rows, t by columns.
    pub order: &'static str,
    pub backend: &'static str,
    pub kernel: String,
    /// Of the processor; null on a GPU.
    pub threads: Option<usize>,
    pub terms: Terms,
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
    /// The least time by the counts of one block, of a kernel whose counts tell; the part of the GPU that takes it; its part of the measured time.
    pub bound_seconds: Option<f64>,
    pub bound_part: Option<&'static str>,
    pub bound_fraction: Option<f64>,
    /// The time that is likely by the same counts.
    pub predicted_seconds: Option<f64>,
    /// The library's time over this one: above 1 is faster.
    pub speed_against_cublas: Option<f64>,
    pub speed_against_cublaslt: Option<f64>,
    /// Of the GPU, for A, B, C and the workspace.
    pub memory_bytes: Option<u64>,
    /// What it takes beyond A, B and C, null where a library takes it by itself; and the most that it might have taken.
    pub workspace_bytes: Option<u64>,
    pub workspace_limit_bytes: Option<u64>,
    /// Of so many algorithms that were tried it is the fastest.
    pub algorithms_tried: Option<usize>,
    pub registers_per_thread: Option<u32>,
    pub occupancy: Option<f64>,
    pub verified: Option<bool>,
    /// What it needs that this product has not, or where its result is wrong.
    pub problem: Option<String>,
    /// The GPU during the race.
    pub conditions: Option<Conditions>,
}

impl Row {
    /// Sizes and order, for headings.
    pub fn product(&self) -> String {
        table::product_named(self.m, self.n, self.k, self.order)
    }

    /// The kernel with its threads, for tables and charts.
    pub fn contender(&self) -> String {
        let kernel = match self.terms {
            Terms::All => self.kernel.clone(),
            Terms::Pruned => format!("{} pruned", self.kernel),
            Terms::NothingToPrune => format!("{} on equal elements", self.kernel),
        };
        match self.threads {
            None => kernel,
            Some(1) => format!("{kernel}, 1 thread"),
            Some(threads) => format!("{kernel}, {threads} threads"),
        }
    }
}

/// The contenders for one product, with what to compare them with.
pub struct Standings<'a> {
    pub size: Size,
    pub order: Order,
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
            order: self.order.name(),
            backend: one.backend.name(),
            kernel: one.name.clone(),
            threads: one.threads,
            terms: one.terms,
            seconds,
            spread: one.timing().map(|timing| timing.spread()),
            samples: one.timing().map_or(0, |timing| timing.seconds.len()),
            pair_ops_per_second: rate,
            flop_per_second: seconds.and_then(|s| Some(self.work.flops? / s)),
            operations_per_byte: self.work.flops.unwrap_or(self.work.pair_ops) / self.work.bytes,
            peak_fraction: rate.and_then(|rate| Some(rate / floor?.peak.pair_ops_per_second)),
            roofline_fraction: seconds.and_then(|s| Some(floor?.seconds / s)),
            bound_seconds: one.bounds.as_ref().map(|bounds| bounds.seconds),
            bound_part: one.bounds.as_ref().map(|bounds| bounds.part),
            bound_fraction: seconds.and_then(|s| Some(one.bounds.as_ref()?.seconds / s)),
            predicted_seconds: one.bounds.as_ref().map(|bounds| bounds.likely_seconds),
            speed_against_cublas: seconds.and_then(|s| Some(self.of(CUBLAS)? / s)),
            speed_against_cublaslt: seconds.and_then(|s| Some(self.of(CUBLASLT)? / s)),
            memory_bytes: one.memory.and_then(|memory| Some(memory.matrices + memory.workspace?)),
            workspace_bytes: one.memory.and_then(|memory| memory.workspace),
            workspace_limit_bytes: one.memory.map(|memory| memory.limit),
            algorithms_tried: one.algorithms,
            registers_per_thread: one.resources.map(|r| r.registers),
            occupancy: one.resources.map(|r| r.occupancy),
            verified,
            problem,
            conditions: self.conditions.filter(|_| one.backend == Backend::Cuda),
        }
    }

    /// The time of a library.
    fn of(&self, library: &str) -> Option<f64> {
        Some(self.measured.iter().find(|one| one.name == library)?.timing()?.median())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{csv, measured::Memory};
    use super::*;
    use tilewright::{
        DType, Layout, Problem, SemiringId,
        cuda::Timing,
        plan::{Gpu, Query},
    };

    fn facts() -> GpuFacts {
        GpuFacts {
            name: "H200".into(),
            compute_capability: "9.0".into(),
            multiprocessors: 132,
            driver: None,
            cublas: Some(130_100),
            cublas_math: Some("CUBLAS_DEFAULT_MATH"),
            cublaslt: None,
            cublaslt_compute: None,
            cublas_overrides: BTreeMap::new(),
            repetitions_overlap: true,
            peak_pair_ops_per_second: None,
            peak_unit: None,
            memory_bytes_per_second: 1.0,
        }
    }

    #[test]
    fn the_terms_name_the_arithmetic_and_what_overrides_it() {
        let mut gpu = facts();
        assert_eq!(
            gpu.terms(),
            "cuBLAS 130100, its own choice of algorithm, CUBLAS_DEFAULT_MATH\n\
             no override of their arithmetic in the environment\n\
             workspace of a library: that of the kernels beside it, and at least 32 MiB; \
             cuBLAS's own where it is faster so\n"
        );
        gpu.cublas_overrides.insert("NVIDIA_TF32_OVERRIDE", "1".into());
        gpu.repetitions_overlap = false;
        (gpu.cublaslt, gpu.cublaslt_compute) = (Some(130_200), Some("CUBLAS_COMPUTE_32F"));
        let terms = gpu.terms();
        assert!(terms.contains("overrides of their arithmetic: NVIDIA_TF32_OVERRIDE=1\n"), "{terms}");
        assert!(terms.contains("cuBLASLt 130200, the fastest of at most 32 algorithms"), "{terms}");
        assert!(terms.contains("repetitions do not overlap"), "{terms}");
        let json = serde_json::to_value(&gpu).unwrap();
        assert_eq!(json["cublas_math"], "CUBLAS_DEFAULT_MATH");
        assert_eq!(json["cublaslt_compute"], "CUBLAS_COMPUTE_32F");
        assert_eq!(json["cublas_overrides"]["NVIDIA_TF32_OVERRIDE"], "1");
        assert_eq!(json["repetitions_overlap"], false);
        (gpu.cublas, gpu.cublaslt) = (None, None);
        assert!(!gpu.terms().contains("cuBLAS"));
    }

    fn measured(name: &str, seconds: f64) -> Measured {
        let timing = Timing { name: name.into(), seconds: vec![seconds; 3] };
        Measured::new(Backend::Cuda, name, Outcome::Timed(timing))
    }

    #[test]
    fn rates_are_compared_with_peak_roofline_and_vendor() {
        let l = Layout::row_major(4096, 4096);
        let query = Query::new(SemiringId::PlusTimes, DType::F32, Problem::new(l, l, l).unwrap());
        let work = query.work();
        let floor = Floor::on(&Gpu::named("h200").unwrap(), &query, &work).unwrap();
        let mut measured = vec![
            measured("simt", 2.7e-3),
            measured(CUBLAS, 2.8e-3),
            measured(CUBLASLT, 2.75e-3),
            measured("broken", 1.0),
        ];
        measured[3].outcome = Outcome::Wrong("C[0, 0] is 1, not 2".into());
        let (matrices, workspace, limit) = (3 << 26, 128 << 20, 4 << 30);
        measured[0].memory = Some(Memory { matrices, workspace: Some(workspace), limit });
        measured[1].memory = Some(Memory { matrices, workspace: None, limit });
        measured[2].algorithms = Some(7);
        let (size, order) = (Size::square(4096), Order::Tn);
        let floor = Some(&floor);
        let standings = Standings { size, order, work, floor, conditions: None, measured: &measured };
        let rows = standings.rows();
        let flops = 2.0 * 4096f64.powi(3);
        assert!((rows[0].flop_per_second.unwrap() / (flops / 2.7e-3) - 1.0).abs() < 1e-12);
        assert!((rows[0].speed_against_cublas.unwrap() - 2.8 / 2.7).abs() < 1e-12);
        assert!((rows[0].speed_against_cublaslt.unwrap() - 2.75 / 2.7).abs() < 1e-12);
        assert_eq!((rows[0].memory_bytes, rows[0].workspace_bytes), (Some(320 << 20), Some(128 << 20)));
        assert_eq!((rows[1].memory_bytes, rows[1].workspace_bytes), (None, None));
        assert_eq!((rows[0].workspace_limit_bytes, rows[2].algorithms_tried), (Some(4 << 30), Some(7)));
        // 50.9 of 66.9 TFLOP/s; at this size the roofline is the peak.
        assert!((rows[0].peak_fraction.unwrap() - 0.761).abs() < 0.002, "{:?}", rows[0].peak_fraction);
        let [peak, roofline] = [rows[0].peak_fraction, rows[0].roofline_fraction].map(Option::unwrap);
        assert!((peak - roofline).abs() < 1e-12, "{peak} {roofline}");
        assert_eq!((rows[3].verified, rows[3].seconds), (Some(false), None));
        let table = table::text(&query, &rows);
        assert!(table.contains("4096 x 4096 x 4096, tn"), "{table}");
        assert!(table.contains("broken   ") && table.contains("WRONG: C[0, 0] is 1, not 2"), "{table}");
        for part in ["50903", "76.1 %", "x cuBLAS", "1.037", "x cuBLASLt", "1.019", "128.0 MiB", "its own"] {
            assert!(table.contains(part), "{part}: {table}");
        }
        // No column for a library that does not take part.
        let alone = table::text(&query, &rows[..1]);
        assert!(!alone.contains("cuBLAS"), "{alone}");
    }

    #[test]
    fn csv_has_as_many_cells_as_columns() {
        let l = Layout::row_major(8, 8);
        let query = Query::new(SemiringId::PlusTimes, DType::F32, Problem::new(l, l, l).unwrap());
        let mut measured = vec![measured("simt", 0.5), measured("broken", 1.0)];
        measured[1].outcome = Outcome::Wrong("C[0, 0] is \"1\", not 2".into());
        let (size, order, work) = (Size::square(8), Order::Nt, query.work());
        let rows = Standings { size, order, work, floor: None, conditions: None, measured: &measured }.rows();
        let machine = Machine { cpu: None, threads: None, gpu: Some(facts()) };
        let (semiring, dtype) = (query.semiring.name().to_owned(), query.dtype.name());
        let report =
            Report { schema: 1, version: "0", semiring, dtype, data: "signed", machine, results: Vec::new() };
        let (header, lines) = (csv::header(), csv::lines(&report, &rows));
        let lines: Vec<&str> = lines.lines().collect();
        assert!(
            header.starts_with("semiring,dtype,m,n,k,order,backend,kernel,threads,terms,seconds,"),
            "{header}"
        );
        assert!(lines[0].starts_with("plus-times,f32,8,8,8,nt,cuda,\"simt\",,all,0.5,0,3,"), "{}", lines[0]);
        assert_eq!(lines[0].matches(',').count(), header.matches(',').count());
        assert!(lines[1].contains(",false,\"C[0, 0] is \"\"1\"\", not 2\","), "{}", lines[1]);
        // Every name is a key of JSON, or of what stands around the rows.
        let json = serde_json::to_value(&rows[0]).unwrap();
        for name in header.trim_end().split(',') {
            let around = ["semiring", "dtype", "clock_hz", "power_watts", "peak_pair_ops_per_second"];
            let around = around.contains(&name);
            assert!(around || json.get(name).is_some(), "{name}");
        }
    }
}
