//! Terms of a product that a multiprocessor computes per cycle where nothing else is done.

use crate::{term::plain_terms_per_cycle, variant::Variant};
use tilewright_arch::{ComputeCapability, Gpu};
use tilewright_core::{DType, SemiringId};

/// Terms that one multiprocessor computes per cycle where nothing else is done (compute capability 9.0): by the rates of the
/// instructions that a term takes.
const fn peak(variant: Variant) -> f64 {
    use SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes};
    match (variant.semiring, variant.accumulator()) {
        (PlusTimes, DType::F32) => 128.0,
        (PlusTimes, DType::I64) => 12.0,
        (PlusTimes | OrAnd, _) => 64.0,
        // The selection has an arithmetic unit of its own beside that of the multiplication.
        (MinPlus | MaxPlus | MaxTimes | MinTimes, DType::F32 | DType::I32) => 64.0,
        (MinPlus | MaxPlus | MaxTimes | MinTimes, _) => 16.0,
        (MaxMin | MinMax, DType::F32 | DType::I32) => 32.0,
        _ => 10.0,
    }
}

/// The GPU on which the rates of tiles were measured.
const MEASURED: ComputeCapability = ComputeCapability::new(9, 0);

/// Terms that a multiprocessor of the GPU computes per cycle where nothing else is done: [`peak`], in
/// proportion to the documented rates of the instructions that a term takes.
pub(crate) fn peak_on(gpu: &Gpu, variant: Variant) -> f64 {
    let computed = Variant { dtype: variant.accumulator(), result: None, ..variant };
    let rate = |capability| plain_terms_per_cycle(computed, capability);
    let part = rate(gpu.capability()).zip(rate(MEASURED)).map_or(1.0, |(here, there)| here / there);
    peak(variant) * part * variant.own.map_or(1.0, |own| own.pace())
}

/// As [`peak_on`], beside instructions that leave `part` of the rate where it was measured: they take as many cycles elsewhere, and count
/// for less where arithmetic is slow.
pub(crate) fn peak_beside(peak_here: f64, variant: Variant, part: f64) -> f64 {
    let beside = (1.0 / part - 1.0) / peak(variant);
    1.0 / (1.0 / peak_here + beside)
}
