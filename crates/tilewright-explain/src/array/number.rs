//! Numbers of every width that kernels compute with, and what an element of an array is made of.

use std::{fmt, str::FromStr};
use tilewright_core::{DType, E4m3, E5m2};

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names say it: a letter for the kind, then the bits.
pub enum Number {
    F16,
    Bf16,
    F32,
    F64,
    E4m3,
    E5m2,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

/// The value of a number, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Of an integer or a boolean.
    Integer(i128),
    /// Of a floating-point number.
    Real(f64),
}

/// Every type: its name, its bytes, and its other names in C++ and NumPy.
const NUMBERS: [(Number, &str, usize, &[&str]); 15] = [
    (Number::F16, "f16", 2, &["half", "__half", "float16"]),
    (Number::Bf16, "bf16", 2, &["__nv_bfloat16", "nv_bfloat16", "bfloat16"]),
    (Number::F32, "f32", 4, &["float", "float32"]),
    (Number::F64, "f64", 8, &["double", "float64"]),
    (Number::E4m3, "e4m3", 1, &["__nv_fp8_e4m3", "float8_e4m3fn"]),
    (Number::E5m2, "e5m2", 1, &["__nv_fp8_e5m2", "float8_e5m2"]),
    (Number::I8, "i8", 1, &["signed char", "char", "int8", "int8_t"]),
    (Number::I16, "i16", 2, &["short", "int16", "int16_t", "short int"]),
    (Number::I32, "i32", 4, &["int", "int32", "int32_t"]),
    (
        Number::I64,
        "i64",
        8,
        &["long long", "long", "int64", "int64_t", "long int", "long long int", "ptrdiff_t", "ssize_t"],
    ),
    (Number::U8, "u8", 1, &["unsigned char", "uint8", "uint8_t", "uchar"]),
    (Number::U16, "u16", 2, &["unsigned short", "uint16", "uint16_t", "ushort"]),
    (Number::U32, "u32", 4, &["unsigned int", "unsigned", "uint", "uint32", "uint32_t"]),
    (
        Number::U64,
        "u64",
        8,
        &[
            "unsigned long long",
            "unsigned long",
            "uint64",
            "uint64_t",
            "size_t",
            "ulong",
            "ulonglong",
            "cudaTextureObject_t",
            "CUtexObject",
        ],
    ),
    (Number::Bool, "bool", 1, &["_Bool"]),
];

impl Number {
    /// Every type.
    pub fn all() -> impl Iterator<Item = Self> {
        NUMBERS.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, usize, &'static [&'static str]) {
        &NUMBERS[self as usize]
    }

    /// The lower-case name, `f32` for one.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The number of a name: `f32`, `float`, `uint8_t`, `unsigned int`.
    pub fn of_name(name: &str) -> Option<Self> {
        NUMBERS.iter().find(|row| row.1 == name || row.3.contains(&name)).map(|row| row.0)
    }

    /// Bytes.
    pub fn size(self) -> usize {
        self.row().2
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64 | Self::E4m3 | Self::E5m2)
    }

    /// The smallest and the largest integer; `None` for floating-point numbers.
    fn integers(self) -> Option<(i128, i128)> {
        let bits = 8 * self.size() as u32;
        match self {
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 | Self::E4m3 | Self::E5m2 => None,
            Self::Bool => Some((0, 1)),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some((0, (1 << bits) - 1)),
        }
    }

    /// Whether a value is one of this type, apart from rounding: finite ones stay finite, integers in their range.
    pub fn holds(self, value: Scalar) -> bool {
        match (self.integers(), value) {
            (Some((least, most)), Scalar::Integer(value)) => (least..=most).contains(&value),
            (Some((least, most)), Scalar::Real(value)) => {
                value.fract() == 0.0 && (least as f64..=most as f64).contains(&value)
            }
            (None, value) => {
                let mut bytes = [0; 8];
                self.write(value, &mut bytes);
                let kept = self.read(&bytes).to_f64();
                kept.is_finite() || !value.to_f64().is_finite()
            }
        }
    }

    /// The number in the first bytes, little-endian; 0 where there are too few.
    pub fn read(self, bytes: &[u8]) -> Scalar {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes.iter().take(self.size())) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(word);
        match self {
            Self::F16 => Scalar::Real(half::f16::from_bits(bits as u16).to_f64()),
            Self::Bf16 => Scalar::Real(half::bf16::from_bits(bits as u16).to_f64()),
            Self::E4m3 => Scalar::Real(E4m3::from_bits(bits as u8).into()),
            Self::E5m2 => Scalar::Real(E5m2::from_bits(bits as u8).into()),
            Self::F32 => Scalar::Real(f32::from_bits(bits as u32).into()),
            Self::F64 => Scalar::Real(f64::from_bits(bits)),
            Self::I8 => Scalar::Integer((bits as i8).into()),
            Self::I16 => Scalar::Integer((bits as i16).into()),
            Self::I32 => Scalar::Integer((bits as i32).into()),
            Self::I64 => Scalar::Integer((bits as i64).into()),
            Self::Bool => Scalar::Integer((bits != 0).into()),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Scalar::Integer(bits.into()),
        }
    }

    /// Writes a value, or the nearest of this type, into the first bytes.
    pub fn write(self, value: Scalar, bytes: &mut [u8]) {
        let real = value.to_f64();
        let integer = match value {
            Scalar::Integer(integer) => integer,
            Scalar::Real(real) => real as i128,
        };
        let bits = match self {
            Self::F16 => half::f16::from_f64(real).to_bits().into(),
            Self::Bf16 => half::bf16::from_f64(real).to_bits().into(),
            Self::E4m3 => E4m3::from_f32(real as f32).to_bits().into(),
            Self::E5m2 => E5m2::from_f32(real as f32).to_bits().into(),
            Self::F32 => (real as f32).to_bits().into(),
            Self::F64 => real.to_bits(),
            Self::Bool => (real != 0.0).into(),
            _ => integer as u64,
        };
        for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()).take(self.size()) {
            *to = from;
        }
    }
}

