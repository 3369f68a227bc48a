//! The element types that tensor cores multiply.

use crate::{request::Request, tensor::TensorElement, variant::Variant};
use tilewright_arch::{Gpu, PartCosts, Rate};
use tilewright_core::{DType, Math, SemiringId};

/// Bytes of a row of operands in a stage of `wgmma`: the widest swizzle of TMA.
pub(crate) const ROW_BYTES: u32 = 128;

/// What families on all these types compute: plus-times, with sums of 16-bit floats as they are, too, and those of 8-bit floats rounded to 16 bits.
pub(crate) const VARIANTS: [Variant; 13] = [
    of(DType::F16),
    of(DType::Bf16),
    giving(DType::F16, DType::F32),
    giving(DType::Bf16, DType::F32),
    of(DType::E4m3),
    giving(DType::E4m3, DType::F16),
    giving(DType::E4m3, DType::Bf16),
    of(DType::E5m2),
    giving(DType::E5m2, DType::F16),
    giving(DType::E5m2, DType::Bf16),
    of(DType::I8),
    of(DType::U8),
    of(DType::F32),
];

const fn of(dtype: DType) -> Variant {
    Variant::new(SemiringId::PlusTimes, dtype)
}

const fn giving(dtype: DType, result: DType) -> Variant {
    Variant { result: Some(result), ..of(dtype) }
}

/// How the tensor cores take elements of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Element {
    /// Bytes of an element.
    pub bytes: u32,
    /// The name in instructions, of elements and of sums.
    pub name: &'static str,
    pub sums: &'static str,
    /// Whether neighbours of an operand may be rows at one term: with 16 bits, and where threads load them, 64. Otherwise they are terms of one row.
    pub across: bool,
    /// The type in tensor maps.
    pub map: TensorElement,
    /// Whether sums of a stage are added up in f32: of products of 8-bit floats the tensor cores keep fewer digits.
    pub promotes: bool,
    rate: Rate,
}

impl Element {
    /// `None` for a type that they do not take. The copy into shared memory rounds to tf32.
    pub const fn of(dtype: DType, math: Math) -> Option<Self> {
        let (bytes, name, sums, map, rate) = match (dtype, math) {
            (DType::F16, _) => (2, "f16", "f32", TensorElement::F16, Rate::TensorF16),
            (DType::Bf16, _) => (2, "bf16", "f32", TensorElement::Bf16, Rate::TensorBf16),
            (DType::I8, _) => (1, "s8", "s32", TensorElement::U8, Rate::TensorI8),
            (DType::U8, _) => (1, "u8", "s32", TensorElement::U8, Rate::TensorI8),
            (DType::E4m3, _) => (1, "e4m3", "f32", TensorElement::U8, Rate::TensorF8),
            (DType::E5m2, _) => (1, "e5m2", "f32", TensorElement::U8, Rate::TensorF8),
            (DType::F32, Math::Tf32) => (4, "tf32", "f32", TensorElement::Tf32, Rate::TensorTf32),
            (DType::F64, _) => (8, "f64", "f64", TensorElement::F64, Rate::TensorF64),
            _ => return None,
        };
        let promotes = dtype.is_float8() && !matches!(math, Math::Fast);
        Some(Self { bytes, name, sums, across: bytes == 2 || bytes == 8, map, promotes, rate })
    }

    /// What the names of programs end with: their arithmetic where it is not the full one of their type.
    pub fn suffix(&self, request: &Request) -> &'static str {
        if request.math == Math::Fast && !self.promotes { ".fast" } else { "" }
    }

    /// Terms of a stage.
    pub const fn terms(&self) -> u32 {
        ROW_BYTES / self.bytes
    }

    /// Multiply-adds of a multiprocessor in a cycle, by the fastest instruction; those of the slowest GPUs where none are known.
    pub fn rate(&self, gpu: &Gpu) -> f64 {
        self.rate.per_sm_per_clock(gpu.capability()).unwrap_or(1024 / self.bytes).into()
    }

    /// Cycles of a multiprocessor for a multiply-add, by the fastest instruction; 0 where none are known.
    pub fn at_peak(&self, costs: &PartCosts) -> f64 {
        costs.multiply_add(self.rate)
    }
}

/// The type of C in tensor maps.
pub(crate) const fn output(dtype: DType) -> TensorElement {
    match dtype {
        DType::F16 => TensorElement::F16,
        DType::Bf16 => TensorElement::Bf16,
        DType::F32 => TensorElement::F32,
        DType::F64 => TensorElement::F64,
        _ => TensorElement::I32,
    }
}
