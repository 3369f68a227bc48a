//! The element types that the built-in semirings know.

use core::{fmt, str::FromStr};

use crate::{
    dynamic::Erase,
    error::{Error, ErrorKind},
    value::{Extremes, Value},
};

/// A built-in element type, known at compile time.
pub trait Element: Erase + Copy + Send + Sync + PartialEq + fmt::Debug + fmt::Display + 'static {
    /// The same type, known at run time.
    const DTYPE: DType;
    /// An element that is all zero bytes.
    const DEFAULT: Self;

    /// The same value.
    fn to_value(self) -> Value;
    /// The value as this type, or `None` when it cannot be represented; see [`DynRef::convert`](crate::DynRef::convert).
    fn from_value(value: Value, extremes: Extremes) -> Option<Self>;
}

/// Calls a macro with the list of element types: what stands after its name, and then `Variant type, "name", "what it is";` for
/// each.
#[macro_export]
macro_rules! for_each_dtype {
    ($callback:ident!($($first:tt)*)) => {
        $callback! {
            $($first)*
            F16 $crate::f16, "f16", "IEEE binary16";
            Bf16 $crate::bf16, "bf16", "bfloat16";
            F32 f32, "f32", "IEEE binary32";
            F64 f64, "f64", "IEEE binary64";
            E4m3 $crate::E4m3, "e4m3", "8-bit float with 3 digits after the point, without infinities (e4m3fn)";
            E5m2 $crate::E5m2, "e5m2", "8-bit float with 2 digits after the point";
            I8 i8, "i8", "8-bit signed integer";
            I16 i16, "i16", "16-bit signed integer";
            I32 i32, "i32", "32-bit signed integer";
            I64 i64, "i64", "64-bit signed integer";
            U8 u8, "u8", "8-bit unsigned integer";
            Bool bool, "bool", "a byte that is 0 or 1";
        }
    };
}

macro_rules! dtypes {
    ($($variant:ident $type:ty, $name:literal, $doc:literal;)*) => {
        /// A built-in element type, known at run time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType { $(#[doc = $doc] $variant,)* }

        impl DType {
            /// Every element type.
            pub const ALL: &[DType] = &[$(DType::$variant,)*];
            /// The lower-case name: `f32`, `bf16`, `bool`.
            pub const fn name(self) -> &'static str { match self { $(DType::$variant => $name,)* } }
            /// Bytes per element.
            pub const fn size(self) -> usize { match self { $(DType::$variant => size_of::<$type>(),)* } }
        }
    };
}

for_each_dtype!(dtypes!());

impl DType {
    /// True for f16, bf16, f32, f64 and the floats of 8 bits.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64) || self.is_float8()
    }

    /// True for e4m3 and e5m2.
    pub const fn is_float8(self) -> bool {
        matches!(self, Self::E4m3 | Self::E5m2)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        DType::ALL.iter().copied().find(|d| d.name() == s).ok_or_else(|| {
            let known = DType::ALL.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
            ErrorKind::Unsupported {
                what: format!("element type '{s}'"),
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

    #[test]
    fn names_round_trip() {
        for &d in DType::ALL {
            assert_eq!(d.name().parse::<DType>().unwrap(), d);
        }
        assert_eq!("f33".parse::<DType>().unwrap_err().code(), "unsupported");
    }
}
