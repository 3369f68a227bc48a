//! What pruning needs to know of a semiring: how far an element may be from the best one of its row, and which elements never win.
//!
//! ⊕ selects the smaller or, with `MAX`, the larger of two values, and ⊗ does not decrease where an operand increases. Then what is still to come of a sum is no
//! better than `bound ⊗ best`, rounding included: see `docs/decisions/pruning.md`.

use super::Metric;
use crate::op::By;

/// An order of elements, under some ⊗.
#[derive(Clone, Copy)]
pub struct Order<P, const MAX: bool> {
    by: By,
    /// The identity of ⊕. An element that is no better never wins, and neither does NaN.
    zero: P,
    /// What distances are not measured from, though it is the best of all: under a bottleneck the identity of ⊗, which stands on diagonals. Where nothing is
    /// left out it is what no element can be worse than.
    pub top: P,
}

impl<P: Metric, const MAX: bool> Order<P, MAX> {
    /// Of the semiring with this ⊗.
    #[inline(always)]
    pub fn of(by: By) -> Self {
        let zero = match by {
            By::Sum if MAX => P::NEG_INF,
            By::Sum => P::INF,
            By::Product if MAX => P::NIL,
            By::Product | By::Bottleneck => worst::<P, MAX>(),
        };
        let top = match by {
            By::Bottleneck if MAX => P::TOP,
            By::Bottleneck => P::BOTTOM,
            By::Sum | By::Product => worst::<P, MAX>(),
        };
        Self { by, zero, top }
    }

    /// Whether no term with this element can win.
    #[inline(always)]
    pub fn is_absent(&self, x: P) -> bool {
        let present = if MAX { x > self.zero } else { x < self.zero };
        !present
    }

    /// Units per distance of two elements, if `scale` measure one of those that [`By`] tells.
    #[inline(always)]
    pub fn units(&self, scale: f64, origin: P) -> f64 {
        if self.by == By::Product { scale / origin.distance(P::NIL) } else { scale }
    }
}

/// The better of two values: `x` if `y` is NaN.
#[inline(always)]
pub fn better<P: Metric, const MAX: bool>(x: P, y: P) -> P {
    if (MAX && y > x) || (!MAX && y < x) { y } else { x }
}

/// What no element can be worse than.
#[inline(always)]
pub fn worst<P: Metric, const MAX: bool>() -> P {
    if MAX { P::BOTTOM } else { P::TOP }
}

/// How the distances of a row and a column become that of a term: NaN or infinity if either is.
pub trait Join {
    /// The distance of a term.
    fn join(a: f64, b: f64) -> f64;
}

/// Under [`By::Sum`].
pub struct OfSum;
/// Under [`By::Product`].
pub struct OfProduct<const MAX: bool>;
/// Under [`By::Bottleneck`].
pub struct OfBottleneck;

impl Join for OfSum {
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        a + b
    }
}
impl<const MAX: bool> Join for OfProduct<MAX> {
    /// `1 - (1 - a)(1 - b)` of parts that are missing, `(1 + a)(1 + b) - 1` of those that are too much.
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        if MAX { a + b - a * b } else { a + b + a * b }
    }
}
impl Join for OfBottleneck {
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        if a > b || a.is_nan() { a } else { b }
    }
}
