//! What a product costs with a tile and a split: the model by which `simt` chooses.
//!
//! Times are in cycles of a multiprocessor of the GPU; constants were fitted on an H200. A block's arithmetic takes `tile_m tile_n k / (peak rate)` when the
//! multiprocessor is full; blocks run in waves, and the last wave may leave multiprocessors idle or under-filled.

use super::{arithmetic::Arithmetic, division::Division, menu::Tile, operand::Copy, work::Work};
use crate::{pack, peak::peak_beside};
use tilewright_arch::Gpu;

/// One way to do it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub tile: Tile,
    pub arithmetic: Arithmetic,
    pub division: Division,
    /// How A and B are copied.
    pub copies: [Copy; 2],
    /// Whether A and B are packed into workspaces first.
    pub packed: [bool; 2],
    /// Blocks that share a multiprocessor of the GPU.
    pub resident: u32,
}

/// Cycles of an H200 until a kernel launched behind another does its first arithmetic.
const LAUNCH: f64 = 2900.0;
/// Cycles of an H200 that a launch of packing, and one of joining parts, take beside moving their data: some 3 us each, most of it the host's time, which short kernels do not hide.
const PACK: f64 = 6500.0;
const JOIN: f64 = 5000.0;
/// Cycles of a predicated launch whose guard fails.
const SKIPPED: f64 = 1500.0;
/// Cycles that a block spends outside its inner loop: filling the pipeline, and writing its results, per element.
const FILL: f64 = 780.0;
const WRITE: f64 = 0.09;
/// Part of a tile's rate that remains when its loop has guarded copies as well.
const GUARDED: f64 = 0.964;
/// Part of a tile's rate that remains when it copies numbers of 4 bytes along k from lines that are [`ALIASING`] bytes apart, or a multiple of it: measured on
/// an H100. With wider ones, whose arithmetic takes longer, there is no difference, nor with operands of at most this part of the second-level cache.
const ALIASED: f64 = 0.945;
const SPREAD: f64 = 0.25;
/// How much faster parts are moved, which partly stay in a second-level cache of so many bytes; in a smaller one less of them stays.
const CACHED: f64 = 0.45;
const CACHE: f64 = (50 << 20) as f64;

/// Cycles until a kernel launched behind another does its first arithmetic.
pub(super) fn launching(gpu: &Gpu) -> f64 {
    gpu.relative_clock() * LAUNCH
}

/// Cycles of a scan that stops at once, and of so many predicated launches whose guards fail.
pub(super) fn skipped(gpu: &Gpu, launches: usize) -> f64 {
    gpu.relative_clock() * (LAUNCH + SKIPPED * launches as f64)
}

impl Candidate {
    /// Whether any tile of A or B sticks out of its operand.
    pub fn has_edges(&self, work: &Work) -> bool {
        let [m, n] = self.tile.block;
        let whole_k = work.k.is_multiple_of(self.tile.k) || self.packed == [true, true];
        !(whole_k
            && (self.packed[0] || work.m.is_multiple_of(m))
            && (self.packed[1] || work.n.is_multiple_of(n)))
    }

    /// Rows of A or columns of B of a packed operand: whole tiles.
    pub fn side(&self, work: &Work, operand: usize) -> u32 {
        [work.m, work.n][operand].next_multiple_of(self.tile.block[operand])
    }

    /// Bytes of packed operands and of parts.
    pub fn workspace(&self, work: &Work) -> u128 {
        let packed = |i: usize| match self.packed[i] {
            true => {
                let one = pack::bytes(work.variant, work.encoding, self.side(work, i), work.k);
                u128::from(one) * work.operands[i] as u128
            }
            false => 0,
        };
        packed(0) + packed(1) + self.division.part_bytes(work, &self.tile)
    }

    /// The estimated time in cycles of the GPU.
    pub fn cycles(&self, work: &Work) -> f64 {
        let skipped = if self.arithmetic.looks { SKIPPED } else { 0.0 };
        launching(&work.gpu)
            + work.gpu.relative_clock() * skipped
            + self.computing(work).max(self.traffic(work))
            + self.packing(work)
            + self.joining(work)
    }

