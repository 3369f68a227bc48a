//! Results of semirings that are given by their text.

use super::{Mismatch, Verification, check_shape, rows};
use tilewright_core::{
    Error, MatRef, Matrix, Problem, Value,
    expressions::{Cell, Expressions},
};

/// What a term costs by the definition of such a semiring, in terms of plus-times.
const TERMS: usize = 64;

/// Compares rows of a product with the definition. Integers, and sums that select one of their terms, must agree; where sums of floats are
/// rounded, the order of terms is free, and `|C - ref| <= 2 (k + 2) u S`, with the unit roundoff u and the sum S of the magnitudes of the
/// old element and of all terms.
pub(crate) fn expressions<T: Cell>(
    semiring: &Expressions,
    [a, b, c]: [MatRef<'_, T>; 3],
    old: Option<MatRef<'_, T>>,
) -> Result<Verification, Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    check_shape("C0", old.map_or(c.layout(), |old| old.layout()), &problem)?;
    let (n, k) = (problem.n(), problem.k());
    let rows = rows::sample(problem.m(), n, k.saturating_mul(TERMS));
    let is_rounded = T::DTYPE.is_float() && !semiring.selects::<T>();
    let bound = if is_rounded { (k as f64 + 2.0) * T::EPSILON } else { 0.0 };
    let mut verdict = Verification::of(rows.len(), bound);
    for &row in &rows {
        let mut right = match old {
            Some(old) => Matrix::copy_of(old.window(row, 0, 1, n)?)?,
            None => Matrix::filled(1, n, T::ZERO)?,
        };
        semiring.multiply(right.as_mut(), a.window(row, 0, 1, k)?, b, old.is_some())?;
        for col in 0..n {
            let (Some(found), Some(expected)) = (c.get(row, col), right.as_ref().get(0, col)) else {
                continue;
            };
            let (found, expected) = (found.to_value(), expected.to_value());
            let [f, e] = [found, expected].map(Value::to_f64);
            if found == expected || (f.is_nan() && e.is_nan()) {
                continue;
            }
            let scale = if is_rounded { magnitudes(semiring, [a, b], old, (row, col)) } else { 1.0 };
            let error = (f - e).abs() / scale;
            let error = if error.is_nan() { f64::INFINITY } else { error };
            verdict.max_error = verdict.max_error.max(error);
            if error > bound {
                verdict.fail(Mismatch { matrix: "C", row, col, found, expected });
            }
        }
    }
    Ok(verdict)
}

/// The magnitudes of the terms of an element of C, and of its old value.
fn magnitudes<T: Cell>(
    semiring: &Expressions,
    [a, b]: [MatRef<'_, T>; 2],
    old: Option<MatRef<'_, T>>,
    (row, col): (usize, usize),
) -> f64 {
    let magnitude = |x: T| x.to_value().to_f64().abs();
    let term = |p| Some(magnitude(semiring.mul().value(a.get(row, p)?, b.get(p, col)?)));
    let old = old.and_then(|old| old.get(row, col)).map_or(0.0, magnitude);
    old + (0..a.cols()).filter_map(term).sum::<f64>()
}
