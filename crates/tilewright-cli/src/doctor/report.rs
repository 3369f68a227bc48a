//! What `doctor` found.

use super::{check, cpu, cuda::Cuda};
use crate::run::library::Origin;
use crate::{failure::Failure, hints, terminal, wrapping};
use serde::Serialize;
use std::{io::Write, time::Instant};
use tilewright::{Backend, Isa};

const VARIABLES: [&str; 16] = [
    "TILEWRIGHT_BACKEND",
    "TILEWRIGHT_THREADS",
    FORCE_ISA,
    "TILEWRIGHT_DEVICE",
    "TILEWRIGHT_CACHE_DIR",
    "TILEWRIGHT_NO_CACHE",
    "TILEWRIGHT_NO_REUSE",
    "TILEWRIGHT_CUDA_PATH",
    "TILEWRIGHT_NVRTC_PATH",
    "TILEWRIGHT_CUBLAS_PATH",
    "TILEWRIGHT_CUBLASLT_PATH",
    "TILEWRIGHT_NCCL_PATH",
    "TILEWRIGHT_PTXAS_PATH",
    "TILEWRIGHT_NVDISASM_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
];
const FORCE_ISA: &str = "TILEWRIGHT_FORCE_ISA";

/// The JSON object of `doctor`; the fields are its keys.
#[derive(Serialize)]
pub struct Report {
    schema: u32,
    version: &'static str,
    cpu: Cpu,
    instruction_sets: Vec<Path>,
    chosen: Option<&'static str>,
    /// Why that one; or what is wrong with the choice.
    chosen_because: String,
    backends: Vec<Availability>,
    cuda: Cuda,
    run: RunLibrary,
    /// The variables that are set.
    environment: std::collections::BTreeMap<&'static str, String>,
    passed: bool,
}

#[derive(Serialize)]
struct Cpu {
    name: Option<String>,
    cores: Option<usize>,
    caches: Vec<cpu::Cache>,
}

#[derive(Serialize)]
struct Path {
    name: &'static str,
    supported: bool,
    /// `ok`, `failed`, or null where the path cannot run.
    check: Option<&'static str>,
    products: usize,
    seconds: f64,
    failure: Option<String>,
}

#[derive(Serialize)]
struct Availability {
    name: &'static str,
    available: bool,
    why_not: Option<String>,
}

/// The library that `run` gives programs.
#[derive(Serialize)]
struct RunLibrary {
    path: Option<String>,
    why_not: Option<String>,
    hint: Option<String>,
}

impl RunLibrary {
    fn gather() -> Self {
        match Origin::find() {
            Ok(origin) => Self { path: Some(origin.to_string()), why_not: None, hint: None },
            Err(error) => {
                let hint = hints::of(&error);
                Self { path: None, why_not: Some(error.to_string()), hint }
            }
        }
    }

    fn describe(&self) -> String {
        match (&self.path, &self.why_not, &self.hint) {
            (Some(path), ..) => format!("the emulated driver, {path}"),
            (None, Some(why), Some(hint)) => format!("{why}; {hint}"),
            (None, why, _) => why.clone().unwrap_or_default(),
        }
    }
}

impl Report {
    pub fn gather() -> Self {
        let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
        let (chosen, chosen_because) = match Isa::choose(None) {
            Ok(isa) if set(&FORCE_ISA) => (Some(isa), format!("{FORCE_ISA} says so")),
            Ok(isa) => (Some(isa), "the best this processor has".into()),
            Err(e) => (None, e.to_string()),
        };
        let instruction_sets: Vec<Path> = Isa::ALL.iter().rev().map(|&isa| path(isa)).collect();
        let passed = chosen.is_some() && instruction_sets.iter().all(|p| p.failure.is_none());
        Self {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            cpu: Cpu { name: cpu::name(), cores: cpu::cores(), caches: cpu::caches() },
            instruction_sets,
            chosen: chosen.map(Isa::name),
            chosen_because,
            backends: Backend::ALL
                .iter()
                .filter(|b| **b != Backend::Auto)
                .map(|&b| availability(b))
                .collect(),
            cuda: Cuda::gather(),
            run: RunLibrary::gather(),
            environment: VARIABLES
                .into_iter()
                .filter(set)
                .filter_map(|name| Some((name, std::env::var(name).ok()?)))
                .collect(),
            passed,
        }
    }

    /// What makes the run fail, and what to do about it.
    pub fn complaint(&self) -> Option<(String, String)> {
        if self.chosen.is_none() {
            let known = Isa::ALL.iter().filter(|i| i.is_supported()).map(|i| i.name()).collect::<Vec<_>>();
            let hint = format!("unset {FORCE_ISA}, or use one of {}", known.join(", "));
            return Some((self.chosen_because.clone(), hint));
        }
        let broken = self.instruction_sets.iter().find(|p| p.failure.is_some())?;
        let what = format!("{} computes wrong results: {}", broken.name, broken.failure.as_deref()?);
        Some((what, format!("report it, and set {FORCE_ISA} to a path that is ok")))
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        Ok(terminal::stdout().write_all(wrapping::rows(self.rows(), 12).as_bytes())?)
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let unknown = || "unknown".to_owned();
        let mut rows = vec![
            ("tilewright", self.version.to_owned()),
            ("processor", self.cpu.name.clone().unwrap_or_else(unknown)),
            ("cores", self.cpu.cores.map_or_else(unknown, |n| n.to_string())),
        ];
        if !self.cpu.caches.is_empty() {
            let caches =
                self.cpu.caches.iter().map(|c| format!("L{} {} {} KiB", c.level, c.kind, c.bytes >> 10));
            rows.push(("caches", caches.collect::<Vec<_>>().join(", ")));
        }
        rows.extend(self.instruction_sets.iter().map(|p| (p.name, p.describe())));
        rows.push((
            "in use",
            match self.chosen {
                Some(name) => format!("{name}: {}", self.chosen_because),
                None => format!("none: {}", self.chosen_because),
            },
        ));
        rows.extend(self.backends.iter().map(|b| {
            let state = b.why_not.as_ref().map_or("available".into(), |why| format!("not available: {why}"));
            (b.name, state)
        }));
        rows.extend(self.cuda.rows());
        rows.push(("for run", self.run.describe()));
        rows.extend(self.environment.iter().map(|(name, value)| ("environment", format!("{name}={value}"))));
        rows
    }
}

impl Path {
    fn describe(&self) -> String {
        match (self.check, &self.failure) {
            (None, _) => "not on this processor".into(),
            (Some(_), Some(failure)) => format!("FAILED: {failure}"),
            (Some(_), None) => format!("ok, {} products in {:.2} s", self.products, self.seconds),
        }
    }
}

fn path(isa: Isa) -> Path {
    let start = Instant::now();
    let supported = isa.is_supported();
    let outcome = if supported { check::run(isa) } else { check::Outcome { products: 0, failure: None } };
    Path {
        name: isa.name(),
        supported,
        check: supported.then_some(if outcome.failure.is_none() { "ok" } else { "failed" }),
        products: outcome.products,
        seconds: start.elapsed().as_secs_f64(),
        failure: outcome.failure,
    }
}

fn availability(backend: Backend) -> Availability {
    let why_not = backend.resolve().err().map(|e| match e.kind() {
        tilewright::ErrorKind::Unavailable { why, .. } => why.clone(),
        _ => e.to_string(),
    });
    Availability { name: backend.name(), available: why_not.is_none(), why_not }
}
