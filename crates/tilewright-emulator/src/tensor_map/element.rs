//! The types of a tensor's elements.

use crate::program::instruction::AtomicOp;
use crate::ptx_isa::Type;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the types of `CUtensorMapDataType` of the same names")]
pub enum ElementType {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
    /// f32; what is loaded and stored keeps its subnormal numbers.
    F32Ftz,
    /// f32 that is rounded to tf32 when it is loaded.
    Tf32,
    /// As [`ElementType::Tf32`].
    Tf32Ftz,
}

/// In the order of CUDA's numbers.
const TABLE: [(ElementType, u32, Type); 13] = [
    (ElementType::U8, 1, Type::U8),
    (ElementType::U16, 2, Type::U16),
    (ElementType::U32, 4, Type::U32),
    (ElementType::I32, 4, Type::S32),
    (ElementType::U64, 8, Type::U64),
    (ElementType::I64, 8, Type::S64),
    (ElementType::F16, 2, Type::F16),
    (ElementType::F32, 4, Type::F32),
    (ElementType::F64, 8, Type::F64),
    (ElementType::Bf16, 2, Type::Bf16),
    (ElementType::F32Ftz, 4, Type::F32),
    (ElementType::Tf32, 4, Type::F32),
    (ElementType::Tf32Ftz, 4, Type::F32),
];

impl ElementType {
    /// Of CUDA's number for it, `CUtensorMapDataType`.
    pub fn from_number(number: u32) -> Option<Self> {
        TABLE.get(number as usize).map(|row| row.0)
    }

    /// CUDA's number.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        TABLE[self as usize].1
    }

    /// As instructions name it.
    pub(crate) fn ptx(self) -> Type {
        TABLE[self as usize].2
    }

    /// Whether `cp.reduce.async.bulk.tensor` has this operation for it; any other is an illegal instruction on an H100.
    pub(crate) fn reduces(self, op: AtomicOp) -> bool {
        use AtomicOp::*;
        match self {
            Self::U8 | Self::U16 => false,
            Self::U32 => matches!(op, Add | Min | Max | Inc | Dec | And | Or | Xor),
            Self::I32 | Self::U64 => matches!(op, Add | Min | Max | And | Or | Xor),
            Self::I64 => matches!(op, Min | Max),
            Self::F16 | Self::Bf16 => matches!(op, Add | Min | Max),
            Self::F32 | Self::F64 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => op == Add,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.ptx().is_float()
    }
}