impl From<DType> for Number {
    fn from(dtype: DType) -> Self {
        Self::of_name(dtype.name()).unwrap_or(Self::U8)
    }
}

impl Scalar {
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Real(real) => real,
        }
    }

    /// For JSON, which has no infinities and no NaN: those are texts.
    pub fn to_json(self) -> serde_json::Value {
        match self {
            Self::Integer(integer) => match (i64::try_from(integer), u64::try_from(integer)) {
                (Ok(signed), _) => signed.into(),
                (_, Ok(unsigned)) => unsigned.into(),
                _ => integer.to_string().into(),
            },
            Self::Real(real) if real.is_finite() => real.into(),
            Self::Real(real) => real.to_string().into(),
        }
    }
}

/// What a person would write: `inf`, `1.5`, `1e-7`, `3`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(f),
            Self::Real(real) if (*real != 0.0 && real.abs() < 1e-4) || real.abs() >= 1e9 => {
                write!(f, "{real:e}")
            }
            Self::Real(real) => real.fmt(f),
        }
    }
}

/// What an element of an array is: a number, or a few of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A number.
    Number(Number),
    /// A vector of CUDA, such as `float4`: 1 to 4 numbers.
    Vector(Number, u8),
    /// A complex number, `cuFloatComplex` for one: real part, imaginary part.
    Complex(Number),
}

impl ElementType {
    /// The type of its numbers.
    pub fn number(self) -> Number {
        match self {
            Self::Number(number) | Self::Vector(number, _) | Self::Complex(number) => number,
        }
    }

    /// How many there are.
    pub fn lanes(self) -> usize {
        match self {
            Self::Number(_) => 1,
            Self::Vector(_, lanes) => lanes.into(),
            Self::Complex(_) => 2,
        }
    }

    /// Bytes.
    pub fn size(self) -> usize {
        self.number().size() * self.lanes()
    }

    /// The type that matrices have for it; `None` for vectors, complex numbers and unsigned integers.
    pub fn dtype(self) -> Option<DType> {
        match self {
            Self::Number(number) => number.name().parse().ok(),
            _ => None,
        }
    }

    /// Bytes of whose multiples its addresses are: those of CUDA's vectors of two and four are as large as they are, up to 16.
    pub fn alignment(self) -> usize {
        match self {
            Self::Vector(number, lanes @ (2 | 4)) => (number.size() * usize::from(lanes)).min(16),
            Self::Complex(number) => 2 * number.size(),
            _ => self.number().size(),
        }
    }
}

impl From<Number> for ElementType {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        Self::Number(dtype.into())
    }
}

/// `f32`, `float4`, `complex64`.
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.pad(number.name()),
            Self::Complex(number) => f.pad(if *number == Number::F32 { "complex64" } else { "complex128" }),
            Self::Vector(number, lanes) => {
                let known = VECTORS.iter().find(|(_, of)| of == number);
                f.pad(&format!("{}{lanes}", known.map_or(number.name(), |(stem, _)| stem)))
            }
        }
    }
}

