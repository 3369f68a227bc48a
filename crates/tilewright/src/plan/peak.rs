//! How many terms of each semiring a GPU could compute in a second.
//!
//! plus-times on numbers has a published rate. For the others the bound is the issue of instructions: a multiprocessor
//! starts one instruction on 32 lanes per scheduler and clock, 128 lanes from 4 schedulers, and [`SLOTS`] says how many
//! such slots a term takes with the shortest known sequence. Kernels stay below, by register banks and shared units;
//! loops without memory accesses come close. On an H200 (10^12 terms per second, bound in brackets): f32 add and
//! three-input minimum 22.6 (22.3), f16 pairs 45.1 (44.6), i16 pairs 33.2 (66.9), i32 23.6 (33.5). The two that
//! exceed their bound do so by 1 %, within what the clock and its measurement allow.
//!
//! Instructions per term: CUDA C++ Programming Guide, "Arithmetic Instructions", and the instruction set reference of
//! the CUDA binary utilities (VIMNMX3, VIADDMNMX and VHMNMX from 9.0 on).

use super::target::Gpu;
use tilewright_arch::{ComputeCapability, Rate, WARP_SIZE};
use tilewright_core::{DType, SemiringId};

/// An upper bound of the rate of a kind of term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Terms, that is `m n k`, per second.
    pub pair_ops_per_second: f64,
    /// What limits it.
    pub unit: &'static str,
}

/// The highest rate at which `gpu` could compute terms of `semiring` on `dtype`; `None` where no rate is known.
///
/// ```
/// use tilewright::{DType, SemiringId, plan::{Gpu, peak}};
/// let gpu = Gpu::named("a6000")?;
/// // 38.7 TFLOP/s are half as many multiply-adds.
/// let plus_times = peak(&gpu, SemiringId::PlusTimes, DType::F32).unwrap();
/// assert_eq!((plus_times.pair_ops_per_second / 1e11).round(), 194.0);
/// // An addition and a minimum instead of one fused instruction.
/// let min_plus = peak(&gpu, SemiringId::MinPlus, DType::F32).unwrap();
/// assert_eq!(2.0 * min_plus.pair_ops_per_second, plus_times.pair_ops_per_second);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn peak(gpu: &Gpu, semiring: SemiringId, dtype: DType) -> Option<Peak> {
    match semiring {
        SemiringId::PlusTimes => numbers(gpu, dtype),
        _ => instructions(gpu, semiring, dtype),
    }
}

/// Units that multiply and add numbers of a type, the fastest of those that the GPU has.
const UNITS: [(DType, &[(Rate, &str)]); 5] = [
    (DType::F32, &[(Rate::F32, "f32 fused multiply-add")]),
    (DType::F64, &[(Rate::TensorF64, "f64 tensor cores"), (Rate::F64, "f64 fused multiply-add")]),
    (DType::F16, &[(Rate::TensorF16, "f16 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::Bf16, &[(Rate::TensorBf16, "bf16 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::I8, &[(Rate::TensorI8, "i8 tensor cores")]),
];

fn numbers(gpu: &Gpu, dtype: DType) -> Option<Peak> {
    let units = UNITS.iter().find(|(d, _)| *d == dtype).map_or(&[][..], |(_, units)| units);
    let rates = units.iter().filter_map(|&(rate, unit)| {
        // Two operations make a term.
        Some(Peak { pair_ops_per_second: operations(gpu, rate)? / 2.0, unit })
    });
    let best = rates.max_by(|x, y| x.pair_ops_per_second.total_cmp(&y.pair_ops_per_second));
    best.or_else(|| instructions(gpu, SemiringId::PlusTimes, dtype))
}

/// Operations per second by the data sheet, or by the clock where there is none.
fn operations(gpu: &Gpu, rate: Rate) -> Option<f64> {
    match gpu.device {
        Some(device) => device.peak(rate),
        None if rate.on_tensor_cores() => None,
        None => {
            let per_clock = rate.per_sm_per_clock(gpu.capability)?;
            Some(2.0 * f64::from(per_clock) * f64::from(gpu.multiprocessors) * gpu.clock_hz)
        }
    }
}

/// Issue slots of a lane that a term takes.
struct Slots {
    semirings: &'static [SemiringId],
    dtypes: &'static [DType],
    /// Before compute capability 9.0, and from then on.
    slots: [f64; 2],
    unit: &'static str,
}

use DType::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64};
use SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes};

