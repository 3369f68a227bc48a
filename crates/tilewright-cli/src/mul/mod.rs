//! `tilewright mul`: read, multiply, verify, write, report.

mod compute;
mod entry;
pub mod inputs;
mod names;
pub mod outputs;
mod plan;
mod planned;
pub mod preview;
mod report;
mod shapes;
pub mod source;
mod types;

use crate::{
    args::{Common, Format, KernelChoice, Mul},
    failure::Failure,
    interrupt, json, occupancy,
    product::check_math,
    terminal::{self, Style},
};
use compute::Computed;
use entry::Entry;
use inputs::Inputs;
use outputs::Outputs;
use report::Summary;
use std::io::Write;
use tilewright::{Backend, Isa, SemiringId, Verification, kernels::Kernel, plan::Gpu};

/// Terms of the largest product that is emulated: 4096 x 4096 x 4096 takes a quarter of an hour or more.
const MOST_EMULATED: f64 = 68_719_476_736.0;

pub fn run(args: &Mul, common: &Common) -> Result<(), Failure> {
    // Everything that can be refused without reading a file is.
    check(args)?;
    check_math(args.math, &args.semiring, args.dtype)?;
    if args.plan {
        return plan::run(args, common);
    }
    let outputs = Outputs::parse(args, common)?;
    interrupt::watch();

    let inputs = Inputs::read(args, common)?;
    check_math(args.math, &args.semiring, Some(inputs.dtype))?;
    // From here on the product ends by itself, and an emulated kernel says where it was.
    let deferred = interrupt::Deferred::new();
    if common.verbose {
        inputs.describe();
    }
    // What makes no sense is said before anything is computed.
    inputs.first(args)?;
    entry::place(args, &inputs)?;
    let result_type = args.semiring.output_or(inputs.dtype, args.result_type)?;
    outputs.check_writable(result_type, inputs.shapes.c.len())?;
    outputs.say_replaced(common, &inputs.paths);

    let computed = compute::run(&inputs, args, common, deferred)?;
    if let Some(report) = computed.report.as_ref().filter(|report| common.verbose && !report.why.is_empty()) {
        terminal::say(Style::Note, report.backend.name(), &report.why.to_string());
    }
    conclude(args, common, &inputs, &computed, &outputs)
}

/// Verifies, writes and reports what was computed.
fn conclude(
    args: &Mul,
    common: &Common,
    inputs: &Inputs,
    computed: &Computed,
    outputs: &Outputs,
) -> Result<(), Failure> {
    let verified = if args.verify { compute::verify(inputs, args, computed)? } else { None };
    let failed = verified.as_ref().filter(|v| !v.passed);
    // A result that failed its check replaces nothing.
    let write_seconds = match failed {
        None => outputs.write(computed, &inputs.shapes.c, args.semiring.extremes(), &inputs.named)?,
        Some(_) => 0.0,
    };

    let mut summary = Summary::new(args, inputs, computed, verified.as_ref(), write_seconds, outputs);
    summary.entry = Entry::new(args, inputs, computed)?;
    match (common.format, &summary.entry) {
        (Format::Json, _) => json::print(&summary)?,
        (_, Some(entry)) => {
            writeln!(terminal::stdout(), "{}", entry.line())?;
            terminal::note(common, "done", &summary.line());
        }
        _ if outputs.is_empty() || (outputs.leave_c() && !common.quiet) => {
            summary.print_table()?;
            preview::print(computed.c.as_ref(), args.semiring.extremes(), inputs.named.c.as_ref())?;
        }
        _ if common.quiet => {}
        _ => terminal::say(Style::Note, "done", &summary.line()),
    }
    failed.map_or(Ok(()), |v| Err(disagreement(v, outputs)))
}

/// What the parser of the command line cannot know.
fn check(args: &Mul) -> Result<(), Failure> {
    // A plan needs no device.
    let backend = if args.plan { args.backend } else { args.backend.resolve()? };
    match args.semiring.built_in() {
        Some(id) => check_built_in(args, id)?,
        None => check_text(args)?,
    }
    if let Some(dtype) = args.dtype {
        types::check_supported(&args.semiring, dtype)?;
        args.semiring.output_or(dtype, args.result_type)?;
    }
    if args.plan {
        return Ok(());
    }
    if let (Some(gpu), true) = (&args.gpu, backend != Backend::Emulator) {
        return Err(Failure::usage(
            format!("--gpu {gpu} neither with --plan nor with --backend emulator"),
            "a plan is made for it, or the emulator imitates it; TILEWRIGHT_DEVICE numbers the GPUs that are here",
        ));
    }
    for (option, given) in
        [("--max-steps", args.max_steps.is_some()), ("--max-time", args.max_time.is_some())]
    {
        if given && backend != Backend::Emulator {
            return Err(Failure::usage(
                format!("{option} limits the emulator, not {backend}"),
                "leave it out, or choose --backend emulator",
            ));
        }
    }
    // A kernel for GPUs says where it is to run.
    let backend = match (args.backend, args.kernel) {
        (Backend::Auto, Some(KernelChoice::Gpu(_))) => Backend::Cuda.resolve()?,
        _ => backend,
    };
    check_kernel(backend, args.kernel)
}