/// Names of vectors in CUDA, without the number of their components.
const VECTORS: [(&str, Number); 14] = [
    ("float", Number::F32),
    ("double", Number::F64),
    ("char", Number::I8),
    ("uchar", Number::U8),
    ("short", Number::I16),
    ("ushort", Number::U16),
    ("int", Number::I32),
    ("uint", Number::U32),
    ("longlong", Number::I64),
    ("ulonglong", Number::U64),
    ("long", Number::I64),
    ("ulong", Number::U64),
    ("__half", Number::F16),
    ("__nv_bfloat16", Number::Bf16),
];

/// Complex numbers of CUDA, of its C++ library, and of NumPy.
const COMPLEX: [(&str, Number); 8] = [
    ("complex64", Number::F32),
    ("cuFloatComplex", Number::F32),
    ("cuComplex", Number::F32),
    ("complex<float>", Number::F32),
    ("complex128", Number::F64),
    ("cuDoubleComplex", Number::F64),
    ("complex<double>", Number::F64),
    ("cuda::std::complex<float>", Number::F32),
];

impl FromStr for ElementType {
    type Err = ();

    /// `f32`, `float`, `float4`, `complex64`, `half2`.
    fn from_str(name: &str) -> Result<Self, ()> {
        if let Some(number) = Number::of_name(name) {
            return Ok(Self::Number(number));
        }
        if let Some((_, number)) = COMPLEX.iter().find(|(known, _)| *known == name) {
            return Ok(Self::Complex(*number));
        }
        let (stem, lanes) = name.split_at_checked(name.len().saturating_sub(1)).ok_or(())?;
        let lanes = lanes.parse().ok().filter(|lanes| (1..=4).contains(lanes)).ok_or(())?;
        let stem = if stem == "half" { "__half" } else { stem };
        let known = VECTORS.iter().find(|(known, _)| *known == stem).ok_or(())?;
        Ok(Self::Vector(known.1, lanes))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_types() {
        for (index, number) in Number::all().enumerate() {
            assert_eq!(number as usize, index);
            assert_eq!(Number::of_name(number.name()), Some(number));
        }
        for dtype in DType::ALL {
            let number = Number::from(*dtype);
            assert_eq!((number.name(), number.size()), (dtype.name(), dtype.size()));
        }
    }

    #[test]
    fn extremes_are_kept() {
        for number in Number::all() {
            let values = match number.integers() {
                Some((least, most)) => vec![Scalar::Integer(least), Scalar::Integer(most)],
                // e4m3 has no infinity.
                None if number == Number::E4m3 => [-1.5, 0.25, 448.0].map(Scalar::Real).into(),
                None => [-1.5, 0.25, f64::INFINITY].map(Scalar::Real).into(),
            };
            for value in values {
                let mut bytes = vec![0; number.size()];
                number.write(value, &mut bytes);
                assert_eq!(number.read(&bytes), value, "{number:?}");
                assert!(number.holds(value));
            }
            assert!(!number.holds(Scalar::Real(1e300)) || number == Number::F64);
        }
        assert!(!Number::U8.holds(Scalar::Integer(-1)) && !Number::I8.holds(Scalar::Real(0.5)));
        assert!(Number::F32.read(&f32::NAN.to_le_bytes()).to_f64().is_nan());
    }

    #[test]
    fn names_of_elements() {
        for (name, shown, size, alignment) in [
            ("f32", "f32", 4, 4),
            ("unsigned int", "u32", 4, 4),
            ("float4", "float4", 16, 16),
            ("float3", "float3", 12, 4),
            ("double4", "double4", 32, 16),
            ("half2", "__half2", 4, 4),
            ("uchar2", "uchar2", 2, 2),
            ("longlong2", "longlong2", 16, 16),
            ("complex64", "complex64", 8, 8),
            ("cuDoubleComplex", "complex128", 16, 16),
        ] {
            let element: ElementType = name.parse().unwrap();
            assert_eq!(
                (element.to_string().as_str(), element.size(), element.alignment()),
                (shown, size, alignment)
            );
        }
        for wrong in ["", "f33", "float5", "float0", "é", "quad4"] {
            assert!(wrong.parse::<ElementType>().is_err(), "{wrong}");
        }
    }
}
