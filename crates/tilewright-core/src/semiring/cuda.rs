//! What a user's semiring is on a GPU: CUDA C++ beside the functions in Rust, and samples to compare both on.

use super::Semiring;
use crate::{
    dtype::DType,
    dynamic::{DynMatrix, DynMut, DynRef},
    error::{Error, ErrorKind},
    expressions::{Cell, SAMPLES},
    matrix::Matrix,
    value::Value,
    view::{MatMut, MatRef},
};

/// The CUDA C++ of a user's semiring `S`: [`Semiring::CUDA`].
///
/// Kernels are made of two expressions: what [`Semiring::add`] and the ⊗ of [`Semiring::mul_add`] say in Rust. The rest of the semiring is taken
/// from Rust: zero, and which elements there are. [`Semiring::finish`] and [`Semiring::resume`] must change nothing.
pub struct Cuda<S: Semiring> {
    expressions: [&'static str; 2],
    dtype: DType,
    zero: fn() -> Value,
    operand: fn(MatRef<'_, S::Elem>) -> DynRef<'_>,
    result: fn(MatMut<'_, S::Out>) -> DynMut<'_>,
    trial: fn() -> Result<Trial, Error>,
}

impl<T: Cell, S: Semiring<Elem = T, Acc = T, Out = T>> Cuda<S> {
    /// The expressions of `x ⊕ y` and `x ⊗ y`, in CUDA C++ on `x` and `y` of the type `T`: `float`, `double`, `int` or `long long`.
    pub const fn new(add: &'static str, mul: &'static str) -> Self {
        Self {
            expressions: [add, mul],
            dtype: T::DTYPE,
            zero: || S::ZERO.to_value(),
            operand: |m| m.into(),
            result: |m| m.into(),
            trial: trial::<T, S>,
        }
    }
}

impl<S: Semiring> Cuda<S> {
    /// The expressions of ⊕ and ⊗.
    pub const fn expressions(&self) -> [&'static str; 2] {
        self.expressions
    }
    /// The type of all elements.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }
    /// The identity of ⊕.
    pub fn zero(&self) -> Value {
        (self.zero)()
    }
    /// A matrix to multiply, without its type.
    pub fn operand<'a>(&self, m: MatRef<'a, S::Elem>) -> DynRef<'a> {
        (self.operand)(m)
    }
    /// A matrix to write to, without its type.
    pub fn result<'a>(&self, m: MatMut<'a, S::Out>) -> DynMut<'a> {
        (self.result)(m)
    }
    /// A product of samples by the functions in Rust, for comparison.
    ///
    /// # Errors
    /// `unsupported`, with a counter-example, where [`Semiring::ZERO`] does not do nothing.
    pub fn trial(&self) -> Result<Trial, Error> {
        (self.trial)()
    }
}

/// A product of samples, joined with an old C, and what it must give: each element of C is another `acc ⊕ (a ⊗ b)`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trial {
    /// A column.
    pub a: DynMatrix,
    /// A row.
    pub b: DynMatrix,
    /// What C holds before.
    pub old: DynMatrix,
    /// Whether ⊕ is associative and commutative on the samples.
    pub any_order: bool,
    expected: DynMatrix,
    semiring: &'static str,
    tolerance: f64,
}

impl Trial {
    /// Compares what the CUDA expressions gave, as nearly as rounding lets both agree.
    ///
    /// # Errors
    /// `unsupported`, which names the operands and both results.
    pub fn check(&self, found: DynRef<'_>) -> Result<(), Error> {
        let (rows, cols) = (self.expected.layout().rows, self.expected.layout().cols);
        for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            let at = |m: DynRef<'_>, i, j| m.get(i, j).unwrap_or(Value::Bool(false));
            let (found, expected) = (at(found, i, j), at(self.expected.as_ref(), i, j));
            if agree(found, expected, self.tolerance) {
                continue;
            }
            let [acc, a, b] =
                [at(self.old.as_ref(), i, j), at(self.a.as_ref(), i, 0), at(self.b.as_ref(), 0, j)];
            return Err(ErrorKind::Unsupported {
                what: format!("the CUDA expressions of the semiring {}", self.semiring),
                why: format!(
                    "acc ⊕ (a ⊗ b) is {found} by them and {expected} by mul_add, where acc = {acc}, a = {a}, \
                     b = {b}"
                ),
                hint: "mend `Semiring::CUDA` or the functions in Rust: finish and resume must change nothing"
                    .into(),
            }
            .into());
        }
        Ok(())
    }
}

