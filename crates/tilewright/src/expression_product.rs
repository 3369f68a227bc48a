//! Products over semirings that are given by their text.

use crate::{
    backend::Backend,
    choice::{self, Asked, Choice},
    dynamic::typed,
    options::{Options, Report},
    plan::Results,
    verify::{self, Verification},
};
#[cfg(feature = "cuda")]
use crate::{
    device::{Beside, Device, Failure, Work},
    plan::Query,
    series::{Series, SeriesMut},
};
use std::time::Instant;
use tilewright_core::{
    DType, DynMut, DynRef, Error, ErrorKind, MatMut,
    expressions::{Cell, Expressions},
};
#[cfg(feature = "cuda")]
use tilewright_core::{Joining, Layout, Problem, semiring::Meaning};

/// A product over a semiring that is given by its text, of matrices whose element type is known at run time.
///
/// ```
/// use tilewright::{DynMatrix, DType, ExpressionProduct, Matrix, Options, expressions::Expressions};
/// let paths: Expressions = "add=fminf(x,y); mul=x+y; zero=inf; one=0".parse()?;
/// let roads: DynMatrix = Matrix::from_fn(3, 3, |i, j| (4 * i + j) as f32)?.into();
/// let mut c = DynMatrix::zeros(DType::F32, 3, 3)?;
/// let product = ExpressionProduct::new(&paths, &roads, &roads)?;
/// product.write_to(c.as_mut(), &Options::default())?;
/// assert!(product.verify(c.as_ref(), None)?.passed);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExpressionProduct<'a> {
    semiring: &'a Expressions,
    a: DynRef<'a>,
    b: DynRef<'a>,
    joins: bool,
}

impl<'a> ExpressionProduct<'a> {
    /// The product of A (m x k) and B (k x n), whose laws are tried first.
    ///
    /// # Errors
    /// `dtype-mismatch` when A and B have different element types; `unsupported` when the text breaks a law of semirings on theirs, with a
    /// counter-example, or has no such numbers.
    pub fn new(
        semiring: &'a Expressions,
        a: impl Into<DynRef<'a>>,
        b: impl Into<DynRef<'a>>,
    ) -> Result<Self, Error> {
        let (a, b) = (a.into(), b.into());
        if a.dtype() != b.dtype() {
            let (expected, found) = (a.dtype(), b.dtype());
            return Err(ErrorKind::DTypeMismatch { what: "B", expected, found }.into());
        }
        semiring.check(a.dtype())?;
        Ok(Self { semiring, a, b, joins: false })
    }

    /// Joins the product with what C holds: `C = C ⊕ A ⊗ B`.
    #[must_use]
    pub fn accumulate(self) -> Self {
        Self { joins: true, ..self }
    }

    /// Computes the product into `c`.
    ///
    /// # Errors
    /// `inner-mismatch`, `result-mismatch`, `dtype-mismatch`, `outside-domain`; `unavailable` without the backend, or without NVRTC on a
    /// GPU and the emulator; `cancelled`.
    pub fn write_to(&self, c: DynMut<'_>, options: &Options<'_>) -> Result<Report, Error> {
        options.check_cancelled()?;
        let choice = self.choose(options)?;
        self.visit(Run { c, options, choice })
    }

    /// The backend that computes this product with these options, and for [`Backend::Auto`] the reason.
    ///
    /// # Errors
    /// `unavailable` when the backend is missing.
    pub fn backend(&self, options: &Options<'_>) -> Result<(Backend, String), Error> {
        let choice = self.choose(options)?;
        Ok((choice.backend, choice.why.to_string()))
    }

    fn choose(&self, options: &Options<'_>) -> Result<Choice, Error> {
        choice::choose_for(&Asked {
            options,
            a: self.a.layout(),
            b: self.b.layout(),
            copies: [1; 3],
            results: Results::Product,
            element: self.a.dtype().size(),
            effort: Asked::OWN,
            #[cfg(feature = "cuda")]
            variant: &|| Ok(self.own()?.variant()),
        })
    }

    /// What kernels for GPUs compute.
    ///
    /// # Errors
    /// As [`ExpressionProduct::new`].
    #[cfg(feature = "cuda")]
    pub fn own(&self) -> Result<tilewright_kernels::UserSemiring, Error> {
        tilewright_kernels::UserSemiring::of_expressions(self.semiring, self.a.dtype())
    }

    /// What a plan needs to know: everything but the elements. C is row-major.
    ///
    /// # Errors
    /// `inner-mismatch`, and as [`ExpressionProduct::new`].
    #[cfg(feature = "cuda")]
    pub fn query(&self) -> Result<Query, Error> {
        let (a, b) = (self.a.layout(), self.b.layout());
        let query = Query::with_own(self.own()?, Problem::new(a, b, Layout::row_major(a.rows, b.cols))?);
        Ok(query.joining(if self.joins { Joining::Accumulate } else { Joining::Replace }))
    }

    /// Compares a result with the definition, in a sample of rows where there are many; `old` is what C held where it was joined. Integers,
    /// and sums that select one of their terms, must agree. Otherwise floats may differ by `2 (k + 2) u S`, with the unit roundoff u and the
    /// sum S of the magnitudes of all terms and of the old element.
    ///
    /// # Errors
    /// `dtype-mismatch` and `result-mismatch`.
    pub fn verify(&self, c: DynRef<'_>, old: Option<DynRef<'_>>) -> Result<Verification, Error> {
        self.visit(Verify { c, old })
    }

