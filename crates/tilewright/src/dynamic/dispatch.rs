//! From run-time values to types: the semiring, the element type and the factors.

use super::DynProduct;
use crate::{
    backend::Backend,
    choice::{self, ArgResult},
    plan::{Joining, Results},
};
use tilewright_core::{
    DType, Element, Error, ErrorKind, Extremes, PlusTimes, Semiring, SemiringId, Update, Value, ValueElement,
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
        let (_, a, b, _) = self.product.parts();
        let arg = match self.results {
            Results::Product => ArgResult::NotWanted,
            Results::ProductAndArg => ArgResult::Wanted,
        };
        let choice = choice::choose::<S>(self.product.choices(), a.layout(), b.layout(), arg)?;
        Ok((choice.backend, choice.why.to_string()))
    }
}

/// Runs `task` with the types that `semiring`, `dtype` and `joining` stand for.
pub(crate) fn dispatch<T: Task>(
    semiring: SemiringId,
    dtype: DType,
    joining: Joining,
    task: T,
) -> Result<T::Output, Error> {
    let (alpha, beta) = match joining {
        Joining::Replace => return semiring.visit(dtype, Plain { task, update: PlainUpdate::Replace })?,
        Joining::Accumulate => {
            return semiring.visit(dtype, Plain { task, update: PlainUpdate::Accumulate })?;
        }
        Joining::Scale { alpha, beta } => (alpha, beta),
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

enum PlainUpdate {
    Replace,
    Accumulate,
}

struct Plain<T> {
    task: T,
    update: PlainUpdate,
}

impl<T: Task> Visit for Plain<T> {
    type Output = Result<T::Output, Error>;
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
        match self.update {
            PlainUpdate::Replace => self.task.run::<S>(&Update::Replace),
            PlainUpdate::Accumulate => self.task.run::<S>(&Update::Accumulate),
        }
    }
}

fn scaled<E, T>(alpha: f64, beta: f64, task: T) -> Result<T::Output, Error>
where
    E: Arithmetic<Acc: ValueElement>,
    T: Task,
{
    let (alpha, beta) = (factor::<E::Acc>("alpha", alpha)?, factor::<E::Acc>("beta", beta)?);
    task.run::<PlusTimes<E>>(&Update::scale(alpha, beta))
}

/// The factor in the type of the sums.
fn factor<T: ValueElement>(name: &'static str, x: f64) -> Result<T, Error> {
    let converted = T::from_value(Value::Float(x), Extremes::Refuse);
    // NaN would make everything NaN.
    converted.filter(|_| !x.is_nan()).ok_or_else(|| {
        ErrorKind::Unsupported {
            what: format!("{name} = {x}"),
            why: format!("the sums are {} and cannot hold it", T::DTYPE),
            hint: "choose an element type that can, such as f64".into(),
        }
        .into()
    })
}