/// What a built-in semiring cannot do.
fn check_built_in(args: &Mul, semiring: SemiringId) -> Result<(), Failure> {
    let factors = [("--alpha", args.alpha), ("--beta", args.beta)];
    let factor = factors.into_iter().find(|(_, given)| given.is_some());
    if let (Some((option, _)), true) = (factor, semiring != SemiringId::PlusTimes) {
        let what = format!("{option} is not defined for {semiring}");
        return Err(Failure::usage(what, "only plus-times has factors; leave it out"));
    }
    if args.arg_out.is_some() && !semiring.is_selective() {
        let what = format!("--arg-out is not defined for {semiring}: no single k wins a sum");
        return Err(Failure::usage(what, "choose a selective semiring, such as --semiring min-plus"));
    }
    Ok(())
}

/// What a semiring that is given by its text cannot do.
fn check_text(args: &Mul) -> Result<(), Failure> {
    let refused = [
        ("--alpha", args.alpha.is_some(), "leave it out: numbers of its own are part of the text"),
        ("--beta", args.beta.is_some(), "leave it out: numbers of its own are part of the text"),
        (
            "--arg-out",
            args.arg_out.is_some(),
            "choose a selective semiring by its name, such as --semiring min-plus",
        ),
    ];
    match refused.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, hint)) => Err(Failure::usage(
            format!("{option} is not defined for a semiring that is given by its text"),
            hint,
        )),
        None => Ok(()),
    }
}

/// The choice of a kernel is one of the backend's.
fn check_kernel(backend: Backend, kernel: Option<KernelChoice>) -> Result<(), Failure> {
    match (backend, kernel) {
        (Backend::Reference | Backend::Cuda | Backend::Emulator, Some(KernelChoice::Isa(isa))) => {
            Err(Failure::usage(
                format!("--kernel {isa} is an instruction set of the backend cpu, not of {backend}"),
                "leave out --kernel, or choose --backend cpu",
            ))
        }
        (Backend::Reference | Backend::Cuda | Backend::Emulator, None) => Ok(()),
        (Backend::Cuda | Backend::Emulator, Some(KernelChoice::Gpu(_))) => Ok(()),
        (_, Some(KernelChoice::Gpu(kernel))) => Err(Failure::usage(
            format!("--kernel {} is a GPU kernel, not one of the backend {backend}", kernel.name),
            "choose --backend cuda or emulator",
        )),
        (_, kernel) => {
            Isa::choose(isa(kernel))?;
            Ok(())
        }
    }
}

/// A GPU of the table, and where to look if there is none of this name.
fn gpu_named(name: &str, common: &Common) -> Result<Gpu, Failure> {
    occupancy::say_which(common, name);
    Gpu::named(name).map_err(|error| Failure::usage(error.to_string(), "`tilewright gpus` lists all"))
}

/// The instruction set that was asked for.
fn isa(kernel: Option<KernelChoice>) -> Option<Isa> {
    match kernel {
        Some(KernelChoice::Isa(isa)) => Some(isa),
        _ => None,
    }
}

/// The GPU kernel that was asked for.
fn gpu_kernel(kernel: Option<KernelChoice>) -> Option<&'static Kernel> {
    match kernel {
        Some(KernelChoice::Gpu(kernel)) => Some(kernel),
        _ => None,
    }
}

fn disagreement(v: &Verification, outputs: &Outputs) -> Failure {
    let what = match &v.mismatch {
        Some(m) => {
            let (matrix, row, col) = (m.matrix, m.row, m.col);
            format!("{matrix}[{row}, {col}] is {} but the definition gives {}", m.found, m.expected)
        }
        None => "the result differs from the definition".into(),
    };
    let fate = if outputs.is_empty() { "" } else { "; nothing was written" };
    let hint = format!("this is a fault of Tilewright or of the machine: see `tilewright doctor`{fate}");
    Failure::Check { what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use tilewright::Matrix;

    #[test]
    fn a_wrong_result_is_reported_and_not_written() {
        let desk = tempfile::tempdir().unwrap();
        let file = |name: &str| desk.path().join(name).to_string_lossy().into_owned();
        std::fs::write(file("a.csv"), "1,2\n3,4\n").unwrap();
        std::fs::write(file("c.csv"), "old\n").unwrap();
        let words = ["tilewright", "mul", &file("a.csv"), &file("a.csv"), "-o", &file("c.csv"), "--verify"];
        let cli = Cli::try_parse_from(words).unwrap();
        let Command::Mul(args) = cli.command else { panic!("{:?}", cli.command) };

        let inputs = Inputs::read(&args, &cli.common).unwrap();
        let outputs = Outputs::parse(&args, &cli.common).unwrap();
        let mut computed = compute::run(&inputs, &args, &cli.common, interrupt::Deferred::new()).unwrap();
        computed.c = Matrix::filled(2, 2, 7i64).unwrap().into();
        match conclude(&args, &cli.common, &inputs, &computed, &outputs) {
            Err(Failure::Check { what, hint }) => {
                assert_eq!(what, "C[0, 1] is 7 but the definition gives 10");
                assert!(hint.contains("nothing was written"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read_to_string(file("c.csv")).unwrap(), "old\n");
    }
}
