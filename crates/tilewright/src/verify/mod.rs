//! Comparing a result with the definition.

mod bounded;
mod exact;
mod expressions;
mod float;
mod logarithms;
mod rows;

use crate::{
    backend::Backend,
    dynamic::{DynProduct, dispatch},
};
pub(crate) use expressions::expressions;
use tilewright_core::{
    DType, DynRef, E4m3, E5m2, Error, ErrorKind, Layout, MatRef, Math, Problem, SemiringId, Value, bf16, f16,
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

pub(crate) fn verify(
    product: &DynProduct<'_>,
    c: DynRef<'_>,
    arg: Option<MatRef<'_, u32>>,
) -> Result<Verification, Error> {
    let ((semiring, a, b), (joining, old)) = (product.operands(), product.joined());
    let types = product.types_into(c.dtype())?;
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
        let choices = product.choices();
        let math = if choices.math.is_for(semiring, a.dtype()) { choices.math } else { Math::Full };
        let is_here = matches!(choices.backend, Backend::Cpu | Backend::Reference);
        let in_tensor_cores = a.dtype().is_float8() && !is_here;
        let (epilogue, scales) = (product.followed(), product.scaled());
        let sums = bounded::Sums { a, b, math, in_tensor_cores, joining, old, epilogue, scales, c };
        return match types {
            [DType::F16, output] => sums.verify_into::<f16>(output, &rows),
            [DType::Bf16, output] => sums.verify_into::<bf16>(output, &rows),
            [DType::E4m3, output] => sums.verify_into::<E4m3>(output, &rows),
            [DType::E5m2, output] => sums.verify_into::<E5m2>(output, &rows),
            [DType::F32, _] => sums.verify::<f32, f32>(&rows),
            _ => sums.verify::<f64, f64>(&rows),
        };
    }
    dispatch(semiring, types, joining, exact::Exact { a, b, old, c, arg, rows: &rows })
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
