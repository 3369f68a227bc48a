//! How the tiles of C are divided among blocks.

use super::{menu::Tile, work::Work};

/// More partial results than this are not worth their memory, in bytes.
pub(crate) const MOST_PARTS: u64 = 1 << 30;

/// The first `whole` tiles of C take a block each. Every other tile is shared by `parts` blocks that take `k_split` terms
/// each, the last one what is left, and whose results are added up afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    pub tiles: u32,
    pub whole: u32,
    pub parts: u32,
    pub k_split: u32,
}

impl Division {
    /// Every tile takes one block: a part of all terms where the sums are joined in any case.
    pub fn whole(work: &Work, tile: &Tile) -> Self {
        let tiles = tiles(work, tile);
        let whole = if work.is_joined { 0 } else { tiles };
        Self { tiles, whole, parts: 1, k_split: work.k.max(1).next_multiple_of(tile.k) }
    }

    /// Tiles from number `whole` on are computed in parts of at most `terms`.
    fn split(work: &Work, tile: &Tile, whole: u32, terms: u32) -> Self {
        let k_split = terms.max(1).next_multiple_of(tile.k);
        let parts = work.k.div_ceil(k_split);
        if parts <= 1 {
            Self::whole(work, tile)
        } else {
            Self { whole, parts, k_split, ..Self::whole(work, tile) }
        }
    }

    /// Tiles that are computed in parts.
    pub fn split_tiles(&self) -> u32 {
        self.tiles - self.whole
    }

    /// Blocks that compute parts.
    pub fn part_blocks(&self) -> u32 {
        self.split_tiles().saturating_mul(self.parts)
    }

    /// Bytes of the partial results of all products; none where every tile takes one block.
    pub fn part_bytes(&self, work: &Work, tile: &Tile) -> u128 {
        let blocks = u128::from(self.split_tiles()) * u128::from(self.parts) * work.batch as u128;
        blocks * u128::from(tile.block[0] * tile.block[1]) * work.sum_bytes() as u128
    }

    /// Blocks of a product.
    pub fn blocks(&self) -> u32 {
        self.whole.saturating_add(self.part_blocks())
    }

    /// When `slots` blocks at a time have taken all parts, in the time that one of them takes for a whole tile. The longer
    /// parts come first, and a slot takes the next part when it is free.
    pub fn makespan(&self, k: u32, slots: u32) -> f64 {
        let of_whole = |terms: u32| f64::from(terms) / f64::from(k.max(1));
        let (long, last) = (of_whole(self.k_split), of_whole(k - self.k_split * (self.parts - 1)));
        let pieces = self.split_tiles() * (self.parts - 1);
        // After the long ones, this many slots have had one more than the others.
        let ahead = pieces % slots;
        let low = f64::from(pieces / slots) * long;
        let high = low + if ahead > 0 { long } else { 0.0 };
        let taken = |end: f64| {
            let by = |from: f64, slots: u32| ((end - from) / last + 1e-9).floor().max(0.0) * f64::from(slots);
            by(low, slots - ahead) + by(high, ahead)
        };
        // The first end at which enough are taken, of slots that are free from `from` on, when `certain` of them are.
        let ends = |from: f64, certain: u32| {
            let (mut below, mut enough) = (0, self.split_tiles().div_ceil(certain));
            while below < enough {
                let middle = below.midpoint(enough);
                if taken(from + f64::from(middle) * last) >= f64::from(self.split_tiles()) {
                    enough = middle;
                } else {
                    below = middle + 1;
                }
            }
            from + f64::from(enough) * last
        };
        ends(low, slots - ahead).min(ends(high, slots)).max(high)
    }
}

fn tiles(work: &Work, tile: &Tile) -> u32 {
    work.m.div_ceil(tile.block[0]).saturating_mul(work.n.div_ceil(tile.block[1]))
}

