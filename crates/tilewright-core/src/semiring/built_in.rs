//! What a semiring that is known at compile time is at run time.

use super::{Ring, Semiring, SemiringId};
use crate::{
    dtype::{DType, Element},
    dynamic::{DynMut, DynRef},
    epilogue::Activate,
    error::{Error, ErrorKind},
    update::{Factor, Joining, Update},
    value::{Extremes, Value},
    view::{MatMut, MatRef},
};

/// What a built-in semiring `S` is at run time, and the way there for its matrices and factors: [`Semiring::BUILT_IN`].
///
/// Only this crate makes one, and for its own semirings alone: no other type can claim to be one of them.
pub struct BuiltIn<S: Semiring> {
    id: SemiringId,
    dtype: DType,
    output: DType,
    operand: fn(MatRef<'_, S::Elem>) -> DynRef<'_>,
    result: fn(MatMut<'_, S::Out>) -> DynMut<'_>,
    factor: fn(S::Acc) -> Value,
    scale: Option<Scale<S>>,
    row: fn(DynRef<'_>) -> Option<MatRef<'_, S::Out>>,
    activate: Option<Activate<S::Acc>>,
    singles: Option<Singles<S::Acc>>,
}

/// Sums of type `A` that are f32, and as f32: those of 8-bit floats.
#[derive(Debug)]
pub struct Singles<A> {
    /// A sum as the number that it is.
    pub of: fn(A) -> f32,
    /// A number as the sum that it is.
    pub sum: fn(f32) -> A,
}

impl<A> Clone for Singles<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Singles<A> {}

/// alpha and beta of any type in that of the sums.
type Scale<S> = fn(Value, Value) -> Result<Update<S>, Error>;

impl<S: Semiring<Elem: Element, Acc: Element, Out: Element>> BuiltIn<S> {
    /// `None` for an element type that is none of [`SemiringId::dtypes`], and for plus-times with results that are not listed for it.
    pub(super) const fn new(id: SemiringId) -> Option<Self> {
        Self::listed(id, None, None, None)
    }

    /// As [`new`](Self::new), for a semiring with factors, and with activations and scales where there are any.
    pub(super) const fn of_ring(
        id: SemiringId,
        activate: Option<Activate<S::Acc>>,
        singles: Option<Singles<S::Acc>>,
    ) -> Option<Self>
    where
        S: Ring,
    {
        Self::listed(
            id,
            Some(|alpha, beta| Ok(Update::scale(factor("alpha", alpha)?, factor("beta", beta)?))),
            activate,
            singles,
        )
    }

    const fn listed(
        id: SemiringId,
        scale: Option<Scale<S>>,
        activate: Option<Activate<S::Acc>>,
        singles: Option<Singles<S::Acc>>,
    ) -> Option<Self> {
        let (dtype, output) = (S::Elem::DTYPE, S::Out::DTYPE);
        if !id.gives(dtype, output) {
            return None;
        }
        Some(Self {
            id,
            dtype,
            output,
            operand: |m| m.into(),
            result: |m| m.into(),
            factor: S::Acc::to_value,
            scale,
            row: |m| m.typed(),
            activate,
            singles,
        })
    }
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

impl<S: Semiring> BuiltIn<S> {
    /// Which semiring it is.
    pub const fn id(&self) -> SemiringId {
        self.id
    }
    /// The type of the elements of A and B.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }
    /// The type of the elements of C.
    pub const fn output(&self) -> DType {
        self.output
    }
    /// A matrix to multiply, without its type.
    pub fn operand<'a>(&self, m: MatRef<'a, S::Elem>) -> DynRef<'a> {
        (self.operand)(m)
    }
    /// A matrix to write to, without its type.
    pub fn result<'a>(&self, m: MatMut<'a, S::Out>) -> DynMut<'a> {
        (self.result)(m)
    }
    /// A vector beside C, with its type; `None` where that is another.
    pub(crate) fn row<'a>(&self, m: DynRef<'a>) -> Option<MatRef<'a, S::Out>> {
        (self.row)(m)
    }
    /// What activations do to sums, where there are any.
    pub(crate) const fn activate(&self) -> Option<Activate<S::Acc>> {
        self.activate
    }
    /// Sums as f32, where operands may have scales.
    pub const fn singles(&self) -> Option<Singles<S::Acc>> {
        self.singles
    }
    /// How a product meets C, without the type of the factors.
    pub fn joining(&self, update: &Update<S>) -> Joining<Value> {
        match update {
            Joining::Replace => Joining::Replace,
            Joining::Accumulate => Joining::Accumulate,
            Joining::Scale { alpha, beta } => {
                let factor = |x: &Factor<S>| (self.factor)(x.value());
                Joining::Scale { alpha: factor(alpha), beta: beta.as_ref().map(factor) }
            }
        }
    }
    /// How a product meets C, with the type of the factors: the inverse of [`joining`](Self::joining).
    ///
    /// # Errors
    /// `unsupported` for factors where there are none, and for one that the type of the sums cannot hold.
    pub fn update(&self, joining: Joining<Value>) -> Result<Update<S>, Error> {
        match (joining, self.scale) {
            (Joining::Replace, _) => Ok(Joining::Replace),
            (Joining::Accumulate, _) => Ok(Joining::Accumulate),
            (Joining::Scale { alpha, beta }, Some(scale)) => scale(alpha, beta.unwrap_or(self.id.zero())),
            (Joining::Scale { .. }, None) => Err(ErrorKind::Unsupported {
                what: format!("alpha or beta with {} on {}", self.id, self.dtype),
                why: "factors need a product of numbers".into(),
                hint: "use plus-times, or accumulate without factors".into(),
            }
            .into()),
        }
    }
}
