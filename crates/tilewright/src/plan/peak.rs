//! How many terms of each semiring a GPU could compute in a second.
//!
//! plus-times on numbers has a published rate. For the others the bound is that of the instructions that a term takes: see
//! [`terms_per_cycle`]. Kernels stay below, by register banks and shared units; loops without memory accesses come close.

use tilewright_arch::{Gpu, Rate};
use tilewright_core::{DType, Math, SemiringId};
use tilewright_kernels::{Variant, terms_per_cycle};

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
/// # Ok::<(), tilewright_arch::DeviceLookupError>(())
/// ```
pub fn peak(gpu: &Gpu, semiring: SemiringId, dtype: DType) -> Option<Peak> {
    peak_with(gpu, semiring, dtype, Math::Full)
}

/// As [`peak`], by this arithmetic.
pub(crate) fn peak_with(gpu: &Gpu, semiring: SemiringId, dtype: DType, math: Math) -> Option<Peak> {
    match semiring {
        SemiringId::PlusTimes if math == Math::Tf32 => of_units(gpu, TF32).or_else(|| numbers(gpu, dtype)),
        // Log-plus is plus-times inside.
        SemiringId::PlusTimes | SemiringId::LogPlus => numbers(gpu, dtype),
        _ => instructions(gpu, semiring, dtype),
    }
}

/// A unit, and what it is called.
type Units = [(Rate, &'static str)];

/// Those that multiply numbers of f32 which are rounded to tf32.
const TF32: &Units = &[(Rate::TensorTf32, "tf32 tensor cores"), (Rate::F32, "f32 fused multiply-add")];

/// Units that multiply and add numbers of a type, the fastest of those that the GPU has.
const UNITS: [(DType, &Units); 8] = [
    (DType::F32, &[(Rate::F32, "f32 fused multiply-add")]),
    (DType::F64, &[(Rate::TensorF64, "f64 tensor cores"), (Rate::F64, "f64 fused multiply-add")]),
    (DType::F16, &[(Rate::TensorF16, "f16 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::Bf16, &[(Rate::TensorBf16, "bf16 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::E4m3, &[(Rate::TensorF8, "f8 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::E5m2, &[(Rate::TensorF8, "f8 tensor cores"), (Rate::F32, "f32 fused multiply-add")]),
    (DType::I8, &[(Rate::TensorI8, "i8 tensor cores")]),
    (DType::U8, &[(Rate::TensorI8, "i8 tensor cores")]),
];

fn numbers(gpu: &Gpu, dtype: DType) -> Option<Peak> {
    let units = UNITS.iter().find(|(d, _)| *d == dtype).map_or(&[][..], |(_, units)| units);
    of_units(gpu, units).or_else(|| instructions(gpu, SemiringId::PlusTimes, dtype))
}

fn of_units(gpu: &Gpu, units: &Units) -> Option<Peak> {
    let rates = units.iter().filter_map(|&(rate, unit)| {
        // Two operations make a term.
        Some(Peak { pair_ops_per_second: operations(gpu, rate)? / 2.0, unit })
    });
    rates.max_by(|x, y| x.pair_ops_per_second.total_cmp(&y.pair_ops_per_second))
}

/// Operations per second by the data sheet, or by the clock where there is none.
fn operations(gpu: &Gpu, rate: Rate) -> Option<f64> {
    match gpu.device() {
        Some(device) => device.peak(rate),
        None if rate.on_tensor_cores() => None,
        None => {
            let per_clock = rate.per_sm_per_clock(gpu.capability())?;
            Some(2.0 * f64::from(per_clock) * f64::from(gpu.multiprocessors) * gpu.clock_hz as f64)
        }
    }
}

fn instructions(gpu: &Gpu, semiring: SemiringId, dtype: DType) -> Option<Peak> {
    let (terms, unit) = terms_per_cycle(Variant::new(semiring, dtype), gpu.capability())?;
    let cycles_per_second = f64::from(gpu.multiprocessors) * gpu.clock_hz as f64;
    Some(Peak { pair_ops_per_second: terms * cycles_per_second, unit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::{F16, F32, F64, I8, I16, I32};
    use SemiringId::{MaxTimes, MinPlus, PlusTimes};

    #[test]
    fn tf32_is_as_fast_as_its_tensor_cores() {
        let h200 = Gpu::named("h200").unwrap();
        let of = |math| peak_with(&h200, PlusTimes, F32, math).unwrap();
        assert_eq!(
            (of(Math::Tf32).unit, of(Math::Full).unit),
            ("tf32 tensor cores", "f32 fused multiply-add")
        );
        // 494.7 TFLOP/s by the data sheet, and 66.9.
        let ratio = of(Math::Tf32).pair_ops_per_second / of(Math::Full).pair_ops_per_second;
        assert!((ratio / (494.7 / 66.9) - 1.0).abs() < 0.01, "{ratio}");
    }

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
