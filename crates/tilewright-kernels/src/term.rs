//! The instructions that a term `c ⊕ a ⊗ b` takes, and how many terms that allows a multiprocessor.
//!
//! These are the shortest sequences that are known, so that they bound every kernel. Measured on an H200 in loops without memory
//! accesses, 10^12 terms per second, the bound in brackets: f32 addition and three-input minimum 22.6 (22.3), i32 23.6 (25.1), pairs of
//! i16 33.2 (33.5), pairs of f16 45.1 (44.6), f64 4.1 (8.4). Those that exceed their bound do so by 1 %, within what the clock and
//! its measurement allow.

use crate::variant::Variant;
use tilewright_arch::{
    ComputeCapability,
    Instruction::{
        self, F16Pair, F32, F64, FloatMinMax, IntegerAdd, IntegerMinMax, IntegerMultiplyAdd, Logic,
    },
    Part,
    instructions::{has_native_dpx, per_cycle},
};
use tilewright_core::{
    DType,
    SemiringId::{self, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes},
};

/// Instructions of a lane.
type Work = &'static [(Instruction, f64)];

/// What a term takes.
struct Term {
    semirings: &'static [SemiringId],
    dtypes: &'static [DType],
    /// With the instructions that every architecture has.
    plain: Work,
    /// With DPX instructions: three-input minima of integers (and of the bits of floats without a sign), additions with minima.
    dpx: Work,
    unit: &'static str,
}

const TERMS: [Term; 13] = [
    Term {
        semirings: &[PlusTimes],
        dtypes: &[DType::F32, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2],
        plain: &[(F32, 1.0)],
        dpx: &[(F32, 1.0)],
        unit: "f32 fused multiply-add",
    },
    Term {
        semirings: &[PlusTimes],
        dtypes: &[DType::F64],
        plain: &[(F64, 1.0)],
        dpx: &[(F64, 1.0)],
        unit: "f64 fused multiply-add",
    },
    Term {
        semirings: &[PlusTimes],
        dtypes: &[DType::I32, DType::I16, DType::I8, DType::U8],
        plain: &[(IntegerMultiplyAdd, 1.0)],
        dpx: &[(IntegerMultiplyAdd, 1.0)],
        unit: "32-bit integer multiply-add",
    },
    // The low product wide, and both cross products.
    Term {
        semirings: &[PlusTimes],
        dtypes: &[DType::I64],
        plain: &[(IntegerMultiplyAdd, 3.0)],
        dpx: &[(IntegerMultiplyAdd, 3.0)],
        unit: "64-bit integer multiply-add",
    },
    // Two terms share a three-input minimum.
    Term {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[DType::F32],
        plain: &[(F32, 1.0), (FloatMinMax, 1.0)],
        dpx: &[(F32, 1.0), (IntegerMinMax, 0.5)],
        unit: "f32 add and min",
    },
    Term {
        semirings: &[MaxTimes, MinTimes],
        dtypes: &[DType::F32],
        plain: &[(F32, 1.0), (FloatMinMax, 1.0)],
        dpx: &[(F32, 1.0), (IntegerMinMax, 0.5)],
        unit: "f32 multiply and min",
    },
    Term {
        semirings: &[MaxMin, MinMax],
        dtypes: &[DType::F32, DType::I32, DType::U8],
        plain: &[(IntegerMinMax, 2.0)],
        dpx: &[(IntegerMinMax, 1.5)],
        unit: "min and max",
    },
    // A third of the terms in one instruction each, of the others two share a three-input minimum: then additions, minima and
    // schedulers are equally busy.
    Term {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[DType::I32],
        plain: &[(IntegerAdd, 1.0), (IntegerMinMax, 1.0)],
        dpx: &[(IntegerAdd, 2.0 / 3.0), (IntegerMinMax, 2.0 / 3.0)],
        unit: "i32 add-min",
    },
    // Two columns in a word.
    Term {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[DType::I16],
        plain: &[(IntegerAdd, 1.0), (IntegerMinMax, 1.0)],
        dpx: &[(IntegerMinMax, 0.5)],
        unit: "i16x2 add-min",
    },
    Term {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[DType::F16, DType::Bf16],
        plain: &[(F16Pair, 0.5), (IntegerMinMax, 0.5)],
        dpx: &[(F16Pair, 0.5), (IntegerMinMax, 0.25)],
        unit: "f16x2 add and min",
    },
    // Two additions with carry, two comparisons, two selections.
    Term {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[DType::I64],
        plain: &[(IntegerAdd, 2.0), (IntegerMinMax, 4.0)],
        dpx: &[(IntegerAdd, 2.0), (IntegerMinMax, 4.0)],
        unit: "64-bit add and min",
    },
    // An operation, a comparison, and two selections of half a number.
    Term {
        semirings: &[MinPlus, MaxPlus, MaxTimes, MinTimes, MaxMin, MinMax],
        dtypes: &[DType::F64],
        plain: &[(F64, 2.0), (IntegerMinMax, 2.0)],
        dpx: &[(F64, 2.0), (IntegerMinMax, 2.0)],
        unit: "f64 operation and comparison",
    },
    // c | (a & b) on 32 columns.
    Term {
        semirings: &[OrAnd],
        dtypes: &[DType::Bool],
        plain: &[(Logic, 1.0 / 32.0)],
        dpx: &[(Logic, 1.0 / 32.0)],
        unit: "bitwise and-or",
    },
];

