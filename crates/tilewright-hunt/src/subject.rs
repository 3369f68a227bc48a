//! Every built-in semiring on every type.

use crate::{judge::Sum, sample::Sample};
use tilewright_core::{
    LogPlus, OrAnd, PlusTimes, Semiring, Update, for_each_pair,
    semiring::{Arithmetic, Logarithm, Multiply, Number, Order, RoundTo, Selective},
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

impl<T: Arithmetic<Acc: From<i8> + RoundTo<O>> + Sample, O: Sample + PartialEq> Subject for PlusTimes<T, O> {
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
    ($($id:ident { paths: $(($path:ident $solved:ty))*; products: $(($product:ident $multiplied:ty))*; })*) => {
        /// How many there are.
        pub const COUNT: usize = [$($(stringify!($solved),)* $(stringify!($multiplied),)*)*].len();

        /// Calls `visit` with semiring `number % COUNT`.
        pub fn visit<V: Visit>(number: usize, visitor: V) -> V::Output {
            let mut left = number % COUNT;
            $($(
                if left == 0 {
                    return visitor.visit::<$solved>();
                }
                left = left.wrapping_sub(1);
            )*
            $(
                if left == 0 {
                    return visitor.visit::<$multiplied>();
                }
                left = left.wrapping_sub(1);
            )*)*
            visitor.visit::<OrAnd>()
        }
    };
}
for_each_pair!(subjects!());

/// Calls `visitor` with plus-times on integers of 8 or 16 bits.
pub fn visit_small_integers<V: Visit>(number: usize, visitor: V) -> V::Output {
    match number % 3 {
        0 => visitor.visit::<PlusTimes<i8>>(),
        1 => visitor.visit::<PlusTimes<u8>>(),
        _ => visitor.visit::<PlusTimes<i16>>(),
    }
}
