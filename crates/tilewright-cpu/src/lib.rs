//! Matrix products over any semiring on this processor.

mod isa;
mod options;

pub use isa::Isa;
pub use options::{Options, Report};

use tilewright_core::{BatchMut, BatchRef, Error, MatMut, MatRef, Semiring, Update, reference};

/// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`, joined with the old C as `update` says.
///
/// # Errors
/// `inner-mismatch`, `result-mismatch`, `outside-domain`; C is untouched on error. `environment` or
/// `unavailable` when `TILEWRIGHT_FORCE_ISA` or [`Options::isa`] names a path that cannot run here.
pub fn multiply<S: Semiring>(
    c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    _options: &Options<'_>,
) -> Result<Report, Error> {
    reference::multiply(c, a, b, update)?;
    Ok(Report { isa: Isa::Portable, kernel: "stub".into(), threads: 1 })
}

/// As [`multiply`], and `arg[i,j]` is the smallest `k` whose term is the result.
///
/// # Errors
/// As [`multiply`], and `unsupported` as in [`reference::multiply_arg`].
pub fn multiply_arg<S: Semiring>(
    c: MatMut<'_, S::Out>,
    arg: MatMut<'_, u32>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    _options: &Options<'_>,
) -> Result<Report, Error> {
    reference::multiply_arg(c, arg, a, b, update)?;
    Ok(Report { isa: Isa::Portable, kernel: "stub".into(), threads: 1 })
}

/// As [`multiply`], for every matrix of a batch.
///
/// # Errors
/// As [`multiply`], and `batch-mismatch` when the counts differ.
pub fn multiply_batch<S: Semiring>(
    c: &mut BatchMut<'_, S::Out>,
    a: BatchRef<'_, S::Elem>,
    b: BatchRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
) -> Result<Report, Error> {
    let mut report = Report { isa: Isa::Portable, kernel: "stub".into(), threads: 1 };
    for (i, c) in c.iter_mut().enumerate() {
        if let (Some(a), Some(b)) = (a.get(i), b.get(i)) {
            report = multiply(c, a, b, update, options)?;
        }
    }
    Ok(report)
}