    /// The product by a kernel.
    #[cfg(feature = "cuda")]
    fn on_device(&self, device: Device, c: DynMut<'_>, options: &Options<'_>) -> Result<Report, Failure> {
        let joining = if self.joins { Joining::Accumulate } else { Joining::Replace };
        let (meaning, beside) = (Meaning::Own(self.own()?), Beside::default());
        let operands = (Series::one(self.a), Series::one(self.b));
        Work { meaning, joining, beside, options }.run(device, operands, SeriesMut::one(c), None)
    }

    /// Refuses elements of an operand that the semiring has not.
    pub(crate) fn check_elements(
        semiring: &Expressions,
        what: &'static str,
        m: DynRef<'_>,
    ) -> Result<(), Error> {
        match m.dtype() {
            DType::F32 => semiring.check_operand(what, typed::<f32>(what, m)?),
            DType::F64 => semiring.check_operand(what, typed::<f64>(what, m)?),
            DType::I32 => semiring.check_operand(what, typed::<i32>(what, m)?),
            _ => semiring.check_operand(what, typed::<i64>(what, m)?),
        }
    }

    fn visit<V: Visit>(&self, visitor: V) -> Result<V::Output, Error> {
        match self.a.dtype() {
            DType::F32 => visitor.visit::<f32>(self),
            DType::F64 => visitor.visit::<f64>(self),
            DType::I32 => visitor.visit::<i32>(self),
            _ => visitor.visit::<i64>(self),
        }
    }
}

/// What is done once the element type is known.
trait Visit {
    type Output;
    fn visit<T: Cell>(self, product: &ExpressionProduct<'_>) -> Result<Self::Output, Error>;
}

struct Run<'c, 'o> {
    c: DynMut<'c>,
    options: &'o Options<'o>,
    choice: Choice,
}

impl Visit for Run<'_, '_> {
    type Output = Report;
    fn visit<T: Cell>(self, product: &ExpressionProduct<'_>) -> Result<Report, Error> {
        let ExpressionProduct { semiring, a, b, joins } = *product;
        let (a, b) = (typed::<T>("A", a)?, typed::<T>("B", b)?);
        let (expected, found) = (T::DTYPE, self.c.dtype());
        let c: Option<MatMut<'_, T>> = self.c.typed();
        let mut c = c.ok_or(ErrorKind::DTypeMismatch { what: "C", expected, found })?;
        let here = |c: &mut MatMut<'_, T>| {
            let (c, start) = (c.reborrow(), Instant::now());
            let report = tilewright_cpu::multiply_expressions(semiring, c, a, b, joins, &self.options.cpu())?;
            Ok::<_, Error>(Report::here(Backend::Cpu, report.kernel.into(), report.threads, start))
        };
        if self.choice.backend == Backend::Reference {
            let start = Instant::now();
            semiring.multiply(c, a, b, joins)?;
            return Ok(Report::here(Backend::Reference, "reference".into(), 1, start));
        }
        #[cfg(feature = "cuda")]
        if let Some(device) = Device::of(self.choice.backend) {
            semiring.check_elements(a, b)?;
            let kernel = |c: &mut MatMut<'_, T>| product.on_device(device, c.reborrow().into(), self.options);
            return self.choice.carry_out(&mut c, joins, kernel, here);
        }
        Ok(Report { why: self.choice.why, ..here(&mut c)? })
    }
}

struct Verify<'c> {
    c: DynRef<'c>,
    old: Option<DynRef<'c>>,
}

impl Visit for Verify<'_> {
    type Output = Verification;
    fn visit<T: Cell>(self, product: &ExpressionProduct<'_>) -> Result<Verification, Error> {
        let ExpressionProduct { semiring, a, b, joins } = *product;
        let (a, b, c) = (typed::<T>("A", a)?, typed::<T>("B", b)?, typed::<T>("C", self.c)?);
        let old = self.old.filter(|_| joins).map(|old| typed::<T>("C0", old)).transpose()?;
        verify::expressions(semiring, [a, b, c], old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DynMatrix, Matrix};

    #[test]
    fn products_are_verified_and_small_ones_stay_here() {
        let text: Expressions = "add=x+y; mul=x*y; zero=0; one=1".parse().unwrap();
        for dtype in tilewright_core::expressions::DTYPES {
            let numbers = |rows, cols| -> DynMatrix {
                let m = Matrix::from_fn(rows, cols, |i, j| ((i * 5 + j * 3) % 7) as i64).unwrap();
                DynMatrix::from(m).as_ref().convert(*dtype, tilewright_core::Extremes::Refuse).unwrap()
            };
            let (a, b, mut c) = (numbers(9, 300), numbers(300, 270), numbers(9, 270));
            let old = c.clone();
            let product = ExpressionProduct::new(&text, &a, &b).unwrap().accumulate();
            let report = product.write_to(c.as_mut(), &Options::default()).unwrap();
            assert!(report.backend == Backend::Cpu && report.kernel.to_string().starts_with("expressions "));
            assert!(product.verify(c.as_ref(), Some(old.as_ref())).unwrap().passed);
            assert!(!product.verify(old.as_ref(), Some(old.as_ref())).unwrap().passed);
            let (backend, why) = product.backend(&Options::default()).unwrap();
            assert!(backend == Backend::Cpu && why.starts_with("the processor has it done"), "{why}");
        }
        let wrong: Expressions = "add=x-y; mul=x*y; zero=0".parse().unwrap();
        let a: DynMatrix = Matrix::filled(2, 2, 1.0f32).unwrap().into();
        assert_eq!(ExpressionProduct::new(&wrong, &a, &a).unwrap_err().code(), "unsupported");
    }
}
