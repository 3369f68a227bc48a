//! The public functions: checks, the choice of a kernel, and what happens to C.

use crate::{
    built_in,
    compute::{Call, Columns, Compute, OneByOne},
    isa::Isa,
    narrow::Codes,
    options::{Options, Report},
    plan::{Outline, Plan},
    scaled,
    share::{lock, share},
};
use std::sync::Mutex;
use tilewright_core::{
    BatchMut, BatchRef, Error, ErrorKind, Factors, Finish, MatMut, MatRef, Problem, Semiring, Update,
};

/// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`, joined with the old C as `update` says.
///
/// # Errors
/// `inner-mismatch`, `result-mismatch`, `outside-domain`, and those of [`tilewright_core::Epilogue::checked`] and [`tilewright_core::Scales::checked`]; C is untouched then. `environment` or
/// `unavailable` when `TILEWRIGHT_FORCE_ISA` or [`Options::isa`] names a path that cannot run here.
/// `out-of-memory` for packed blocks and `cancelled` by [`Options::cancel`], which leave C undefined.
pub fn multiply<S: Semiring>(
    c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let epilogue = epilogue(update, options, &problem)?;
    let isa = Isa::choose(options.isa)?;
    if !options.scales.is_none() {
        // A constant condition: nothing is compiled for what has no scales.
        return match const { has_scales::<S>() } {
            true => scaled::multiply(c, a, b, update, options, isa),
            false => Err(options.scales.refused(S::NAME)),
        };
    }
    let engine = choose::<S>();
    let codes = engine.scan(a, b, options, isa)?;
    let report = engine.compute(Call { c, arg: None, a, b, update, epilogue, options, isa, codes })?;
    // Threads that helped may have left something undone.
    options.check_cancelled().map(|()| report)
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
    options.epilogue.check_absent("an arg result")?;
    options.scales.check_absent("an arg result")?;
    let isa = Isa::choose(options.isa)?;
    let engine = choose::<S>();
    engine.check(a, b, options, isa)?;
    let (arg, epilogue, codes) = (Some(arg), None, None);
    let report = engine.compute(Call { c, arg, a, b, update, epilogue, options, isa, codes })?;
    options.check_cancelled().map(|()| report)
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
    let epilogue = epilogue(update, options, &problem)?;
    options.scales.check_absent("a batch")?;
    let isa = Isa::choose(options.isa)?;
    let engine = choose::<S>();
    let codes = scan_batch(engine, a, b, options, isa)?;
    let terms = problem.pair_ops();
    let threads = options.threads_for((terms + beside(&problem)) * c.count() as f64);
    // Either each product occupies the threads by itself, or each thread computes some of them.
    let occupies = options.threads_for(terms) > 1
        && engine.plan(Outline { problem, update, arg: false, options, isa }).threads > 1;
    let shared = if occupies { 1 } else { threads };
    let single = if shared > 1 { Options { threads: 1, ..*options } } else { *options };
    let len = c.count().div_ceil(PARTS * shared).max(1);
    let parts: Vec<_> = c
        .parts_mut(len)
        .enumerate()
        .map(|(i, c)| Mutex::new(Part { first: i * len, c, report: None }))
        .collect();
    share(&parts, shared, &|part| {
        let Part { first, c, report } = &mut *lock(part);
        for (i, c) in (*first..).zip(c.iter_mut()) {
            let (Some(a), Some(b)) = (a.get(i), b.get(i)) else { break };
            let codes = codes.get(i).copied().flatten();
            let (arg, options) = (None, &single);
            let done = engine.compute(Call { c, arg, a, b, update, epilogue, options, isa, codes })?;
            report.get_or_insert(done);
        }
        Ok(())
    })?;
    options.check_cancelled()?;
    let report = parts.first().and_then(|part| lock(part).report.take());
    Ok(report.map(|report| if shared > 1 { Report { threads, ..report } } else { report }))
}

