//! Every built-in semiring on every type.

use crate::{judge::Sum, sample::Sample};
use tilewright_core::{
    LogPlus, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes, Semiring, Update, bf16,
    f16,
    semiring::{Arithmetic, Logarithm, Multiply, Number, Order, Selective},
};

/// A semiring of the hunt.
pub trait Subject: Semiring<Elem: Sample, Out: Sample + PartialEq> {
    /// What stands for "no path", "no edge".
    const ABSENT: Self::Elem;
    /// Whether sums that are not exact in every order are so on small whole numbers, and may overflow on the way to a finite result.
    const IS_ARITHMETIC: bool = true;
    /// `alpha A B + beta C`, where that has a meaning.
    fn scale(_alpha: i8, _beta: i8) -> Option<Update<Self>> {
        None
    }
    /// The numbers that a result must lie between, where sums are not exact: see [`Sum::bounds`].
    fn bounds(sum: &Sum<'_, Self::Elem, Self::Out>, got: Self::Out) -> Option<(f64, f64)> {
        sum.bounds(got)
    }
}

impl<T: Arithmetic<Acc: From<i8>, Out: Sample> + Sample> Subject for PlusTimes<T> {
    const ABSENT: T = T::DEFAULT;
    fn scale(alpha: i8, beta: i8) -> Option<Update<Self>> {
        Some(Update::scale(alpha.into(), beta.into()))
    }
}
impl<O: Order, M: Multiply<O, T>, T: Number + Sample> Subject for Selective<O, M, T> {
    const ABSENT: T = Self::ZERO;
}
impl Subject for OrAnd {
    const ABSENT: bool = false;
}
impl<T: Logarithm + Sample> Subject for LogPlus<T> {
    const ABSENT: T = T::ABSENT;
    const IS_ARITHMETIC: bool = false;
    fn bounds(sum: &Sum<'_, T, T>, got: T) -> Option<(f64, f64)> {
        sum.bounds_of_logarithm(got)
    }
}

/// Something to do with a semiring that is chosen by its number.
pub trait Visit {
    /// What it gives.
    type Output;
    /// Called with the semiring.
    fn visit<S: Subject>(self) -> Self::Output;
}

macro_rules! subjects {
    ($($s:ty,)*) => {
        /// How many there are.
        pub const COUNT: usize = [$(stringify!($s)),*].len();

        /// Calls `visit` with semiring `number % COUNT`.
        pub fn visit<V: Visit>(number: usize, visitor: V) -> V::Output {
            let mut left = number % COUNT;
            $(
                if left == 0 {
                    return visitor.visit::<$s>();
                }
                left = left.wrapping_sub(1);
            )*
            visitor.visit::<OrAnd>()
        }
    };
}

subjects! {
    PlusTimes<f16>, PlusTimes<bf16>, PlusTimes<f32>, PlusTimes<f64>, PlusTimes<i8>, PlusTimes<i32>, PlusTimes<i64>,
    MinPlus<f16>, MinPlus<bf16>, MinPlus<f32>, MinPlus<f64>, MinPlus<i16>, MinPlus<i32>, MinPlus<i64>,
    MaxPlus<f16>, MaxPlus<bf16>, MaxPlus<f32>, MaxPlus<f64>, MaxPlus<i16>, MaxPlus<i32>, MaxPlus<i64>,
    MaxTimes<f32>, MaxTimes<f64>, MinTimes<f32>, MinTimes<f64>,
    MaxMin<f32>, MaxMin<f64>, MaxMin<i32>, MinMax<f32>, MinMax<f64>, MinMax<i32>,
    OrAnd, LogPlus<f32>, LogPlus<f64>,
}
