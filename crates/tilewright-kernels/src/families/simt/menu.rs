//! The tiles that `simt` is compiled for.

use crate::{
    request::{Form, Request},
    variant::Variant,
};
use tilewright_core::{DType, SemiringId};

/// A division of labour: what a block, a warp and a thread compute, and how deep the pipeline is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    /// Rows and columns of C per block.
    pub block: [u32; 2],
    /// Rows and columns of C per warp.
    pub warp: [u32; 2],
    /// Rows and columns of C per thread.
    pub thread: [u32; 2],
    /// Groups of warps that share a tile of C, each with its part of the terms.
    pub slices: u32,
    /// Terms per tile in shared memory.
    pub k: u32,
    /// Tiles in shared memory.
    pub stages: u32,
    /// Blocks that share a multiprocessor: registers are limited so that they fit.
    pub resident: u32,
    /// Whether shared memory keeps further blocks away where registers may happen to leave room for one: those of a short grid
    /// would crowd on some multiprocessors while others idle (23 % at 1705).
    pub capped: bool,
    /// Steps of a tile that are written out one after another: more than an instruction cache holds would cost a quarter of the rate.
    pub unrolled: u32,
    /// Whether a warp reads the operands of a step of k one step ahead, or leaves the waiting to other warps.
    pub prefetch: Prefetch,
    /// The step of a tile at which the copies of a later one start: where C is written in vectors, and elsewhere.
    pub copy_step: [u32; 2],
    /// Part of the arithmetic peak that a full multiprocessor reaches. This and what follows is fitted to the times of some
    /// three thousand products on an H200.
    pub rate: f64,
    /// Part of that rate that remains where terms are computed in pairs: operands are not read ahead then.
    pub in_pairs: f64,
    /// Part of that rate that a single block reaches.
    pub alone: f64,
    /// Part of that rate that remains when one operand is copied element by element along k.
    pub along_k: f64,
    /// How far the blocks of a multiprocessor end together: 1 where those of the last wave crowd on some multiprocessors, 0
    /// where they spread.
    pub lockstep: f64,
}

/// Reading operands of the next step of k ahead of time. The discriminants are those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefetch {
    Off = 0,
    On = 1,
}

impl Tile {
    pub const fn threads(&self) -> u32 {
        self.block[0] / self.warp[0] * (self.block[1] / self.warp[1]) * 32 * self.slices
    }

    /// Rows and columns per block, terms per step, rows and columns per thread, and slices.
    pub const fn id(&self) -> [u32; 6] {
        let Self { block, k, thread, slices, .. } = self;
        [block[0], block[1], *k, thread[0], thread[1], *slices]
    }

    /// Elements of a 16-byte access.
    pub fn vector(variant: Variant) -> u32 {
        16 / variant.accumulator().size() as u32
    }

    pub fn name(&self) -> String {
        let Self { block, thread, k, slices, .. } = self;
        let slices = if *slices > 1 { format!(", {slices} slices") } else { String::new() };
        format!("{}x{}x{k} ({}x{} per thread{slices})", block[0], block[1], thread[0], thread[1])
    }
}

/// The tiles for a request.
pub(crate) fn menu(request: &Request) -> &'static [Tile] {
    let is_wide = request.variant().accumulator().size() == 8;
    match (request.form, request.arg) {
        (Form::Specialised, false) => tiles(request.variant()),
        (Form::Plain, false) => plain(request.variant()),
        (_, true) if is_wide => ARG_DOUBLES,
        (_, true) => ARG_WORDS,
    }
}

/// The tile of the plain program, which takes all layouts.
pub(crate) const fn plain(variant: Variant) -> &'static [Tile] {
    match (variant.semiring, variant.accumulator().size()) {
        (SemiringId::PlusTimes, 8) if matches!(variant.dtype, DType::F64) => PLAIN_DOUBLES,
        (_, 8) => PLAIN_OTHER_DOUBLES,
        _ => PLAIN_WORDS,
    }
}

/// The tiles for a variant, the largest first.
pub(crate) const fn tiles(variant: Variant) -> &'static [Tile] {
    match (variant.semiring, variant.accumulator().size()) {
        (SemiringId::PlusTimes, 8) if matches!(variant.dtype, DType::F64) => DOUBLES,
        (_, 8) => OTHER_DOUBLES,
        (SemiringId::PlusTimes, _) => WORDS,
        _ => SELECTIVE_WORDS,
    }
}

