//! `mul --plan`: how the product would be computed.

use super::{
    inputs::Inputs,
    planned::Planned,
    resolved::{Resolved, check_kernel},
};
use crate::{
    args::{Common, Format, KernelChoice},
    bench::time,
    bounds::{Bounds, Computed},
    failure::Failure,
    hints, json,
    product::check_math,
    terminal::{self, Style},
    wrapping,
};
use std::{cell::RefCell, io::Write};
use tilewright::{
    Backend, Error, Options,
    cuda::Engine,
    kernels::Launch,
    plan::{Gpu, How, Plan, Query, compile},
};

pub fn run(asked: &Resolved, common: &Common) -> Result<(), Failure> {
    let inputs = Inputs::read(asked, common)?;
    check_math(asked.math, &asked.semiring, Some(inputs.dtype))?;
    let results = asked.results;
    let (count, Some(product)) = inputs.first(asked)? else {
        return Err(Failure::usage("an empty stack of products has no plan", "leave out --plan"));
    };
    let query = product.query(results)?.math(asked.math);
    let (backend, why) = match (asked.backend, &asked.gpu, asked.kernel) {
        // Only a GPU is meant by a GPU and its kernels.
        (Backend::Auto, Some(_), _) | (Backend::Auto, _, Some(KernelChoice::Gpu(_))) => {
            (Backend::Cuda, String::new())
        }
        (Backend::Auto, ..) => {
            let options = Options { threads: asked.threads, isa: asked.isa(), ..Options::default() };
            product.backend(&options, results)?
        }
        (backend, ..) => (backend, String::new()),
    };
    let plan = plan(asked, common, backend, &query)?;
    let bounds = bounds(&plan);
    if common.format == Format::Json {
        return json::print(&Planned::new(backend, asked.semiring.name(), &plan, bounds));
    }
    let reason = if why.is_empty() { String::new() } else { format!(": {why}") };
    let stack = (!inputs.shapes.batch.is_empty()).then(|| match count {
        1 => ("stack", format!("{} matrices of A as one, as they meet one B", inputs.shapes.count())),
        count => ("stack", format!("{count} products of this shape")),
    });
    let rows = [("backend", format!("{backend}{reason}"))].into_iter().chain(stack).chain(plan.rows());
    let mut rows: Vec<_> = rows.collect();
    if let Some(bounds) = bounds {
        let place = rows.iter().position(|(name, _)| *name == "floor").map_or(rows.len(), |floor| floor + 1);
        rows.splice(place..place, rows_of(&bounds));
    }
    let column = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    Ok(terminal::stdout().write_all(wrapping::rows(rows, column).as_bytes())?)
}

/// Of a plan whose kernel tells what bounds it.
fn bounds(plan: &Plan) -> Option<Bounds> {
    let How::Gpu(gpu) = &plan.how else { return None };
    Bounds::of(&Computed {
        kernel: gpu.kernel,
        gpu: &gpu.gpu,
        query: &plan.query,
        programs: gpu.steps.iter().map(|step| &*step.program).collect(),
        demands: &gpu.demands,
        estimated_seconds: gpu.estimated_seconds,
    })
}

fn rows_of(bounds: &Bounds) -> [(&'static str, String); 2] {
    let likely = time(bounds.likely_seconds) + bounds.source_of_prediction();
    [("bound", format!("{} {}", time(bounds.seconds), bounds.said())), ("prediction", likely)]
}

fn plan(asked: &Resolved, common: &Common, backend: Backend, query: &Query) -> Result<Plan, Failure> {
    let is_gpu = matches!(backend, Backend::Cuda | Backend::Emulator);
    if !is_gpu {
        check_kernel(backend, asked.kernel)?;
    }
    match (backend, asked.kernel) {
        (Backend::Cuda | Backend::Emulator, Some(KernelChoice::Isa(isa))) => {
            let what = format!("--kernel {isa} is an instruction set of the CPU backend, not of {backend}");
            Err(Failure::usage(what, "choose --backend cpu, or one of `tilewright kernels`"))
        }
        (Backend::Cuda | Backend::Emulator, _) => on_gpu(asked, common, backend, query),
        (Backend::Reference, _) => Ok(Plan::of_reference(query)),
        _ => Ok(Plan::on_cpu(query, asked.threads, asked.isa())?),
    }
}

fn on_gpu(asked: &Resolved, common: &Common, backend: Backend, query: &Query) -> Result<Plan, Failure> {
    let problem: RefCell<Option<Error>> = RefCell::default();
    let resources = |launch: &Launch, capability| {
        compile(launch, capability).unwrap_or_else(|error| {
            problem.replace(Some(error));
            None
        })
    };
    let kernel = asked.gpu_kernel();
    let plan = match (&asked.gpu, backend) {
        (Some(gpu), Backend::Emulator) => Plan::here(query, gpu, kernel, &resources)?,
        (None, Backend::Emulator) => Plan::here(query, &Gpu::default(), kernel, &resources)?,
        // A GPU that is not here has a compiler.
        (Some(gpu), _) => Plan::on_gpu(query, gpu, kernel, &resources)?,
        (None, _) => Plan::on_engine(query, &engine(common)?, kernel, &resources)?,
    };
    if let Some(error) = problem.into_inner()
        && !common.quiet
    {
        terminal::say(Style::Note, "registers and occupancy are unknown", &error.to_string());
        if let Some(hint) = hints::of(&error) {
            terminal::say(Style::Hint, "hint", &hint);
        }
    }
    Ok(plan)
}

/// The GPU that is here.
fn engine(common: &Common) -> Result<Engine, Failure> {
    Engine::shared().map_err(|error| {
        terminal::note(common, "plan", "--gpu NAME plans for a GPU that is not here");
        error.into()
    })
}
