//! Computing a product once its types are known.

use super::{DynProduct, Task};
use crate::{options::Report, product::Product};
use tilewright_core::{DynMut, DynRef, Element, Error, ErrorKind, MatMut, MatRef, Semiring, Update};

/// Computes a product into `c`.
pub(super) struct Run<'p, 'a> {
    pub product: &'p DynProduct<'a>,
    pub c: DynMut<'p>,
    pub arg: Option<MatMut<'p, u32>>,
}

impl Task for Run<'_, '_> {
    type Output = Report;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        let (_, a, b) = self.product.operands();
        let product = Product::<S>::new(typed("A", a)?, typed("B", b)?)?.options(self.product.options);
        let product = product.epilogue(self.product.epilogue)?.scales(self.product.scales)?;
        product.run(typed_mut("C", self.c)?, self.arg, update)
    }
}

/// The typed view, or an error that names both types.
pub(crate) fn typed<'a, T: Element>(what: &'static str, m: DynRef<'a>) -> Result<MatRef<'a, T>, Error> {
    let (expected, found) = (T::DTYPE, m.dtype());
    m.typed().ok_or_else(|| ErrorKind::DTypeMismatch { what, expected, found }.into())
}

/// As [`typed`], to write to.
pub(crate) fn typed_mut<'a, T: Element>(what: &'static str, m: DynMut<'a>) -> Result<MatMut<'a, T>, Error> {
    let (expected, found) = (T::DTYPE, m.dtype());
    m.typed().ok_or_else(|| ErrorKind::DTypeMismatch { what, expected, found }.into())
}
