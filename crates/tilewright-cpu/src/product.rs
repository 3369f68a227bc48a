//! The public functions: checks, the choice of a kernel, and what happens to C.

use crate::{
    compute::{Call, Compute, OneByOne},
    isa::Isa,
    kernel,
    options::{Options, Report},
    scan,
};
use rayon::prelude::*;
use tilewright_core::{BatchMut, BatchRef, Error, ErrorKind, MatMut, MatRef, Problem, Semiring, Update};

/// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`, joined with the old C as `update` says.
///
/// # Errors
/// `inner-mismatch`, `result-mismatch`, `outside-domain`; C is untouched then. `environment` or
/// `unavailable` when `TILEWRIGHT_FORCE_ISA` or [`Options::isa`] names a path that cannot run here.
/// `out-of-memory` for packed blocks, which leaves C undefined.
pub fn multiply<S: Semiring>(
    c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Error> {
    Problem::new(a.layout(), b.layout(), c.layout())?;
    let isa = Isa::choose(options.isa)?;
    let engine = choose::<S>();
    let codes = engine.scan(a, b, options, isa)?;
    engine.compute(Call { c, arg: None, a, b, update, options, isa, codes })
}

/// As [`multiply`], and `arg[i,j]` is the smallest `k` whose term is the result.
///
/// It is [`NO_ARG`](tilewright_core::NO_ARG) when no term is strictly better than the semiring's zero or, with
/// [`Update::Accumulate`], than the old element.
///
/// # Errors
/// As [`multiply`]; `unsupported` when ⊕ is not selective, `k >= u32::MAX`, or the update scales.
pub fn multiply_arg<S: Semiring>(
    c: MatMut<'_, S::Out>,
    arg: MatMut<'_, u32>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Error> {
    Problem::new(a.layout(), b.layout(), c.layout())?.check_arg(arg.layout(), update)?;
    let isa = Isa::choose(options.isa)?;
    scan::check::<S>(a, b, options, isa)?;
    choose::<S>().compute(Call { c, arg: Some(arg), a, b, update, options, isa, codes: None })
}

/// As [`multiply`], for every matrix of a batch: `C_i = A_i ⊗ B_i`.
///
/// # Errors
/// As [`multiply`], and `batch-mismatch` when the counts differ. No C is touched unless all are valid.
///
/// Small products share the threads, one each. The report is that of one product, `None` for an empty batch.
pub fn multiply_batch<S: Semiring>(
    c: &mut BatchMut<'_, S::Out>,
    a: BatchRef<'_, S::Elem>,
    b: BatchRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Option<Report>, Error> {
    if a.count() != c.count() || b.count() != c.count() {
        return Err(ErrorKind::BatchMismatch { a: a.count(), b: b.count(), c: c.count() }.into());
    }
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let isa = Isa::choose(options.isa)?;
    let engine = choose::<S>();
    let scanned = |(a, b)| Ok((a, b, engine.scan(a, b, options, isa)?));
    let items: Vec<_> =
        (0..a.count()).filter_map(|i| a.get(i).zip(b.get(i))).map(scanned).collect::<Result<_, Error>>()?;
    let one = |(c, (a, b, codes)): (MatMut<'_, S::Out>, _), options| {
        engine.compute(Call { c, arg: None, a, b, update, options, isa, codes }).map(Some)
    };
    let terms = problem.pair_ops();
    let threads = options.threads_for(terms * items.len() as f64);
    let batch: Vec<_> = c.iter_mut().zip(items).collect();
    if threads == 1 || options.threads_for(terms) > 1 {
        // Each product occupies the threads by itself.
        return batch.into_iter().map(|item| one(item, options)).try_fold(None, |_, report| report);
    }
    let single = Options { threads: 1, ..*options };
    let share = batch.len().div_ceil(threads);
    let report = batch
        .into_par_iter()
        .with_min_len(share)
        .map(|item| one(item, &single))
        .try_reduce(|| None, |x, y| Ok(x.or(y)))?;
    Ok(report.map(|report| Report { threads, ..report }))
}

/// What computes `S`.
pub fn choose<S: Semiring>() -> &'static dyn Compute<S> {
    kernel::find::<S>().unwrap_or(&OneByOne)
}
