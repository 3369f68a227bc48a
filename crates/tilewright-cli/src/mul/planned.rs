//! The JSON object of a plan.

use crate::bounds::Bounds;
use serde::Serialize;
use std::collections::BTreeMap;
use tilewright::{
    Backend,
    cpu::Sums,
    plan::{Floor, GpuPlan, How, Plan, Step},
};
use tilewright_arch::Bound;

/// A plan; the fields are its keys.
#[derive(Serialize)]
pub struct Planned {
    schema: u32,
    backend: &'static str,
    semiring: String,
    dtype: &'static str,
    m: usize,
    n: usize,
    k: usize,
    reads_c: bool,
    alpha: f64,
    beta: f64,
    pair_ops: f64,
    flops: Option<f64>,
    bytes: f64,
    kernel: String,
    /// On this processor.
    cpu: Option<Cpu>,
    /// On a GPU.
    gpu: Option<OnGpu>,
    rejected: Vec<Rejection>,
}

#[derive(Serialize)]
struct Cpu {
    isa: &'static str,
    tile: (usize, usize),
    threads: usize,
    regions: (usize, usize),
    parts_of_terms: usize,
    block_terms: usize,
    block_columns: usize,
    packs_a: bool,
    packs_b: bool,
    sums_in_c: bool,
    /// Whether the elements may turn out to allow 16 bits.
    narrows: bool,
    /// Whether they may turn out to need few of the terms.
    prunes: bool,
}

#[derive(Serialize)]
struct OnGpu {
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    details: BTreeMap<&'static str, String>,
    workspace_bytes: u64,
    launches: Vec<Launch>,
    floor: Option<LeastTime>,
    /// Of the launch that computes, from the counts of one of its blocks, or of all launches, where counts tell.
    bound: Option<Bounds>,
    estimated_seconds: f64,
}

#[derive(Serialize)]
struct Launch {
    program: String,
    entry: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    registers_per_thread: Option<u32>,
    static_shared_memory_bytes: Option<u32>,
    dynamic_shared_memory_bytes: u32,
    local_memory_bytes: Option<u32>,
    /// `recorded` or `compiled`.
    resources: Option<&'static str>,
    blocks_per_sm: Option<u32>,
    occupancy: Option<f64>,
    limited_by: Vec<&'static str>,
    waves: Option<f64>,
}

#[derive(Serialize)]
struct LeastTime {
    seconds: f64,
    /// `arithmetic` or `memory`.
    bound: &'static str,
    unit: &'static str,
    pair_ops_per_second: f64,
    bytes_per_second: f64,
}

#[derive(Serialize)]
struct Rejection {
    candidate: String,
    reason: String,
}

impl Planned {
    pub fn new(backend: Backend, semiring: &str, plan: &Plan, bounds: Option<Bounds>) -> Self {
        let query = &plan.query;
        let p = &query.problem;
        let [alpha, beta] = query.joining.factors();
        let (kernel, cpu, gpu) = match &plan.how {
            How::Cpu(cpu) => (cpu.kernel.to_string(), Some(Cpu::new(cpu)), None),
            How::Gpu(gpu) => (gpu.kernel.name.to_owned(), None, Some(OnGpu::new(gpu, bounds))),
            _ => ("reference".to_owned(), None, None),
        };
        let rejected = plan.rejected.iter();
        Self {
            schema: 1,
            backend: backend.name(),
            semiring: semiring.to_owned(),
            dtype: query.dtype.name(),
            m: p.m(),
            n: p.n(),
            k: p.k(),
            reads_c: query.joining.reads_c(),
            alpha,
            beta,
            pair_ops: plan.work.pair_ops,
            flops: plan.work.flops,
            bytes: plan.work.bytes,
            kernel,
            cpu,
            gpu,
            rejected: rejected
                .map(|r| Rejection { candidate: r.candidate.clone(), reason: r.reason.clone() })
                .collect(),
        }
    }
}

impl Cpu {
    fn new(plan: &tilewright::plan::CpuPlan) -> Self {
        Self {
            isa: plan.kernel.isa.name(),
            tile: plan.kernel.tile,
            threads: plan.threads,
            regions: plan.regions,
            parts_of_terms: plan.parts_of_terms,
            block_terms: plan.block_terms,
            block_columns: plan.block_columns,
            packs_a: plan.packs_a,
            packs_b: plan.packs_b,
            sums_in_c: plan.sums == Sums::InC,
            narrows: plan.narrows,
            prunes: plan.prunes,
        }
    }
}

impl OnGpu {
    fn new(plan: &GpuPlan, bound: Option<Bounds>) -> Self {
        Self {
            name: plan.gpu.name.into(),
            compute_capability: plan.gpu.capability().to_string(),
            multiprocessors: plan.gpu.multiprocessors,
            details: plan.details.iter().cloned().collect(),
            workspace_bytes: plan.workspace_bytes,
            launches: plan.steps.iter().map(|step| Launch::new(step, plan)).collect(),
            floor: plan.floor.as_ref().map(LeastTime::new),
            bound,
            estimated_seconds: plan.estimated_seconds,
        }
    }
}

impl Launch {
    fn new(step: &Step, plan: &GpuPlan) -> Self {
        let kernel = step.compiled.as_ref().map(|compiled| &compiled.kernel);
        let o = step.occupancy;
        Self {
            program: step.program.clone(),
            entry: step.entry,
            grid: step.grid,
            block: step.block,
            registers_per_thread: kernel.map(|k| k.registers),
            static_shared_memory_bytes: kernel.map(|k| k.static_shared_memory),
            dynamic_shared_memory_bytes: step.dynamic_shared_memory,
            local_memory_bytes: kernel.map(|k| k.local_memory),
            resources: step.compiled.as_ref().map(|compiled| compiled.origin.name()),
            blocks_per_sm: o.map(|o| o.blocks_per_sm),
            occupancy: o.map(|o| o.ratio()),
            limited_by: o
                .map_or(Vec::new(), |o| o.binding().iter().map(|resource| resource.name()).collect()),
            waves: step.waves(&plan.gpu),
        }
    }
}

impl LeastTime {
    fn new(floor: &Floor) -> Self {
        Self {
            seconds: floor.seconds,
            bound: match floor.bound {
                Bound::Arithmetic => "arithmetic",
                Bound::Memory => "memory",
            },
            unit: floor.peak.unit,
            pair_ops_per_second: floor.peak.pair_ops_per_second,
            bytes_per_second: floor.bytes_per_second,
        }
    }
}
