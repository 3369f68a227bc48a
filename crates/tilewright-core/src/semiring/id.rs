//! The built-in semirings, known at run time.

use super::Semiring;
use crate::{
    dtype::{DType, Element},
    error::{Error, ErrorKind},
    for_each_other_result, for_each_pair,
    value::{Extremes, Value},
};
use core::{fmt, str::FromStr};

/// A built-in semiring, known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SemiringId {
    /// [`PlusTimes`](crate::PlusTimes)
    PlusTimes,
    /// [`MinPlus`](crate::MinPlus)
    MinPlus,
    /// [`MaxPlus`](crate::MaxPlus)
    MaxPlus,
    /// [`MaxTimes`](crate::MaxTimes)
    MaxTimes,
    /// [`MinTimes`](crate::MinTimes)
    MinTimes,
    /// [`MaxMin`](crate::MaxMin)
    MaxMin,
    /// [`MinMax`](crate::MinMax)
    MinMax,
    /// [`OrAnd`](crate::OrAnd)
    OrAnd,
    /// [`LogPlus`](crate::LogPlus)
    LogPlus,
}

/// Something to do with a semiring that is only known at run time; see [`SemiringId::visit`].
pub trait Visit {
    /// What it gives.
    type Output;
    /// Called with the semiring's type.
    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output;
}

