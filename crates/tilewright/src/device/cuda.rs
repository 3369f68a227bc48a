//! Products on a GPU: from the host's matrices to the device and back.

use super::{Failure, Job, Target};
use crate::{backend::Backend, options::Report};
use std::time::Instant;
use tilewright_core::{DynMut, DynRef, Layout, Scales};
use tilewright_cuda::{Chosen, DeviceRef, Engine, Prepared, With};
use tilewright_kernels::Rejected;

pub(super) fn run(
    job: &Job<'_>,
    operands: (DynRef<'_>, DynRef<'_>),
    c: DynMut<'_>,
    arg: Option<DynMut<'_>>,
) -> Result<Report, Failure> {
    let began = Instant::now();
    let engine = Engine::shared()?;
    let request = job.request(operands, &c, arg.is_some(), engine.gpu())?;
    let chosen = engine.chosen(request, job.options.kernel)?;
    let mut ran = run_on(&engine, job, &chosen, operands, c, arg)?;
    ran.report.prepare_seconds += ran.began.duration_since(began).as_secs_f64();
    ran.report.why = remarks(chosen.passed_over(), &ran.prepared.warnings()).into();
    Ok(ran.report)
}

/// What was run on an engine.
pub(super) struct Ran {
    pub report: Report,
    pub prepared: Prepared,
    began: Instant,
}

/// Runs what was chosen on an engine.
pub(super) fn run_on(
    engine: &Engine,
    job: &Job<'_>,
    chosen: &Chosen,
    (a, b): (DynRef<'_>, DynRef<'_>),
    c: DynMut<'_>,
    arg: Option<DynMut<'_>>,
) -> Result<Ran, Failure> {
    let began = Instant::now();
    let (a, b) = (engine.upload_dyn(a)?, engine.upload_dyn(b)?);
    let mut on_device = match job.joining.reads_c() {
        true => engine.upload_dyn(c.as_ref())?,
        false => engine.zeros_dyn(c.dtype(), Layout::row_major(c.layout().rows, c.layout().cols))?,
    };
    let mut winners = match (&arg, chosen.recipe().request()) {
        (Some(arg), Some(request)) => Some(engine.zeros_dyn(arg.dtype(), request.arg_layout())?),
        _ => None,
    };
    let by_rows = |matrix: DynRef<'_>| engine.upload_dyn(matrix.to_matrix()?.as_ref());
    let bias = job.beside.epilogue.bias.map(by_rows).transpose()?;
    let scales = job.beside.scales.try_map(by_rows)?;
    engine.synchronize()?;
    let mut transfer = began.elapsed();
    // After the operands, so that what is left is known: without memory for workspaces, a recipe does without.
    let loading = Instant::now();
    let prepared = engine.prepare_chosen(chosen)?;
    let prepare = loading.elapsed();
    let (whole, [a_rows, b_rows, c_rows]) = (on_device.rows(), job.rows);
    let (a, b) = (a.with_rows(a_rows)?, b.with_rows(b_rows)?);
    on_device = on_device.with_rows(c_rows)?;
    job.options.check_cancelled()?;
    let computing = Instant::now();
    match &mut winners {
        Some(winners) => prepared.run_with_arg(&a, &b, &mut on_device, winners)?,
        None => {
            let scales = Scales { a: scales.a.as_ref(), b: scales.b.as_ref() };
            let with = With { bias: bias.as_ref().map(DeviceRef::from), scales: scales.map(DeviceRef::from) };
            prepared.run_with((&a).into(), (&b).into(), (&mut on_device).into(), with)?;
        }
    }
    engine.synchronize()?;
    let on_device = on_device.with_rows(whole)?;
    let seconds = computing.elapsed().as_secs_f64();
    job.options.check_cancelled()?;
    let reading = Instant::now();
    let lost = |error| Failure { error, c: Target::Lost };
    on_device.copy_to(c).map_err(lost)?;
    if let (Some(winners), Some(arg)) = (winners, arg) {
        winners.copy_to(arg).map_err(lost)?;
    }
    transfer += reading.elapsed();
    let report = Report {
        backend: Backend::Cuda,
        kernel: chosen.recipe().kernel().name.into(),
        threads: 1,
        seconds,
        transfer_seconds: transfer.as_secs_f64(),
        prepare_seconds: prepare.as_secs_f64(),
        findings: 0,
        why: String::new().into(),
    };
    Ok(Ran { report, prepared, began })
}

/// What a reader of the report should know besides the numbers.
fn remarks(passed_over: Option<&Rejected>, warnings: &[&str]) -> String {
    let without = passed_over.map(|p| format!("without {}: {}", p.candidate, p.reason));
    without.into_iter().chain(warnings.iter().map(|&text| text.to_owned())).collect::<Vec<_>>().join("; ")
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