/// The plan of a product over `S` with these layouts.
///
/// ```
/// use tilewright_core::{Layout, MinPlus, Problem, Update};
/// use tilewright_cpu::{Options, plan};
/// let square = Layout::row_major(1000, 1000);
/// let problem = Problem::new(square, square, square)?;
/// let plan = plan::<MinPlus<f32>>(&problem, &Update::Replace, &Options::default())?;
/// assert!(plan.regions.0 * plan.regions.1 >= plan.threads);
/// assert!(plan.block_terms <= 1000);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// As [`crate::multiply`], as far as elements do not matter.
pub fn plan<S: Semiring>(
    problem: &Problem,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Plan, Error> {
    epilogue(update, options, problem)?;
    if !options.scales.is_none() {
        options.scales.singles::<S>()?;
        Factors::new(options.scales, problem)?;
    }
    let isa = Isa::choose(options.isa)?;
    Ok(choose::<S>().plan(Outline { problem: *problem, update, arg: false, options, isa }))
}

/// As [`plan`], for [`crate::multiply_arg`].
///
/// # Errors
/// As [`crate::multiply_arg`], as far as elements do not matter.
pub fn plan_arg<S: Semiring>(
    problem: &Problem,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Plan, Error> {
    problem.check_arg(problem.c(), update)?;
    options.epilogue.check_absent("an arg result")?;
    options.scales.check_absent("an arg result")?;
    let isa = Isa::choose(options.isa)?;
    Ok(choose::<S>().plan(Outline { problem: *problem, update, arg: true, options, isa }))
}

/// The bias and the activation that were asked for, if any.
fn epilogue<'a, S: Semiring>(
    update: &'a Update<S>,
    options: &Options<'a>,
    problem: &Problem,
) -> Result<Option<Columns<'a, S>>, Error> {
    if options.epilogue.is_none() {
        return Ok(None);
    }
    let finish = Finish::new(update, options.epilogue, problem)?;
    Ok(Some(Columns { finish, are_rows: false }))
}

/// Whether operands of `S` may have scales.
const fn has_scales<S: Semiring>() -> bool {
    match &S::BUILT_IN {
        Some(built_in) => built_in.singles().is_some(),
        None => false,
    }
}

/// What a product in a batch takes besides its terms, in terms: something for each element, and for each product.
fn beside(problem: &Problem) -> f64 {
    const ELEMENT: f64 = 8.0;
    const PRODUCT: f64 = 2000.0;
    let (m, n, k) = (problem.m() as f64, problem.n() as f64, problem.k() as f64);
    (m * k + k * n + m * n) * ELEMENT + PRODUCT
}

/// Parts of a batch that each thread takes, so that one that is held up takes fewer of them.
const PARTS: usize = 4;

/// Some matrices of a batch, from number `first` on, and how the first of them was computed.
struct Part<'a, T> {
    first: usize,
    c: BatchMut<'a, T>,
    report: Option<Report>,
}

/// Refuses elements of any matrix of a batch that `S` does not contain. For the others, as far as some can be written in 16 bits,
/// tells how: nothing is kept for matrices that cannot.
fn scan_batch<S: Semiring>(
    engine: &dyn Compute<S>,
    a: BatchRef<'_, S::Elem>,
    b: BatchRef<'_, S::Elem>,
    options: &Options<'_>,
    isa: Isa,
) -> Result<Vec<Option<Codes>>, Error> {
    let mut all = Vec::new();
    if S::ACCEPTS.is_none() {
        // Nothing is refused, and there are no integers whose window matters.
        return Ok(all);
    }
    for (i, (a, b)) in (0..a.count()).filter_map(|i| Some((i, (a.get(i)?, b.get(i)?)))) {
        if let Some(codes) = engine.scan(a, b, options, isa)? {
            all.resize(i, None);
            all.push(Some(codes));
        }
    }
    Ok(all)
}

/// What computes `S`.
pub fn choose<S: Semiring>() -> &'static dyn Compute<S> {
    // A constant condition: for the built-in semirings nothing generic is compiled where they are used.
    if const { S::BUILT_IN.is_some() } {
        let Some(engine) = built_in::find::<S>() else {
            unreachable!("every built-in semiring has a kernel")
        };
        return engine;
    }
    &OneByOne
}