/// For elements of 4 bytes.
const WORDS: &[Tile] = &[
    Tile {
        block: [128, 128],
        warp: [64, 64],
        thread: [16, 8],
        slices: 1,
        k: 8,
        stages: 3,
        resident: 2,
        capped: false,
        unrolled: 32,
        prefetch: Prefetch::On,
        copy_step: [2, 1],
        rate: 0.87,
        in_pairs: 1.0,
        alone: 0.89,
        along_k: 0.94,
        lockstep: 0.85,
    },
    Tile {
        block: [64, 128],
        warp: [32, 64],
        thread: [8, 8],
        slices: 1,
        k: 16,
        stages: 4,
        resident: 3,
        capped: true,
        unrolled: 32,
        prefetch: Prefetch::Off,
        copy_step: [1, 0],
        rate: 0.857,
        in_pairs: 1.0,
        alone: 0.84,
        along_k: 0.99,
        lockstep: 0.0,
    },
    Tile {
        block: [64, 128],
        warp: [32, 64],
        thread: [8, 8],
        slices: 2,
        k: 32,
        stages: 3,
        resident: 1,
        capped: false,
        unrolled: 32,
        prefetch: Prefetch::On,
        copy_step: [4, 6],
        rate: 0.78,
        in_pairs: 0.99,
        alone: 1.0,
        along_k: 0.945,
        lockstep: 0.6,
    },
    Tile {
        block: [64, 64],
        warp: [32, 64],
        thread: [8, 8],
        slices: 2,
        k: 32,
        stages: 3,
        resident: 2,
        capped: false,
        unrolled: 32,
        prefetch: Prefetch::On,
        copy_step: [1, 2],
        rate: 0.825,
        in_pairs: 0.93,
        alone: 0.74,
        along_k: 0.925,
        lockstep: 0.0,
    },
];

/// For selective semirings on elements of 4 bytes: a term takes two instructions and registers in between, so that no tile with more
/// results per thread is ahead of these.
const SELECTIVE_WORDS: &[Tile] = &[
    Tile { k: 32, stages: 2, capped: false, unrolled: 16, copy_step: [0, 0], rate: 0.8, ..WORDS[1] },
    WORDS[2],
    WORDS[3],
];

/// For elements of 8 bytes.
const DOUBLES: &[Tile] = &[
    Tile {
        block: [128, 64],
        warp: [32, 64],
        thread: [8, 8],
        slices: 1,
        k: 16,
        stages: 3,
        resident: 2,
        capped: false,
        unrolled: 32,
        prefetch: Prefetch::On,
        copy_step: [0, 0],
        rate: 0.78,
        in_pairs: 1.0,
        alone: 0.8,
        along_k: 0.97,
        lockstep: 0.8,
    },
    Tile {
        block: [64, 64],
        warp: [32, 32],
        thread: [8, 4],
        slices: 1,
        k: 16,
        stages: 3,
        resident: 3,
        capped: false,
        unrolled: 32,
        prefetch: Prefetch::Off,
        copy_step: [2, 0],
        rate: 0.74,
        in_pairs: 1.0,
        alone: 0.5,
        along_k: 0.97,
        lockstep: 0.5,
    },
];

/// For elements of 8 bytes whose terms take several instructions, and registers in between.
const OTHER_DOUBLES: &[Tile] = &[Tile { resident: 2, ..DOUBLES[1] }];

/// No other tile competes with it, so that nothing asks for its rates.
const PLAIN_WORDS: &[Tile] = &[Tile {
    block: [64, 64],
    warp: [32, 64],
    k: 16,
    stages: 2,
    capped: false,
    copy_step: [0, 0],
    ..WORDS[1]
}];

const PLAIN_DOUBLES: &[Tile] =
    &[Tile { block: [64, 64], k: 8, stages: 2, prefetch: Prefetch::Off, ..DOUBLES[0] }];

const PLAIN_OTHER_DOUBLES: &[Tile] =
    &[Tile { k: 8, stages: 2, prefetch: Prefetch::Off, copy_step: [0, 0], ..OTHER_DOUBLES[0] }];

/// Where every result's tile of k is tracked: that takes two more registers a result.
const ARG_WORDS: &[Tile] = &[Tile {
    block: [64, 64],
    warp: [32, 32],
    thread: [8, 4],
    k: 32,
    stages: 2,
    capped: false,
    unrolled: 16,
    copy_step: [0, 0],
    rate: 0.75,
    ..WORDS[1]
}];

const ARG_DOUBLES: &[Tile] = &[Tile { stages: 2, copy_step: [0, 0], ..OTHER_DOUBLES[0] }];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_divide_evenly() {
        for &variant in super::super::SIMT.variants {
            let vector = Tile::vector(variant);
            for t in tiles(variant).iter().chain(plain(variant)).chain(ARG_WORDS).chain(ARG_DOUBLES) {
                for side in 0..2 {
                    assert_eq!(t.block[side] % t.warp[side], 0);
                    assert_eq!(t.warp[side] % t.thread[side], 0);
                    assert_eq!(t.thread[side] % vector, 0);
                    // A tile is copied by all threads evenly, also one element at a time along either side.
                    assert_eq!(t.block[side] * t.k % (t.threads() * vector), 0);
                    assert_eq!(t.threads() % (t.block[side] / vector), 0);
                    assert_eq!(t.threads() % t.k, 0);
                }
                assert_eq!(t.warp[0] / t.thread[0] * (t.warp[1] / t.thread[1]), 32, "{t:?}");
                assert!(t.k.is_multiple_of(t.slices) && (t.k / t.slices).is_multiple_of(2), "{t:?}");
                assert!(t.resident * t.threads() <= 2048);
            }
        }
    }
}
