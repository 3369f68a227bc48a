//! Small products on one instruction set, compared with the definition.

use std::time::{Duration, Instant};
use tilewright::{
    Backend, DType, DynMatrix, DynProduct, DynRef, Error, Extremes, Isa, Joining, Matrix, Options, SemiringId,
};

/// No new check starts after this long; the first round is always finished.
const LONGEST: Duration = Duration::from_millis(200);
/// Shapes with remainders around every register tile.
const SHAPES: [(usize, usize, usize); 3] = [(37, 41, 29), (1, 67, 5), (19, 3, 130)];

/// What came of it.
pub struct Outcome {
    /// Products compared.
    pub products: usize,
    /// What went wrong first.
    pub failure: Option<String>,
}

/// Every semiring on every element type, with and without accumulation and arg results.
pub fn run(isa: Isa) -> Outcome {
    let start = Instant::now();
    let mut outcome = Outcome { products: 0, failure: None };
    for (round, &shape) in SHAPES.iter().enumerate() {
        for &semiring in SemiringId::ALL {
            for &dtype in semiring.dtypes() {
                if round > 0 && start.elapsed() > LONGEST {
                    return outcome;
                }
                let problem = match one(isa, semiring, dtype, shape) {
                    Ok(None) => None,
                    Ok(Some(problem)) => Some(problem),
                    Err(e) => Some(e.to_string()),
                };
                outcome.products += 1;
                if let Some(problem) = problem {
                    let (m, n, k) = shape;
                    let what = format!("{semiring} on {dtype}, {m}x{n}x{k}: {problem}");
                    outcome.failure.get_or_insert(what);
                }
            }
        }
    }
    outcome
}

fn one(
    isa: Isa,
    semiring: SemiringId,
    dtype: DType,
    (m, n, k): (usize, usize, usize),
) -> Result<Option<String>, Error> {
    let out = semiring.output(dtype)?;
    // B is handed over transposed, so that both orders are met.
    let (a, b, c0) = (numbers(m, k, dtype)?, numbers(n, k, dtype)?, numbers(m, n, out)?);
    let options = Options { backend: Backend::Cpu, isa: Some(isa), ..Options::default() };
    let product = DynProduct::new(semiring, a.as_ref(), b.as_ref().t())?.options(options);
    let accumulated = product.update(Joining::Accumulate, Some(c0.as_ref()))?;
    for product in [product, accumulated] {
        let outcome =
            if semiring.is_selective() { product.compute_with_arg()? } else { product.compute()? };
        let verdict = product.verify(outcome.c.as_ref(), outcome.arg.as_ref().map(Matrix::as_ref))?;
        if !verdict.passed {
            let place = verdict
                .mismatch
                .map(|x| format!("{}[{}, {}] is {}, not {}", x.matrix, x.row, x.col, x.found, x.expected));
            return Ok(Some(place.unwrap_or_else(|| "wrong".into())));
        }
    }
    Ok(None)
}

/// Small whole numbers in no simple order; zeros and ones for booleans.
fn numbers(rows: usize, cols: usize, dtype: DType) -> Result<DynMatrix, Error> {
    let most = if dtype == DType::Bool { 2 } else { 11 };
    let m = Matrix::from_fn(rows, cols, |i, j| ((i * 7 + j * 13 + i * j) % 31 % most) as i64)?;
    let m = DynMatrix::from(m);
    let view: DynRef<'_> = m.as_ref();
    view.convert(dtype, Extremes::Refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_path_is_right() {
        let outcome = run(Isa::Portable);
        assert!(outcome.failure.is_none() && outcome.products >= 32, "{:?}", outcome.failure);
    }
}
