//! What a product costs with a tile: the model by which the family chooses, in cycles of an H200 at its highest clock.
//!
//! Blocks of a multiprocessor share its tensor cores, and fill each other's gaps. They come in waves; the last one may leave multiprocessors idle or under-filled.

use super::menu::{ELEMENT, TILE_K, TILES, Tile};
use crate::{
    demand::{Demands, busiest},
    estimate,
    families::tensor_cores::Work,
};
use tilewright_arch::Part;

/// The part of their rate that products keep up, whose power lowers the clock.
const SUSTAINED: f64 = 0.95;
/// Bytes from the second-level cache in a cycle: of a multiprocessor alone, and of one among all.
const ALONE: f64 = 64.0;
const AMONG_ALL: f64 = 36.0;
/// Cycles from the launch to the first product, and from the last to the end.
const AROUND: f64 = 4000.0;
/// Cycles in which a block neither multiplies nor is covered by others.
const OUTSIDE: f64 = 1500.0;
/// Steps that a part has at least.
const LEAST_STEPS: u32 = 4;
/// Products whose parts one launch joins.
const MOST_JOINED: usize = 65_535;

/// One way to compute it: tiles from number `whole` on are summed in `parts` of `k_split` terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub tile: Tile,
    pub whole: u32,
    pub parts: u32,
    pub k_split: u32,
}

/// Tiles of a product.
pub(super) fn tiles(work: &Work, tile: &Tile) -> u32 {
    work.m.div_ceil(tile.block[0]).saturating_mul(work.n.div_ceil(tile.block[1]))
}

/// Tiles of a product that are computed in parts.
pub(super) fn split_tiles(work: &Work, candidate: &Candidate) -> u32 {
    tiles(work, &candidate.tile) - candidate.whole
}

/// Parts of a product.
fn parts(work: &Work, candidate: &Candidate) -> u64 {
    u64::from(split_tiles(work, candidate)) * u64::from(candidate.parts)
}

/// Blocks of all products.
pub(super) fn blocks(work: &Work, candidate: &Candidate) -> u64 {
    (u64::from(candidate.whole) + parts(work, candidate)).saturating_mul(work.products as u64)
}

/// Bytes of all parts of sums; 0 where sums are whole.
pub(super) fn part_bytes(work: &Work, candidate: &Candidate) -> u64 {
    if candidate.parts == 1 {
        return 0;
    }
    let [m, n] = candidate.tile.block;
    parts(work, candidate).saturating_mul(u64::from(m * n * ELEMENT)).saturating_mul(work.products as u64)
}

/// What the launch that multiplies asks of a multiprocessor: a tile is multiplied whole, also at the edges of C.
pub(super) fn demand(work: &Work, candidate: &Candidate, demands: &mut Demands) {
    let Candidate { tile, whole, parts, k_split } = *candidate;
    let ([m, n], [warp_m, warp_n]) = (tile.block, tile.warp);
    let products = work.products as u64;
    let split = u64::from(split_tiles(work, candidate)) * products;
    let last = work.k.saturating_sub(k_split.saturating_mul(parts - 1));
    let jobs = [
        (u64::from(whole) * products, work.k),
        (split * u64::from(parts - 1), k_split.min(work.k)),
        (split, last),
    ];
    let terms = busiest(&jobs.map(|(count, terms)| (count, terms.into())), work.gpu.multiprocessors.into());
    let costs = *demands.costs();
    demands.at_least(Part::Tensor, terms * f64::from(m * n) * work.element.at_peak(&costs));
    // Each warp reads its rows of A and its columns of B: 128 bytes of each at TILE_K terms.
    let lines = f64::from(n / warp_n * m + m / warp_m * n);
    demands.at_least(Part::L1Data, terms / f64::from(TILE_K) * lines * costs.wavefront);
    demands.taken(work.taken(work.n.div_ceil(n), work.m.div_ceil(m)));
}

