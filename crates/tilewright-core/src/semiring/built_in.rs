//! What a semiring that is known at compile time is at run time.

use super::{Semiring, SemiringId};
use crate::{
    dtype::{DType, Element},
    dynamic::{DynMut, DynRef},
    update::{Factor, Joining, Update},
    value::Value,
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
}

impl<S: Semiring<Elem: Element, Acc: Element, Out: Element>> BuiltIn<S> {
    /// `None` for an element type that is none of [`SemiringId::dtypes`].
    pub(super) const fn new(id: SemiringId) -> Option<Self> {
        let (dtype, output, dtypes) = (S::Elem::DTYPE, S::Out::DTYPE, id.dtypes());
        let mut i = 0;
        while i < dtypes.len() {
            if dtypes[i] as u8 == dtype as u8 {
                let factor = S::Acc::to_value;
                return Some(Self { id, dtype, output, operand: |m| m.into(), result: |m| m.into(), factor });
            }
            i += 1;
        }
        None
    }
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
}