/// Terms that a multiprocessor can compute in a clock cycle at most without tensor cores, and what limits it; `None` where no rate is
/// known.
///
/// ```
/// use tilewright_arch::ComputeCapability;
/// use tilewright_core::{DType, SemiringId};
/// use tilewright_kernels::{Variant, terms_per_cycle};
/// let min_plus = Variant::new(SemiringId::MinPlus, DType::F32);
/// let (rate, unit) = terms_per_cycle(min_plus, ComputeCapability::new(8, 6)).unwrap();
/// assert_eq!((rate, unit), (64.0, "f32 add and min"));
/// // Hopper has minima of three numbers.
/// assert!(terms_per_cycle(min_plus, ComputeCapability::new(9, 0)).unwrap().0 > 85.0);
/// ```
pub fn terms_per_cycle(variant: Variant, capability: ComputeCapability) -> Option<(f64, &'static str)> {
    let term = find(variant)?;
    let work = if has_native_dpx(capability) { term.dpx } else { term.plain };
    Some((per_cycle(work, capability)?, term.unit))
}

/// The same as cycles of a term, and the part of the multiprocessor that is busy for so long; `None` also for a semiring of the user's.
pub(crate) fn cycles_per_term(variant: Variant, capability: ComputeCapability) -> Option<(Part, f64)> {
    let term = find(variant).filter(|_| variant.own.is_none())?;
    let work = if has_native_dpx(capability) { term.dpx } else { term.plain };
    let cycles = 1.0 / per_cycle(work, capability)?;
    // What takes all of this time; if nothing does, the schedulers start all of it.
    let alone = |&(instruction, count): &(Instruction, f64)| {
        Some((part(instruction), count / f64::from(instruction.per_sm_per_clock(capability)?)))
    };
    let busiest = work.iter().filter_map(alone).find(|(_, alone)| *alone >= cycles * (1.0 - f64::EPSILON));
    Some((busiest.map_or(Part::Issue, |(part, _)| part), cycles))
}

/// The part that executes an instruction.
const fn part(instruction: Instruction) -> Part {
    match instruction {
        F32 => Part::Fma,
        F64 => Part::F64,
        F16Pair => Part::F16,
        IntegerMultiplyAdd => Part::IntegerMultiply,
        IntegerAdd | FloatMinMax | IntegerMinMax | Logic => Part::Alu,
    }
}

/// The same with the instructions that every architecture has.
pub(crate) fn plain_terms_per_cycle(variant: Variant, capability: ComputeCapability) -> Option<f64> {
    per_cycle(find(variant)?.plain, capability)
}

fn find(variant: Variant) -> Option<&'static Term> {
    TERMS.iter().find(|t| t.semirings.contains(&variant.semiring) && t.dtypes.contains(&variant.dtype))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_arch::Device;

    #[test]
    fn every_variant_has_a_rate_on_every_gpu_that_kernels_are_compiled_for() {
        for device in Device::all().filter(|d| d.compute_capability >= ComputeCapability::new(7, 5)) {
            for &variant in Variant::ALL {
                let plain = plain_terms_per_cycle(variant, device.compute_capability);
                let (best, _) = terms_per_cycle(variant, device.compute_capability).unwrap();
                assert!(
                    plain.is_some_and(|plain| plain > 0.9 && plain <= best),
                    "{variant} on {}",
                    device.name
                );
            }
        }
    }

    #[test]
    fn doubles_are_slow_where_their_units_are_few() {
        let rate = |device: &str, semiring| {
            let device = Device::find(device).unwrap();
            terms_per_cycle(Variant::new(semiring, DType::F64), device.compute_capability).unwrap().0
        };
        let all = |semiring| ["t4", "a100", "l4", "rtx 4090", "h200", "b200"].map(|d| rate(d, semiring));
        assert_eq!(all(PlusTimes), [2.0, 32.0, 2.0, 2.0, 64.0, 64.0]);
        assert_eq!(all(MinPlus), [1.0, 16.0, 1.0, 1.0, 32.0, 32.0]);
    }
}
