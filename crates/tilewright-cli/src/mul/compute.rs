//! The products of two stacks.

use super::{MOST_EMULATED, inputs::Inputs, resolved::Resolved};
use crate::{args::Common, failure::Failure, interrupt, progress::Progress};
use tilewright::{
    Backend, DynMatrix, Error, Matrix, NO_ARG, Options, Report, StackMut, StackRef, Verification,
    plan::Results,
};

/// What was computed: the matrices of C, and those of the arg result, one below the other.
pub struct Computed {
    pub c: DynMatrix,
    pub arg: Option<Matrix<u32>>,
    /// Of all products; `None` where there are none.
    pub report: Option<Report>,
}

/// Computes all products, until an end is asked for.
pub fn run(
    inputs: &Inputs,
    asked: &Resolved,
    common: &Common,
    deferred: interrupt::Deferred,
) -> Result<Computed, Failure> {
    let shapes = &inputs.shapes;
    let pair_ops = shapes.terms();
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
    let shapes = &inputs.shapes;
    let mut c = inputs.target(asked.semiring.output_or(inputs.dtype, asked.result_type)?)?;
    let mut arg = match asked.results {
        Results::Product => None,
        Results::ProductAndArg => Some(Matrix::filled(c.layout().rows, shapes.n, NO_ARG)?),
    };
    let all = shapes.matrices();
    let to = StackMut::of_rows(c.as_mut(), &all)?;
    let winners = arg.as_mut().map(|arg| StackMut::of_winners(arg.as_mut(), &all)).transpose()?;
    let report = inputs.products(asked)?.options(options).write_to(to, winners)?;
    Ok(Computed { c, arg, report: (shapes.count() > 0).then_some(report) })
}

/// Compares every product with the definition; the first that is wrong, or else the worst, with the rows of all.
pub fn verify(inputs: &Inputs, asked: &Resolved, computed: &Computed) -> Result<Option<Verification>, Error> {
    let (all, options) = (inputs.shapes.matrices(), Options { math: asked.math, ..Options::default() });
    let c = StackRef::of_rows(&computed.c, &all)?;
    let arg = computed.arg.as_ref().map(|arg| StackRef::of_winners(arg.as_ref(), &all)).transpose()?;
    inputs.products(asked)?.options(options).verify(&c, inputs.c0()?.as_ref(), arg.as_ref())
}
