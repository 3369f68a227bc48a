//! Products of 8-bit floats with scales: sums of blocks of terms, each times its factor.

use crate::{
    built_in,
    compute::{Call, Compute},
    isa::Isa,
    options::{Options, Report},
};
use tilewright_core::{
    E4m3, E5m2, Epilogue, Error, Factors, Finish, Granularity, MatMut, MatRef, Matrix, PlusTimes, Problem,
    Scales, Semiring, Update,
};

/// Sums of so many elements of C are kept at a time: they and those of a block fit the second-level cache.
const SUMS: usize = 1 << 16;
/// Columns of C that are computed together, unless there are few rows.
const COLUMNS: usize = 256;

/// `C = activation(alpha Σ_t (a[i,t] b[t,j]) Σ_k A[i,k] B[k,j] + beta C + bias)`, by blocks of 128 terms, and some rows and columns at a time.
pub fn multiply<S: Semiring>(
    mut c: MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    update: &Update<S>,
    options: &Options<'_>,
    isa: Isa,
) -> Result<Report, Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let finish = Finish::new(update, options.epilogue, &problem)?;
    let singles = options.scales.singles::<S>()?;
    let factors = Factors::new(options.scales, &problem)?;
    let (m, n, k) = (problem.m(), problem.n(), problem.k());
    let width = n.min((SUMS / m.max(1)).max(COLUMNS)).max(1);
    let height = m.min(SUMS / width).max(1);
    let mut all = Matrix::filled(height, width, 0.0f32)?.into_vec();
    let mut of_cols = Matrix::filled(1, width, 0.0f32)?.into_vec();
    let mut part = Matrix::filled(height, width, 0.0f32)?;
    let mut none = Matrix::filled(0, 0, 0.0f32)?;
    let mut report = sums::<S>(none.as_mut(), a.window(0, 0, 0, 0)?, b.window(0, 0, 0, 0)?, options, isa)?;
    for row in (0..m).step_by(height) {
        let rows = height.min(m - row);
        for col in (0..n).step_by(width) {
            let cols = width.min(n - col);
            all.fill(0.0);
            for term in (0..k).step_by(Granularity::BLOCK) {
                let terms = Granularity::BLOCK.min(k - term);
                let (a, b) = (a.window(row, term, rows, terms)?, b.window(term, col, terms, cols)?);
                let of_block = sums::<S>(part.as_mut().window(0, 0, rows, cols)?, a, b, options, isa)?;
                report = Report { threads: report.threads.max(of_block.threads), ..of_block };
                for (j, of_col) in of_cols.iter_mut().take(cols).enumerate() {
                    *of_col = factors.of_col(col + j, term);
                }
                let parts = part.as_slice().chunks_exact(width);
                for (i, (all, part)) in all.chunks_exact_mut(width).zip(parts).take(rows).enumerate() {
                    let of_row = factors.of_row(row + i, term);
                    for ((sum, &part), &of_col) in all.iter_mut().zip(part).zip(&of_cols).take(cols) {
                        *sum = (of_row * of_col).mul_add(part, *sum);
                    }
                }
            }
            for (i, all) in all.chunks_exact(width).take(rows).enumerate() {
                for (j, &sum) in all.iter().take(cols).enumerate() {
                    if let Some(slot) = c.get_mut(row + i, col + j) {
                        let new = finish.apply(col + j, (singles.sum)(sum), || *slot);
                        *slot = new;
                    }
                }
            }
        }
    }
    Ok(report)
}

/// The plain sums of a product of 8-bit floats.
fn sums<S: Semiring>(
    c: MatMut<'_, f32>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
    options: &Options<'_>,
    isa: Isa,
) -> Result<Report, Error> {
    let Some(built_in) = S::BUILT_IN else { unreachable!("scales were checked") };
    let (a, b) = (built_in.operand(a), built_in.operand(b));
    if let (Some(a), Some(b)) = (a.typed(), b.typed()) {
        return sums_by::<PlusTimes<E4m3>>(built_in::find(), (c, a, b), options, isa);
    }
    let (Some(a), Some(b)) = (a.typed(), b.typed()) else { unreachable!("scales are for floats of 8 bits") };
    sums_by::<PlusTimes<E5m2>>(built_in::find(), (c, a, b), options, isa)
}

fn sums_by<S: Semiring<Out = f32>>(
    engine: Option<&dyn Compute<S>>,
    (c, a, b): (MatMut<'_, f32>, MatRef<'_, S::Elem>, MatRef<'_, S::Elem>),
    options: &Options<'_>,
    isa: Isa,
) -> Result<Report, Error> {
    let Some(engine) = engine else { unreachable!("every built-in semiring has a kernel") };
    let options = &Options { epilogue: Epilogue::default(), scales: Scales::NONE, ..*options };
    let (arg, update, epilogue, codes) = (None, &Update::Replace, None, None);
    engine.compute(Call { c, arg, a, b, update, epilogue, options, isa, codes })
}
