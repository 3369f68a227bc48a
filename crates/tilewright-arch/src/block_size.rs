//! The block size to launch a kernel with.
//!
//! [`BlockSize::best`] finds the one with the most resident threads, as `cudaOccupancyMaxPotentialBlockSize` does;
//! [`SquareBlock`] rounds a number of threads to a square with a power of two as its side.

use crate::{ConfigurationError, KernelResources, LaunchConfig, Limits, Occupancy, WARP_SIZE};

/// The dynamic shared memory of a block, as a function of its threads. For any other function use
/// [`BlockSize::best_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DynamicSharedMemory {
    /// The same for every block size.
    Fixed(u32),
    /// `base + per_thread * threads` bytes.
    PerThread {
        /// Bytes for any block.
        base: u32,
        /// Bytes for each thread.
        per_thread: u32,
    },
}

impl DynamicSharedMemory {
    /// Bytes for a block of `threads`; `u32::MAX`, which no GPU has, if they exceed it.
    pub const fn bytes(self, threads: u32) -> u32 {
        match self {
            DynamicSharedMemory::Fixed(bytes) => bytes,
            DynamicSharedMemory::PerThread { base, per_thread } => {
                base.saturating_add(per_thread.saturating_mul(threads))
            }
        }
    }
}

/// The block size with the highest occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockSize {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that fill an SM.
    pub blocks_per_sm: u32,
    /// The launch at which this is so: the threads and their dynamic shared memory.
    pub launch: LaunchConfig,
}

impl BlockSize {
    /// The block size with the most resident threads per SM, for a kernel with `dynamic` shared memory.
    ///
    /// Tried are `max_threads` (or the kernel's or the GPU's limit, if that is lower) and the multiples of 32 below it;
    /// among equals the largest wins. Cluster and preferences are those of `launch`, whose threads and shared memory
    /// are replaced. `None`: no block size can be launched.
    ///
    /// Source: CUDA C++ Programming Guide, "Occupancy Calculator"; the results are those of
    /// `cudaOccupancyMaxPotentialBlockSize` and of its variant for shared memory that varies with the block size.
    ///
    /// ```
    /// use tilewright_arch::*;
    ///
    /// let limits = Limits::of(ComputeCapability::new(8, 6))?;
    /// let kernel = KernelResources { registers_per_thread: 37, ..Default::default() };
    /// // Two tiles of 4-byte elements, one element of each per thread.
    /// let tiles = DynamicSharedMemory::PerThread { base: 0, per_thread: 2 * 4 };
    /// let best = BlockSize::best(limits, &kernel, &LaunchConfig::threads(1024), tiles, 1024)?;
    /// let best = best.ok_or("the kernel cannot be launched")?;
    /// assert_eq!((best.threads, best.blocks_per_sm), (768, 2));
    /// assert_eq!(best.min_grid_size(84), 168);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigurationError::Carveout`].
    pub fn best(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
        dynamic: DynamicSharedMemory,
        max_threads: u32,
    ) -> Result<Option<BlockSize>, ConfigurationError> {
        BlockSize::best_with(limits, kernel, launch, |threads| dynamic.bytes(threads), max_threads)
    }

    /// Like [`BlockSize::best`], with the bytes of dynamic shared memory for a number of threads given by a function.
    ///
    /// # Errors
    /// [`ConfigurationError::Carveout`].
    pub fn best_with(
        limits: &Limits,
        kernel: &KernelResources,
        launch: &LaunchConfig,
        mut required_shared_memory: impl FnMut(u32) -> u32,
        max_threads: u32,
    ) -> Result<Option<BlockSize>, ConfigurationError> {
        let largest = max_threads.min(kernel.max_threads_per_block).min(limits.max_threads_per_block);
        let mut best: Option<BlockSize> = None;
        for candidate in candidates(largest) {
            let launch = LaunchConfig {
                threads_per_block: candidate,
                dynamic_shared_memory: required_shared_memory(candidate),
                ..*launch
            };
            let blocks_per_sm = Occupancy::of(limits, kernel, &launch)?.blocks_per_sm;
            let found = BlockSize { threads: candidate, blocks_per_sm, launch };
            if found.threads_per_sm() > best.map_or(0, |best| best.threads_per_sm()) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// Resident threads: `threads * blocks_per_sm`.
    pub const fn threads_per_sm(&self) -> u32 {
        self.threads * self.blocks_per_sm
    }

    /// The smallest grid that fills a GPU of `sms` multiprocessors: `blocks_per_sm * sms`.
    pub const fn min_grid_size(&self, sms: u32) -> u32 {
        self.blocks_per_sm.saturating_mul(sms)
    }
}

/// `largest`, then the multiples of a warp below it.
fn candidates(largest: u32) -> impl Iterator<Item = u32> {
    let whole_warps = (1..largest.div_ceil(WARP_SIZE)).rev().map(|warps| warps * WARP_SIZE);
    std::iter::once(largest).filter(|&threads| threads > 0).chain(whole_warps)
}

/// A square block whose side is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SquareBlock {
    /// `side * side`.
    pub threads: u32,
    /// The side, a power of two.
    pub side: u32,
}

impl SquareBlock {
    /// The largest square block of at most `threads` whose side is a power of two: `4^floor(log4(threads))` threads.
    /// `None` for 0 threads.
    ///
    /// ```
    /// use tilewright_arch::SquareBlock;
    /// assert_eq!(SquareBlock::within(768), Some(SquareBlock { threads: 256, side: 16 }));
    /// assert_eq!(SquareBlock::within(1024), Some(SquareBlock { threads: 1024, side: 32 }));
    /// ```
    pub fn within(threads: u32) -> Option<SquareBlock> {
        let log4 = threads.checked_ilog(4)?;
        Some(SquareBlock { threads: 1 << (2 * log4), side: 1 << log4 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_try_may_be_part_of_a_warp() {
        assert!(candidates(70).eq([70, 64, 32]));
        assert!(candidates(64).eq([64, 32]));
        assert!(candidates(1).eq([1]));
        assert!(candidates(0).eq([]));
    }

    #[test]
    fn squares_are_powers_of_four() {
        for (threads, side) in [(1, 1), (3, 1), (4, 2), (15, 2), (16, 4), (255, 8), (256, 16), (1023, 16)] {
            assert_eq!(SquareBlock::within(threads), Some(SquareBlock { threads: side * side, side }));
        }
        assert_eq!(SquareBlock::within(0), None);
        assert_eq!(SquareBlock::within(u32::MAX).map(|square| square.side), Some(1 << 15));
    }
}
