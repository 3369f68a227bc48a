//! What happens to the old C.

use crate::semiring::{Ring, Semiring};

/// How a product meets the matrix it is written to.
#[derive(Clone, Copy)]
pub enum Update<S: Semiring> {
    /// `C = A ⊗ B`; the old C is never read.
    Replace,
    /// `C = C ⊕ A ⊗ B`.
    Accumulate,
    /// `C = alpha A B + beta C`; made by [`Update::scale`].
    Scale(Scale<S>),
}

/// The factors of [`Update::Scale`].
#[derive(Clone, Copy)]
pub struct Scale<S: Semiring> {
    alpha: S::Acc,
    /// `None` for 0: the old C is then never read, whatever it holds.
    beta: Option<S::Acc>,
    times: fn(S::Acc, S::Acc) -> S::Acc,
}

impl<S: Semiring> Scale<S> {
    /// The factor of the product.
    pub fn alpha(&self) -> S::Acc {
        self.alpha
    }

    /// The factor of the old C; `None` when it is 0 and the old C is not read.
    pub fn beta(&self) -> Option<S::Acc> {
        self.beta
    }
}

impl<S: Ring> Update<S> {
    /// `C = alpha A B + beta C`. With `beta = 0` the old C is never read; `(1, 0)` and `(1, 1)` become
    /// [`Update::Replace`] and [`Update::Accumulate`].
    pub fn scale(alpha: S::Acc, beta: S::Acc) -> Self {
        match (alpha == S::UNIT, beta) {
            (true, b) if b == S::ZERO => Self::Replace,
            (true, b) if b == S::UNIT => Self::Accumulate,
            (_, b) => Self::Scale(Scale { alpha, beta: (b != S::ZERO).then_some(b), times: S::scale }),
        }
    }
}

impl<S: Semiring> Update<S> {
    /// True when the old C takes part.
    pub fn reads_c(&self) -> bool {
        match self {
            Self::Replace => false,
            Self::Accumulate => true,
            Self::Scale(s) => s.beta.is_some(),
        }
    }

    /// The new element of C for a complete sum. `old` is called only when the old element takes part.
    #[inline(always)]
    pub fn apply(&self, sum: S::Acc, old: impl FnOnce() -> S::Out) -> S::Out {
        S::finish(match self {
            Self::Replace => sum,
            Self::Accumulate => S::add(S::add(S::ZERO, S::resume(old())), sum),
            Self::Scale(s) => {
                let product = (s.times)(s.alpha, sum);
                match s.beta {
                    None => product,
                    Some(beta) => S::add((s.times)(beta, S::resume(old())), product),
                }
            }
        })
    }
}
