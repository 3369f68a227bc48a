//! The precision that a product may give up.

use crate::{DType, Error, ErrorKind, SemiringId};
use core::{fmt, str::FromStr};

/// The arithmetic of plus-times on f32, and on floats of 8 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// Elements as they are.
    #[default]
    Full,
    /// Elements of A and B may be rounded to tf32, to the nearest: f32 with 10 bits after the point instead of 23. Sums stay f32.
    /// Tensor cores are some eight times as fast so. What has none computes in full.
    Tf32,
    /// Sums of products of 8-bit floats may stay in the tensor cores, which keep 13 bits after the point of them. In full, parts of at most 128 terms
    /// are added up in f32. What has no tensor cores computes in full.
    Fast,
}

impl Math {
    /// All.
    pub const ALL: [Self; 3] = [Self::Full, Self::Tf32, Self::Fast];

    /// The name: `full`, `tf32`, `fast`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Tf32 => "tf32",
            Self::Fast => "fast",
        }
    }

    /// Whether products over a semiring on a type may be asked for in this arithmetic: plus-times has `tf32` on f32, and `fast` on floats of 8 bits.
    pub fn is_for(self, semiring: SemiringId, dtype: DType) -> bool {
        match self {
            Self::Full => true,
            Self::Tf32 => semiring == SemiringId::PlusTimes && dtype == DType::F32,
            Self::Fast => semiring == SemiringId::PlusTimes && dtype.is_float8(),
        }
    }

    /// The largest relative error of an element: the unit roundoff of tf32, or 0.
    pub const fn roundoff(self) -> f64 {
        match self {
            Self::Full | Self::Fast => 0.0,
            Self::Tf32 => 1.0 / 2048.0,
        }
    }
}

impl fmt::Display for Math {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Math {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|math| math.name() == name);
        known.ok_or_else(|| {
            let (what, why) = (format!("the arithmetic {name}"), "it is not known".into());
            ErrorKind::Unsupported { what, why, hint: "choose full, tf32 or fast".into() }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plus_times_on_f32_and_on_bytes_has_another() {
        let fast = |semiring, dtype| Math::Fast.is_for(semiring, dtype);
        assert!(fast(SemiringId::PlusTimes, DType::E4m3) && fast(SemiringId::PlusTimes, DType::E5m2));
        assert!(!fast(SemiringId::PlusTimes, DType::F32) && !fast(SemiringId::PlusTimes, DType::U8));
        let tf32 = |semiring, dtype| Math::Tf32.is_for(semiring, dtype);
        assert!(tf32(SemiringId::PlusTimes, DType::F32) && Math::Full.is_for(SemiringId::OrAnd, DType::Bool));
        assert!(!tf32(SemiringId::PlusTimes, DType::F64) && !tf32(SemiringId::MinPlus, DType::F32));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for math in Math::ALL {
            assert_eq!(math.to_string().parse::<Math>().unwrap(), math);
        }
        assert!("bf16".parse::<Math>().unwrap_err().hint().unwrap().contains("tf32"));
    }
}
