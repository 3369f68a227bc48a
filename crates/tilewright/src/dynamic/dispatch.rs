//! From run-time values to types: the semiring, the element type and the factors.

use super::DynProduct;
use crate::{backend::Backend, choice, plan::Results};
use tilewright_core::{DType, Element, Error, Joining, Semiring, SemiringId, Update, Value, semiring::Visit};

/// Something to do with a semiring and an update that are only known at run time.
pub(crate) trait Task {
    /// What it gives.
    type Output;
    /// Called with their types.
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<Self::Output, Error>;
}

/// Only finds out whether the update is possible.
pub(crate) struct Check;

impl Task for Check {
    type Output = ();
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self, _: &Update<S>) -> Result<(), Error> {
        Ok(())
    }
}

/// Finds out which backend will compute a product.
pub(super) struct WhichBackend<'p, 'a> {
    pub product: &'p DynProduct<'a>,
    pub results: Results,
}

impl Task for WhichBackend<'_, '_> {
    type Output = (Backend, String);
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        _: &Update<S>,
    ) -> Result<(Backend, String), Error> {
        let (_, a, b) = self.product.operands();
        let choice = choice::choose::<S>(self.product.choices(), a.layout(), b.layout(), self.results)?;
        Ok((choice.backend, choice.why.to_string()))
    }
}

/// Runs `task` with the types that `semiring`, the types of operands and results, and `joining` stand for.
pub(crate) fn dispatch<T: Task>(
    semiring: SemiringId,
    [dtype, output]: [DType; 2],
    joining: Joining<Value>,
    task: T,
) -> Result<T::Output, Error> {
    semiring.visit_giving(dtype, output, WithUpdate { task, joining })?
}

/// A task, and the update to be given to it.
struct WithUpdate<T> {
    task: T,
    joining: Joining<Value>,
}

impl<T: Task> Visit for WithUpdate<T> {
    type Output = Result<T::Output, Error>;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        let Some(built_in) = S::BUILT_IN else { unreachable!("those that are visited are built in") };
        self.task.run::<S>(&built_in.update(self.joining)?)
    }
}
