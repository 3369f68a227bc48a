//! Comparing a result with the definition.

mod bounded;
mod exact;
mod float;
mod logarithms;
mod rows;

use crate::dynamic::{DynProduct, dispatch};
use tilewright_core::{
    DType, DynRef, Error, ErrorKind, Layout, MatRef, Matrix, Problem, SemiringId, Value, bf16,
    expressions::{Cell, Expressions},
    f16,
};

/// How far a result is from the definition; see [`DynProduct::verify`] for the bound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// The largest error found: `|C - ref| / S` for floating-point plus-times and log-plus, otherwise `|C - ref|`.
    /// Infinite where one of the two is and the other is not.
    pub max_error: f64,
    /// What `max_error` may be: 0 where results must agree bit for bit.
    pub bound: f64,
    /// Number of rows that were compared, all of their columns each.
    pub rows_checked: usize,
    /// True when every element compared, of C and of the arg result, is right.
    pub passed: bool,
    /// The first wrong element.
    pub mismatch: Option<Mismatch>,
}

/// An element that is not what the definition gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Which matrix: `C` or `the arg result`.
    pub matrix: &'static str,
    /// Its row.
    pub row: usize,
    /// Its column.
    pub col: usize,
    /// What it is.
    pub found: Value,
    /// What the definition gives.
    pub expected: Value,
}

impl Verification {
    fn of(rows_checked: usize, bound: f64) -> Self {
        Self { max_error: 0.0, bound, rows_checked, passed: true, mismatch: None }
    }

    fn fail(&mut self, mismatch: Mismatch) {
        self.passed = false;
        self.mismatch.get_or_insert(mismatch);
    }
}

/// Compares rows of a product over a semiring that is given by its text with the definition, bit for bit.
pub(crate) fn expressions<T: Cell>(
    semiring: &Expressions,
    [a, b, c]: [MatRef<'_, T>; 3],
    old: Option<MatRef<'_, T>>,
) -> Result<Verification, Error> {
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    check_shape("C0", old.map_or(c.layout(), |old| old.layout()), &problem)?;
    let (n, k) = (problem.n(), problem.k());
    let rows = rows::sample(problem.m(), n, k.saturating_mul(TERMS_OF_EXPRESSIONS));
    let mut verdict = Verification::of(rows.len(), 0.0);
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
            if found != expected && !(f.is_nan() && e.is_nan()) {
                let error = (f - e).abs();
                verdict.max_error = verdict.max_error.max(if error.is_nan() { f64::INFINITY } else { error });
                verdict.fail(Mismatch { matrix: "C", row, col, found, expected });
            }
        }
    }
    Ok(verdict)
}

/// What a term costs by the definition of such a semiring, in terms of plus-times.
const TERMS_OF_EXPRESSIONS: usize = 64;

pub(crate) fn verify(
    product: &DynProduct<'_>,
    c: DynRef<'_>,
    arg: Option<MatRef<'_, u32>>,
) -> Result<Verification, Error> {
    let ((semiring, a, b), (joining, old)) = (product.operands(), product.joined());
    let (expected, found) = (semiring.output(a.dtype())?, c.dtype());
    if expected != found {
        return Err(ErrorKind::DTypeMismatch { what: "C", expected, found }.into());
    }
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    let arg_layout = arg.map_or(c.layout(), |arg| arg.layout());
    check_shape("the arg result", arg_layout, &problem)?;

    if semiring == SemiringId::LogPlus {
        let rows = rows::sample(problem.m(), problem.n(), problem.k().saturating_mul(logarithms::TERMS));
        let sums = logarithms::Sums { a, b, old, c };
        return match a.dtype() {
            DType::F32 => sums.verify::<f32>(&rows),
            _ => sums.verify::<f64>(&rows),
        };
    }
    let rows = rows::sample(problem.m(), problem.n(), problem.k());
    if semiring == SemiringId::PlusTimes && a.dtype().is_float() {
        let sums = bounded::Sums { a, b, joining, old, c };
        return match a.dtype() {
            DType::F16 => sums.verify::<f16>(&rows),
            DType::Bf16 => sums.verify::<bf16>(&rows),
            DType::F32 => sums.verify::<f32>(&rows),
            _ => sums.verify::<f64>(&rows),
        };
    }
    dispatch(semiring, a.dtype(), joining, exact::Exact { a, b, old, c, arg, rows: &rows })
}

fn check_shape(what: &'static str, l: Layout, problem: &Problem) -> Result<(), Error> {
    let (m, n) = (problem.m(), problem.n());
    if (l.rows, l.cols) == (m, n) {
        return Ok(());
    }
    Err(ErrorKind::ResultMismatch { what, rows: l.rows, cols: l.cols, m, n }.into())
}

#[cfg(test)]
mod tests;
