//! The tiles that `simt` is compiled for.

use tilewright_core::DType;

/// A division of labour: what a block, a warp and a thread compute, and how deep the pipeline is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    /// Rows and columns of C per block.
    pub block: [u32; 2],
    /// Rows and columns of C per warp.
    pub warp: [u32; 2],
    /// Rows and columns of C per thread.
    pub thread: [u32; 2],
    /// Terms per tile in shared memory.
    pub k: u32,
    /// Tiles in shared memory.
    pub stages: u32,
    /// Blocks that share a multiprocessor: registers are limited so that they fit.
    pub resident: u32,
    /// Whether a warp reads the operands of a step of k one step ahead, or leaves the waiting to other warps.
    pub prefetch: Prefetch,
    /// Where the compiler keeps everything in registers.
    pub fits: Fits,
    /// Part of the arithmetic peak that a full multiprocessor reaches, measured on an H200.
    pub rate: f64,
    /// Part of that rate that a single block reaches.
    pub alone: f64,
    /// Part of that rate that remains when one operand is copied element by element along k.
    pub along_k: f64,
}

/// Conditions under which a tile's registers suffice: `resources.csv` has no local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fits {
    Always,
    /// With both operands copied in vectors, on compute capabilities below this one.
    VectorsBefore(u32),
}

/// Reading operands of the next step of k ahead of time. The discriminants are those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefetch {
    Off = 0,
    On = 1,
}

impl Tile {
    pub const fn threads(&self) -> u32 {
        self.block[0] / self.warp[0] * (self.block[1] / self.warp[1]) * 32
    }

    /// Rows and columns per block, then per thread.
    pub const fn id(&self) -> [u32; 4] {
        let Self { block, thread, .. } = self;
        [block[0], block[1], thread[0], thread[1]]
    }

    /// Elements of a 16-byte access.
    pub fn vector(dtype: DType) -> u32 {
        16 / dtype.size() as u32
    }

    pub fn name(&self) -> String {
        let Self { block, thread, k, .. } = self;
        format!("{}x{}x{k} ({}x{} per thread)", block[0], block[1], thread[0], thread[1])
    }
}

/// The tiles for an element type, the largest first.
pub(crate) const fn tiles(dtype: DType) -> &'static [Tile] {
    match dtype {
        DType::F64 => DOUBLES,
        _ => WORDS,
    }
}

/// Multiplications with addition that one multiprocessor starts per cycle.
pub(crate) const fn peak(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 128.0,
        _ => 64.0,
    }
}

/// For elements of 4 bytes.
const WORDS: &[Tile] = &[
    Tile {
        block: [128, 128],
        warp: [32, 64],
        thread: [8, 8],
        k: 16,
        stages: 4,
        resident: 2,
        prefetch: Prefetch::On,
        fits: Fits::VectorsBefore(12),
        rate: 0.785,
        alone: 0.9,
        along_k: 0.93,
    },
    Tile {
        block: [64, 128],
        warp: [32, 64],
        thread: [8, 8],
        k: 16,
        stages: 4,
        resident: 3,
        prefetch: Prefetch::Off,
        fits: Fits::Always,
        rate: 0.785,
        alone: 0.7,
        along_k: 0.97,
    },
    Tile {
        block: [64, 128],
        warp: [32, 32],
        thread: [8, 4],
        k: 16,
        stages: 4,
        resident: 2,
        prefetch: Prefetch::On,
        fits: Fits::Always,
        rate: 0.68,
        alone: 0.97,
        along_k: 0.96,
    },
    Tile {
        block: [64, 64],
        warp: [32, 32],
        thread: [8, 4],
        k: 16,
        stages: 4,
        resident: 4,
        prefetch: Prefetch::On,
        fits: Fits::Always,
        rate: 0.66,
        alone: 0.44,
        along_k: 0.96,
    },
];

/// For elements of 8 bytes.
const DOUBLES: &[Tile] = &[
    Tile {
        block: [128, 64],
        warp: [32, 64],
        thread: [8, 8],
        k: 16,
        stages: 3,
        resident: 2,
        prefetch: Prefetch::Off,
        fits: Fits::Always,
        rate: 0.78,
        alone: 0.8,
        along_k: 0.97,
    },
    Tile {
        block: [64, 64],
        warp: [32, 32],
        thread: [8, 4],
        k: 16,
        stages: 3,
        resident: 3,
        prefetch: Prefetch::Off,
        fits: Fits::Always,
        rate: 0.74,
        alone: 0.5,
        along_k: 0.97,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_divide_evenly() {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            let vector = Tile::vector(dtype);
            for t in tiles(dtype) {
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
                assert!(t.resident * t.threads() <= 2048);
            }
        }
    }
}
