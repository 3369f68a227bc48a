//! Products whose semiring and element type are chosen at run time: what the command line computes.

mod dispatch;
mod run;

use crate::{
    backend::Backend,
    options::{Options, Report},
    plan::{Joining, Query, Results},
    verify::{self, Verification},
};
use run::{ArgResult, OutputType, Run};
use tilewright_core::{DType, DynMatrix, DynRef, Error, ErrorKind, MatRef, Matrix, Problem, SemiringId};

pub(crate) use dispatch::{Task, dispatch};
pub use run::erase;
pub(crate) use run::{copy, typed};

/// What a [`DynProduct`] does besides multiplying; the run-time form of [`tilewright_core::Update`].
#[derive(Clone, Copy, Debug, Default)]
pub enum DynUpdate<'a> {
    /// `C = A ⊗ B`.
    #[default]
    Replace,
    /// `C = C0 ⊕ A ⊗ B`.
    Accumulate(DynRef<'a>),
    /// `C = alpha A B + beta C0`, plus-times only. The factors are rounded to the type of the sums, as a
    /// literal of that type would be; for integers they must be whole.
    Scale {
        /// Multiplies the product.
        alpha: f64,
        /// `beta` and C0, or nothing for `beta = 0`.
        old: Option<(f64, DynRef<'a>)>,
    },
}

impl<'a> DynUpdate<'a> {
    /// The matrix C0, where there is one.
    pub fn old(&self) -> Option<DynRef<'a>> {
        match *self {
            Self::Replace => None,
            Self::Accumulate(c0) => Some(c0),
            Self::Scale { old, .. } => old.map(|(_, c0)| c0),
        }
    }
}

/// The product of two matrices whose element type is known at run time.
///
/// ```
/// use tilewright::{DynMatrix, DynProduct, Matrix, SemiringId, Value};
/// let a: DynMatrix = Matrix::from_fn(2, 2, |i, j| (i * 2 + j) as i8)?.into();
/// let product = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref())?;
/// let outcome = product.compute()?; // i8 products are summed in i32
/// assert_eq!(outcome.c.as_ref().get(1, 1), Some(Value::Int(11)));
/// assert!(product.verify(outcome.c.as_ref(), None)?.passed);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DynProduct<'a> {
    semiring: SemiringId,
    a: DynRef<'a>,
    b: DynRef<'a>,
    update: DynUpdate<'a>,
    options: Options<'a>,
}

/// What a [`DynProduct`] gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The product, row-major.
    pub c: DynMatrix,
    /// For each element the smallest `k` whose term it is, or [`tilewright_core::NO_ARG`]; present when
    /// it was asked for.
    pub arg: Option<Matrix<u32>>,
    /// How it was computed.
    pub report: Report,
}

impl<'a> DynProduct<'a> {
    /// The product of A (m x k) and B (k x n) over `semiring`.
    ///
    /// # Errors
    /// `inner-mismatch`; `dtype-mismatch` when A and B have different element types; `unsupported` when the
    /// semiring is not defined on theirs.
    pub fn new(semiring: SemiringId, a: DynRef<'a>, b: DynRef<'a>) -> Result<Self, Error> {
        if a.dtype() != b.dtype() {
            let (expected, found) = (a.dtype(), b.dtype());
            return Err(ErrorKind::DTypeMismatch { what: "B", expected, found }.into());
        }
        Self::output_dtype(semiring, a.dtype())?;
        let c = tilewright_core::Layout::row_major(a.layout().rows, b.layout().cols);
        Problem::new(a.layout(), b.layout(), c)?;
        Ok(Self { semiring, a, b, update: DynUpdate::Replace, options: Options::default() })
    }

