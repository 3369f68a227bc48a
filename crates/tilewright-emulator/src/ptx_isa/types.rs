//! The data types of PTX instructions.

/// A type as an instruction names it (`.u32`, `.f16x2`, `.pred`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the PTX type of the same spelling")]
pub enum Type {
    Pred,
    B1,
    B4,
    B8,
    B16,
    B32,
    B64,
    B128,
    U4,
    U8,
    U16,
    U32,
    U64,
    S4,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    U16x2,
    S16x2,
    U8x4,
    S8x4,
    B16x2,
    F16x2,
    Bf16x2,
    F32x2,
    E4m3,
    E5m2,
    E2m3,
    E3m2,
    E2m1,
    E4m3x2,
    E5m2x2,
    E2m3x2,
    E3m2x2,
    E2m1x2,
    E4m3x4,
    E5m2x4,
    E2m3x4,
    E3m2x4,
    E2m1x4,
    Ue8m0,
    Ue8m0x2,
    Ue4m3,
    /// Opaque handles.
    Texref,
    Samplerref,
    Surfref,
}

/// How a type's bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.pred`.
    Predicate,
    /// `.b*`: bits without a meaning.
    Bits,
    /// `.u*`.
    Unsigned,
    /// `.s*`.
    Signed,
    /// Every floating-point format.
    Float,
    /// Handles of textures, samplers and surfaces.
    Opaque,
}

/// Text, type, kind and width in bits: the only place that knows them.
const TABLE: &[(&str, Type, Kind, u32)] = &[
    ("pred", Type::Pred, Kind::Predicate, 1),
    ("b1", Type::B1, Kind::Bits, 1),
    ("b4", Type::B4, Kind::Bits, 4),
    ("b8", Type::B8, Kind::Bits, 8),
    ("b16", Type::B16, Kind::Bits, 16),
    ("b32", Type::B32, Kind::Bits, 32),
    ("b64", Type::B64, Kind::Bits, 64),
    ("b128", Type::B128, Kind::Bits, 128),
    ("u4", Type::U4, Kind::Unsigned, 4),
    ("u8", Type::U8, Kind::Unsigned, 8),
    ("u16", Type::U16, Kind::Unsigned, 16),
    ("u32", Type::U32, Kind::Unsigned, 32),
    ("u64", Type::U64, Kind::Unsigned, 64),
    ("s4", Type::S4, Kind::Signed, 4),
    ("s8", Type::S8, Kind::Signed, 8),
    ("s16", Type::S16, Kind::Signed, 16),
    ("s32", Type::S32, Kind::Signed, 32),
    ("s64", Type::S64, Kind::Signed, 64),
    ("f16", Type::F16, Kind::Float, 16),
    ("bf16", Type::Bf16, Kind::Float, 16),
    ("tf32", Type::Tf32, Kind::Float, 32),
    ("f32", Type::F32, Kind::Float, 32),
    ("f64", Type::F64, Kind::Float, 64),
    ("u16x2", Type::U16x2, Kind::Unsigned, 32),
    ("s16x2", Type::S16x2, Kind::Signed, 32),
    ("u8x4", Type::U8x4, Kind::Unsigned, 32),
    ("s8x4", Type::S8x4, Kind::Signed, 32),
    ("b16x2", Type::B16x2, Kind::Bits, 32),
    ("f16x2", Type::F16x2, Kind::Float, 32),
    ("bf16x2", Type::Bf16x2, Kind::Float, 32),
    ("f32x2", Type::F32x2, Kind::Float, 64),
    ("e4m3", Type::E4m3, Kind::Float, 8),
    ("e5m2", Type::E5m2, Kind::Float, 8),
    ("e2m3", Type::E2m3, Kind::Float, 8),
    ("e3m2", Type::E3m2, Kind::Float, 8),
    ("e2m1", Type::E2m1, Kind::Float, 4),
    ("e4m3x2", Type::E4m3x2, Kind::Float, 16),
    ("e5m2x2", Type::E5m2x2, Kind::Float, 16),
    ("e2m3x2", Type::E2m3x2, Kind::Float, 16),
    ("e3m2x2", Type::E3m2x2, Kind::Float, 16),
    ("e2m1x2", Type::E2m1x2, Kind::Float, 8),
    ("e4m3x4", Type::E4m3x4, Kind::Float, 32),
    ("e5m2x4", Type::E5m2x4, Kind::Float, 32),
    ("e2m3x4", Type::E2m3x4, Kind::Float, 32),
    ("e3m2x4", Type::E3m2x4, Kind::Float, 32),
    ("e2m1x4", Type::E2m1x4, Kind::Float, 16),
    ("ue8m0", Type::Ue8m0, Kind::Float, 8),
    ("ue8m0x2", Type::Ue8m0x2, Kind::Float, 16),
    ("ue4m3", Type::Ue4m3, Kind::Float, 8),
    ("texref", Type::Texref, Kind::Opaque, 64),
    ("samplerref", Type::Samplerref, Kind::Opaque, 64),
    ("surfref", Type::Surfref, Kind::Opaque, 64),
];

impl Type {
    /// The type that `text` (without the dot) spells.
    pub fn parse(text: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.0 == text).map(|row| row.1)
    }

    fn row(self) -> &'static (&'static str, Type, Kind, u32) {
        &TABLE[self as usize]
    }

    /// The spelling without the dot.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// How the bits are read.
    pub fn kind(self) -> Kind {
        self.row().2
    }

    /// Width in bits; of all elements together for a packed type.
    pub fn bits(self) -> u32 {
        self.row().3
    }

    /// Width in bytes as memory sees it, at least one.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether this is a signed integer, packed or not.
    pub fn is_signed(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// Whether this is a floating-point format, packed or not.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.1 as usize, index, "{}", row.0);
            assert_eq!(Type::parse(row.0), Some(row.1));
        }
    }
}
