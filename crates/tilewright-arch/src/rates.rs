//! Arithmetic rates of one multiprocessor (SM).
//!
//! Sources: CUDA C++ Programming Guide, "Arithmetic Instructions" (results per clock cycle per SM), for the CUDA cores;
//! NVIDIA's architecture whitepapers (Volta, Turing, A100, GA102, Ada, H100, RTX Blackwell) and the data sheets of
//! B200, B300, Jetson Orin and Jetson Thor for the tensor cores. The rate of the binary product on 9.0 was measured on
//! an H200. Rates are dense: twice as much with structured sparsity is not counted.

use crate::ComputeCapability;
use std::fmt;

/// A kind of arithmetic with a peak of its own. One operation is a multiplication or an addition (a fused
/// multiply-add counts as two); for [`Rate::TensorB1`] it is an AND or a population count's addition per bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// f64 on CUDA cores.
    F64,
    /// f32 on CUDA cores.
    F32,
    /// f16 in pairs on CUDA cores.
    F16,
    /// f64 on tensor cores.
    TensorF64,
    /// TF32 with f32 accumulation.
    TensorTf32,
    /// f16 with f32 accumulation.
    TensorF16,
    /// f16 with f16 accumulation.
    TensorF16AccumulateF16,
    /// bf16 with f32 accumulation.
    TensorBf16,
    /// 8-bit floats with f32 accumulation.
    TensorF8,
    /// 4-bit floats with block scales and f32 accumulation.
    TensorF4,
    /// 8-bit integers with i32 accumulation.
    TensorI8,
    /// 4-bit integers with i32 accumulation.
    TensorI4,
    /// Bits: AND, then population count, with i32 accumulation.
    TensorB1,
}

impl Rate {
    /// Every rate.
    pub const ALL: [Rate; 13] = [
        Rate::F64,
        Rate::F32,
        Rate::F16,
        Rate::TensorF64,
        Rate::TensorTf32,
        Rate::TensorF16,
        Rate::TensorF16AccumulateF16,
        Rate::TensorBf16,
        Rate::TensorF8,
        Rate::TensorF4,
        Rate::TensorI8,
        Rate::TensorI4,
        Rate::TensorB1,
    ];

