//! What a product costs with a tile: the model by which the family chooses, in cycles of an H200 at its highest clock.
//!
//! Blocks stay, and take tiles in turns. A step of 128 bytes of terms lasts as long as its products, or as its bytes take from the second-level cache.

use super::{
    element::Element,
    menu::{ROW_BYTES, TILES, Tile},
};
use crate::estimate;
use tilewright_arch::Gpu;

/// The part of their rate that the tensor cores keep up.
const SUSTAINED: f64 = 0.8;
/// After so many seconds of products the card is at its limit of power, and goes on at this part of its rate.
const COLD: f64 = 60e-6;
const WARM: f64 = 0.8;
/// Bytes from the second-level cache in a cycle: of a multiprocessor alone, and of one among all.
const ALONE: f64 = 54.0;
const AMONG_ALL: f64 = 42.0;
/// How many more a row of a box takes that lies across two lines of the cache.
const MISALIGNED: f64 = 1.6;
/// The part of this time in which memory waits.
const BESIDE_MEMORY: f64 = 0.1;
/// Cycles from the launch to the first product, and from the last to the end.
const AROUND: f64 = 4000.0;
/// Cycles more until the blocks of all clusters have met.
const MEETING: f64 = 3000.0;
/// Cycles in which a warp group writes its sums: at least, for two bytes of each column of 64 rows, and for a piece that it writes row by row. Ping-pong hides them behind products.
const WRITE: f64 = 320.0;
const WRITE_COLUMN: f64 = 9.0;
const WRITE_BY_ROWS: f64 = 2200.0;
/// Part of the peak bandwidth of memory that copies and products reach.
const BANDWIDTH: f64 = 0.84;

/// Steps that a part has at least.
const LEAST_STEPS: u32 = 4;
/// How much faster parts are moved, which partly stay in the second-level cache.
const CACHED: f64 = 0.5;

/// One way to compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub tile: Tile,
    /// Parts of the terms that are summed apart.
    pub parts: u32,
}

/// What is to be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub products: usize,
    pub element: Element,
    pub gpu: Gpu,
    /// Whether rows of boxes of A, and of B, are lines of the cache.
    pub aligned: [bool; 2],
    /// Bytes of an element of C, and whether TMA writes it.
    pub result: u32,
    pub boxes: bool,
    /// Bytes of A, B and C, of all products.
    pub bytes: f64,
    /// Bytes that are copied before.
    pub copied: f64,
}

impl Work {
    /// Clusters that a candidate's tiles take, of all products and parts.
    pub fn clusters(&self, candidate: &Candidate) -> u64 {
        let Candidate { tile, parts } = candidate;
        let rows = self.m.div_ceil(tile.m).div_ceil(tile.cluster);
        u64::from(rows) * u64::from(self.n.div_ceil(tile.n)) * self.products as u64 * u64::from(*parts)
    }

    /// Clusters that are on the GPU at a time.
    pub fn resident(&self, candidate: &Candidate) -> u64 {
        let most = u64::from(self.gpu.multiprocessors / candidate.tile.cluster);
        self.clusters(candidate).min(most).max(1)
    }

    /// Rows of a box of A: a tile's, or fewer where A has fewer, since rows outside the tensor take time as well.
    pub fn box_rows(&self, tile: &Tile) -> u32 {
        tile.m.min(self.m.next_multiple_of(8))
    }

    /// Bytes of all parts of sums; 0 where sums are whole.
    pub fn part_bytes(&self, parts: u32) -> u64 {
        let pitch = u64::from(self.n).next_multiple_of(4);
        let elements = u64::from(self.m) * pitch * self.products as u64;
        if parts == 1 { 0 } else { elements.saturating_mul(4 * u64::from(parts)) }
    }

    /// Seconds of a candidate.
    pub fn seconds(&self, candidate: &Candidate) -> f64 {
        let Candidate { tile, parts } = candidate;
        let resident = self.resident(candidate);
        let turns = self.clusters(candidate).div_ceil(resident) as f64;
        let busy = resident as f64 * f64::from(tile.cluster) / f64::from(self.gpu.multiprocessors);
        let taken = self.aligned.map(|aligned| if aligned { 1.0 } else { MISALIGNED });
        let [whole_a, b] = [0, 1].map(|i| taken[i] * f64::from(tile.stage_bytes()[i]));
        let a = whole_a * f64::from(self.box_rows(tile)) / f64::from(tile.m);
        let bytes = a + b / f64::from(tile.cluster);
        let terms = self.element.terms();
        let steps = f64::from(self.k.div_ceil(terms * parts));
        let multiplying = f64::from(tile.m * tile.n * terms) / self.element.rate() / SUSTAINED;
        let reading = bytes / (AMONG_ALL / busy).min(ALONE);
        let products = steps * multiplying.max(reading);
        let writing = self.writing(tile);
        let busy_cycles = match tile.ping_pong {
            true => turns * products.max(writing) + writing,
            false => turns * (products + writing),
        };
        let meeting = if tile.cluster > 1 { MEETING } else { 0.0 };
        let around = self.gpu.relative_clock() * (AROUND + meeting);
        let at_first = estimate::seconds(&self.gpu, busy_cycles + around);
        let computing = at_first + (at_first - COLD).max(0.0) * (1.0 / WARM - 1.0);
        let read = estimate::seconds(&self.gpu, turns * steps * reading);
        let moving = estimate::moving(&self.gpu, self.bytes / BANDWIDTH) + BESIDE_MEMORY * read;
        let moved = |bytes: f64| match bytes {
            0.0 => 0.0,
            _ => estimate::LAUNCH_SECONDS + estimate::moving(&self.gpu, 2.0 * bytes / BANDWIDTH),
        };
        let joined = self.part_bytes(*parts) as f64 * CACHED;
        moved(self.copied) + computing.max(moving) + moved(joined)
    }

    /// Cycles in which a warp group writes its part of a tile.
    fn writing(&self, tile: &Tile) -> f64 {
        let columns = f64::from(tile.n * tile.waves() * self.result / 2);
        let of_a_piece = ROW_BYTES / self.result;
        let by_rows = match self.boxes {
            true => u32::from(!tile.n.is_multiple_of(of_a_piece)),
            false => tile.n.div_ceil(of_a_piece),
        };
        WRITE + WRITE_COLUMN * columns + WRITE_BY_ROWS * f64::from(by_rows * tile.waves())
    }

    /// Every tile, whole and in as many parts as fill the GPU, or in as many as are asked for; the fastest first.
    pub fn ranked(&self, asked: Option<u32>) -> Vec<(f64, Candidate)> {
        let mut all = Vec::new();
        for tile in TILES {
            let whole = Candidate { tile, parts: 1 };
            let filling = u64::from(self.gpu.multiprocessors / tile.cluster) / self.clusters(&whole).max(1);
            let mut parts = asked.map_or(vec![1, filling as u32], |parts| vec![parts]);
            parts.iter_mut().for_each(|parts| *parts = self.without_empty_parts(*parts));
            parts.dedup();
            all.extend(parts.into_iter().map(|parts| Candidate { parts, ..whole }));
        }
        let mut all: Vec<_> = all.into_iter().map(|one| (self.seconds(&one), one)).collect();
        all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        all
    }

    /// At most so many parts, each of some steps, as there are where all but the last have equally many.
    fn without_empty_parts(&self, parts: u32) -> u32 {
        let steps = self.k.div_ceil(self.element.terms());
        let parts = parts.clamp(1, (steps / LEAST_STEPS).max(1));
        steps.div_ceil(steps.div_ceil(parts))
    }
}