    fn computing(&self, work: &Work) -> f64 {
        let Tile { block: [m, n], rate, alone, lockstep, .. } = self.tile;
        let Gpu { multiprocessors, .. } = work.gpu;
        let Division { tiles, whole, k_split, .. } = self.division;
        let area = f64::from(m) * f64::from(n);
        let is_aliased = (0..2).any(|i| self.copies[i] == Copy::AlongK && work.aliased[i])
            && work.operand_bytes(0) + work.operand_bytes(1) > SPREAD * work.gpu.l2_bytes as f64;
        let copies = self.copies.map(|c| c.rate(&self.tile)).iter().product::<f64>();
        let copies = if is_aliased { copies * ALIASED } else { copies };
        let guards = if self.has_edges(work) { GUARDED } else { 1.0 };
        let in_pairs = if self.arithmetic.pairs { self.tile.in_pairs } else { 1.0 };
        let peak = work.peak * self.arithmetic.gain * in_pairs;
        let rate = peak_beside(peak, work.variant, copies * guards) * rate * self.tile.share(self.resident);
        let inner = |terms: u32| area * f64::from(terms) / rate;
        let outer = FILL + WRITE * area;
        let slots = multiprocessors * self.resident;
        let resident = f64::from(self.resident);
        // What a full wave of blocks takes; a block's own latencies overlap with other blocks.
        let wave = |terms: u32| resident * inner(terms) + outer;
        if 0 < whole && whole < tiles {
            let last = self.division.makespan(work.k, slots) * wave(work.k) + 2.0 * outer;
            return f64::from(whole / slots) * wave(work.k) + last;
        }
        // All blocks are alike: whole tiles, or parts.
        let blocks = f64::from(self.division.blocks()) * work.batch as f64;
        let slots = f64::from(slots);
        let waves = (blocks / slots).floor();
        let left = blocks - waves * slots;
        if left == 0.0 {
            return waves * wave(k_split);
        }
        // The first blocks spread over all multiprocessors; later ones go where blocks end, and those of a multiprocessor
        // tend to end together.
        let spread = (left / f64::from(multiprocessors)).ceil();
        let crowd = if waves == 0.0 { spread } else { spread + lockstep * (resident - spread) };
        // Every further block on a multiprocessor fills part of the time that the others leave idle.
        let busy = 1.0 - (1.0 - alone).powf(crowd);
        let tail = crowd * inner(k_split) / busy + outer;
        // After a few waves blocks no longer end together, and the last ones spread evenly.
        let even = if waves < 3.0 { tail } else { left / slots * wave(k_split) };
        waves * wave(k_split) + lockstep * tail + (1.0 - lockstep) * (tail + even) / 2.0
    }

    /// Every operand read once as it is or as it was packed, the result written once.
    fn traffic(&self, work: &Work) -> f64 {
        let read = |i: usize| if self.packed[i] { work.packed_bytes(i) } else { work.operand_bytes(i) };
        work.moving(read(0) + read(1))
    }

    fn packing(&self, work: &Work) -> f64 {
        let start = work.gpu.relative_clock() * PACK;
        let moved = |i: usize| (work.operand_bytes(i) + work.packed_bytes(i)) * work.operands[i] as f64;
        let one = |i: usize| start + moved(i) / work.bandwidth();
        (0..2).filter(|&i| self.packed[i]).map(one).sum()
    }

    /// Adding the parts of split sums.
    fn joining(&self, work: &Work) -> f64 {
        if self.division.split_tiles() == 0 {
            return 0.0;
        }
        let [m, n] = self.tile.block;
        let parts = f64::from(self.division.part_blocks()) * f64::from(m) * f64::from(n) * work.batch as f64;
        let stays = (work.gpu.l2_bytes as f64 / CACHE).min(1.0);
        let bandwidth = work.bandwidth() * (1.0 + CACHED * stays);
        work.gpu.relative_clock() * JOIN + 2.0 * parts * work.sum_bytes() as f64 / bandwidth
    }
}
