//! What a product costs with a tile and a split: the model by which `simt` chooses.
//!
//! Times are in cycles of a multiprocessor. A block's arithmetic takes `tile_m tile_n k / (peak rate)` when the
//! multiprocessor is full; blocks run in waves, and the last wave may leave multiprocessors idle or under-filled.

use super::{
    menu::{Tile, peak},
    operand::Copy,
};
use tilewright_core::DType;

/// What is to be computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub batch: usize,
    pub dtype: DType,
    pub multiprocessors: u32,
    /// Whether rows of C can be written in vectors.
    pub writes_vectors: bool,
}

/// One way to do it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub tile: Tile,
    pub splits: u32,
    /// How A and B are copied.
    pub copies: [Copy; 2],
    /// Whether A and B are packed into workspaces first.
    pub packed: [bool; 2],
}

/// Cycles until a kernel launched behind another does its first arithmetic.
const LAUNCH: f64 = 4000.0;
/// Cycles that a block spends outside its inner loop: filling the pipeline, and writing its results, per element.
const FILL: f64 = 1000.0;
const WRITE: f64 = 0.09;
/// Bytes per cycle that the whole GPU moves to and from memory.
const BANDWIDTH: f64 = 2000.0;

impl Candidate {
    /// Terms of each part of the sum: a multiple of the tile.
    pub fn k_split(&self, k: u32) -> u32 {
        k.div_ceil(self.splits).next_multiple_of(self.tile.k)
    }

    /// The estimated time in cycles.
    pub fn cycles(&self, work: &Work) -> f64 {
        LAUNCH + self.arithmetic(work).max(self.traffic(work)) + self.packing(work) + self.joining(work)
    }

    fn blocks(&self, work: &Work) -> f64 {
        let [m, n] = self.tile.block;
        f64::from(work.m.div_ceil(m))
            * f64::from(work.n.div_ceil(n))
            * f64::from(self.splits)
            * work.batch as f64
    }

    fn arithmetic(&self, work: &Work) -> f64 {
        let Tile { block: [m, n], rate, alone, resident, .. } = self.tile;
        let area = f64::from(m) * f64::from(n);
        let copies = self.copies.map(|c| c.rate(&self.tile)).iter().product::<f64>();
        let writes = if work.writes_vectors { 1.0 } else { self.tile.written_singly };
        let rate = peak(work.dtype) * rate * copies * writes;
        let inner = area * f64::from(self.k_split(work.k)) / rate;
        let outer = FILL + WRITE * area;
        let resident = f64::from(resident);
        // What a block adds to the time of a full multiprocessor; its own latencies overlap with other blocks.
        let block = inner + outer / resident;
        let slots = f64::from(work.multiprocessors) * resident;
        let waves = (self.blocks(work) / slots).floor();
        let left = self.blocks(work) - waves * slots;
        if left == 0.0 {
            return waves * resident * block;
        }
        let crowd = (left / f64::from(work.multiprocessors)).ceil();
        // Every further block on a multiprocessor fills part of the time that the others leave idle.
        let busy = 1.0 - (1.0 - alone).powf(crowd);
        let tail = crowd * inner / busy + outer;
        // After a few waves blocks no longer end together, and the last ones spread evenly.
        let even = left / slots * resident * block;
        waves * resident * block + if waves < 3.0 { tail } else { (tail + even) / 2.0 }
    }

    /// Every operand read once, the result written once.
    fn traffic(&self, work: &Work) -> f64 {
        let (m, n, k) = (f64::from(work.m), f64::from(work.n), f64::from(work.k));
        (m * k + k * n + m * n) * work.batch as f64 * work.dtype.size() as f64 / BANDWIDTH
    }

    fn packing(&self, work: &Work) -> f64 {
        let elements = [f64::from(work.m) * f64::from(work.k), f64::from(work.k) * f64::from(work.n)];
        let one = |elements: f64| LAUNCH / 2.0 + 2.0 * elements * work.dtype.size() as f64 / BANDWIDTH;
        elements.iter().zip(self.packed).filter(|(_, packed)| *packed).map(|(e, _)| one(*e)).sum()
    }

    /// Adding the parts of a split sum.
    fn joining(&self, work: &Work) -> f64 {
        if self.splits == 1 {
            return 0.0;
        }
        let parts = f64::from(work.m) * f64::from(work.n) * f64::from(self.splits) * work.batch as f64;
        2.0 * LAUNCH + 2.0 * parts * work.dtype.size() as f64 / BANDWIDTH
    }
}
