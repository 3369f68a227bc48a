//! Ordinary matrix multiplication.

use super::{BuiltIn, Laws, Semiring, SemiringId, Singles};
use crate::{
    dtype::Element,
    epilogue::{Activate, Activated},
    float8::{E4m3, E5m2},
};
use core::{convert::identity, marker::PhantomData};
use half::{bf16, f16};

/// `C[i,j] = Σ_k A[i,k] * B[k,j]`. f16 and bf16 accumulate in f32; floats of 8 bits give f32, and i8, u8 and i16 give i32; integers wrap.
///
/// `O` is the type of the results. Unless it is named, it is the one that `T` has by itself. Sums of f16 and bf16 may be given as they are, in f32, and those of floats of 8 bits rounded to f16 or bf16:
///
/// ```
/// use tilewright_core::{Layout, MatMut, MatRef, PlusTimes, Update, f16, reference};
/// let a = [f16::from_f32(2048.0), f16::ONE];
/// let (row, column) = (MatRef::new(&a, Layout::row_major(1, 2))?, MatRef::new(&[f16::ONE; 2], Layout::row_major(2, 1))?);
/// let (mut rounded, mut sum) = ([f16::ZERO], [0.0]);
/// let one = Layout::row_major(1, 1);
/// reference::multiply::<PlusTimes<f16>>(MatMut::new(&mut rounded, one)?, row, column, &Update::Replace)?;
/// reference::multiply::<PlusTimes<f16, f32>>(MatMut::new(&mut sum, one)?, row, column, &Update::Replace)?;
/// assert_eq!((rounded[0].to_f32(), sum[0]), (2048.0, 2049.0));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PlusTimes<T: Arithmetic, O = <T as Arithmetic>::Out>(PhantomData<(T, O)>);

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
    type Acc: RoundTo<Self::Out>;
    /// The type of results, unless another is asked for.
    type Out: Element;
    /// 0 as a partial sum.
    const ZERO: Self::Acc;
    /// 1 as a partial sum.
    const UNIT: Self::Acc;
    /// 1 as an element.
    const ONE: Self;
    /// What an activation does to a partial sum; `None` for integers, which have none.
    const ACTIVATE: Option<Activate<Self::Acc>> = None;
    /// Sums as f32 where operands may have scales: those of 8-bit floats.
    const SINGLES: Option<Singles<Self::Acc>> = None;
    /// `acc + a * b`; fused for floats.
    fn mul_add(acc: Self::Acc, a: Self, b: Self) -> Self::Acc;
    /// `x + y`.
    fn plus(x: Self::Acc, y: Self::Acc) -> Self::Acc;
    /// `x * y`.
    fn times(x: Self::Acc, y: Self::Acc) -> Self::Acc;
}

/// A type of sums that become results of type `O`.
pub trait RoundTo<O>: Element {
    /// Rounds a complete sum.
    fn round(self) -> O;
    /// The sum that a result stands for.
    fn widen(out: O) -> Self;
}

macro_rules! float {
    ($($t:ty, $acc:ty, $out:ty, $one:expr, $widen:expr, $singles:expr;)*) => {$(
        impl Arithmetic for $t {
            type Acc = $acc;
            type Out = $out;
            const ZERO: $acc = 0.0;
            const UNIT: $acc = 1.0;
            const ONE: $t = $one;
            const ACTIVATE: Option<Activate<$acc>> = Some(<$acc>::activate);
            const SINGLES: Option<Singles<$acc>> = $singles;
            #[inline(always)]
            fn mul_add(acc: $acc, a: $t, b: $t) -> $acc { $widen(a).mul_add($widen(b), acc) }
            #[inline(always)]
            fn plus(x: $acc, y: $acc) -> $acc { x + y }
            #[inline(always)]
            fn times(x: $acc, y: $acc) -> $acc { x * y }
        }
    )*};
}

float! {
    E4m3, f32, f32, E4m3::ONE, E4m3::to_f32, Some(Singles { of: identity, sum: identity });
    E5m2, f32, f32, E5m2::ONE, E5m2::to_f32, Some(Singles { of: identity, sum: identity });
    f16, f32, f16, f16::ONE, f16::to_f32, None;
    bf16, f32, bf16, bf16::ONE, bf16::to_f32, None;
    f32, f32, f32, 1.0, f32::from, None;
    f64, f64, f64, 1.0, f64::from, None;
}

macro_rules! round_to {
    ($($acc:ty, $out:ty, $round:expr, $widen:expr;)*) => {$(
        impl RoundTo<$out> for $acc {
            #[inline(always)]
            fn round(self) -> $out { $round(self) }
            #[inline(always)]
            fn widen(out: $out) -> $acc { $widen(out) }
        }
    )*};
}

round_to! {
    f32, f16, f16::from_f32, f16::to_f32;
    f32, bf16, bf16::from_f32, bf16::to_f32;
    f32, f32, identity, identity;
    f64, f64, identity, identity;
    i32, i32, identity, identity;
    i64, i64, identity, identity;
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

impl<T: Arithmetic<Acc: RoundTo<O>>, O: Element> Semiring for PlusTimes<T, O> {
    type Elem = T;
    type Acc = T::Acc;
    type Out = O;
    const NAME: &'static str = SemiringId::PlusTimes.name();
    const ZERO: T::Acc = T::ZERO;
    const ONE: T = T::ONE;
    const BUILT_IN: Option<BuiltIn<Self>> = BuiltIn::of_ring(SemiringId::PlusTimes, T::ACTIVATE, T::SINGLES);

    #[inline(always)]
    fn add(x: T::Acc, y: T::Acc) -> T::Acc {
        T::plus(x, y)
    }
    #[inline(always)]
    fn mul_add(acc: T::Acc, a: T, b: T) -> T::Acc {
        T::mul_add(acc, a, b)
    }
    #[inline(always)]
    fn finish(acc: T::Acc) -> O {
        acc.round()
    }
    #[inline(always)]
    fn resume(out: O) -> T::Acc {
        RoundTo::widen(out)
    }
    fn laws() -> Laws {
        Laws { exact_add: !T::DTYPE.is_float(), ..Laws::COMMUTATIVE }
    }
}

impl<T: Arithmetic<Acc: RoundTo<O>>, O: Element> Ring for PlusTimes<T, O> {
    const UNIT: T::Acc = T::UNIT;
    #[inline(always)]
    fn scale(factor: T::Acc, x: T::Acc) -> T::Acc {
        T::times(factor, x)
    }
}