    /// Its name in reports: `f32`, `tensor_bf16` and so on.
    pub const fn name(self) -> &'static str {
        match self {
            Rate::F64 => "f64",
            Rate::F32 => "f32",
            Rate::F16 => "f16",
            Rate::TensorF64 => "tensor_f64",
            Rate::TensorTf32 => "tensor_tf32",
            Rate::TensorF16 => "tensor_f16",
            Rate::TensorF16AccumulateF16 => "tensor_f16_accumulate_f16",
            Rate::TensorBf16 => "tensor_bf16",
            Rate::TensorF8 => "tensor_f8",
            Rate::TensorF4 => "tensor_f4",
            Rate::TensorI8 => "tensor_i8",
            Rate::TensorI4 => "tensor_i4",
            Rate::TensorB1 => "tensor_b1",
        }
    }

    /// Whether it runs on tensor cores.
    pub const fn on_tensor_cores(self) -> bool {
        !matches!(self, Rate::F64 | Rate::F32 | Rate::F16)
    }

    /// What its operations are called: `OP` on integers and bits, `FLOP` on floats.
    pub const fn operation(self) -> &'static str {
        match self {
            Rate::TensorI8 | Rate::TensorI4 | Rate::TensorB1 => "OP",
            _ => "FLOP",
        }
    }

    /// Whether GeForce cards run it at half the rate: floating-point tensor products that accumulate in f32, except
    /// 4-bit ones.
    pub const fn accumulates_in_f32(self) -> bool {
        matches!(self, Rate::TensorTf32 | Rate::TensorF16 | Rate::TensorBf16 | Rate::TensorF8)
    }

    /// Fused multiply-adds per clock cycle of one SM, with tensor cores at their full rate. `None`: there is no such
    /// instruction, or no published rate.
    ///
    /// ```
    /// use tilewright_arch::{ComputeCapability, Rate};
    /// assert_eq!(Rate::F32.per_sm_per_clock(ComputeCapability::new(8, 6)), Some(128));
    /// assert_eq!(Rate::TensorBf16.per_sm_per_clock(ComputeCapability::new(9, 0)), Some(2048));
    /// assert_eq!(Rate::TensorBf16.per_sm_per_clock(ComputeCapability::new(7, 0)), None);
    /// ```
    pub fn per_sm_per_clock(self, capability: ComputeCapability) -> Option<u32> {
        let row = SM_RATES.iter().find(|row| row.capabilities.contains(&capability))?;
        let rate = match self {
            Rate::F64 => row.f64,
            Rate::F32 => row.f32,
            Rate::F16 => row.f16,
            Rate::TensorF64 => row.tensor_f64,
            Rate::TensorTf32 => row.tensor_tf32,
            Rate::TensorF16 | Rate::TensorF16AccumulateF16 => row.tensor_f16,
            Rate::TensorBf16 => row.tensor_bf16,
            Rate::TensorF8 => row.tensor_f8,
            Rate::TensorF4 => row.tensor_f4,
            Rate::TensorI8 => row.tensor_i8,
            Rate::TensorI4 => row.tensor_i4,
            Rate::TensorB1 => row.tensor_b1,
        };
        (rate > 0).then_some(rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Fused multiply-adds per clock cycle; 0 for none.
struct SmRates {
    capabilities: &'static [ComputeCapability],
    f64: u32,
    f32: u32,
    f16: u32,
    tensor_f64: u32,
    tensor_tf32: u32,
    tensor_f16: u32,
    tensor_bf16: u32,
    tensor_f8: u32,
    tensor_f4: u32,
    tensor_i8: u32,
    tensor_i4: u32,
    tensor_b1: u32,
}

const fn cc(major: u8, minor: u8) -> ComputeCapability {
    ComputeCapability::new(major, minor)
}

const MAXWELL: SmRates = SmRates {
    capabilities: &[cc(5, 0), cc(5, 2)],
    f64: 4,
    f32: 128,
    f16: 0,
    tensor_f64: 0,
    tensor_tf32: 0,
    tensor_f16: 0,
    tensor_bf16: 0,
    tensor_f8: 0,
    tensor_f4: 0,
    tensor_i8: 0,
    tensor_i4: 0,
    tensor_b1: 0,
};

const VOLTA: SmRates =
    SmRates { capabilities: &[cc(7, 0)], f64: 32, f32: 64, f16: 128, tensor_f16: 512, ..MAXWELL };

const TURING: SmRates =
    SmRates { capabilities: &[cc(7, 5)], f64: 2, tensor_i8: 1024, tensor_i4: 2048, ..VOLTA };

const A100: SmRates = SmRates {
    capabilities: &[cc(8, 0)],
    f16: 256,
    tensor_f64: 64,
    tensor_tf32: 512,
    tensor_f16: 1024,
    tensor_bf16: 1024,
    tensor_i8: 2048,
    tensor_i4: 4096,
    tensor_b1: 16384,
    ..VOLTA
};

const AMPERE: SmRates =
    SmRates { capabilities: &[cc(8, 6), cc(8, 8)], f32: 128, tensor_tf32: 256, tensor_bf16: 512, ..TURING };

const HOPPER: SmRates = SmRates {
    capabilities: &[cc(9, 0)],
    f64: 64,
    f32: 128,
    tensor_f64: 128,
    tensor_tf32: 1024,
    tensor_f16: 2048,
    tensor_bf16: 2048,
    tensor_f8: 4096,
    tensor_i8: 4096,
    tensor_i4: 0,
    tensor_b1: 32768,
    ..A100
};

const B200: SmRates = SmRates {
    capabilities: &[cc(10, 0)],
    tensor_f64: 64,
    tensor_tf32: 2048,
    tensor_f16: 4096,
    tensor_bf16: 4096,
    tensor_f8: 8192,
    tensor_f4: 16384,
    tensor_i8: 8192,
    tensor_b1: 0,
    ..HOPPER
};

/// 8.8 counts as 8.6, 12.1 as 12.0; 10.7 is not on sale and has no entry.
const SM_RATES: &[SmRates] = &[
    MAXWELL,
    SmRates { capabilities: &[cc(5, 3), cc(6, 2)], f16: 256, ..MAXWELL },
    SmRates { capabilities: &[cc(6, 0)], f64: 32, f32: 64, f16: 128, ..MAXWELL },
    SmRates { capabilities: &[cc(6, 1)], f16: 2, ..MAXWELL },
    VOLTA,
    SmRates { capabilities: &[cc(7, 2)], tensor_i8: 1024, ..VOLTA },
    TURING,
    A100,
    AMPERE,
    SmRates { capabilities: &[cc(8, 7)], f64: 2, f32: 128, tensor_f64: 0, tensor_b1: 0, ..A100 },
    SmRates { capabilities: &[cc(8, 9)], tensor_f8: 1024, ..AMPERE },
    HOPPER,
    B200,
    SmRates { capabilities: &[cc(10, 3)], f64: 2, tensor_f64: 2, tensor_f4: 24576, tensor_i8: 512, ..B200 },
    SmRates { capabilities: &[cc(10, 1), cc(11, 0)], f64: 2, tensor_f64: 0, ..B200 },
    SmRates {
        capabilities: &[cc(12, 0), cc(12, 1)],
        tensor_f8: 1024,
        tensor_f4: 2048,
        tensor_i4: 0,
        ..AMPERE
    },
];
