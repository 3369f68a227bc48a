//! Products on a GPU: from the host's matrices to the device and back.

use super::Job;
use crate::{
    backend::Backend,
    options::Report,
    selection::{Operands, Selection, select},
};
use std::time::Instant;
use tilewright_core::{Element, Error, Layout, MatMut, MatRef, Matrix};
use tilewright_cuda::{DeviceMatrix, Engine};
use tilewright_kernels::Request;

pub(super) fn run<T: Element, U: Element>(
    job: &Job<'_>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    c: MatMut<'_, U>,
) -> Result<Report, Error> {
    let began = Instant::now();
    let engine = Engine::shared()?;
    let opened = began.elapsed();
    let old = job.reads_c.then(|| c.as_ref());
    let (mut a, mut b) = (engine.upload(a)?, engine.upload(b)?);
    let mut on_device = target(&engine, &c, old)?;
    let mut transfer = began.elapsed() - opened;
    let asked = engine.request(job.semiring, &a, &b, &on_device)?;
    let asked = Request { alpha: job.alpha, beta: job.beta, ..asked };
    let Selection { request, recipe, operands, .. } = select(asked, job.options.kernel)?;
    if operands == Operands::CopiedByRows {
        let again = Instant::now();
        (a, b) = (by_rows(&engine, &a)?, by_rows(&engine, &b)?);
        on_device = by_rows(&engine, &on_device)?;
        transfer += again.elapsed();
    }
    let loading = Instant::now();
    let kernel = recipe.kernel.name.to_owned();
    let prepared = engine.prepare(recipe)?;
    let prepare = opened + loading.elapsed();
    let computing = Instant::now();
    prepared.run(&request, &a, &b, &mut on_device)?;
    engine.synchronize()?;
    let seconds = computing.elapsed().as_secs_f64();
    let reading = Instant::now();
    on_device.copy_to(c)?;
    transfer += reading.elapsed();
    Ok(Report {
        backend: Backend::Cuda,
        kernel,
        threads: 1,
        seconds,
        transfer_seconds: transfer.as_secs_f64(),
        prepare_seconds: prepare.as_secs_f64(),
        why: String::new(),
    })
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
