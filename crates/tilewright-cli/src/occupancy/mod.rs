//! `tilewright occupancy`: how many blocks an SM holds, and what limits them.

mod chart;
mod gains;
mod kernel;
mod remedy;
mod report;
mod rows;
mod setting;
mod swept;
mod target;
mod text;

pub use target::{DEFAULT, Target, say_which};

use crate::{
    args::{Common, Format, Occupancy, Parameter},
    charts,
    failure::Failure,
    json, terminal,
};
use kernel::CompiledFor;
use rows::Rows;
use setting::Setting;
use std::io::Write;
use text::Text;
use tilewright_arch::{Carveout, DynamicSharedMemory, KernelResources, LaunchConfig, Limits};

pub fn run(args: &Occupancy, common: &Common) -> Result<(), Failure> {
    let sweeps_cc = args.sweep.iter().any(|sweep| sweep.parameter == Parameter::ComputeCapability);
    let default = (args.cc.is_none() && !sweeps_cc).then_some(DEFAULT);
    let target = Target::find(args.gpu.as_deref().or(default), args.cc)?;
    if let Some(name) = &args.gpu {
        say_which(common, name);
    }
    let sms = target.and_then(|target| target.device()).map(|device| device.sms);
    let kernel = args.kernel.as_deref().map(|name| CompiledFor::new(name, args.entry.clone(), sms));
    let mut kernel = kernel.transpose()?;
    check(args, common, target.as_ref(), kernel.as_ref())?;
    match target {
        Some(target) if args.sweep.is_empty() => one(args, common, &target, kernel.as_mut()),
        _ => sweep(args, common, target.as_ref(), kernel.as_mut()),
    }
}

/// What has to be given, and what does not go together.
fn check(
    args: &Occupancy,
    common: &Common,
    target: Option<&Target>,
    kernel: Option<&CompiledFor>,
) -> Result<(), Failure> {
    let is_swept = |parameter| args.sweep.iter().any(|sweep| sweep.parameter == parameter);
    let refuse = |what, hint| Err(Failure::usage(what, hint));
    if target.is_some() && is_swept(Parameter::ComputeCapability) {
        return refuse("--sweep cc=... takes the place of --gpu and --cc", "leave these out");
    }
    if args.regs.is_none() && kernel.is_none() && !is_swept(Parameter::Registers) {
        return refuse("no registers are given", "give --regs, or a file to read them from with --kernel");
    }
    let has_threads = args.threads.is_some() || kernel.is_some_and(CompiledFor::has_launch);
    if !has_threads && !args.best && !is_swept(Parameter::Threads) {
        return refuse("no threads are given", "give --threads, or ask for the best block size with --best");
    }
    if common.format == Format::Csv && args.sweep.is_empty() {
        return refuse("--format csv is for tables of many rows", "add --sweep, or choose json");
    }
    Ok(())
}

/// Says that static shared memory is more than a kernel can declare. NVIDIA's calculator counts with it all the same, and so do the numbers.
fn say_what_is_declared(common: &Common, setting: &Setting) {
    let (bytes, most) = (setting.kernel.static_shared_memory, setting.limits.shared_memory_per_block);
    if bytes > most {
        let text = format!(
            "{bytes} bytes of static shared memory exceed the {most} that a kernel can declare: take the rest as dynamic shared \
             memory, --dynamic-smem"
        );
        terminal::note(common, "smem", &text);
    }
}

