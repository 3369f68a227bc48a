//! How long a product takes at least.

use super::{
    peak::{Peak, peak_with},
    query::{Query, Work},
};
use tilewright_arch::{Bound, Gpu, Roofline};

/// A lower bound of a product's time: the roofline, with every matrix moved once and every term at the peak rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Floor {
    /// `max(pair_ops / peak, bytes / bandwidth)`.
    pub seconds: f64,
    /// Which of the two it is.
    pub bound: Bound,
    /// The peak of arithmetic.
    pub peak: Peak,
    /// The peak of memory.
    pub bytes_per_second: f64,
}

impl Floor {
    /// The floor on `gpu`; `None` where no peak is known.
    pub fn on(gpu: &Gpu, query: &Query, work: &Work) -> Option<Self> {
        if query.own.is_some() {
            return None;
        }
        let peak = peak_with(gpu, query.semiring, query.dtype, query.math)?;
        let roofline =
            Roofline { peak: peak.pair_ops_per_second, bandwidth: gpu.memory_bytes_per_second as f64 };
        let seconds = (work.pair_ops / roofline.peak).max(work.bytes / roofline.bandwidth);
        Some(Self {
            seconds,
            bound: roofline.bound(work.intensity()),
            peak,
            bytes_per_second: gpu.memory_bytes_per_second as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Layout, Problem, SemiringId};

    #[test]
    fn large_squares_are_bound_by_arithmetic_and_thin_products_by_memory() {
        let gpu = Gpu::named("h200").unwrap();
        let floor = |m, n, k| {
            let (a, b, c) = (Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n));
            let query = Query::new(SemiringId::PlusTimes, DType::F32, Problem::new(a, b, c).unwrap());
            Floor::on(&gpu, &query, &query.work()).unwrap()
        };
        let square = floor(4096, 4096, 4096);
        assert_eq!(square.bound, Bound::Arithmetic);
        // 2 x 4096³ operations at 66.9 TFLOP/s.
        assert!((square.seconds / 2.054e-3 - 1.0).abs() < 0.01, "{}", square.seconds);
        let vector = floor(1, 8192, 8192);
        assert_eq!(vector.bound, Bound::Memory);
        assert!((vector.seconds / (4.0 * 8192.0 * 8194.0 / 4.8e12) - 1.0).abs() < 1e-9);
        assert_eq!(floor(0, 10, 10).seconds, 400.0 / 4.8e12);
    }
}
