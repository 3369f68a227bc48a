//! Products on a GPU: from the host's matrices to the device and back.

use super::{Failure, Job, Target};
use crate::{
    backend::Backend,
    dynamic::{typed, typed_mut},
    options::Report,
    selection::{Lacking, Operands, Selection, select_among},
};
use std::time::Instant;
use tilewright_core::{
    DynMut, DynRef, Element, Error, Layout, MatMut, MatRef, Matrix, Semiring, semiring::Visit,
};
use tilewright_cuda::{DeviceMatrix, Engine};
use tilewright_kernels::{Launch, Recipe, Rejected, Request};

pub(super) fn run(job: &Job<'_>, a: DynRef<'_>, b: DynRef<'_>, c: DynMut<'_>) -> Result<Report, Failure> {
    job.semiring.visit(a.dtype(), Run { job, a, b, c })?
}

/// A product, to be visited by the types of its matrices on the device.
struct Run<'a> {
    job: &'a Job<'a>,
    a: DynRef<'a>,
    b: DynRef<'a>,
    c: DynMut<'a>,
}

impl Visit for Run<'_> {
    type Output = Result<Report, Failure>;

    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        let Self { job, a, b, c } = self;
        multiply::<S::Elem, S::Out>(job, typed("A", a)?, typed("B", b)?, typed_mut("C", c)?)
    }
}

fn multiply<T: Element, U: Element>(
    job: &Job<'_>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    c: MatMut<'_, U>,
) -> Result<Report, Failure> {
    let began = Instant::now();
    let engine = Engine::shared()?;
    let opened = began.elapsed();
    let old = job.joining.reads_c().then(|| c.as_ref());
    let (mut a, mut b) = (engine.upload(a)?, engine.upload(b)?);
    let mut on_device = target(&engine, &c, old)?;
    let mut transfer = began.elapsed() - opened;
    let asked = engine.request(job.semiring, &a, &b, &on_device)?;
    let asked = Request { joining: job.joining, ..asked };
    let Selection { recipe, operands, passed_over, .. } =
        select_among(asked, job.options.kernel, &|recipe| can_make(&engine, recipe))?;
    if operands == Operands::CopiedByRows {
        let again = Instant::now();
        (a, b) = (by_rows(&engine, &a)?, by_rows(&engine, &b)?);
        on_device = by_rows(&engine, &on_device)?;
        transfer += again.elapsed();
    }
    let loading = Instant::now();
    let kernel = recipe.kernel().name.into();
    let prepared = engine.prepare(recipe)?;
    let prepare = opened + loading.elapsed();
    let computing = Instant::now();
    prepared.run(&a, &b, &mut on_device)?;
    engine.synchronize()?;
    let seconds = computing.elapsed().as_secs_f64();
    let reading = Instant::now();
    on_device.copy_to(c).map_err(|error| Failure { error, c: Target::Lost })?;
    transfer += reading.elapsed();
    Ok(Report {
        backend: Backend::Cuda,
        kernel,
        threads: 1,
        seconds,
        transfer_seconds: transfer.as_secs_f64(),
        prepare_seconds: prepare.as_secs_f64(),
        why: remarks(passed_over.as_ref(), &prepared.warnings()).into(),
    })
}

/// Whether there is code of every kernel for the GPU.
fn can_make(engine: &Engine, recipe: &Recipe) -> Result<(), Lacking> {
    recipe.launches().iter().map(Launch::program).try_for_each(|program| {
        engine.can_make(program).map_err(|error| Lacking {
            program: program.name().to_owned(),
            why: error.to_string(),
            error,
        })
    })
}

/// What a reader of the report should know besides the numbers.
fn remarks(passed_over: Option<&Rejected>, warnings: &[&str]) -> String {
    let without = passed_over.map(|p| format!("without {}: {}", p.candidate, p.reason));
    without.into_iter().chain(warnings.iter().map(|&text| text.to_owned())).collect::<Vec<_>>().join("; ")
}

/// C on the device: the old one where it takes part, otherwise room for it.
fn target<U: Element>(
    engine: &Engine,
    c: &MatMut<'_, U>,
    old: Option<MatRef<'_, U>>,
) -> Result<DeviceMatrix<U>, Error> {
    match old {
        Some(old) => engine.upload(old),
        None => engine.zeros(Layout::row_major(c.rows(), c.cols())),
    }
}

fn by_rows<T: Element>(engine: &Engine, matrix: &DeviceMatrix<T>) -> Result<DeviceMatrix<T>, Error> {
    let rows: Matrix<T> = matrix.to_matrix()?;
    engine.upload(rows.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_tells_of_kernels_that_are_not_the_best_or_not_at_their_best() {
        let passed = Rejected { candidate: "simt".into(), reason: "there is no compiler".into() };
        assert_eq!(remarks(None, &[]), "");
        assert_eq!(remarks(Some(&passed), &[]), "without simt: there is no compiler");
        assert_eq!(
            remarks(Some(&passed), &["slow", "spilled"]),
            "without simt: there is no compiler; slow; spilled"
        );
    }
}
