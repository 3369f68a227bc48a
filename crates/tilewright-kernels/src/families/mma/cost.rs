//! What a product costs with a tile: the model by which the family chooses, in cycles.

use super::menu::{ROW_BYTES, Tile};
use crate::{
    demand::Demands,
    estimate,
    families::tensor_cores::{Work, busiest_terms},
};
use tilewright_arch::{ComputeCapability, Instruction, Part};

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

/// Bytes of a pass over the banks of shared memory.
const BANKS: f64 = 128.0;
/// From here on copies into shared memory go past L1.
const COPIES: ComputeCapability = ComputeCapability::new(8, 0);
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

/// What the launch that multiplies asks of a multiprocessor: a tile is multiplied whole, also at the edges of C.
pub(super) fn demand(work: &Work, tile: &Tile, parts: u32, demands: &mut Demands) {
    let Tile { m, n, warps, .. } = *tile;
    let step = ROW_BYTES / work.element.bytes;
    let terms = busiest_terms(work, (tiles(work, tile), parts), step, work.gpu.multiprocessors.into());
    let bytes = terms * f64::from(work.element.bytes);
    let costs = *demands.costs();
    let multiply_add = work.element.at_peak(&costs) * costs.mma_sync;
    demands.at_least(Part::Tensor, terms * f64::from(m * n) * multiply_add);
    // A warp reads its rows of A and its columns of B.
    let lines = f64::from(warps[1] * m + warps[0] * n);
    demands.at_least(Part::L1Data, lines * bytes / BANKS * costs.wavefront);
    let steps = terms / f64::from(step);
    let adding = f64::from(work.adds_up()) * costs.instruction(Instruction::F32);
    demands.at_least(Part::Fma, steps * f64::from(m * n / WARP) * adding);
    // Copies go past L1; where there are none, blocks of a multiprocessor may find each other's operands there.
    if work.gpu.capability() >= COPIES {
        demands.taken(work.taken(work.n.div_ceil(n), work.m.div_ceil(m)));
    }
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
