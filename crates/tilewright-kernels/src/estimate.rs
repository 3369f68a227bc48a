//! How long recipes take, so that those of different kernels can be compared.
//!
//! A production kernel has a model of its own, in cycles of a multiprocessor. Kernels of the ladder are estimated by the rate that each reached on an H200,
//! in proportion to the peak of the GPU.

use crate::{peak::peak_on, request::Request, variant::Variant};
use tilewright_arch::Gpu;
use tilewright_core::{DType, SemiringId};

/// From the end of a kernel to the start of the next.
pub(crate) const LAUNCH_SECONDS: f64 = 2e-6;

/// Terms per second that kernels of the ladder compute on an H200, in 10⁹, in a product of f32 at 4096: see `docs/course`. A single block has one of its 132
/// multiprocessors.
const LADDER: [(&str, f64); 12] = [
    ("single-block", 249.0 / 132.0),
    ("naive", 249.0),
    ("coalesced", 3231.0),
    ("shared-tile", 4315.0),
    ("shared-tile-ragged", 4136.5),
    ("shared-tile-dynamic", 2856.0),
    ("register-tile", 9531.5),
    ("shared-register-tile", 13_456.0),
    ("block-tile-1d", 8132.5),
    ("block-tile-2d", 10_678.0),
    ("vectorized", 13_717.0),
    ("warp-tile", 22_191.0),
];

/// Seconds in which the memory of a GPU moves so many bytes.
pub(crate) fn moving(gpu: &Gpu, bytes: f64) -> f64 {
    seconds(gpu, bytes / gpu.bytes_per_cycle())
}

/// Seconds of so many cycles of a multiprocessor.
pub(crate) fn seconds(gpu: &Gpu, cycles: f64) -> f64 {
    let clock = if gpu.clock_hz == 0 { Gpu::default().clock_hz } else { gpu.clock_hz };
    cycles / clock as f64
}

/// Seconds of the terms of a request at the peak of a GPU.
pub(crate) fn at_peak(request: &Request, gpu: &Gpu, variant: Variant) -> f64 {
    let terms = request.problem.pair_ops() * request.batch.count as f64;
    seconds(gpu, terms / (f64::from(gpu.multiprocessors) * peak_on(gpu, variant)))
}

/// Cycles of the smallest product: on an H100 it takes 5.3 us where `simt`, whose model says 5,842 cycles, takes 4.9.
const START: f64 = 6300.0;
/// Cycles that a kernel of the ladder waits for memory at each term, however small the product: its copies do not run ahead.
const WAITING: f64 = 400.0;

/// Seconds of a product by a kernel of the ladder.
pub(crate) fn of_ladder(kernel: &str, request: &Request) -> f64 {
    let measured = at_peak(request, &Gpu::default(), Variant::new(SemiringId::PlusTimes, DType::F32));
    let slower = at_peak(request, &request.gpu, request.variant()) / measured.max(f64::MIN_POSITIVE);
    let rate = LADDER.iter().find(|(name, _)| *name == kernel).map_or(0.0, |(_, rate)| 1e9 * rate);
    let computing = request.problem.pair_ops() * request.batch.count as f64 / rate * slower;
    let waiting = request.gpu.relative_clock() * START + WAITING * request.problem.k() as f64;
    let (m, n, k) = (request.problem.m() as f64, request.problem.n() as f64, request.problem.k() as f64);
    let elements = (m * k + k * n + m * n) * request.batch.count as f64;
    let moving = moving(&request.gpu, elements * request.dtype.size() as f64);
    computing.max(seconds(&request.gpu, waiting) + moving)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::kernels, kernel::Family};
    use tilewright_core::{Layout, Problem};

    #[test]
    fn every_recipe_has_an_estimate_and_the_ladder_goes_up() {
        let l = Layout::row_major(1024, 1024);
        let request = Request::new(Problem::new(l, l, l).unwrap(), SemiringId::PlusTimes, DType::F32);
        let mut found = Vec::new();
        for kernel in kernels().iter().filter(|kernel| kernel.family != Family::Gallery) {
            assert!(kernel.family != Family::Ladder || LADDER.iter().any(|(name, _)| *name == kernel.name));
            let Ok(recipe) = kernel.recipe(&request) else { continue };
            assert!(recipe.seconds().is_finite() && recipe.seconds() > 0.0, "{kernel:?}");
            found.push((recipe.seconds(), kernel.name));
        }
        found.sort_by(|x, y| y.0.total_cmp(&x.0));
        let names: Vec<_> = found.iter().map(|(_, name)| *name).collect();
        assert_eq!(names.first(), Some(&"naive"));
        assert_eq!(names[names.len() - 2..], ["warp-tile", "simt"]);
    }
}
