//! The semirings whose ⊕ selects the smaller or the larger of two values.

use super::{Laws, Number, Semiring};
use core::marker::PhantomData;

/// ⊕ of a selective semiring: which of two values wins.
pub trait Order: Copy + Send + Sync + 'static {
    /// The order that prefers what this one avoids.
    type Opposite: Order;
    /// True when `candidate` is strictly better; false for NaN, which must be quiet: see [`Number::quiet`].
    fn better<T: Number>(candidate: T, current: T) -> bool;
    /// The value that nothing is worse than.
    fn worst<T: Number>() -> T;
}

/// The smaller value wins.
#[derive(Clone, Copy, Debug)]
pub struct Min;
/// The larger value wins.
#[derive(Clone, Copy, Debug)]
pub struct Max;

impl Order for Min {
    type Opposite = Max;
    #[inline(always)]
    fn better<T: Number>(candidate: T, current: T) -> bool {
        candidate < current
    }
    #[inline(always)]
    fn worst<T: Number>() -> T {
        T::TOP
    }
}

impl Order for Max {
    type Opposite = Min;
    #[inline(always)]
    fn better<T: Number>(candidate: T, current: T) -> bool {
        candidate > current
    }
    #[inline(always)]
    fn worst<T: Number>() -> T {
        T::BOTTOM
    }
}

/// ⊗ of a selective semiring with order `O`.
pub trait Multiply<O: Order, T: Number>: Copy + Send + Sync + 'static {
    /// The semiring's name.
    const NAME: &'static str;
    /// The identity of ⊕ and annihilator of ⊗.
    const ZERO: T;
    /// The identity of ⊗.
    const ONE: T;
    /// What [`Multiply::admits`] accepts; `None` when that is everything.
    const ACCEPTS: Option<&'static str> = None;
    /// `a ⊗ b`, or a value that `O` never prefers to `ZERO` when the term is absent.
    fn multiply(a: T, b: T) -> T;
    /// False for elements the semiring does not contain.
    fn admits(_element: T) -> bool {
        true
    }
}

/// ⊗ is addition.
#[derive(Clone, Copy, Debug)]
pub struct Plus;
/// ⊗ is multiplication, on elements that are not negative.
#[derive(Clone, Copy, Debug)]
pub struct Times;
/// ⊗ selects by the opposite order: the bottleneck of a path.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck;

macro_rules! plus {
    ($($order:ident, $name:literal, $absent:ident;)*) => {$(
        impl<T: Number> Multiply<$order, T> for Plus {
            const NAME: &'static str = $name;
            const ZERO: T = T::$absent;
            const ONE: T = T::ZERO;
            const ACCEPTS: Option<&'static str> = T::ADDENDS;
            #[inline(always)]
            fn multiply(a: T, b: T) -> T { a.plus(b, T::$absent) }
            #[inline(always)]
            fn admits(element: T) -> bool { element.is_addend(T::$absent) }
        }
    )*};
}
plus! {
    Min, "min-plus", TOP;
    Max, "max-plus", BOTTOM;
}

macro_rules! times {
    ($($order:ident, $name:literal, $zero:ident;)*) => {$(
        impl<T: Number> Multiply<$order, T> for Times {
            const NAME: &'static str = $name;
            const ZERO: T = T::$zero;
            const ONE: T = T::ONE;
            const ACCEPTS: Option<&'static str> = Some("elements that are not negative");
            #[inline(always)]
            fn multiply(a: T, b: T) -> T { a.times(b) }
            #[inline(always)]
            fn admits(element: T) -> bool { element >= T::ZERO || element.is_unordered() }
        }
    )*};
}
times! {
    Max, "max-times", ZERO;
    Min, "min-times", TOP;
}

macro_rules! bottleneck {
    ($($order:ident, $name:literal, $zero:ident, $one:ident;)*) => {$(
        impl<T: Number> Multiply<$order, T> for Bottleneck {
            const NAME: &'static str = $name;
            const ZERO: T = T::$zero;
            const ONE: T = T::$one;
            #[inline(always)]
            fn multiply(a: T, b: T) -> T {
                // NaN on either side makes the term NaN, hence absent.
                if a.is_unordered() || <$order as Order>::Opposite::better(a, b) { a.quiet() } else { b.quiet() }
            }
        }
    )*};
}
bottleneck! {
    Max, "max-min", BOTTOM, TOP;
    Min, "min-max", TOP, BOTTOM;
}

/// The semiring that selects by `O` among terms multiplied by `M`, on elements `T`.
#[derive(Clone, Copy, Debug)]
pub struct Selective<O, M, T>(PhantomData<(O, M, T)>);

/// `C[i,j] = min_k (A[i,k] + B[k,j])`: shortest paths. Zero is `+inf` (`MAX`), one is 0.
pub type MinPlus<T> = Selective<Min, Plus, T>;
/// `C[i,j] = max_k (A[i,k] + B[k,j])`: longest or most probable paths. Zero is `-inf` (`MIN`), one is 0.
pub type MaxPlus<T> = Selective<Max, Plus, T>;
/// `C[i,j] = max_k (A[i,k] * B[k,j])` on elements that are not negative. Zero is 0, one is 1.
pub type MaxTimes<T> = Selective<Max, Times, T>;
/// `C[i,j] = min_k (A[i,k] * B[k,j])` on elements that are not negative. Zero is `+inf`, one is 1.
pub type MinTimes<T> = Selective<Min, Times, T>;
/// `C[i,j] = max_k min(A[i,k], B[k,j])`: widest paths. Zero is `-inf` (`MIN`), one is `+inf` (`MAX`).
pub type MaxMin<T> = Selective<Max, Bottleneck, T>;
/// `C[i,j] = min_k max(A[i,k], B[k,j])`: minimax paths. Zero is `+inf` (`MAX`), one is `-inf` (`MIN`).
pub type MinMax<T> = Selective<Min, Bottleneck, T>;

impl<O: Order, M: Multiply<O, T>, T: Number> Semiring for Selective<O, M, T> {
    type Elem = T;
    type Acc = T;
    type Out = T;
    const NAME: &'static str = M::NAME;
    const ZERO: T = M::ZERO;
    const ONE: T = M::ONE;
    const ACCEPTS: Option<&'static str> = M::ACCEPTS;

    #[inline(always)]
    fn add(x: T, y: T) -> T {
        if O::better(y, x) { y } else { x }
    }
    #[inline(always)]
    fn mul_add(acc: T, a: T, b: T) -> T {
        Self::add(acc, M::multiply(a, b))
    }
    #[inline(always)]
    fn finish(acc: T) -> T {
        acc.canonical()
    }
    #[inline(always)]
    fn resume(out: T) -> T {
        out.quiet()
    }
    #[inline(always)]
    fn admits(element: T) -> bool {
        M::admits(element)
    }
    fn laws() -> Laws {
        Laws::SELECTIVE
    }
}
