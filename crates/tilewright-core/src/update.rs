//! What happens to the old C.

use crate::{
    semiring::{Ring, Semiring},
    value::Value,
};

/// How a product meets the matrix it is written to, with factors of type `F`: [`Update`] where the semiring is known at compile
/// time, `Joining<Value>` where it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Joining<F> {
    /// `C = A ⊗ B`; the old C is never read.
    #[default]
    Replace,
    /// `C = C ⊕ A ⊗ B`.
    Accumulate,
    /// `C = alpha A B + beta C`; made by `scale`.
    Scale {
        /// The factor of the product.
        alpha: F,
        /// The factor of the old C; `None` for 0: C is then never read, whatever it holds.
        beta: Option<F>,
    },
}

/// How a product over `S` meets the matrix it is written to. Only a [`Ring`] has factors.
pub type Update<S> = Joining<Factor<S>>;

/// A factor of a product over `S`, and how to multiply by it; made by [`Update::scale`].
#[derive(Clone, Copy)]
pub struct Factor<S: Semiring> {
    value: S::Acc,
    times: fn(S::Acc, S::Acc) -> S::Acc,
}

impl<S: Semiring> Factor<S> {
    /// The number.
    pub fn value(&self) -> S::Acc {
        self.value
    }

    #[inline(always)]
    fn times(&self, x: S::Acc) -> S::Acc {
        (self.times)(self.value, x)
    }
}

impl<F> Joining<F> {
    /// True when the old C takes part.
    pub const fn reads_c(&self) -> bool {
        matches!(self, Self::Accumulate | Self::Scale { beta: Some(_), .. })
    }
}

impl Joining<Value> {
    /// `C = alpha A B + beta C`. With `beta = 0` the old C is never read.
    pub fn scale(alpha: impl Into<Value>, beta: impl Into<Value>) -> Self {
        Self::Scale { alpha: alpha.into(), beta: Some(beta.into()).filter(|beta| beta.to_f64() != 0.0) }
    }

    /// alpha and beta of plus-times.
    pub fn factors(&self) -> [f64; 2] {
        match self {
            Self::Replace => [1.0, 0.0],
            Self::Accumulate => [1.0, 1.0],
            Self::Scale { alpha, beta } => [alpha.to_f64(), beta.map_or(0.0, Value::to_f64)],
        }
    }
}

impl<S: Ring> Update<S> {
    /// `C = alpha A B + beta C`. With `beta = 0` the old C is never read; `(1, 0)` and `(1, 1)` become
    /// [`Joining::Replace`] and [`Joining::Accumulate`].
    pub fn scale(alpha: S::Acc, beta: S::Acc) -> Self {
        let factor = |value| Factor { value, times: S::scale };
        match (alpha == S::UNIT, beta) {
            (true, b) if b == S::ZERO => Self::Replace,
            (true, b) if b == S::UNIT => Self::Accumulate,
            (_, b) => Self::Scale { alpha: factor(alpha), beta: (b != S::ZERO).then(|| factor(b)) },
        }
    }
}

impl<S: Semiring> Update<S> {
    /// The new element of C for a complete sum. `old` is called only when the old element takes part.
    #[inline(always)]
    pub fn apply(&self, sum: S::Acc, old: impl FnOnce() -> S::Out) -> S::Out {
        S::finish(self.join(sum, old))
    }

    /// As [`apply`](Self::apply), not yet rounded.
    #[inline(always)]
    pub(crate) fn join(&self, sum: S::Acc, old: impl FnOnce() -> S::Out) -> S::Acc {
        match self {
            Self::Replace => sum,
            Self::Accumulate => S::add(S::add(S::ZERO, S::resume(old())), sum),
            Self::Scale { alpha, beta } => {
                let product = alpha.times(sum);
                match beta {
                    None => product,
                    Some(beta) => S::add(beta.times(S::resume(old())), product),
                }
            }
        }
    }
}
