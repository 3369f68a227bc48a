//! Sums of exponentials, in logarithms, which must stay within their error bound.

use super::{
    Mismatch, Verification,
    bounded::{GROUP, PANEL, widen},
    float::{REFERENCE, round},
};
use crate::dynamic::typed;
use tilewright_core::{
    DynRef, Error, MatRef, Value,
    semiring::{Logarithm, log_add_exp},
};

/// What a term costs here, in terms of plus-times.
pub(super) const TERMS: usize = 8;

/// The product whose result is compared.
pub(super) struct Sums<'p> {
    pub a: DynRef<'p>,
    pub b: DynRef<'p>,
    pub old: Option<DynRef<'p>>,
    pub c: DynRef<'p>,
}

/// A sum by its largest term.
#[derive(Clone, Copy)]
struct Sum {
    best: f64,
    /// Of `exp(term - best)`; NaN once a term is.
    sum: f64,
}

impl Sum {
    const NOTHING: Self = Self { best: f64::NEG_INFINITY, sum: 0.0 };

    fn value(self) -> f64 {
        match self {
            Self { sum, .. } if sum.is_nan() => f64::NAN,
            Self { best, .. } if best.is_infinite() => best,
            Self { best, sum } => best + sum.ln(),
        }
    }
}

impl Sums<'_> {
    pub fn verify<T: Logarithm>(&self, rows: &[usize]) -> Result<Verification, Error> {
        let (a, b, c) = (typed::<T>("A", self.a)?, typed::<T>("B", self.b)?, typed::<T>("C", self.c)?);
        let old = self.old.map(|c0| typed::<T>("C0", c0)).transpose()?;
        let (n, k) = (b.cols(), b.rows());
        let mut verdict = Verification::of(rows.len(), T::UNIT_ROUNDOFF + REFERENCE);
        let mut sums = vec![Sum::NOTHING; GROUP.min(rows.len()) * n];
        for group in rows.chunks(GROUP) {
            sums.fill(Sum::NOTHING);
            // The largest terms first, then the sums of all.
            each_term(&mut sums, a, b, group, |sum, term| {
                if term > sum.best {
                    sum.best = term;
                }
            });
            each_term(&mut sums, a, b, group, |sum, term| {
                let is_best = term == sum.best;
                sum.sum += if is_best { 1.0 } else { (term - sum.best).exp() };
            });
            for (&row, sums) in group.iter().zip(sums.chunks_exact(n.max(1))) {
                for (col, sum) in sums.iter().enumerate() {
                    let (Some(found), sum) = (c.get(row, col).map(Into::into), sum.value()) else { continue };
                    let old = old.and_then(|c0| c0.get(row, col)).map(Into::into);
                    let right = old.map_or(sum, |old| log_add_exp(old, sum));
                    let scale = T::error_bound(k, right, old.is_some()) / T::UNIT_ROUNDOFF;
                    let error = error::<T>(found, right, scale, verdict.bound);
                    verdict.max_error = verdict.max_error.max(error);
                    if error > verdict.bound {
                        let (found, expected) = (Value::Float(found), Value::Float(round::<T>(right)));
                        verdict.fail(Mismatch { matrix: "C", row, col, found, expected });
                    }
                }
            }
        }
        Ok(verdict)
    }
}

/// The error in units of `scale`.
fn error<T: Logarithm>(found: f64, right: f64, scale: f64, bound: f64) -> f64 {
    match (found, right) {
        _ if found == right || found.is_nan() && right.is_nan() => 0.0,
        _ if found.is_finite() && right.is_finite() => (found - right).abs() / scale,
        // A result may overflow when it is rounded.
        _ if right.is_finite() && round::<T>(right + bound * scale.copysign(right)) == found => 0.0,
        _ => f64::INFINITY,
    }
}

/// Calls `f` for every term of the rows `group` of A times B and the sum it belongs to, a row of B at a time.
fn each_term<T: Logarithm>(
    sums: &mut [Sum],
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    group: &[usize],
    f: impl Fn(&mut Sum, f64),
) {
    let (k, n) = (b.rows(), b.cols().max(1));
    let mut panel = vec![0.0; PANEL * b.cols()];
    for first in (0..k).step_by(PANEL) {
        let depth = PANEL.min(k - first);
        widen(b, first, depth, &mut panel);
        for (&row, sums) in group.iter().zip(sums.chunks_exact_mut(n)) {
            for (p, b) in panel.chunks_exact(n).take(depth).enumerate() {
                let a: f64 = a.get(row, first + p).map_or(f64::NAN, Into::into);
                sums.iter_mut().zip(b).for_each(|(sum, &b)| f(sum, a + b));
            }
        }
    }
}
