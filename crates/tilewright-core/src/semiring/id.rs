//! The built-in semirings, known at run time.

use super::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes, Semiring};
use crate::{
    dtype::{DType, Element},
    error::{Error, ErrorKind},
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
        }
    }

    /// The element types it is defined on.
    pub const fn dtypes(self) -> &'static [DType] {
        use DType::*;
        match self {
            Self::PlusTimes => &[F16, Bf16, F32, F64, I8, I32, I64],
            Self::MinPlus | Self::MaxPlus => &[F16, Bf16, F32, F64, I16, I32, I64],
            Self::MaxTimes | Self::MinTimes => &[F32, F64],
            Self::MaxMin | Self::MinMax => &[F32, F64, I32],
            Self::OrAnd => &[Bool],
        }
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

    struct Describe;
    impl Visit for Describe {
        type Output = (&'static str, DType);
        fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> Self::Output {
            (S::NAME, S::Elem::DTYPE)
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
                        assert_eq!(found, (id.name(), dtype));
                    }
                    Err(e) => {
                        assert!(!id.dtypes().contains(&dtype));
                        assert_eq!(e.code(), "unsupported");
                    }
                }
            }
        }
    }
}
