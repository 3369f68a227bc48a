//! The built-in semirings, known at run time.

use super::{LogPlus, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes, Semiring};
use crate::{
    dtype::{DType, Element},
    error::{Error, ErrorKind},
    value::Value,
};
use core::{fmt, str::FromStr};
use half::{bf16, f16};

/// A built-in semiring, known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SemiringId {
    /// [`PlusTimes`]
    PlusTimes,
    /// [`MinPlus`]
    MinPlus,
    /// [`MaxPlus`]
    MaxPlus,
    /// [`MaxTimes`]
    MaxTimes,
    /// [`MinTimes`]
    MinTimes,
    /// [`MaxMin`]
    MaxMin,
    /// [`MinMax`]
    MinMax,
    /// [`OrAnd`]
    OrAnd,
    /// [`LogPlus`]
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

    /// The element types it is defined on.
    pub const fn dtypes(self) -> &'static [DType] {
        use DType::*;
        match self {
            Self::PlusTimes => &[F16, Bf16, F32, F64, I8, I32, I64],
            Self::MinPlus | Self::MaxPlus => &[F16, Bf16, F32, F64, I16, I32, I64],
            Self::MaxTimes | Self::MinTimes | Self::LogPlus => &[F32, F64],
            Self::MaxMin | Self::MinMax => &[F32, F64, I32],
            Self::OrAnd => &[Bool],
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

    /// The element type of the result for operands of type `dtype`: i32 for i8 under plus-times, otherwise the same.
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`.
    pub fn output(self, dtype: DType) -> Result<DType, Error> {
        struct Output;
        impl Visit for Output {
            type Output = DType;
            fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> DType {
                S::Out::DTYPE
            }
        }
        self.visit(dtype, Output)
    }

    /// True when ⊕ selects one of its operands, so that arg results have a meaning: all but plus-times and log-plus.
    pub const fn is_selective(self) -> bool {
        !matches!(self, Self::PlusTimes | Self::LogPlus)
    }

    /// True when the extreme integers stand for "absent" (min-plus, max-plus).
    pub const fn has_absent_integers(self) -> bool {
        matches!(self, Self::MinPlus | Self::MaxPlus)
    }

    /// Calls `visitor` with the type of this semiring on elements of `dtype`.
    ///
    /// # Errors
    /// `unsupported` when the semiring is not defined on `dtype`.
    pub fn visit<V: Visit>(self, dtype: DType, visitor: V) -> Result<V::Output, Error> {
        use SemiringId as S;
        Ok(match (self, dtype) {
            (S::PlusTimes, DType::F16) => visitor.visit::<PlusTimes<f16>>(),
            (S::PlusTimes, DType::Bf16) => visitor.visit::<PlusTimes<bf16>>(),
            (S::PlusTimes, DType::F32) => visitor.visit::<PlusTimes<f32>>(),
            (S::PlusTimes, DType::F64) => visitor.visit::<PlusTimes<f64>>(),
            (S::PlusTimes, DType::I8) => visitor.visit::<PlusTimes<i8>>(),
            (S::PlusTimes, DType::I32) => visitor.visit::<PlusTimes<i32>>(),
            (S::PlusTimes, DType::I64) => visitor.visit::<PlusTimes<i64>>(),
            (S::MinPlus, DType::F16) => visitor.visit::<MinPlus<f16>>(),
            (S::MinPlus, DType::Bf16) => visitor.visit::<MinPlus<bf16>>(),
            (S::MinPlus, DType::F32) => visitor.visit::<MinPlus<f32>>(),
            (S::MinPlus, DType::F64) => visitor.visit::<MinPlus<f64>>(),
            (S::MinPlus, DType::I16) => visitor.visit::<MinPlus<i16>>(),
            (S::MinPlus, DType::I32) => visitor.visit::<MinPlus<i32>>(),
            (S::MinPlus, DType::I64) => visitor.visit::<MinPlus<i64>>(),
            (S::MaxPlus, DType::F16) => visitor.visit::<MaxPlus<f16>>(),
            (S::MaxPlus, DType::Bf16) => visitor.visit::<MaxPlus<bf16>>(),
            (S::MaxPlus, DType::F32) => visitor.visit::<MaxPlus<f32>>(),
            (S::MaxPlus, DType::F64) => visitor.visit::<MaxPlus<f64>>(),
            (S::MaxPlus, DType::I16) => visitor.visit::<MaxPlus<i16>>(),
            (S::MaxPlus, DType::I32) => visitor.visit::<MaxPlus<i32>>(),
            (S::MaxPlus, DType::I64) => visitor.visit::<MaxPlus<i64>>(),
            (S::MaxTimes, DType::F32) => visitor.visit::<MaxTimes<f32>>(),
            (S::MaxTimes, DType::F64) => visitor.visit::<MaxTimes<f64>>(),
            (S::MinTimes, DType::F32) => visitor.visit::<MinTimes<f32>>(),
            (S::MinTimes, DType::F64) => visitor.visit::<MinTimes<f64>>(),
            (S::MaxMin, DType::F32) => visitor.visit::<MaxMin<f32>>(),
            (S::MaxMin, DType::F64) => visitor.visit::<MaxMin<f64>>(),
            (S::MaxMin, DType::I32) => visitor.visit::<MaxMin<i32>>(),
            (S::MinMax, DType::F32) => visitor.visit::<MinMax<f32>>(),
            (S::MinMax, DType::F64) => visitor.visit::<MinMax<f64>>(),
            (S::MinMax, DType::I32) => visitor.visit::<MinMax<i32>>(),
            (S::OrAnd, DType::Bool) => visitor.visit::<OrAnd>(),
            (S::LogPlus, DType::F32) => visitor.visit::<LogPlus<f32>>(),
            (S::LogPlus, DType::F64) => visitor.visit::<LogPlus<f64>>(),
            _ => {
                let known = self.dtypes().iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
                return Err(ErrorKind::Unsupported {
                    what: format!("{self} on {dtype}"),
                    why: String::new(),
                    hint: format!("{self} is defined on {known}"),
                }
                .into());
            }
        })
    }
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
                hint: format!("one of {known}"),
            }
            .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Extremes;

    struct Describe;
    impl Visit for Describe {
        type Output = (SemiringId, DType);
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
            (id, built_in.dtype())
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
                        assert_eq!(found, (id, dtype));
                    }
                    Err(e) => {
                        assert!(!id.dtypes().contains(&dtype));
                        assert_eq!(e.code(), "unsupported");
                    }
                }
            }
        }
        // A type that can be written and is not listed.
        assert!(MaxTimes::<i32>::BUILT_IN.is_none());
    }
}
