//! What a product costs with a tile: the model by which the family chooses, in cycles of an H200 at its highest clock.
//!
//! Blocks of a multiprocessor share its tensor cores, and fill each other's gaps. They come in waves; the last one may leave multiprocessors idle or under-filled.

use super::menu::{ELEMENT, TILE_K, TILES, Tile};
use crate::estimate;
use tilewright_arch::Gpu;

/// Multiply-adds of a multiprocessor in a cycle.
const RATE: f64 = 128.0;
/// The part of it that products keep up, whose power lowers the clock.
const SUSTAINED: f64 = 0.95;
/// Bytes from the second-level cache in a cycle: of a multiprocessor alone, and of one among all.
const ALONE: f64 = 64.0;
const AMONG_ALL: f64 = 36.0;
/// Cycles from the launch to the first product, and from the last to the end.
const AROUND: f64 = 4000.0;
/// Cycles in which a block neither multiplies nor is covered by others.
const OUTSIDE: f64 = 1500.0;
/// Part of the peak bandwidth of memory that copies and products reach.
const BANDWIDTH: f64 = 0.8;
/// How much faster parts are moved, which partly stay in the second-level cache.
const CACHED: f64 = 0.5;
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

/// What is to be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub products: usize,
    pub gpu: Gpu,
    /// Bytes of A, B and C, of all products.
    pub bytes: f64,
    /// Bytes that are copied before.
    pub copied: f64,
}

impl Work {
    /// Tiles of a product.
    pub fn tiles(&self, tile: &Tile) -> u32 {
        self.m.div_ceil(tile.block[0]).saturating_mul(self.n.div_ceil(tile.block[1]))
    }

    /// Tiles of a product that are computed in parts.
    pub fn split_tiles(&self, candidate: &Candidate) -> u32 {
        self.tiles(&candidate.tile) - candidate.whole
    }

    /// Blocks of all products.
    pub fn blocks(&self, candidate: &Candidate) -> u64 {
        let parts = u64::from(self.split_tiles(candidate)) * u64::from(candidate.parts);
        (u64::from(candidate.whole) + parts).saturating_mul(self.products as u64)
    }

    /// Bytes of all parts of sums; 0 where sums are whole.
    pub fn part_bytes(&self, candidate: &Candidate) -> u64 {
        if candidate.parts == 1 {
            return 0;
        }
        let [m, n] = candidate.tile.block;
        let parts = u64::from(self.split_tiles(candidate)) * u64::from(candidate.parts);
        parts.saturating_mul(u64::from(m * n * ELEMENT)).saturating_mul(self.products as u64)
    }

    /// Seconds of a candidate.
    pub fn seconds(&self, candidate: &Candidate) -> f64 {
        let (tile, slots) = (&candidate.tile, self.slots(&candidate.tile));
        let parts = u64::from(self.split_tiles(candidate)) * u64::from(candidate.parts);
        let cycles = match candidate.whole {
            0 => self.waves(tile, self.blocks(candidate), candidate.k_split),
            // Whole waves, and one of parts.
            whole => {
                let products = self.products as u64;
                let first = self.waves(tile, u64::from(whole) * products, self.k);
                if candidate.parts == 1 {
                    first
                } else {
                    first + self.waves(tile, parts.min(slots), candidate.k_split)
                }
            }
        };
        let cycles = cycles / SUSTAINED + self.gpu.relative_clock() * AROUND;
        let moving = estimate::moving(&self.gpu, self.bytes / BANDWIDTH);
        let moved = |bytes: f64| match bytes {
            0.0 => 0.0,
            _ => estimate::LAUNCH_SECONDS + estimate::moving(&self.gpu, 2.0 * bytes / BANDWIDTH),
        };
        let joined = self.part_bytes(candidate) as f64 * CACHED;
        moved(self.copied) + estimate::seconds(&self.gpu, cycles).max(moving) + moved(joined)
    }

    /// Cycles of so many blocks with so many terms.
    fn waves(&self, tile: &Tile, blocks: u64, terms: u32) -> f64 {
        let (multiprocessors, slots) = (u64::from(self.gpu.multiprocessors), self.slots(tile));
        let steps = f64::from(terms.div_ceil(TILE_K));
        let multiplying = f64::from(tile.block[0] * tile.block[1] * TILE_K) / RATE;
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
    fn slots(&self, tile: &Tile) -> u64 {
        u64::from(self.gpu.multiprocessors.max(1) * tile.resident)
    }

    /// Every tile, whole, and with the tiles of the last wave in as many parts as fill it, or all in as many as are asked for; the fastest first.
    pub fn ranked(&self, asked: Option<u32>) -> Vec<(f64, Candidate)> {
        let mut all = Vec::new();
        for tile in TILES {
            let tiles = self.tiles(&tile);
            match asked {
                Some(parts) => all.push(self.split(tile, 0, parts)),
                None => {
                    let whole = self.split(tile, tiles, 1);
                    let (of_all, slots) = (u64::from(tiles) * self.products as u64, self.slots(&tile));
                    let left = of_all % slots;
                    let first = if self.products == 1 { tiles - left as u32 } else { 0 };
                    let filling =
                        if left == 0 || (self.products > 1 && of_all > slots) { 1 } else { slots / left };
                    let split = self.split(tile, first, filling as u32);
                    all.extend([whole, split].into_iter().take(if split.parts > 1 { 2 } else { 1 }));
                }
            }
        }
        let mut all: Vec<_> = all.into_iter().map(|one| (self.seconds(&one), one)).collect();
        all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        all
    }

    /// At most so many parts, each of some steps and none of them empty. Without parts all tiles are whole.
    fn split(&self, tile: Tile, whole: u32, parts: u32) -> Candidate {
        let steps = self.k.div_ceil(TILE_K).max(1);
        let most = if self.products > MOST_JOINED { 1 } else { steps.div_ceil(LEAST_STEPS) };
        let of_part = steps.div_ceil(parts.clamp(1, most));
        match steps.div_ceil(of_part) {
            1 => Candidate { tile, whole: self.tiles(&tile), parts: 1, k_split: self.k },
            parts => Candidate { tile, whole, parts, k_split: of_part * TILE_K },
        }
    }
}
