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

/// What `malloc` has given.
#[derive(Clone, Debug)]
struct Block {
    bytes: u64,
    words: Vec<u128>,
    /// What messages call it.
    name: String,
}

/// Why memory cannot be freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadFree {
    /// It is free: what it was called.
    Twice(String),
    /// It is not where a block begins.
    NoBlock,
}

#[derive(Debug, Default)]
struct State {
    blocks: HashMap<u64, Block>,
    /// What messages call blocks that are free again.
    freed: HashMap<u64, String>,
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

    /// An address, or null if there is no room. Messages call it by `name`.
    pub fn allocate(&self, bytes: u64, name: impl FnOnce() -> String) -> u64 {
        let mut state = self.state();
        if bytes == 0 || bytes > LIMIT - state.bytes || state.retired_bytes > RETIRED_LIMIT {
            return 0;
        }
        let region = FIRST_REGION + state.next;
        state.next += 1;
        state.bytes += bytes;
        let words = vec![0; bytes.div_ceil(16) as usize];
        state.blocks.insert(region, Block { bytes, words, name: name() });
        address::of_region(region)
    }

    /// Gives back what `allocate` returned; null is nothing.
    pub fn free(&self, at: u64) -> Result<(), BadFree> {
        let mut state = self.state();
        let region = at >> address::REGION_SHIFT;
        if at == 0 {
            return Ok(());
        }
        if let Some(name) = state.freed.get(&region) {
            return Err(BadFree::Twice(name.clone()));
        }
        let block = (at == address::of_region(region)).then(|| state.blocks.remove(&region)).flatten();
        let Some(Block { bytes, words, name }) = block else { return Err(BadFree::NoBlock) };
        state.freed.insert(region, name);
        state.bytes -= bytes;
        state.retired_bytes += bytes;
        state.retired.push(words);
        Ok(())
    }

    /// What messages call the block that `at` was made from, and whether it is free again.
    pub fn name(&self, at: u64) -> Option<String> {
        let state = self.state();
        let region = at >> address::REGION_SHIFT;
        let freed = || Some(format!("{}, which is freed", state.freed.get(&region)?));
        state.blocks.get(&region).map(|block| block.name.clone()).or_else(freed)
    }

    /// Lets go of the storage of freed blocks, when no kernel runs.
    pub fn sweep(&mut self) {
        let mut state = self.state();
        state.retired = Vec::new();
        state.freed = HashMap::new();
        state.retired_bytes = 0;
    }

    /// What it holds now, to go back to.
    pub fn saved(&self) -> Self {
        let State { blocks, next, bytes, .. } = &*self.state();
        Self(Mutex::new(State { blocks: blocks.clone(), next: *next, bytes: *bytes, ..State::default() }))
    }

    /// Goes back to what it has held, when no kernel runs.
    pub fn restore(&self, saved: Self) {
        *self.state() = saved.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    }

    /// The block that `at` was made from. Its storage outlives the launch.
    pub fn object(&self, at: u64) -> Option<Object> {
        let mut state = self.state();
        let region = at >> address::REGION_SHIFT;
        let Block { bytes, words, .. } = state.blocks.get_mut(&region)?;
        let (start, data) = (address::of_region(region), words.as_mut_ptr().cast());
        Some(Object { start, bytes: *bytes, data, writable: true })
    }
}
