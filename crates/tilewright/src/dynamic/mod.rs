//! Products whose semiring and element type are chosen at run time: what the command line computes.

mod dispatch;
mod run;

use crate::{
    backend::Backend,
    options::{Options, Report},
    plan::{Query, Results},
    verify::{self, Verification},
};
use run::Run;
use tilewright_core::{
    DType, DynMatrix, DynMut, DynRef, Epilogue, Error, ErrorKind, Joining, Layout, MatMut, MatRef, Matrix,
    NO_ARG, Problem, Scales, SemiringId, Value,
};

pub(crate) use dispatch::{Check, Task, dispatch};
pub(crate) use run::{typed, typed_mut};

/// The product of two matrices whose element type is known at run time.
///
/// ```
/// use tilewright::{DynMatrix, DynProduct, Matrix, SemiringId, Value};
/// let a: DynMatrix = Matrix::from_fn(2, 2, |i, j| (i * 2 + j) as i8)?.into();
/// let product = DynProduct::new(SemiringId::PlusTimes, &a, &a)?;
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
    /// The type of the results, where no C says another.
    output: DType,
    joining: Joining<Value>,
    old: Option<DynRef<'a>>,
    epilogue: Epilogue<DynRef<'a>>,
    scales: Scales<DynRef<'a>>,
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
    pub fn new(
        semiring: SemiringId,
        a: impl Into<DynRef<'a>>,
        b: impl Into<DynRef<'a>>,
    ) -> Result<Self, Error> {
        let (a, b) = (a.into(), b.into());
        if a.dtype() != b.dtype() {
            let (expected, found) = (a.dtype(), b.dtype());
            return Err(ErrorKind::DTypeMismatch { what: "B", expected, found }.into());
        }
        let output = semiring.output(a.dtype())?;
        let c = Layout::row_major(a.layout().rows, b.layout().cols);
        Problem::new(a.layout(), b.layout(), c)?;
        let (joining, old) = (Joining::Replace, None);
        let (epilogue, options) = (Epilogue::default(), Options::default());
        Ok(Self { semiring, a, b, output, joining, old, epilogue, scales: Scales::NONE, options })
    }

    /// Follows the product by a bias and an activation: see [`crate::Product::epilogue`].
    ///
    /// # Errors
    /// As [`crate::Product::epilogue`].
    pub fn epilogue(mut self, epilogue: Epilogue<DynRef<'a>>) -> Result<Self, Error> {
        let (a, b) = (self.a.layout(), self.b.layout());
        let problem = Problem::new(a, b, Layout::row_major(a.rows, b.cols))?;
        self.epilogue = epilogue.checked(Some(self.semiring), self.semiring.name(), self.output, &problem)?;
        Ok(self)
    }

    /// Multiplies A and B by scales first, of floats of 8 bits: see [`Product::scales`](crate::Product::scales) and [`Scales`].
    ///
    /// ```
    /// use tilewright::{DType, DynProduct, E4m3, Matrix, Scales, SemiringId};
    /// let a = Matrix::filled(2, 256, E4m3::ONE)?;
    /// let blocks = Matrix::from([[1.0f32, 0.5], [2.0, 0.0]]);
    /// let scales = Scales { a: Some(blocks.as_ref().into()), b: None };
    /// let product = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref().t())?.scales(scales)?;
    /// let c = product.giving(DType::Bf16)?.compute()?.c;
    /// assert_eq!(c.as_ref().get(1, 0).map(|x| x.to_f64()), Some(256.0));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scales::checked`].
    pub fn scales(mut self, scales: Scales<DynRef<'a>>) -> Result<Self, Error> {
        let (a, b) = (self.a.layout(), self.b.layout());
        let problem = Problem::new(a, b, Layout::row_major(a.rows, b.cols))?;
        self.scales = scales.checked(Some(self.semiring), self.semiring.name(), self.a.dtype(), &problem)?;
        Ok(self)
    }

    /// Gives results of another type: f32 for f16 and bf16 under plus-times, whose sums are f32, and f16 and bf16 for floats of 8 bits. A C that is [written to](Self::write_to) says it by itself.
    ///
    /// ```
    /// use tilewright::{DType, DynProduct, Matrix, SemiringId, Value, f16};
    /// let a = Matrix::from_fn(1, 2, |_, j| f16::from_f32(if j == 0 { 2048.0 } else { 1.0 }))?;
    /// let ones = Matrix::filled(2, 1, f16::ONE)?;
    /// let product = DynProduct::new(SemiringId::PlusTimes, &a, &ones)?;
    /// assert_eq!(product.compute()?.c.as_ref().get(0, 0), Some(Value::Float(2048.0)));
    /// assert_eq!(product.giving(DType::F32)?.compute()?.c.as_ref().get(0, 0), Some(Value::Float(2049.0)));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` where the semiring has no such results.
    pub fn giving(mut self, output: DType) -> Result<Self, Error> {
        self.output = self.semiring.output_or(self.a.dtype(), Some(output))?;
        // A bias has the type of the results.
        let epilogue = self.epilogue;
        self.epilogue(epilogue)
    }

    /// Joins the product with C0, or scales it. The factors are those of plus-times alone; they are rounded to the type of the sums,
    /// as a literal of that type would be, and for integers they must be whole.
    ///
    /// # Errors
    /// `result-mismatch` when C0 is not m x n; `dtype-mismatch` when its type is not that of the result;
    /// `unsupported` when factors are given to another semiring than plus-times, or cannot be represented.
    pub fn update(mut self, joining: Joining<Value>, c0: Option<DynRef<'a>>) -> Result<Self, Error> {
        if let Some(c0) = c0 {
            let expected = self.output;
            if c0.dtype() != expected {
                return Err(ErrorKind::DTypeMismatch { what: "C0", expected, found: c0.dtype() }.into());
            }
            let Layout { rows, cols, .. } = c0.layout();
            let (m, n) = (self.a.layout().rows, self.b.layout().cols);
            if (rows, cols) != (m, n) {
                return Err(ErrorKind::ResultMismatch { what: "C0", rows, cols, m, n }.into());
            }
        }
        dispatch(self.semiring, self.types(), joining, Check)?;
        (self.joining, self.old) = (joining, c0);
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
        let c = Layout::row_major(a.rows, b.cols);
        let query = Query::new(self.semiring, self.a.dtype(), Problem::new(a, b, c)?);
        let Ok(epilogue) = self.epilogue.try_map(|_| Ok::<_, core::convert::Infallible>(()));
        Ok(query
            .giving(self.output)?
            .joining(self.joining)
            .math(self.options.math)
            .epilogue(epilogue)
            .scales(self.scales.map(|one| one.layout())))
    }

    /// The backend that will do the work, and why where the choice is left to [`Backend::Auto`].
    ///
    /// # Errors
    /// `unavailable` when the backend that was chosen is not here.
    pub fn backend(&self, results: Results) -> Result<(Backend, String), Error> {
        let task = dispatch::WhichBackend { product: self, results };
        dispatch(self.semiring, self.types(), self.joining, task)
    }

    /// Computes the product.
    ///
    /// # Errors
    /// As [`crate::Product::compute`]; `unsupported` when the product is joined with a C0 that is not given.
    pub fn compute(&self) -> Result<Outcome, Error> {
        let mut c = self.target()?;
        let report = self.write_to(c.as_mut(), None)?;
        Ok(Outcome { c, arg: None, report })
    }

    /// Computes the product and its arg result.
    ///
    /// # Errors
    /// As [`crate::Product::compute_with_arg`] and [`DynProduct::compute`].
    pub fn compute_with_arg(&self) -> Result<Outcome, Error> {
        let mut c = self.target()?;
        let mut arg = Matrix::filled(c.layout().rows, c.layout().cols, NO_ARG)?;
        let report = self.write_to(c.as_mut(), Some(arg.as_mut()))?;
        Ok(Outcome { c, arg: Some(arg), report })
    }

    /// Computes the product into `c`, joined with what `c` holds in place of C0, and the arg result where one is wanted.
    ///
    /// ```
    /// use tilewright::{DType, DynMatrix, DynProduct, Joining, Matrix, SemiringId};
    /// let a: DynMatrix = Matrix::from_fn(2, 2, |i, j| (i + j) as f32)?.into();
    /// let mut c = DynMatrix::zeros(DType::F32, 2, 2)?;
    /// let product = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), a.as_ref())?;
    /// for _ in 0..2 {
    ///     product.update(Joining::Accumulate, None)?.write_to(c.as_mut(), None)?;
    /// }
    /// assert_eq!(c.into_typed::<f32>().unwrap().as_slice(), [2.0, 4.0, 4.0, 10.0]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`crate::Product::run`]; `dtype-mismatch` when results cannot have the type of `c`.
    pub fn write_to(&self, c: DynMut<'_>, arg: Option<MatMut<'_, u32>>) -> Result<Report, Error> {
        dispatch(self.semiring, self.types_into(c.dtype())?, self.joining, Run { product: self, c, arg })
    }

    /// The types of operands and results.
    fn types(&self) -> [DType; 2] {
        [self.a.dtype(), self.output]
    }

    /// The same for a C of type `found`.
    pub(crate) fn types_into(&self, found: DType) -> Result<[DType; 2], Error> {
        let [dtype, expected] = self.types();
        match self.semiring.gives(dtype, found) {
            true => Ok([dtype, found]),
            false => Err(ErrorKind::DTypeMismatch { what: "C", expected, found }.into()),
        }
    }

    /// A matrix for the result: a copy of C0 where it takes part.
    fn target(&self) -> Result<DynMatrix, Error> {
        match self.old {
            Some(c0) if self.joining.reads_c() => c0.to_matrix(),
            None if self.joining.reads_c() => Err(ErrorKind::Unsupported {
                what: "a product joined with C0".into(),
                why: "there is none".into(),
                hint: "give C0 to `update`, or write to a matrix that holds it".into(),
            }
            .into()),
            _ => DynMatrix::zeros(self.output, self.a.layout().rows, self.b.layout().cols),
        }
    }

    /// Compares a result, wherever it came from, with the definition.
    ///
    /// Selective semirings, or-and and integers must agree bit for bit. Floating-point plus-times must keep
    ///
    /// `|C - ref| <= (K + 4) (u + v) S + w S`, with `S = |alpha| |A| |B| + |beta| |C0|`,
    ///
    /// where the reference is summed in f64, `u` is the unit roundoff (half the machine epsilon) of the
    /// type of the sums (f32 for floats of 16 and 8 bits), `v = 2^-53` that of the reference, and `w` the unit roundoff
    /// of a result that is narrower than its sums (2^-11 for f16, 2^-8 for bf16), otherwise 0. That is
    /// `c K eps (|A| |B|)` with `c = 1/2`, the bound that holds for any order of summation, fused or not
    /// (C.-P. Jeannerod and S. M. Rump, 2013); the 4 pays for alpha, beta, the joining of partial sums and a
    /// remainder of second order. [`Math::Tf32`](crate::Math::Tf32) adds `(2^-10 + 2^-22) |alpha| |A| |B|`: both factors of a term are rounded. Floats of 8 bits
    /// add `2^-5.95 |alpha| |A| |B|` where a GPU may have computed: tensor cores keep 13 digits of 128 terms.
    ///
    /// With an [epilogue](DynProduct::epilogue), S has the magnitude of the bias as well. GELU multiplies the bound by its
    /// [steepness](crate::Activation::steepness) and adds `8 u S` for itself.
    ///
    /// Log-plus must keep `|C - ref| <= (u + v) S`, with `S = K + 8 + 2 |ref|`, and `8 + |ref|` more where it is joined with C0: see
    /// [`Logarithm::error_bound`](tilewright_core::semiring::Logarithm::error_bound).
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

    pub(crate) fn operands(&self) -> (SemiringId, DynRef<'a>, DynRef<'a>) {
        (self.semiring, self.a, self.b)
    }

    /// The scales of A and B.
    pub(crate) fn scaled(&self) -> Scales<DynRef<'a>> {
        self.scales
    }

    /// What follows the product.
    pub(crate) fn followed(&self) -> Epilogue<DynRef<'a>> {
        self.epilogue
    }

    /// What happens to C0, and C0 where it takes part.
    pub(crate) fn joined(&self) -> (Joining<Value>, Option<DynRef<'a>>) {
        (self.joining, self.old.filter(|_| self.joining.reads_c()))
    }
}

#[cfg(test)]
mod tests;