impl SemiringId {
    /// Every built-in semiring.
    pub const ALL: &[Self] = &[
        Self::PlusTimes,
        Self::MinPlus,
        Self::MaxPlus,
        Self::MaxTimes,
        Self::MinTimes,
        Self::MaxMin,
        Self::MinMax,
        Self::OrAnd,
        Self::LogPlus,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PlusTimes => "plus-times",
            Self::MinPlus => "min-plus",
            Self::MaxPlus => "max-plus",
            Self::MaxTimes => "max-times",
            Self::MinTimes => "min-times",
            Self::MaxMin => "max-min",
            Self::MinMax => "min-max",
            Self::OrAnd => "or-and",
            Self::LogPlus => "log-plus",
        }
    }

    /// The identity of ⊕: the sum of no terms, and what an absent element is. An infinity is the extreme value of an integer type:
    /// see [`Extremes::Absent`](crate::Extremes::Absent).
    pub const fn zero(self) -> Value {
        match self {
            Self::PlusTimes | Self::MaxTimes => Value::Int(0),
            Self::MinPlus | Self::MinTimes | Self::MinMax => Value::Float(f64::INFINITY),
            Self::MaxPlus | Self::MaxMin | Self::LogPlus => Value::Float(f64::NEG_INFINITY),
            Self::OrAnd => Value::Bool(false),
        }
    }

    /// The identity of ⊗: a product is unchanged by it. Infinities are as in [`zero`](Self::zero).
    pub const fn one(self) -> Value {
        match self {
            Self::PlusTimes | Self::MaxTimes | Self::MinTimes => Value::Int(1),
            Self::MinPlus | Self::MaxPlus | Self::LogPlus => Value::Int(0),
            Self::MaxMin => Value::Float(f64::INFINITY),
            Self::MinMax => Value::Float(f64::NEG_INFINITY),
            Self::OrAnd => Value::Bool(true),
        }
    }

    /// What the extreme integers of its matrices mean.
    pub const fn extremes(self) -> Extremes {
        if self.has_absent_integers() { Extremes::Absent } else { Extremes::Refuse }
    }

    /// The element type of the result for operands of type `dtype`, unless [another](Self::other_outputs) is asked for: i32 for i8, u8 and i16
    /// and f32 for e4m3 and e5m2 under plus-times, otherwise the same.
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`.
    pub fn output(self, dtype: DType) -> Result<DType, Error> {
        self.own_output(dtype).ok_or_else(|| undefined(self, dtype))
    }

    /// Whether results for operands of type `dtype` may have this type.
    pub const fn gives(self, dtype: DType, output: DType) -> bool {
        match self.own_output(dtype) {
            Some(own) => own as u8 == output as u8 || contains(self.other_outputs(dtype), output),
            None => false,
        }
    }

    /// The type of the results: the one that is asked for, otherwise that of [`output`](Self::output).
    ///
    /// ```
    /// use tilewright_core::{DType, SemiringId::PlusTimes};
    /// assert_eq!(PlusTimes.output_or(DType::F16, None)?, DType::F16);
    /// assert_eq!(PlusTimes.output_or(DType::F16, Some(DType::F32))?, DType::F32);
    /// assert_eq!(PlusTimes.output_or(DType::F32, Some(DType::F16)).unwrap_err().code(), "unsupported");
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`, or has no such results.
    pub fn output_or(self, dtype: DType, asked: Option<DType>) -> Result<DType, Error> {
        let own = self.output(dtype)?;
        match asked {
            Some(asked) if !self.gives(dtype, asked) => Err(not_given(self, dtype, own, asked)),
            asked => Ok(asked.unwrap_or(own)),
        }
    }

    /// True when ⊕ selects one of its operands, so that arg results have a meaning: all but plus-times and log-plus.
    pub const fn is_selective(self) -> bool {
        !matches!(self, Self::PlusTimes | Self::LogPlus)
    }

    /// True when the extreme integers stand for "absent" (min-plus, max-plus).
    pub const fn has_absent_integers(self) -> bool {
        matches!(self, Self::MinPlus | Self::MaxPlus)
    }
}

macro_rules! by_pair {
    ($($id:ident { paths: $(($path:ident $solved:ty))*; products: $(($product:ident $multiplied:ty))*; })*) => {
        impl SemiringId {
            /// The element types it is defined on.
            pub const fn dtypes(self) -> &'static [DType] {
                match self {
                    $(Self::$id => const { &in_order([$(DType::$path,)* $(DType::$product,)*]) },)*
                }
            }

            /// The element types on which graphs have best paths: none for plus-times and log-plus, whose ⊕ does not select.
            pub const fn path_dtypes(self) -> &'static [DType] {
                match self {
                    $(Self::$id => const { &in_order([$(DType::$path),*]) },)*
                }
            }

            /// The type of the results, where the semiring is defined on `dtype`.
            const fn own_output(self, dtype: DType) -> Option<DType> {
                Some(match (self, dtype) {
                    $($((Self::$id, DType::$path) => <<$solved as Semiring>::Out as Element>::DTYPE,)*
                    $((Self::$id, DType::$product) => <<$multiplied as Semiring>::Out as Element>::DTYPE,)*)*
                    _ => return None,
                })
            }

            /// Calls `visitor` with the type of this semiring on elements of `dtype`.
            ///
            /// # Errors
            /// `unsupported` when the semiring is not defined on `dtype`.
            pub fn visit<V: Visit>(self, dtype: DType, visitor: V) -> Result<V::Output, Error> {
                Ok(match (self, dtype) {
                    $($((Self::$id, DType::$path) => visitor.visit::<$solved>(),)*
                    $((Self::$id, DType::$product) => visitor.visit::<$multiplied>(),)*)*
                    _ => return Err(undefined(self, dtype)),
                })
            }
        }
    };
}
for_each_pair!(by_pair!());

macro_rules! by_result {
    ($(($id:ident $dtype:ident: $(($out:ident $s:ty))*))*) => {
        impl SemiringId {
            /// Other types that results for operands of type `dtype` may have: f32 for f16 and bf16 under plus-times, whose sums are f32, and f16 and bf16
            /// for e4m3 and e5m2.
            pub const fn other_outputs(self, dtype: DType) -> &'static [DType] {
                match (self, dtype) {
                    $((Self::$id, DType::$dtype) => &[$(DType::$out),*],)*
                    _ => &[],
                }
            }

            /// As [`visit`](Self::visit), with results of type `output`.
            ///
            /// # Errors
            /// `unsupported` when the semiring is not defined on `dtype`, or has no such results.
            pub fn visit_giving<V: Visit>(self, dtype: DType, output: DType, visitor: V) -> Result<V::Output, Error> {
                Ok(match (self, dtype, output) {
                    $($((Self::$id, DType::$dtype, DType::$out) => visitor.visit::<$s>(),)*)*
                    _ => {
                        self.output_or(dtype, Some(output))?;
                        return self.visit(dtype, visitor);
                    }
                })
            }
        }
    };
}
for_each_other_result!(by_result!());

/// Sorted as in [`DType::ALL`].
const fn in_order<const N: usize>(mut dtypes: [DType; N]) -> [DType; N] {
    let mut sorted = 0;
    while sorted < N {
        let mut at = sorted;
        while at > 0 && (dtypes[at] as u8) < dtypes[at - 1] as u8 {
            (dtypes[at], dtypes[at - 1]) = (dtypes[at - 1], dtypes[at]);
            at -= 1;
        }
        sorted += 1;
    }
    dtypes
}

/// Whether a type is listed, where the comparison of types is none of a trait.
const fn contains(dtypes: &[DType], dtype: DType) -> bool {
    let mut i = 0;
    while i < dtypes.len() {
        if dtypes[i] as u8 == dtype as u8 {
            return true;
        }
        i += 1;
    }
    false
}

fn undefined(semiring: SemiringId, dtype: DType) -> Error {
    let known = semiring.dtypes().iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
    ErrorKind::Unsupported {
        what: format!("{semiring} on {dtype}"),
        why: String::new(),
        hint: format!("{semiring} is defined on {known}").into(),
    }
    .into()
}

fn not_given(semiring: SemiringId, dtype: DType, own: DType, asked: DType) -> Error {
    let others = semiring.other_outputs(dtype).iter().map(|other| format!(" or {other}")).collect::<String>();
    ErrorKind::Unsupported {
        what: format!("results of type {asked} of {semiring} on {dtype}"),
        why: String::new(),
        hint: format!("they are {own}{others}").into(),
    }
    .into()
}

impl fmt::Display for SemiringId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SemiringId {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|id| id.name() == s).ok_or_else(|| {
            let known = Self::ALL.iter().map(|id| id.name()).collect::<Vec<_>>().join(", ");
            ErrorKind::Unsupported {
                what: format!("semiring '{s}'"),
                why: String::new(),
                hint: format!("one of {known}").into(),
            }
            .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semiring::{MaxTimes, PlusTimes};
    use half::bf16;

    struct Describe;
    impl Visit for Describe {
        type Output = (SemiringId, DType, DType);
        fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
            let built_in = S::BUILT_IN.unwrap();
            let id = built_in.id();
            assert_eq!(S::laws().selective_add, id.is_selective());
            assert_eq!(
                (S::NAME, S::Elem::DTYPE, S::Out::DTYPE),
                (id.name(), built_in.dtype(), built_in.output())
            );
            assert_eq!(S::Out::from_value(id.zero(), Extremes::Absent), Some(S::finish(S::ZERO)));
            assert_eq!(S::Elem::from_value(id.one(), Extremes::Absent), Some(S::ONE));
            (id, built_in.dtype(), built_in.output())
        }
    }

    #[test]
    fn every_listed_pair_and_no_other_has_a_type() {
        for &id in SemiringId::ALL {
            assert_eq!(id.name().parse::<SemiringId>().unwrap(), id);
            for &dtype in DType::ALL {
                match id.visit(dtype, Describe) {
                    Ok(found) => {
                        assert!(id.dtypes().contains(&dtype));
                        assert_eq!(found, (id, dtype, id.output(dtype).unwrap()));
                    }
                    Err(e) => {
                        assert!(!id.dtypes().contains(&dtype));
                        assert_eq!(e.code(), "unsupported");
                    }
                }
            }
        }
        // Types that can be written and are not listed.
        assert!(MaxTimes::<i32>::BUILT_IN.is_none());
        assert!(PlusTimes::<f32, bf16>::BUILT_IN.is_none());
    }

    #[test]
    fn results_have_their_own_type_or_another_that_is_listed() {
        for &id in SemiringId::ALL {
            for (dtype, output) in DType::ALL.iter().flat_map(|&d| DType::ALL.iter().map(move |&o| (d, o))) {
                match id.visit_giving(dtype, output, Describe) {
                    Ok(found) => assert_eq!(found, (id, dtype, output)),
                    Err(e) => assert!(!id.gives(dtype, output) && e.code() == "unsupported", "{e}"),
                }
            }
        }
        let wrong = SemiringId::PlusTimes.output_or(DType::Bf16, Some(DType::F64)).unwrap_err();
        assert_eq!(wrong.hint(), Some("they are bf16 or f32".to_owned()));
        assert!(SemiringId::PlusTimes.gives(DType::F16, DType::F32));
        assert!(!SemiringId::MinPlus.gives(DType::F16, DType::F32));
    }

    #[test]
    fn types_are_listed_in_one_order() {
        use DType::{Bf16, F16, F32, F64, I16, I32, I64};
        assert_eq!(SemiringId::MinPlus.dtypes(), [F16, Bf16, F32, F64, I16, I32, I64]);
        assert_eq!(SemiringId::MinPlus.path_dtypes(), [F32, F64, I16, I32, I64]);
        assert!(SemiringId::PlusTimes.path_dtypes().is_empty());
    }
}
