//! Products over semirings that are given by their text.

use crate::{
    backend::Backend,
    dynamic::typed,
    options::{Options, Report},
    verify::{self, Verification},
};
use std::time::Instant;
use tilewright_core::{
    DType, DynMut, DynRef, Error, ErrorKind, MatMut,
    expressions::{Cell, Expressions},
};

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
    /// `inner-mismatch`, `result-mismatch`, `dtype-mismatch`, `outside-domain`; `unsupported` on a GPU or the emulator; `cancelled`.
    pub fn write_to(&self, c: DynMut<'_>, options: &Options<'_>) -> Result<Report, Error> {
        self.visit(Run { c, options })
    }

    /// Compares a result with the definition, bit for bit, in a sample of rows where there are many; `old` is what C held where it was
    /// joined.
    ///
    /// # Errors
    /// `dtype-mismatch` and `result-mismatch`.
    pub fn verify(&self, c: DynRef<'_>, old: Option<DynRef<'_>>) -> Result<Verification, Error> {
        self.visit(Verify { c, old })
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
}

impl Visit for Run<'_, '_> {
    type Output = Report;
    fn visit<T: Cell>(self, product: &ExpressionProduct<'_>) -> Result<Report, Error> {
        let ExpressionProduct { semiring, a, b, joins } = *product;
        let (a, b) = (typed::<T>("A", a)?, typed::<T>("B", b)?);
        let (expected, found) = (T::DTYPE, self.c.dtype());
        let c: Option<MatMut<'_, T>> = self.c.typed();
        let c = c.ok_or(ErrorKind::DTypeMismatch { what: "C", expected, found })?;
        let start = Instant::now();
        match self.options.backend {
            Backend::Auto | Backend::Cpu => {
                let options = self.options.cpu();
                let report = tilewright_cpu::multiply_expressions(semiring, c, a, b, joins, &options)?;
                Ok(Report::here(Backend::Cpu, report.kernel.into(), report.threads, start))
            }
            Backend::Reference => {
                semiring.multiply(c, a, b, joins)?;
                Ok(Report::here(Backend::Reference, "reference".into(), 1, start))
            }
            backend => Err(ErrorKind::Unsupported {
                what: format!("a semiring that is given by its text on the backend {backend}"),
                why: "no kernel for GPUs is made of expressions".into(),
                hint: "choose the backend cpu".into(),
            }
            .into()),
        }
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
    fn products_are_verified_and_what_no_kernel_computes_is_refused() {
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
            let refused = Options { backend: Backend::Cuda, ..Options::default() };
            let error = product.write_to(c.as_mut(), &refused).unwrap_err();
            assert!(error.code() == "unsupported" && error.to_string().contains("no kernel"), "{error}");
        }
        let wrong: Expressions = "add=x-y; mul=x*y; zero=0".parse().unwrap();
        let a: DynMatrix = Matrix::filled(2, 2, 1.0f32).unwrap().into();
        assert_eq!(ExpressionProduct::new(&wrong, &a, &a).unwrap_err().code(), "unsupported");
    }
}