/// The divisions worth looking at where so many blocks share a multiprocessor; the one into `asked` parts alone, where they are asked for, and none where these would take
/// too much memory.
pub(crate) fn divisions(work: &Work, tile: &Tile, resident: u32, asked: Option<u32>) -> Vec<Division> {
    let even = |whole: u32, parts: u32| Division::split(work, tile, whole, work.k.div_ceil(parts));
    // Where sums are joined in any case, the workspace alone limits them.
    let most = if work.is_joined { u128::MAX } else { MOST_PARTS.into() };
    let affordable = |d: &Division| d.part_bytes(work, tile) <= most;
    if let Some(parts) = asked {
        return [even(0, parts.clamp(1, 65_535))].into_iter().filter(affordable).collect();
    }
    let tiles = tiles(work, tile);
    let slots = work.gpu.multiprocessors * resident;
    // A part should be worth filling a pipeline for.
    let most = (work.k / (4 * tile.k)).clamp(1, 65_535);

    // All tiles in few parts, and in as many as fill one to three waves of blocks.
    let filling = (1..=3).map(|waves| {
        (waves * u64::from(slots) / u64::from(tiles).saturating_mul(work.batch as u64).max(1)) as u32
    });
    let mut all = vec![Division::whole(work, tile)];
    all.extend([2, 3, 4, 6, 8].into_iter().chain(filling).map(|parts| even(0, parts.clamp(1, most))));

    // The tiles of the last wave of blocks, or of the last two: evenly, or with a short second part for the slots that have
    // no first one.
    for waves in if work.is_joined { 0..=0 } else { 1..=2 } {
        let whole = (tiles.div_ceil(slots).saturating_sub(waves)) * slots;
        if work.batch == 1 && whole > 0 && whole < tiles {
            let fitting = slots / (tiles - whole);
            all.extend((2..=8).chain([fitting]).map(|parts| even(whole, parts.clamp(1, most))));
            let first = |n: u64| (u64::from(work.k) * n / 32) as u32;
            all.extend((17..=31).map(|n| Division::split(work, tile, whole, first(n))));
        }
    }
    all.dedup();
    all.retain(affordable);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{encoding::Encoding, families::simt::menu::tiles, variant::Variant};
    use tilewright_arch::Gpu;
    use tilewright_core::{DType, SemiringId};

    const F32: Variant = Variant::new(SemiringId::PlusTimes, DType::F32);

    fn work(m: u32, n: u32, k: u32) -> Work {
        let (encoding, gpu, aliased) = (Encoding::Numbers, Gpu::default(), [false; 2]);
        Work {
            m,
            n,
            k,
            batch: 1,
            operands: [1, 1],
            variant: F32,
            encoding,
            gpu,
            aliased,
            peak: 128.0,
            is_joined: false,
        }
    }

    /// A slot after another takes the part that is next.
    fn simulated(d: &Division, k: u32, slots: u32) -> f64 {
        let mut busy = vec![0; slots as usize];
        for part in 0..d.parts {
            let terms = if part + 1 < d.parts { d.k_split } else { k - d.k_split * part };
            for _ in 0..d.split_tiles() {
                *busy.iter_mut().min().unwrap() += terms;
            }
        }
        f64::from(*busy.iter().max().unwrap()) / f64::from(k)
    }

    #[test]
    fn parts_cover_every_term_once() {
        for tile in tiles(F32) {
            for (m, n, k) in
                [(4096, 4096, 4096), (64, 64, 262_144), (300, 200, 1), (8, 8, 0), (5000, 3000, 777)]
            {
                let w = work(m, n, k);
                for d in divisions(&w, tile, 2, None).into_iter().chain(divisions(&w, tile, 2, Some(3))) {
                    assert!(d.whole <= d.tiles && d.parts >= 1 && d.k_split % tile.k == 0, "{d:?}");
                    assert!(d.parts == 1 || d.whole < d.tiles, "{d:?}");
                    assert!(
                        d.k_split * d.parts >= k && d.k_split * (d.parts - 1) <= k.saturating_sub(1),
                        "{d:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_makespan_is_that_of_a_simulation() {
        let tile = &tiles(F32)[0];
        for (m, k) in [(4096, 4096), (4097, 4097), (6000, 6000), (8192, 8192), (3000, 3000), (5000, 100)] {
            let w = work(m, m, k);
            for d in divisions(&w, tile, tile.resident, None).into_iter().filter(|d| d.parts > 1) {
                let (found, wanted) = (d.makespan(k, 264), simulated(&d, k, 264));
                assert!((found - wanted).abs() < 1e-6, "{d:?}: {found}, {wanted}");
            }
        }
    }
}
