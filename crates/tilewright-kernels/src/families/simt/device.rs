//! What a tile has of the GPU at hand. The model was fitted on an H200; this carries it to others.

use super::menu::{Tile, peak};
use crate::{kernel::Variant, term::plain_terms_per_cycle};
use tilewright_arch::{ComputeCapability, Gpu};

/// The GPU on which the rates of tiles were measured.
const MEASURED: ComputeCapability = ComputeCapability::new(9, 0);

/// Terms that a multiprocessor of the GPU computes per cycle where nothing else is done: [`peak`], in
/// proportion to the documented rates of the instructions that a term takes.
pub(crate) fn peak_on(gpu: &Gpu, variant: Variant) -> f64 {
    let computed = Variant { dtype: variant.accumulator(), result: None, ..variant };
    let rate = |capability| plain_terms_per_cycle(computed, capability);
    let part = rate(gpu.capability()).zip(rate(MEASURED)).map_or(1.0, |(here, there)| here / there);
    peak(variant) * part * variant.own.map_or(1.0, |own| own.pace())
}

/// As [`peak_on`], beside instructions that leave `part` of the rate where it was measured: they take as many cycles elsewhere, and count
/// for less where arithmetic is slow.
pub(crate) fn peak_beside(peak_here: f64, variant: Variant, part: f64) -> f64 {
    let beside = (1.0 / part - 1.0) / peak(variant);
    1.0 / (1.0 / peak_here + beside)
}

impl Tile {
    /// Blocks with so much shared memory that share a multiprocessor of the GPU; 0 where there is no room for
    /// one. Registers are limited so that [`Tile::resident`] fit; more do not come, as [`Tile::capped`] says,
    /// or as the rates of the tile were measured.
    pub(crate) fn resident_on(&self, gpu: &Gpu, shared_memory: u32) -> u32 {
        const MULTIPROCESSOR: u32 = 64 << 10;
        let registers = MULTIPROCESSOR / (self.threads() * self.resident);
        // Registers come in eights, and a thread has at most 255.
        let registers = (registers & !7).min(255);
        let here = gpu.resident_blocks(self.threads(), registers, shared_memory);
        here.unwrap_or(self.resident).min(self.resident)
    }

    /// Part of the tile's rate that is left where fewer blocks share a multiprocessor than it was made for.
    pub(crate) fn share(&self, resident: u32) -> f64 {
        if resident < self.resident { 1.0 - (1.0 - self.alone).powf(resident.into()) } else { 1.0 }
    }
}