    /// The element type of the result for operands of type `dtype`: i32 for i8 under plus-times, otherwise
    /// the same.
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`.
    pub fn output_dtype(semiring: SemiringId, dtype: DType) -> Result<DType, Error> {
        semiring.visit(dtype, OutputType)
    }

    /// Joins the product with another matrix, or scales it.
    ///
    /// # Errors
    /// `result-mismatch` when C0 is not m x n; `dtype-mismatch` when its type is not that of the result;
    /// `unsupported` when factors are given to another semiring than plus-times, or cannot be represented.
    pub fn update(mut self, update: DynUpdate<'a>) -> Result<Self, Error> {
        if let Some(c0) = update.old() {
            let expected = Self::output_dtype(self.semiring, self.a.dtype())?;
            if c0.dtype() != expected {
                return Err(ErrorKind::DTypeMismatch { what: "C0", expected, found: c0.dtype() }.into());
            }
            let (m, n) = (self.a.layout().rows, self.b.layout().cols);
            let (rows, cols) = (c0.layout().rows, c0.layout().cols);
            if (rows, cols) != (m, n) {
                return Err(ErrorKind::ResultMismatch { what: "C0", rows, cols, m, n }.into());
            }
        }
        dispatch(self.semiring, self.a.dtype(), Joining::from(&update), dispatch::Check)?;
        self.update = update;
        Ok(self)
    }

    /// Replaces the choices of backend, threads and progress.
    #[must_use]
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    /// The number of terms: `m n k`, as a float because it may exceed 2^64.
    pub fn pair_ops(&self) -> f64 {
        self.a.layout().rows as f64 * self.a.layout().cols as f64 * self.b.layout().cols as f64
    }

    /// What a plan needs to know: everything but the elements. C is row-major, as it will be.
    ///
    /// # Errors
    /// None for a product that was made.
    pub fn query(&self) -> Result<Query, Error> {
        let (a, b) = (self.a.layout(), self.b.layout());
        let c = tilewright_core::Layout::row_major(a.rows, b.cols);
        let query = Query::new(self.semiring, self.a.dtype(), Problem::new(a, b, c)?);
        Ok(query.joining(Joining::from(&self.update)))
    }

    /// The backend that will do the work, and why where the choice is left to [`Backend::Auto`].
    ///
    /// # Errors
    /// `unavailable` when the backend that was chosen is not here.
    pub fn backend(&self, results: Results) -> Result<(Backend, String), Error> {
        let task = dispatch::WhichBackend { product: self, results };
        dispatch(self.semiring, self.a.dtype(), Joining::from(&self.update), task)
    }

    /// Computes the product.
    ///
    /// # Errors
    /// As [`crate::Product::compute`].
    pub fn compute(&self) -> Result<Outcome, Error> {
        self.run(ArgResult::Skip)
    }

    /// Computes the product and its arg result.
    ///
    /// # Errors
    /// As [`crate::Product::compute_with_arg`].
    pub fn compute_with_arg(&self) -> Result<Outcome, Error> {
        self.run(ArgResult::Compute)
    }

    fn run(&self, arg: ArgResult) -> Result<Outcome, Error> {
        dispatch(self.semiring, self.a.dtype(), Joining::from(&self.update), Run { product: self, arg })
    }

    /// Compares a result, wherever it came from, with the definition.
    ///
    /// Selective semirings, or-and and integers must agree bit for bit. Floating-point plus-times must keep
    ///
    /// `|C - ref| <= (K + 4) (u + v) S + w S`, with `S = |alpha| |A| |B| + |beta| |C0|`,
    ///
    /// where the reference is summed in f64, `u` is the unit roundoff (half the machine epsilon) of the
    /// type of the sums (f32 for f16 and bf16), `v = 2^-53` that of the reference, and `w` the unit roundoff
    /// of a result that is narrower than its sums (2^-11 for f16, 2^-8 for bf16), otherwise 0. That is
    /// `c K eps (|A| |B|)` with `c = 1/2`, the bound that holds for any order of summation, fused or not
    /// (C.-P. Jeannerod and S. M. Rump, 2013); the 4 pays for alpha, beta, the joining of partial sums and a
    /// remainder of second order.
    ///
    /// All rows are compared when `m n k` is at most 2e8, otherwise a sample that always contains the first
    /// and the last row and is the same for the same shape.
    ///
    /// # Errors
    /// `result-mismatch` and `dtype-mismatch` when `c` or `arg` cannot be a result of this product.
    pub fn verify(&self, c: DynRef<'_>, arg: Option<MatRef<'_, u32>>) -> Result<Verification, Error> {
        verify::verify(self, c, arg)
    }

    pub(crate) fn choices(&self) -> &Options<'a> {
        &self.options
    }

    pub(crate) fn parts(&self) -> (SemiringId, DynRef<'a>, DynRef<'a>, DynUpdate<'a>) {
        (self.semiring, self.a, self.b, self.update)
    }
}

#[cfg(test)]
mod tests;
