//! What the kernels of the ladder were measured at: no model describes them.

use super::{peak::peak, query::Query};
use tilewright_arch::Gpu;
use tilewright_core::{DType, SemiringId};
use tilewright_kernels::Kernel;

/// The GPU that was measured.
const GPU: &str = "H200 SXM";
/// The side of the square matrices, of f32.
const SIDE: usize = 4096;

/// 10^9 terms per second of plus-times and of min-plus, from BENCHMARKS.md, "GPU: the ladder".
const RATES: [(&str, f64, f64); 11] = [
    ("naive", 249.0, 249.0),
    ("coalesced", 3231.0, 3204.0),
    ("shared-tile", 4315.0, 4279.0),
    ("shared-tile-ragged", 4136.5, 4168.0),
    ("shared-tile-dynamic", 2856.0, 2717.0),
    ("register-tile", 9531.5, 8337.0),
    ("shared-register-tile", 13456.0, 9800.0),
    ("block-tile-1d", 8132.5, 7141.0),
    ("block-tile-2d", 10678.0, 8034.0),
    ("vectorized", 13717.0, 9248.0),
    ("warp-tile", 22191.0, 11525.0),
];

/// The share of the peak that a kernel reached, in words; `None` where nothing was measured.
pub fn measured(gpu: &Gpu, kernel: &Kernel, query: &Query) -> Option<String> {
    if gpu.name != GPU || query.dtype != DType::F32 {
        return None;
    }
    let (_, plus_times, min_plus) = RATES.into_iter().find(|(name, ..)| *name == kernel.name)?;
    let rate = match query.semiring {
        SemiringId::PlusTimes => plus_times,
        SemiringId::MinPlus => min_plus,
        _ => return None,
    };
    let share = 1e11 * rate / peak(gpu, query.semiring, query.dtype)?.pair_ops_per_second;
    Some(format!("{share:.1} % of the peak on an {GPU}, at {SIDE} x {SIDE} x {SIDE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Layout, Problem};
    use tilewright_kernels::{Family, find, kernels};

    fn told(gpu: &str, kernel: &str, semiring: SemiringId, dtype: DType) -> Option<String> {
        let square = Layout::row_major(8, 8);
        let query = Query::new(semiring, dtype, Problem::new(square, square, square).unwrap());
        measured(&Gpu::named(gpu).unwrap(), find(kernel).unwrap(), &query)
    }

    #[test]
    fn shares_are_those_of_the_benchmarks() {
        let f32 = |kernel| told("h200", kernel, SemiringId::PlusTimes, DType::F32).unwrap();
        assert_eq!(f32("naive"), "0.7 % of the peak on an H200 SXM, at 4096 x 4096 x 4096");
        assert!(f32("coalesced").starts_with("9.7 %") && f32("warp-tile").starts_with("66.3 %"));
        assert!(told("h200", "naive", SemiringId::MinPlus, DType::F32).is_some());
        // Nothing is said of what was not measured.
        assert_eq!(told("a6000", "naive", SemiringId::PlusTimes, DType::F32), None);
        assert_eq!(told("h200", "coalesced", SemiringId::PlusTimes, DType::F64), None);
        assert_eq!(told("h200", "simt", SemiringId::PlusTimes, DType::F32), None);
    }

    #[test]
    fn what_was_measured_is_in_the_ladder() {
        for (name, ..) in RATES {
            assert!(kernels().iter().any(|k| k.name == name && k.family == Family::Ladder), "{name}");
        }
    }
}
