//! The semirings whose ⊕ selects the smaller or the larger of two values.

use super::{BuiltIn, Laws, Number, Semiring, SemiringId};
use crate::value::Value;
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

mod sealed {
    pub trait Sealed {}
}

/// ⊗ of a selective semiring with order `O`.
pub trait Multiply<O: Order, T: Number>: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The semiring, which tells the identities of ⊕ and ⊗.
    const ID: SemiringId;
    /// What [`Multiply::admits`] accepts; `None` when that is everything.
    const ACCEPTS: Option<&'static str> = None;
    /// `a ⊗ b`, or a value that `O` never prefers to the identity of ⊕ when the term is absent.
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

impl sealed::Sealed for Plus {}
impl sealed::Sealed for Times {}
impl sealed::Sealed for Bottleneck {}

macro_rules! multiply {
    ($($order:ident: $plus:ident, $times:ident, $bottleneck:ident;)*) => {$(
        impl<T: Number> Multiply<$order, T> for Plus {
            const ID: SemiringId = SemiringId::$plus;
            const ACCEPTS: Option<&'static str> = T::ADDENDS;
            #[inline(always)]
            fn multiply(a: T, b: T) -> T { a.plus(b, $order::worst()) }
            #[inline(always)]
            fn admits(element: T) -> bool { element.is_addend($order::worst()) }
        }

        impl<T: Number> Multiply<$order, T> for Times {
            const ID: SemiringId = SemiringId::$times;
            const ACCEPTS: Option<&'static str> = Some(super::NOT_NEGATIVE);
            #[inline(always)]
            fn multiply(a: T, b: T) -> T { a.times(b) }
            #[inline(always)]
            fn admits(element: T) -> bool { element >= T::ZERO || element.is_unordered() }
        }

        impl<T: Number> Multiply<$order, T> for Bottleneck {
            const ID: SemiringId = SemiringId::$bottleneck;
            #[inline(always)]
            fn multiply(a: T, b: T) -> T {
                // NaN on either side makes the term NaN, hence absent.
                if a.is_unordered() || <$order as Order>::Opposite::better(a, b) { a.quiet() } else { b.quiet() }
            }
        }
    )*};
}
multiply! {
    Min: MinPlus, MinTimes, MinMax;
    Max: MaxPlus, MaxTimes, MaxMin;
}

/// The number of type `T` that an identity of a semiring stands for.
const fn identity<T: Number>(value: Value) -> T {
    match value {
        Value::Float(x) if x > 0.0 => T::TOP,
        Value::Float(_) => T::BOTTOM,
        Value::Int(0) => T::ZERO,
        _ => T::ONE,
    }
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
    const NAME: &'static str = M::ID.name();
    const ZERO: T = identity(M::ID.zero());
    const ONE: T = identity(M::ID.one());
    const ACCEPTS: Option<&'static str> = M::ACCEPTS;
    const BUILT_IN: Option<BuiltIn<Self>> = BuiltIn::new(M::ID);

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
