//! `malloc` and `free` in kernels.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use crate::memory::Object;
use crate::program::address;

/// Regions from here on belong to the heap.
const FIRST_REGION: u64 = 1 << 26;

/// Bytes that all kernels together may hold (`cudaLimitMallocHeapSize` is 8 MiB by default).
const LIMIT: u64 = 8 << 20;

/// Bytes of freed blocks that a launch may leave behind.
const RETIRED_LIMIT: u64 = 1 << 30;

/// The device heap. What a kernel does not free stays, as on hardware.
#[derive(Debug, Default)]
pub struct Heap(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    blocks: HashMap<u64, (u64, Vec<u128>)>,
    next: u64,
    bytes: u64,
    /// Storage of freed blocks: another thread of this process may be about to access it.
    retired: Vec<Vec<u128>>,
    retired_bytes: u64,
}

impl Heap {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An address, or null if there is no room.
    pub fn allocate(&self, bytes: u64) -> u64 {
        let mut state = self.state();
        if bytes == 0 || bytes > LIMIT - state.bytes || state.retired_bytes > RETIRED_LIMIT {
            return 0;
        }
        let region = FIRST_REGION + state.next;
        state.next += 1;
        state.bytes += bytes;
        state.blocks.insert(region, (bytes, vec![0; bytes.div_ceil(16) as usize]));
        address::of_region(region)
    }

    /// Gives back what `allocate` returned; anything else is ignored.
    pub fn free(&self, at: u64) {
        let mut state = self.state();
        let region = at >> address::REGION_SHIFT;
        if at == address::of_region(region)
            && let Some((bytes, words)) = state.blocks.remove(&region)
        {
            state.bytes -= bytes;
            state.retired_bytes += bytes;
            state.retired.push(words);
        }
    }

    /// Lets go of the storage of freed blocks, when no kernel runs.
    pub fn sweep(&mut self) {
        let mut state = self.state();
        state.retired = Vec::new();
        state.retired_bytes = 0;
    }

    /// The block that `at` was made from. Its storage outlives the launch.
    pub fn object(&self, at: u64) -> Option<Object> {
        let mut state = self.state();
        let region = at >> address::REGION_SHIFT;
        let (bytes, words) = state.blocks.get_mut(&region)?;
        let (start, data) = (address::of_region(region), words.as_mut_ptr().cast());
        Some(Object { start, bytes: *bytes, data, writable: true })
    }
}
