//! From run-time values to types: the semiring, the element type and the factors.

use super::DynProduct;
use crate::{backend::Backend, choice, plan::Results};
use tilewright_core::{
    DType, Element, Error, ErrorKind, Extremes, Joining, PlusTimes, Semiring, SemiringId, Update, Value,
    bf16, f16,
    semiring::{Arithmetic, Visit},
};

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
pub(super) struct Check;

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

/// Runs `task` with the types that `semiring`, `dtype` and `joining` stand for.
pub(crate) fn dispatch<T: Task>(
    semiring: SemiringId,
    dtype: DType,
    joining: Joining<Value>,
    task: T,
) -> Result<T::Output, Error> {
    let (alpha, beta) = match joining {
        Joining::Scale { alpha, beta } => (alpha, beta.unwrap_or(semiring.zero())),
        _ => return semiring.visit(dtype, Plain { task, joining })?,
    };
    match (semiring, dtype) {
        (SemiringId::PlusTimes, DType::F16) => scaled::<f16, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::Bf16) => scaled::<bf16, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::F32) => scaled::<f32, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::F64) => scaled::<f64, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::I8) => scaled::<i8, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::I32) => scaled::<i32, T>(alpha, beta, task),
        (SemiringId::PlusTimes, DType::I64) => scaled::<i64, T>(alpha, beta, task),
        _ => Err(ErrorKind::Unsupported {
            what: format!("alpha or beta with {semiring} on {dtype}"),
            why: "factors need a product of numbers".into(),
            hint: "use plus-times, or accumulate without factors".into(),
        }
        .into()),
    }
}

/// A task without factors.
struct Plain<T> {
    task: T,
    joining: Joining<Value>,
}

impl<T: Task> Visit for Plain<T> {
    type Output = Result<T::Output, Error>;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        self.task.run::<S>(match self.joining {
            Joining::Accumulate => &Update::Accumulate,
            _ => &Update::Replace,
        })
    }
}

fn scaled<E, T>(alpha: Value, beta: Value, task: T) -> Result<T::Output, Error>
where
    E: Arithmetic,
    T: Task,
{
    let (alpha, beta) = (factor::<E::Acc>("alpha", alpha)?, factor::<E::Acc>("beta", beta)?);
    task.run::<PlusTimes<E>>(&Update::scale(alpha, beta))
}

/// The factor in the type of the sums.
fn factor<T: Element>(name: &'static str, x: Value) -> Result<T, Error> {
    let converted = T::from_value(x, Extremes::Refuse);
    // NaN would make everything NaN.
    converted.filter(|_| !x.to_f64().is_nan()).ok_or_else(|| {
        ErrorKind::Unsupported {
            what: format!("{name} = {x}"),
            why: format!("the sums are {} and cannot hold it", T::DTYPE),
            hint: "choose an element type that can, such as f64".into(),
        }
        .into()
    })
}
