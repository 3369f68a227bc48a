//! What a tile has of the GPU at hand. The model was fitted on an H200; this carries it to others.

use super::menu::Tile;
use tilewright_arch::Gpu;

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
