//! A kernel on the device, to be asked what it takes and how many blocks fit.

use super::Engine;
use super::compile::{Origin, Ready};
use crate::device::FunctionAttributes;
use std::sync::Arc;
use tilewright_arch::DynamicSharedMemory;
use tilewright_core::Error;
use tilewright_kernels::Launch;

/// A compiled kernel on a device.
#[derive(Debug, Clone)]
pub struct LoadedKernel(Arc<Ready>);

impl Engine {
    /// Compiles and loads the kernel of a launch, and allows the launch's dynamic shared memory.
    ///
    /// # Errors
    /// `unavailable` without an NVRTC that will do, `compilation` for a kernel that does not compile, `device` for
    /// more shared memory than there is.
    pub fn load_kernel(&self, launch: &Launch) -> Result<LoadedKernel, Error> {
        self.ready(launch).map(LoadedKernel)
    }
}

impl LoadedKernel {
    /// What it takes, read back from the driver.
    ///
    /// # Errors
    /// `device` when the driver fails.
    pub fn attributes(&self) -> Result<FunctionAttributes, Error> {
        self.0.function.attributes()
    }

    /// Where its code came from.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Allows launches with up to `bytes` of dynamic shared memory, or more where more was allowed before.
    ///
    /// # Errors
    /// `device` for more than a block can have.
    pub fn allow_dynamic_shared_memory(&self, bytes: u32) -> Result<(), Error> {
        self.0.allow(bytes)
    }

    /// Blocks of this many threads and bytes of dynamic shared memory that a multiprocessor holds at once, as the driver computes
    /// it (`cuOccupancyMaxActiveBlocksPerMultiprocessor`).
    ///
    /// # Errors
    /// `device` for blocks that cannot be launched.
    pub fn blocks_per_multiprocessor(&self, threads: u32, dynamic_shared_memory: u32) -> Result<u32, Error> {
        self.0.function.blocks_per_multiprocessor(threads, dynamic_shared_memory)
    }

    /// The block size of at most `most` threads with the highest occupancy, and the number of blocks that fill the device with it,
    /// as the driver computes them (`cuOccupancyMaxPotentialBlockSize`).
    ///
    /// # Errors
    /// `device` when the driver fails.
    pub fn best_block(&self, dynamic: DynamicSharedMemory, most: u32) -> Result<(u32, u32), Error> {
        self.0.function.best_block(dynamic, most)
    }

    /// Bytes of dynamic shared memory that each block can have when a multiprocessor is to hold `blocks` blocks of `threads` threads
    /// (`cuOccupancyAvailableDynamicSMemPerBlock`).
    ///
    /// # Errors
    /// `device` for blocks that do not fit at all.
    pub fn available_dynamic_shared_memory(&self, blocks: u32, threads: u32) -> Result<u64, Error> {
        self.0.function.available_dynamic_shared_memory(blocks, threads)
    }
}
