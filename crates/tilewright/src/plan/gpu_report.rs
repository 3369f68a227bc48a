//! Plans for a GPU in words.

use super::{
    Floor, GpuPlan, Step,
    measured::measured,
    numbers::{count, digits, scaled, seconds},
    query::Query,
};
use tilewright_arch::Bound;

impl GpuPlan {
    /// As rows of a table.
    pub(super) fn rows(&self, query: &Query) -> Vec<(&'static str, String)> {
        let (plan, gpu) = (self, &self.gpu);
        let mut rows = vec![
            (
                "gpu",
                format!("{}, compute capability {}, {} SMs", gpu.name, gpu.capability(), gpu.multiprocessors),
            ),
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
        if !plan.steps.is_empty() {
            rows.push(("estimate", seconds(plan.estimated_seconds)));
        }
        rows.extend(measured(gpu, plan.kernel, query).map(|text| ("measured", text)));
        rows
    }
}

fn launch(step: &Step) -> String {
    let ([gx, gy, gz], [bx, by, bz]) = (step.grid, step.block);
    format!(
        "{}: grid {gx}x{gy}x{gz} ({}), block {bx}x{by}x{bz} ({})",
        step.program,
        count(step.blocks(), "block"),
        count(step.threads(), "thread")
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
        "{:.1} %: {} of {} warps, {} per SM, limited by {}{waves}",
        100.0 * o.ratio(),
        o.warps_per_sm,
        o.max_warps_per_sm,
        count(o.blocks_per_sm, "block"),
        o.binding().to_string().replace('_', " ")
    ))
}

/// What the start of a kernel takes at least: below it, bounds by arithmetic and memory say nothing.
const START_SECONDS: f64 = 1e-6;

fn floor_text(floor: &Floor) -> String {
    if floor.seconds < START_SECONDS {
        return "less than the start of a kernel takes".into();
    }
    let bound = match floor.bound {
        Bound::Memory => format!("{} of memory bandwidth", scaled(floor.bytes_per_second, "B/s")),
        Bound::Arithmetic => {
            format!("{}, {}", scaled(floor.peak.pair_ops_per_second, "pair-ops/s"), floor.peak.unit)
        }
    };
    format!("{} at least, bound by {bound}", seconds(floor.seconds))
}
