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

/// `C = activation(alpha Σ_t (a[i,t] b[t,j]) Σ_k A[i,k] B[k,j] + beta C + bias)`, by blocks of 128 terms and some rows at a time.
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
    let at_a_time = (SUMS / n.max(1)).max(1);
    let mut none = Matrix::filled(0, 0, 0.0f32)?;
    let mut report = sums::<S>(none.as_mut(), a.window(0, 0, 0, 0)?, b.window(0, 0, 0, 0)?, options, isa)?;
    for row in (0..if n == 0 { 0 } else { m }).step_by(at_a_time) {
        let rows = at_a_time.min(m - row);
        let mut all = vec![0.0; rows * n];
        let mut part = Matrix::filled(rows, n, 0.0f32)?;
        for term in (0..k).step_by(Granularity::BLOCK) {
            let terms = Granularity::BLOCK.min(k - term);
            let (a, b) = (a.window(row, term, rows, terms)?, b.window(term, 0, terms, n)?);
            report = sums::<S>(part.as_mut(), a, b, options, isa)?;
            let of_cols: Vec<_> = (0..n).map(|j| factors.of_col(j, term)).collect();
            for (i, (all, part)) in all.chunks_exact_mut(n).zip(part.as_slice().chunks_exact(n)).enumerate() {
                let of_row = factors.of_row(row + i, term);
                for ((sum, &part), &of_col) in all.iter_mut().zip(part).zip(&of_cols) {
                    *sum = (of_row * of_col).mul_add(part, *sum);
                }
            }
        }
        for (i, all) in all.chunks_exact(n).enumerate() {
            for (j, &sum) in all.iter().enumerate() {
                if let Some(slot) = c.get_mut(row + i, j) {
                    let new = finish.apply(j, (singles.sum)(sum), || *slot);
                    *slot = new;
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
