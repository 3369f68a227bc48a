//! What a product costs with a tile: the model by which the family chooses, in cycles.

use super::menu::{ROW_BYTES, Tile};
use crate::{estimate, families::tensor_cores::Work};
use tilewright_arch::ComputeCapability;

/// The part of the peak of tensor cores that `mma.sync` reaches at most, from a compute capability on: later instructions are faster. On Hopper it is measured.
const REACHED: [(ComputeCapability, f64); 4] = [
    (ComputeCapability::new(12, 0), 1.0),
    (ComputeCapability::new(10, 0), 0.25),
    (ComputeCapability::new(9, 0), 0.63),
    (ComputeCapability::new(7, 5), 1.0),
];
/// The part of it that products keep up.
const SUSTAINED: f64 = 0.8;
/// Bytes from the second-level cache in a cycle and multiprocessor.
const FROM_CACHE: f64 = 24.0;
/// How many more a line takes that lies across two lines of the cache.
const MISALIGNED: f64 = 1.3;
/// Cycles from the launch to the first product, and from the last to the end.
const AROUND: f64 = 5000.0;
/// Cycles in which a warp writes its sums, for each column of the tile.
const WRITE: f64 = 12.0;

/// Threads of a warp, and warps that a multiprocessor issues instructions of in a cycle.
const WARP: u32 = 32;
const SCHEDULERS: u32 = 4;

/// Tiles of all products.
pub(super) fn tiles(work: &Work, tile: &Tile) -> u64 {
    u64::from(work.m.div_ceil(tile.m)) * u64::from(work.n.div_ceil(tile.n)) * work.products as u64
}

/// Multiply-adds of a multiprocessor in a cycle.
fn rate(work: &Work) -> f64 {
    let reached = REACHED.iter().find(|(first, _)| work.gpu.capability() >= *first);
    work.element.rate(&work.gpu) * reached.map_or(1.0, |(_, part)| *part)
}

/// Seconds of the launch that multiplies.
pub(super) fn seconds(work: &Work, tile: &Tile, parts: u32) -> f64 {
    let (blocks, resident) = (tiles(work, tile) * u64::from(parts), tile.resident(&work.gpu).max(1));
    let at_a_time = u64::from(work.gpu.multiprocessors * resident);
    let turns = blocks.div_ceil(at_a_time) as f64;
    // Blocks of a multiprocessor share it.
    let sharing = blocks.div_ceil(work.gpu.multiprocessors.into()).min(resident.into()) as f64;
    let terms = ROW_BYTES / work.element.bytes;
    let steps = f64::from(work.k.div_ceil(terms * parts));
    let taken = work.aligned.map(|aligned| if aligned { 1.0 } else { MISALIGNED });
    let bytes = f64::from(ROW_BYTES) * (taken[0] * f64::from(tile.m) + taken[1] * f64::from(tile.n));
    let multiplying = f64::from(tile.m * tile.n * terms) / rate(work) / SUSTAINED;
    // Promoted sums take an instruction each, of which a multiprocessor issues four in a cycle. Estimated, not measured.
    let promoting = work.promoting() * f64::from(tile.sums() * tile.threads() / WARP / SCHEDULERS);
    let step = (multiplying + promoting).max(bytes / FROM_CACHE);
    let writing = WRITE * f64::from(tile.n);
    let around = work.gpu.relative_clock() * AROUND;
    let cycles = turns * sharing * (steps * step + writing) + around;
    estimate::seconds(&work.gpu, cycles).max(work.moving())
}
