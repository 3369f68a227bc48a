//! The products of two stacks, one after another.

use super::{MOST_EMULATED, inputs::Inputs, resolved::Resolved};
use crate::{args::Common, failure::Failure, interrupt, progress::Progress};
use tilewright::{
    Backend, DynMatrix, DynRef, Error, MatRef, Matrix, NO_ARG, Options, Report, Verification, plan::Results,
};

/// What was computed: the matrices of C, and those of the arg result, one below the other.
pub struct Computed {
    pub c: DynMatrix,
    pub arg: Option<Matrix<u32>>,
    /// Of all products; `None` where there are none.
    pub report: Option<Report>,
}

/// Computes every product, until an end is asked for.
pub fn run(
    inputs: &Inputs,
    asked: &Resolved,
    common: &Common,
    deferred: interrupt::Deferred,
) -> Result<Computed, Failure> {
    let shapes = &inputs.shapes;
    let pair_ops = shapes.m as f64 * shapes.n as f64 * shapes.k as f64 * shapes.count() as f64;
    if asked.backend == Backend::Emulator && pair_ops > MOST_EMULATED {
        return Err(Failure::usage(
            format!("{pair_ops:.1e} terms are too many for the emulator"),
            "it takes up to 4096 x 4096 x 4096: multiply a part of the matrices, or choose --backend cpu",
        ));
    }
    let progress = Progress::new(pair_ops.min(u64::MAX as f64) as u64);
    let count = |terms| progress.add(terms);
    let options = Options {
        backend: asked.backend,
        threads: asked.threads,
        isa: asked.isa(),
        math: asked.math,
        kernel: asked.gpu_kernel(),
        gpu: asked.gpu.as_ref(),
        max_steps: asked.max_steps,
        max_time: asked.max_time,
        cancel: Some(deferred.asked()),
        progress: if common.quiet { None } else { Some(&count) },
    };
    let computed = all(inputs, asked, options);
    progress.finish();
    // From here on an interrupt ends the program.
    drop(deferred);
    match computed {
        Ok(_) if interrupt::was_asked() => Err(Failure::Interrupted { what: "interrupted".into() }),
        Err(error) if interrupt::was_asked() => Err(Failure::Interrupted { what: error.to_string() }),
        computed => Ok(computed?),
    }
}

fn all(inputs: &Inputs, asked: &Resolved, options: Options<'_>) -> Result<Computed, Error> {
    let (m, n) = (inputs.rows(), inputs.shapes.n);
    let rows = inputs.shapes.m * inputs.shapes.count();
    let mut c = DynMatrix::zeros(asked.semiring.output_or(inputs.dtype, asked.result_type)?, rows, n)?;
    let mut arg =
        if asked.results == Results::ProductAndArg { Some(Matrix::filled(rows, n, NO_ARG)?) } else { None };
    let mut total: Option<Report> = None;
    for index in 0..inputs.count() {
        let Some((a, b, c0)) = inputs.product(index) else { break };
        let mut target = c.as_mut().window(index * m, 0, m, n)?;
        if let Some(c0) = c0 {
            target.copy_from(c0)?;
        }
        let arg = arg.as_mut().map(|arg| arg.as_mut().window(index * m, 0, m, n)).transpose()?;
        let product = inputs.of((a, b, c0), asked)?;
        let report = product.write_to(target, arg, &options)?;
        total = Some(match total.take() {
            None => report,
            Some(before) => sum(before, &report),
        });
    }
    Ok(Computed { c, arg, report: total })
}

/// The times of two products together; the rest is that of the first.
fn sum(mut total: Report, more: &Report) -> Report {
    total.seconds += more.seconds;
    total.transfer_seconds += more.transfer_seconds;
    total.prepare_seconds += more.prepare_seconds;
    total.findings += more.findings;
    total.threads = total.threads.max(more.threads);
    total
}

/// Compares every product with the definition; the first that is wrong, or else the worst, with the rows of all.
pub fn verify(inputs: &Inputs, asked: &Resolved, computed: &Computed) -> Result<Option<Verification>, Error> {
    let (m, n) = (inputs.rows(), inputs.shapes.n);
    let mut worst: Option<Verification> = None;
    let mut rows = 0;
    for index in 0..inputs.count() {
        let Some((a, b, c0)) = inputs.product(index) else { break };
        let c: DynRef<'_> = computed.c.as_ref().window(index * m, 0, m, n)?;
        let arg: Option<MatRef<'_, u32>> =
            computed.arg.as_ref().map(|arg| arg.as_ref().window(index * m, 0, m, n)).transpose()?;
        let product = inputs.of((a, b, c0), asked)?;
        let verdict = product.with_math(asked.math).verify(c, c0, arg)?;
        rows += verdict.rows_checked;
        let is_worse =
            |known: &Verification| known.passed && (!verdict.passed || verdict.max_error > known.max_error);
        if worst.as_ref().is_none_or(is_worse) {
            worst = Some(verdict);
        }
    }
    if let Some(worst) = &mut worst {
        worst.rows_checked = rows;
    }
    Ok(worst)
}
