//! Computing a product once its types are known.

use super::{DynProduct, Outcome, Task};
use crate::product::Product;
use core::any::Any;
use tilewright_core::{
    DType, DynMatrix, DynRef, Element, Error, ErrorKind, MatRef, Matrix, NO_ARG, Semiring, Update, bf16, f16,
    semiring::Visit,
};

/// Whether the arg result is wanted.
#[derive(Clone, Copy)]
pub(super) enum ArgResult {
    Skip,
    Compute,
}

/// Computes a product.
pub(super) struct Run<'p, 'a> {
    pub product: &'p DynProduct<'a>,
    pub arg: ArgResult,
}

impl Task for Run<'_, '_> {
    type Output = Outcome;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<Outcome, Error> {
        let (_, a, b, old) = self.product.parts();
        let product = Product::<S>::new(typed("A", a)?, typed("B", b)?)?.options(self.product.options);
        let mut c = match old.old() {
            None => product.zeros()?,
            Some(c0) => copy(typed("C0", c0)?)?,
        };
        let mut arg = match self.arg {
            ArgResult::Skip => None,
            ArgResult::Compute => Some(Matrix::filled(c.rows(), c.cols(), NO_ARG)?),
        };
        let report = product.run(c.as_mut(), arg.as_mut().map(Matrix::as_mut), update)?;
        Ok(Outcome { c: erase(c), arg, report })
    }
}

/// The typed view, or an error that names both types.
pub(crate) fn typed<'a, T: Element>(what: &'static str, m: DynRef<'a>) -> Result<MatRef<'a, T>, Error> {
    let (expected, found) = (T::DTYPE, m.dtype());
    m.typed().ok_or_else(|| ErrorKind::DTypeMismatch { what, expected, found }.into())
}

/// A row-major copy.
pub(crate) fn copy<T: Copy>(m: MatRef<'_, T>) -> Result<Matrix<T>, Error> {
    // SAFETY: `from_fn` asks for the indices of a matrix of this shape.
    Matrix::from_fn(m.rows(), m.cols(), |i, j| unsafe { m.get_unchecked(i, j) })
}

/// Forgets the element type of a matrix, wherever it is known only as an [`Element`].
///
/// ```
/// use tilewright::{DType, Element, Error, Matrix, erase};
/// fn zeros<T: Element>() -> Result<tilewright::DynMatrix, Error> {
///     Ok(erase(Matrix::filled(2, 2, T::DEFAULT)?))
/// }
/// assert_eq!(zeros::<i16>()?.dtype(), DType::I16);
/// # Ok::<(), Error>(())
/// ```
pub fn erase<T: Element>(m: Matrix<T>) -> DynMatrix {
    fn downcast<U: Element>(m: Box<dyn Any>) -> DynMatrix
    where
        DynMatrix: From<Matrix<U>>,
    {
        match m.downcast::<Matrix<U>>() {
            Ok(m) => DynMatrix::from(*m),
            Err(_) => unreachable!("an element type and its DTYPE go together"),
        }
    }
    let m: Box<dyn Any> = Box::new(m);
    match T::DTYPE {
        DType::F16 => downcast::<f16>(m),
        DType::Bf16 => downcast::<bf16>(m),
        DType::F32 => downcast::<f32>(m),
        DType::F64 => downcast::<f64>(m),
        DType::I8 => downcast::<i8>(m),
        DType::I16 => downcast::<i16>(m),
        DType::I32 => downcast::<i32>(m),
        DType::I64 => downcast::<i64>(m),
        DType::Bool => downcast::<bool>(m),
        other => unreachable!("{other} has no owned matrix"),
    }
}

/// Finds the element type of the result.
pub(super) struct OutputType;

impl Visit for OutputType {
    type Output = DType;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> DType {
        S::Out::DTYPE
    }
}
