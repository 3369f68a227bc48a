//! Results that must agree bit for bit.

use super::{Mismatch, Verification};
use crate::dynamic::{Task, typed};
use tilewright_core::{DynRef, Element, Error, MatRef, Matrix, NO_ARG, Semiring, Update, Value, reference};

/// Compares rows of C, and of the arg result, with the reference.
pub(super) struct Exact<'p> {
    pub a: DynRef<'p>,
    pub b: DynRef<'p>,
    pub old: Option<DynRef<'p>>,
    pub c: DynRef<'p>,
    pub arg: Option<MatRef<'p, u32>>,
    pub rows: &'p [usize],
}

impl Task for Exact<'_> {
    type Output = Verification;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<Verification, Error> {
        let (a, b) = (typed::<S::Elem>("A", self.a)?, typed::<S::Elem>("B", self.b)?);
        let n = b.cols();
        // The rows in question, gathered, make one small product.
        let a = gather(a, self.rows)?;
        let mut c = match self.old {
            Some(old) => gather(typed::<S::Out>("C0", old)?, self.rows)?,
            None => Matrix::filled(self.rows.len(), n, S::finish(S::ZERO))?,
        };
        let mut arg = Matrix::filled(self.rows.len(), n, NO_ARG)?;
        match self.arg {
            None => reference::multiply(c.as_mut(), a.as_ref(), b, update)?,
            Some(_) => reference::multiply_arg(c.as_mut(), arg.as_mut(), a.as_ref(), b, update)?,
        }

        let mut verdict = Verification::of(self.rows.len(), 0.0);
        let expected: DynRef<'_> = c.as_ref().into();
        for (i, &row) in self.rows.iter().enumerate() {
            for col in 0..n {
                if let (Some(found), Some(expected)) = (self.c.get(row, col), expected.get(i, col))
                    && !same(found, expected)
                {
                    verdict.max_error = verdict.max_error.max(distance(found, expected));
                    verdict.fail(Mismatch { matrix: "C", row, col, found, expected });
                }
                let found = self.arg.and_then(|arg| arg.get(row, col));
                if let (Some(found), Some(expected)) = (found, arg.as_ref().get(i, col))
                    && found != expected
                {
                    let (found, expected) = (Value::Int(found.into()), Value::Int(expected.into()));
                    verdict.fail(Mismatch { matrix: "the arg result", row, col, found, expected });
                }
            }
        }
        Ok(verdict)
    }
}

/// These rows of `m`, in this order.
fn gather<T: Copy>(m: MatRef<'_, T>, rows: &[usize]) -> Result<Matrix<T>, Error> {
    if rows.len() == m.rows() {
        return Matrix::copy_of(m);
    }
    // SAFETY: the sampled rows are rows of the matrix, and columns run inside it.
    Matrix::from_fn(rows.len(), m.cols(), |i, j| unsafe { m.get_unchecked(rows[i], j) })
}

/// Equal bit for bit; f16, bf16 and f32 widen to f64 one to one.
fn same(x: Value, y: Value) -> bool {
    match (x, y) {
        (Value::Float(x), Value::Float(y)) => x.to_bits() == y.to_bits(),
        _ => x == y,
    }
}

fn distance(x: Value, y: Value) -> f64 {
    let d = (x.to_f64() - y.to_f64()).abs();
    if d.is_nan() { f64::INFINITY } else { d }
}