fn agree(x: Value, y: Value, tolerance: f64) -> bool {
    if x == y {
        return true;
    }
    let (Value::Float(x), Value::Float(y)) = (x, y) else { return false };
    let is_near = x.is_finite() && y.is_finite() && (x - y).abs() <= tolerance * (x.abs() + y.abs());
    is_near || (x.is_nan() && y.is_nan())
}

fn trial<T: Cell, S: Semiring<Elem = T, Acc = T, Out = T>>() -> Result<Trial, Error> {
    let samples = [S::ZERO, S::ONE].into_iter().chain(SAMPLES.into_iter().filter_map(T::of));
    let samples: Vec<T> = samples.filter(|&x| S::admits(x)).collect();
    let agree = |x: T, y: T| agree(x.to_value(), y.to_value(), T::TOLERANCE);
    for &x in &samples {
        let sums = [S::add(S::ZERO, x), S::add(x, S::ZERO), S::mul_add(x, S::ZERO, S::ZERO)];
        if let Some(sum) = sums.into_iter().find(|&sum| !agree(sum, x)) {
            return Err(ErrorKind::Unsupported {
                what: format!("the semiring {} on a GPU", S::NAME),
                why: format!("{x}, joined with ZERO or with the product of ZERO and ZERO, becomes {sum}"),
                hint: "ZERO must be the identity of add, and annihilate".into(),
            }
            .into());
        }
    }
    let is_in_any_order = |x: T, y: T, z: T| {
        agree(S::add(x, y), S::add(y, x)) && agree(S::add(S::add(x, y), z), S::add(x, S::add(y, z)))
    };
    let all = |holds: &dyn Fn(T) -> bool| samples.iter().all(|&x| holds(x));
    let count = samples.len();
    let (a, old) = (|i: usize| samples[i % count], |i: usize| samples[i / count]);
    Ok(Trial {
        a: Matrix::from_fn(count * count, 1, |i, _| a(i))?.into(),
        b: Matrix::from_fn(1, count, |_, j| samples[j])?.into(),
        old: Matrix::from_fn(count * count, count, |i, _| old(i))?.into(),
        any_order: all(&|x| all(&|y| all(&|z| is_in_any_order(x, y, z)))),
        expected: Matrix::from_fn(count * count, count, |i, j| {
            S::finish(S::mul_add(S::resume(old(i)), a(i), samples[j]))
        })?
        .into(),
        semiring: S::NAME,
        tolerance: T::TOLERANCE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semiring::MaxTimes;

    #[test]
    fn a_trial_tells_other_results_by_their_operands() {
        // The built-in one is computed by a user's two expressions.
        let trial = trial::<f32, MaxTimes<f32>>().unwrap();
        assert!(trial.any_order);
        trial.check(trial.expected.as_ref()).unwrap();
        let error = trial.check(trial.old.as_ref()).unwrap_err().to_string();
        assert!(error.contains("is 0 by them and 1 by mul_add, where acc = 0, a = 1, b = 1"), "{error}");
    }

    #[test]
    fn roundings_and_nan_agree_and_integers_are_exact() {
        let float = |x: f64| Value::Float(x);
        assert!(agree(float(1.0), float(1.0 + 1e-7), 1e-6) && agree(float(f64::NAN), float(f64::NAN), 0.0));
        assert!(!agree(float(f64::INFINITY), float(1.0), 1.0) && !agree(Value::Int(1), Value::Int(2), 1.0));
    }
}