/// Seconds of the launch that multiplies.
pub(super) fn seconds(work: &Work, candidate: &Candidate) -> f64 {
    let (tile, products) = (&candidate.tile, work.products as u64);
    let cycles = match candidate.whole {
        0 => waves(work, tile, blocks(work, candidate), candidate.k_split),
        whole => {
            // Whole waves, and one of parts.
            let first = waves(work, tile, u64::from(whole) * products, work.k);
            let last = parts(work, candidate).min(slots(work, tile));
            if candidate.parts == 1 { first } else { first + waves(work, tile, last, candidate.k_split) }
        }
    };
    let cycles = cycles / SUSTAINED + work.gpu.relative_clock() * AROUND;
    estimate::seconds(&work.gpu, cycles).max(work.moving())
}

/// Cycles of so many blocks with so many terms.
fn waves(work: &Work, tile: &Tile, blocks: u64, terms: u32) -> f64 {
    let (multiprocessors, slots) = (u64::from(work.gpu.multiprocessors), slots(work, tile));
    let steps = f64::from(terms.div_ceil(TILE_K));
    let multiplying = f64::from(tile.block[0] * tile.block[1] * TILE_K) / work.element.rate(&work.gpu);
    // So many blocks on each multiprocessor of a part of the GPU.
    let crowd = |count: f64, busy: f64| {
        let rate = 1.0 - (1.0 - tile.alone).powf(count);
        let bandwidth = (AMONG_ALL / busy).min(ALONE);
        let step = (multiplying / rate).max(f64::from(tile.stage_bytes()) / bandwidth);
        count * steps * step + OUTSIDE
    };
    let (whole, left) = (blocks / slots, blocks % slots);
    // The first blocks fill some multiprocessors before others. Later ones come where another has ended.
    let most = match whole {
        0 if left > multiprocessors => tile.resident.into(),
        _ => left.div_ceil(multiprocessors),
    };
    let last = match left {
        0 => 0.0,
        _ => crowd(most as f64, (left as f64 / multiprocessors as f64).min(1.0)),
    };
    whole as f64 * crowd(f64::from(tile.resident), 1.0) + last
}

/// Blocks that are on the GPU at a time.
fn slots(work: &Work, tile: &Tile) -> u64 {
    u64::from(work.gpu.multiprocessors.max(1) * tile.resident)
}

/// Every tile, whole, and with the tiles of the last wave in as many parts as fill it, or all in as many as are asked for.
pub(super) fn candidates(work: &Work, asked: Option<u32>) -> Vec<Candidate> {
    let mut all = Vec::new();
    for tile in TILES {
        let tiles = tiles(work, &tile);
        match asked {
            Some(parts) => all.push(split(work, tile, 0, parts)),
            None => {
                let whole = split(work, tile, tiles, 1);
                let (of_all, slots) = (u64::from(tiles) * work.products as u64, slots(work, &tile));
                let left = of_all % slots;
                let first = if work.products == 1 { tiles - left as u32 } else { 0 };
                let filling =
                    if left == 0 || (work.products > 1 && of_all > slots) { 1 } else { slots / left };
                let split = split(work, tile, first, filling as u32);
                all.extend([whole, split].into_iter().take(if split.parts > 1 { 2 } else { 1 }));
            }
        }
    }
    all
}

/// At most so many parts, each of some steps and none of them empty. Without parts all tiles are whole.
fn split(work: &Work, tile: Tile, whole: u32, parts: u32) -> Candidate {
    let steps = work.k.div_ceil(TILE_K).max(1);
    let most = if work.products > MOST_JOINED { 1 } else { steps.div_ceil(LEAST_STEPS) };
    let of_part = steps.div_ceil(parts.clamp(1, most));
    match steps.div_ceil(of_part) {
        1 => Candidate { tile, whole: tiles(work, &tile), parts: 1, k_split: work.k },
        parts => Candidate { tile, whole, parts, k_split: of_part * TILE_K },
    }
}
