//! Plans in words.

use super::{CpuPlan, Floor, GpuPlan, How, Joining, Plan, Step, query::Results};
use core::fmt;
use tilewright_arch::Bound;
use tilewright_cpu::Sums;

impl Plan {
    /// The plan as rows of a table, name and text; names repeat where a name has several rows.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("product", self.product()), ("work", self.amount())];
        match &self.how {
            How::Cpu(cpu) => rows.extend(cpu_rows(cpu)),
            How::Gpu(gpu) => rows.extend(gpu_rows(gpu)),
            How::Reference => rows.push(("kernel", "the definition, one term at a time".into())),
        }
        rows.extend(self.rejected.iter().map(|r| ("rejected", format!("{}: {}", r.candidate, r.reason))));
        rows
    }

    fn product(&self) -> String {
        let query = &self.query;
        let p = &query.problem;
        let formula = match query.joining {
            Joining::Replace => "A x B".to_owned(),
            Joining::Accumulate => "C + A x B".into(),
            Joining::Scale { alpha, beta: 0.0 } => format!("{alpha} A x B"),
            Joining::Scale { alpha, beta } => format!("{alpha} A x B + {beta} C"),
        };
        let arg = match query.results {
            Results::Product => "",
            Results::ProductAndArg => ", and which term won",
        };
        let (m, n, k) = (p.m(), p.n(), p.k());
        format!("C {m}x{n} = {formula}, k = {k}, {} on {}{arg}", query.semiring, query.dtype)
    }

    fn amount(&self) -> String {
        let flops = self.work.flops.map_or(String::new(), |flops| format!(" ({})", scaled(flops, "FLOP")));
        let (terms, bytes) = (scaled(self.work.pair_ops, "pair-ops"), scaled(self.work.bytes, "bytes"));
        format!(
            "{terms}{flops}, {bytes} to move at least: {} pair-ops per byte",
            digits(self.work.intensity())
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows().iter().try_for_each(|(name, text)| writeln!(f, "{name:<10} {text}"))
    }
}

fn cpu_rows(cpu: &CpuPlan) -> Vec<(&'static str, String)> {
    let (rows, columns) = cpu.kernel.tile;
    let (down, across) = cpu.regions;
    let packs = |packs| if packs { "packed" } else { "read in place" };
    let sums = match cpu.sums {
        Sums::InC => "in C",
        Sums::Buffered => "in a buffer",
    };
    let plural = if cpu.threads == 1 { "" } else { "s" };
    vec![
        ("kernel", cpu.kernel.to_string()),
        ("tile", format!("{rows}x{columns} in registers, sums {sums}")),
        ("threads", format!("{} thread{plural}, C cut into {down}x{across} regions", cpu.threads)),
        ("blocks", format!("{} terms x {} columns of B", cpu.block_terms, cpu.block_columns)),
        ("operands", format!("A {}, B {}", packs(cpu.packs_a), packs(cpu.packs_b))),
    ]
}

fn gpu_rows(plan: &GpuPlan) -> Vec<(&'static str, String)> {
    let gpu = &plan.gpu;
    let mut rows = vec![
        ("gpu", format!("{}, compute capability {}, {} SMs", gpu.name, gpu.capability, gpu.multiprocessors)),
        ("kernel", format!("{}: {}", plan.kernel.name, plan.kernel.summary)),
    ];
    rows.extend(plan.details.iter().map(|(name, value)| (*name, value.clone())));
    if plan.workspace_bytes > 0 {
        rows.push(("workspace", scaled(plan.workspace_bytes as f64, "bytes")));
    }
    if plan.steps.is_empty() {
        rows.push(("launch", "none: the result has no element".into()));
    }
    for step in &plan.steps {
        rows.push(("launch", launch(step)));
        rows.push(("resources", resources(step)));
        rows.extend(occupancy(step, plan).map(|text| ("occupancy", text)));
    }
    rows.extend(plan.floor.as_ref().map(|floor| ("floor", floor_text(floor))));
    rows.push((
        "model",
        format!("{} by the cost model that kernels are compared with", seconds(plan.modelled_seconds)),
    ));
    rows
}

fn launch(step: &Step) -> String {
    let ([gx, gy, gz], [bx, by, bz]) = (step.grid, step.block);
    format!(
        "{}: grid {gx}x{gy}x{gz} ({} blocks), block {bx}x{by}x{bz} ({} threads)",
        step.program,
        step.blocks(),
        step.threads()
    )
}

fn resources(step: &Step) -> String {
    let dynamic = step.dynamic_shared_memory;
    let Some(compiled) = &step.compiled else {
        return format!("{dynamic} B dynamic shared memory; registers are known once it is compiled");
    };
    let kernel = &compiled.kernel;
    let local = match kernel.local_memory {
        0 => String::new(),
        bytes => format!(", {bytes} B local memory"),
    };
    let (registers, shared) = (kernel.registers, kernel.static_shared_memory);
    let origin = compiled.origin.name();
    format!(
        "{registers} registers, {shared} B static and {dynamic} B dynamic shared memory{local} ({origin})"
    )
}

fn occupancy(step: &Step, plan: &GpuPlan) -> Option<String> {
    let o = step.occupancy?;
    let waves = step.waves(&plan.gpu).map_or(String::new(), |waves| format!(", {} waves", digits(waves)));
    Some(format!(
        "{:.1} %: {} of {} warps, {} blocks per SM, limited by {}{waves}",
        100.0 * o.ratio(),
        o.warps_per_sm,
        o.max_warps_per_sm,
        o.blocks_per_sm,
        o.binding().to_string().replace('_', " ")
    ))
}

fn floor_text(floor: &Floor) -> String {
    let bound = match floor.bound {
        Bound::Memory => format!("{} of memory bandwidth", scaled(floor.bytes_per_second, "B/s")),
        Bound::Arithmetic => {
            format!("{}, {}", scaled(floor.peak.pair_ops_per_second, "pair-ops/s"), floor.peak.unit)
        }
    };
    format!("{} at least, bound by {bound}", seconds(floor.seconds))
}

/// `1.23 G` and the unit.
fn scaled(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) = PREFIXES.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", digits(value / scale))
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value {
        v if v >= 99.95 || v == v.trunc() => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn seconds(value: f64) -> String {
    match value {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_prefix() {
        assert_eq!(scaled(68_719_476_736.0, "pair-ops"), "68.7 Gpair-ops");
        assert_eq!(scaled(0.0, "bytes"), "0 bytes");
        assert_eq!([digits(1.0), digits(99.96), digits(0.25), digits(1234.5)], ["1", "100", "0.250", "1234"]);
        assert_eq!([seconds(2.5), seconds(2.054e-3), seconds(3e-7)], ["2.500 s", "2.054 ms", "0.30 us"]);
    }
}
