//! A pure cost model: how long a production kernel would take.
//!
//! A block computes its tile of C as fast as the slower of two units of its multiprocessor allows: arithmetic, at the peak
//! rate of the terms, or the loads that feed it, 128 bytes per clock. A thread with `r` outputs in a square loads
//! `2 / sqrt(r)` elements for each term, from shared memory or L1. The time is that of the multiprocessor with the
//! most blocks, at least the floor, plus the traffic of workspaces and a start for each launch.
//!
//! Coalescing, bank conflicts and latency are left out. Production kernels are built to hide them; those of the ladder are not,
//! and take up to fourteen times as long as a model without them says, so that none is given for them.

use super::{floor::Floor, query::Query};
use tilewright_arch::Gpu;
use tilewright_kernels::{Family, Launch, Recipe, Role};

/// Bytes that the shared memory and L1 of a multiprocessor give per clock.
const LOAD_BYTES_PER_CLOCK: f64 = 128.0;
/// From the end of one kernel to the start of the next.
const LAUNCH_SECONDS: f64 = 2e-6;

/// What recipes are made for.
pub struct Model<'a> {
    pub query: &'a Query,
    pub gpu: &'a Gpu,
    pub floor: Option<&'a Floor>,
}

impl Model<'_> {
    /// Seconds that `recipe` takes; `None` for a kernel of the ladder.
    pub fn seconds(&self, recipe: &Recipe) -> Option<f64> {
        if recipe.kernel().family != Family::Production {
            return None;
        }
        // Of launches of which the data choose one, the last is right for all of them.
        let for_all = |launch: &&Launch| launch.role() == Role::Product && !launch.is_for_some();
        let multiply = recipe.launches().iter().filter(for_all);
        let product: f64 = multiply.map(|launch| self.product(launch)).sum();
        let copied: f64 = recipe.workspaces().iter().map(|&bytes| 2.0 * bytes as f64).sum();
        let starts = recipe.launches().len() as f64 * LAUNCH_SECONDS;
        let least = self.floor.map_or(0.0, |floor| floor.seconds);
        Some(product.max(least) + copied / self.gpu.memory_bytes_per_second as f64 + starts)
    }

    fn product(&self, launch: &Launch) -> f64 {
        let count = |extents: [u32; 3]| extents.into_iter().map(f64::from).product::<f64>();
        let (blocks, threads) = (count(launch.grid()), count(launch.block()));
        if blocks == 0.0 {
            return 0.0;
        }
        let p = &self.query.problem;
        let terms = p.pair_ops() / blocks;
        // Where sums are split, several blocks share a tile of C.
        let outputs = p.m() as f64 * p.n() as f64 * f64::from(launch.parts()) / (blocks * threads);
        let bytes = 2.0 / outputs.max(1.0).sqrt() * self.query.dtype.size() as f64;
        let loads = terms * bytes / (LOAD_BYTES_PER_CLOCK * self.gpu.clock_hz as f64);
        let multiprocessors = f64::from(self.gpu.multiprocessors);
        let arithmetic = self.floor.map_or(0.0, |f| terms * multiprocessors / f.peak.pair_ops_per_second);
        (blocks / multiprocessors).ceil() * loads.max(arithmetic)
    }
}