const SLOTS: [Slots; 10] = [
    // One IMAD, on half of the lanes.
    Slots {
        semirings: &[PlusTimes],
        dtypes: &[I32, I8, I16],
        slots: [2.0; 2],
        unit: "32-bit integer multiply-add",
    },
    // The low product wide, both cross products: three IMADs.
    Slots { semirings: &[PlusTimes], dtypes: &[I64], slots: [6.0; 2], unit: "64-bit integer multiply-add" },
    // An addition each; two terms share a three-input minimum.
    Slots { semirings: &[MinPlus, MaxPlus], dtypes: &[F32], slots: [2.0, 1.5], unit: "f32 add and min" },
    Slots {
        semirings: &[MaxTimes, MinTimes],
        dtypes: &[F32],
        slots: [2.0, 1.5],
        unit: "f32 multiply and min",
    },
    Slots { semirings: &[MaxMin, MinMax], dtypes: &[F32, I32], slots: [2.0, 1.5], unit: "min and max" },
    // Addition and minimum in one instruction.
    Slots { semirings: &[MinPlus, MaxPlus], dtypes: &[I32], slots: [2.0, 1.0], unit: "i32 add-min" },
    // Two columns in a word.
    Slots { semirings: &[MinPlus, MaxPlus], dtypes: &[I16], slots: [1.0, 0.5], unit: "i16x2 add-min" },
    Slots {
        semirings: &[MinPlus, MaxPlus],
        dtypes: &[F16, Bf16],
        slots: [1.0, 0.75],
        unit: "f16x2 add and min",
    },
    // Two additions with carry, two comparisons, two selections.
    Slots { semirings: &[MinPlus, MaxPlus], dtypes: &[I64], slots: [6.0; 2], unit: "64-bit add and min" },
    // c | (a & b) on 32 columns is one LOP3.
    Slots { semirings: &[OrAnd], dtypes: &[Bool], slots: [1.0 / 32.0; 2], unit: "bitwise and-or" },
];

fn instructions(gpu: &Gpu, semiring: SemiringId, dtype: DType) -> Option<Peak> {
    if dtype == F64 {
        // An arithmetic instruction and a comparison, both on the f64 units.
        let pair_ops_per_second = operations(gpu, Rate::F64)? / 4.0;
        return Some(Peak { pair_ops_per_second, unit: "f64 operation and comparison" });
    }
    let row = SLOTS.iter().find(|row| row.semirings.contains(&semiring) && row.dtypes.contains(&dtype))?;
    let is_new = gpu.capability >= ComputeCapability::new(9, 0);
    let lanes = f64::from(gpu.limits.sub_partitions * WARP_SIZE) * f64::from(gpu.multiprocessors);
    Some(Peak { pair_ops_per_second: lanes * gpu.clock_hz / row.slots[usize::from(is_new)], unit: row.unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_semiring_and_type_has_a_bound_that_measurements_keep() {
        let h200 = Gpu::named("h200").unwrap();
        for &semiring in SemiringId::ALL {
            for &dtype in semiring.dtypes() {
                let peak = peak(&h200, semiring, dtype);
                assert!(
                    peak.is_some_and(|p| p.pair_ops_per_second > 1e12),
                    "{semiring} on {dtype}: {peak:?}"
                );
            }
        }
        // Loops in registers on an H200, 10^12 terms per second.
        let measured = [
            (PlusTimes, F32, 27.6),
            (MinPlus, F32, 22.6),
            (MaxTimes, F32, 16.4),
            (MinPlus, I32, 23.6),
            (MinPlus, I16, 33.2),
            (MinPlus, F16, 45.1),
            (MinPlus, F64, 4.1),
            (PlusTimes, I8, 973.0),
        ];
        for (semiring, dtype, tera) in measured {
            let bound = peak(&h200, semiring, dtype).unwrap().pair_ops_per_second / 1e12;
            assert!(1.02 * bound >= tera && bound < 2.1 * tera, "{semiring} on {dtype}: {tera} of {bound}");
        }
    }
}
