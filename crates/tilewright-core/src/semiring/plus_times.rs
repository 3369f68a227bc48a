//! Ordinary matrix multiplication.

use super::{BuiltIn, Laws, Semiring, SemiringId};
use crate::{
    dtype::Element,
    epilogue::{Activate, Activated},
};
use core::marker::PhantomData;
use half::{bf16, f16};

/// `C[i,j] = Σ_k A[i,k] * B[k,j]`. f16 and bf16 accumulate in f32; i8, u8 and i16 give i32; integers wrap.
#[derive(Clone, Copy, Debug)]
pub struct PlusTimes<T>(PhantomData<T>);

/// A semiring whose partial sums can be scaled: `alpha` and `beta` of `C = alpha A B + beta C`.
pub trait Ring: Semiring {
    /// `factor * x`.
    fn scale(factor: Self::Acc, x: Self::Acc) -> Self::Acc;
    /// The factor that leaves everything as it is.
    const UNIT: Self::Acc;
}

/// How [`PlusTimes`] computes on an element type.
pub trait Arithmetic: Element {
    /// The type of partial sums.
    type Acc: Element;
    /// The type of results.
    type Out: Element;
    /// 0 as a partial sum.
    const ZERO: Self::Acc;
    /// 1 as a partial sum.
    const UNIT: Self::Acc;
    /// 1 as an element.
    const ONE: Self;
    /// What an activation does to a partial sum; `None` for integers, which have none.
    const ACTIVATE: Option<Activate<Self::Acc>> = None;
    /// `acc + a * b`; fused for floats.
    fn mul_add(acc: Self::Acc, a: Self, b: Self) -> Self::Acc;
    /// `x + y`.
    fn plus(x: Self::Acc, y: Self::Acc) -> Self::Acc;
    /// `x * y`.
    fn times(x: Self::Acc, y: Self::Acc) -> Self::Acc;
    /// Rounds a complete sum.
    fn finish(acc: Self::Acc) -> Self::Out;
    /// Widens a result.
    fn resume(out: Self::Out) -> Self::Acc;
}

macro_rules! float {
    ($($t:ty, $acc:ty, $one:expr, $widen:expr, $round:expr;)*) => {$(
        impl Arithmetic for $t {
            type Acc = $acc;
            type Out = $t;
            const ZERO: $acc = 0.0;
            const UNIT: $acc = 1.0;
            const ONE: $t = $one;
            const ACTIVATE: Option<Activate<$acc>> = Some(<$acc>::activate);
            #[inline(always)]
            fn mul_add(acc: $acc, a: $t, b: $t) -> $acc { $widen(a).mul_add($widen(b), acc) }
            #[inline(always)]
            fn plus(x: $acc, y: $acc) -> $acc { x + y }
            #[inline(always)]
            fn times(x: $acc, y: $acc) -> $acc { x * y }
            #[inline(always)]
            fn finish(acc: $acc) -> $t { $round(acc) }
            #[inline(always)]
            fn resume(out: $t) -> $acc { $widen(out) }
        }
    )*};
}

float! {
    f16, f32, f16::ONE, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::ONE, bf16::to_f32, bf16::from_f32;
    f32, f32, 1.0, f32::from, f32::from;
    f64, f64, 1.0, f64::from, f64::from;
}

macro_rules! integer {
    ($($t:ty, $acc:ty;)*) => {$(
        impl Arithmetic for $t {
            type Acc = $acc;
            type Out = $acc;
            const ZERO: $acc = 0;
            const UNIT: $acc = 1;
            const ONE: $t = 1;
            #[inline(always)]
            fn mul_add(acc: $acc, a: $t, b: $t) -> $acc {
                acc.wrapping_add(<$acc>::from(a).wrapping_mul(<$acc>::from(b)))
            }
            #[inline(always)]
            fn plus(x: $acc, y: $acc) -> $acc { x.wrapping_add(y) }
            #[inline(always)]
            fn times(x: $acc, y: $acc) -> $acc { x.wrapping_mul(y) }
            #[inline(always)]
            fn finish(acc: $acc) -> $acc { acc }
            #[inline(always)]
            fn resume(out: $acc) -> $acc { out }
        }
    )*};
}

integer! {
    i8, i32;
    i16, i32;
    u8, i32;
    i32, i32;
    i64, i64;
}

impl<T: Arithmetic> Semiring for PlusTimes<T> {
    type Elem = T;
    type Acc = T::Acc;
    type Out = T::Out;
    const NAME: &'static str = SemiringId::PlusTimes.name();
    const ZERO: T::Acc = T::ZERO;
    const ONE: T = T::ONE;
    const BUILT_IN: Option<BuiltIn<Self>> = BuiltIn::of_ring(SemiringId::PlusTimes, T::ACTIVATE);

    #[inline(always)]
    fn add(x: T::Acc, y: T::Acc) -> T::Acc {
        T::plus(x, y)
    }
    #[inline(always)]
    fn mul_add(acc: T::Acc, a: T, b: T) -> T::Acc {
        T::mul_add(acc, a, b)
    }
    #[inline(always)]
    fn finish(acc: T::Acc) -> T::Out {
        T::finish(acc)
    }
    #[inline(always)]
    fn resume(out: T::Out) -> T::Acc {
        T::resume(out)
    }
    fn laws() -> Laws {
        Laws { exact_add: !T::DTYPE.is_float(), ..Laws::COMMUTATIVE }
    }
}

impl<T: Arithmetic> Ring for PlusTimes<T> {
    const UNIT: T::Acc = T::UNIT;
    #[inline(always)]
    fn scale(factor: T::Acc, x: T::Acc) -> T::Acc {
        T::times(factor, x)
    }
}