/// One configuration: a report, and a chart if asked for.
fn one(
    args: &Occupancy,
    common: &Common,
    target: &Target,
    mut kernel: Option<&mut CompiledFor>,
) -> Result<(), Failure> {
    let mut setting = base(args, target.limits(), kernel.as_deref_mut())?;
    let best = if args.best { setting.best()? } else { None };
    if let (None, Some(best)) = (args.threads, &best) {
        setting = setting.with(Parameter::Threads, best.threads);
    }
    let outcome = setting.outcome()?;
    say_what_is_declared(common, &setting);
    if let Some(path) = &args.chart {
        charts::write(path, &chart::figure(target, &setting)?)?;
        terminal::note(common, "chart", &format!("wrote {}", path.display()));
    }
    match common.format {
        Format::Json => {
            let sms = target.device().map(|device| device.sms);
            let best = args.best.then(|| report::Best::new(best.as_ref(), sms));
            let gpu = target.device().map(|device| device.name);
            let changes = gains::changes(&setting, &outcome)?;
            json::print(&report::Report::new(gpu, report::Row::new(&setting, &outcome), best, &changes))?;
        }
        Format::Table | Format::Csv => {
            let kernel = kernel.and_then(|kernel| kernel.describe(setting.limits));
            let text = Text {
                target,
                setting: &setting,
                outcome: &outcome,
                best: args.best.then_some(best),
                kernel,
            };
            terminal::stdout().write_all(text.render()?.as_bytes())?;
        }
    }
    match &outcome.error {
        None => Ok(()),
        Some(error) => Err(Failure::Check {
            what: format!("this configuration cannot launch: {error}"),
            hint: remedy::remedy(&setting, error),
        }),
    }
}

fn sweep(
    args: &Occupancy,
    common: &Common,
    target: Option<&Target>,
    mut kernel: Option<&mut CompiledFor>,
) -> Result<(), Failure> {
    let is_one = target.is_some();
    let mut left_out: Vec<(&'static Limits, Failure)> = Vec::new();
    let rows = Rows::new(&args.sweep, target.map(Target::limits), |limits| {
        if left_out.iter().any(|(known, _)| known.compute_capability == limits.compute_capability) {
            return Ok(None);
        }
        match base(args, limits, kernel.as_deref_mut()) {
            // A compiler rarely knows all architectures; the others are still worth a row.
            Err(failure) if !is_one => {
                left_out.push((limits, failure));
                Ok(None)
            }
            result => result.map(Some),
        }
    })?;
    if rows.is_empty()
        && let Some((_, failure)) = left_out.pop()
    {
        return Err(failure);
    }
    if !left_out.is_empty() {
        let names = left_out.iter().map(|(limits, _)| limits.compute_capability.to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        terminal::note(
            common,
            "left out",
            &format!("compute capability {names}: not compiled for (-v says why)"),
        );
    }
    if let Some(path) = &args.chart {
        charts::write(path, &swept::figure(target, &rows)?)?;
        terminal::note(common, "chart", &format!("wrote {}", path.display()));
    }
    for (_, failure) in left_out.iter().filter(|_| common.verbose) {
        terminal::note(common, "left out", &failure.to_string());
    }
    rows.print(common.format)
}

/// The setting before any sweep. Options replace what a kernel's file says.
fn base(
    args: &Occupancy,
    limits: &'static Limits,
    kernel: Option<&mut CompiledFor>,
) -> Result<Setting, Failure> {
    let (read, launch) = match kernel {
        Some(kernel) => {
            let compiled = kernel.read(limits)?;
            (compiled.resources(), compiled.launch)
        }
        None => (KernelResources::default(), None),
    };
    let resources = KernelResources {
        registers_per_thread: args.regs.unwrap_or(read.registers_per_thread),
        static_shared_memory: args.smem.unwrap_or(read.static_shared_memory),
        max_threads_per_block: args.max_threads.unwrap_or(read.max_threads_per_block),
        barriers: args.barriers.unwrap_or(read.barriers),
        ..read
    };
    // Without any threads a sweep or the best block size puts its own in place.
    let (threads, dynamic) = launch.unwrap_or((limits.max_threads_per_block, 0));
    let launch = LaunchConfig {
        cluster_size: args.cluster,
        carveout: args.carveout.map_or(Carveout::Default, Carveout::Percent),
        ..LaunchConfig::threads(args.threads.unwrap_or(threads))
    };
    let dynamic = match (args.dynamic_smem, args.dynamic_smem_per_thread) {
        (fixed, None) => DynamicSharedMemory::Fixed(fixed.unwrap_or(dynamic)),
        (base, Some(per_thread)) => DynamicSharedMemory::PerThread { base: base.unwrap_or(0), per_thread },
    };
    Ok(Setting::new(limits, resources, launch, dynamic))
}
