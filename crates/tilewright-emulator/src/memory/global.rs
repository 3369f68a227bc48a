//! Global and constant memory: allocations, each in a region of its own.

use std::sync::atomic::AtomicU64;

use super::Object;
use crate::program::address;

/// Whether a kernel may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Global memory.
    ReadWrite,
    /// Constant memory.
    ReadOnly,
}

/// One allocation.
#[derive(Debug)]
pub struct Region {
    /// How messages call it.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Whether kernels may write.
    pub access: Access,
    /// What it holds at first, where that is not zero.
    contents: Vec<(u64, Vec<u8>)>,
    /// Whether somebody has given it values: the program or the host.
    filled: bool,
    /// The storage; none until it is provided.
    words: Vec<Chunk>,
}

/// 16 aligned bytes that threads may share.
#[derive(Debug)]
#[repr(C, align(16))]
struct Chunk([AtomicU64; 2]);

const _: () = assert!(size_of::<Chunk>() == size_of::<u128>() && align_of::<Chunk>() == align_of::<u128>());

/// Zeros. What the system has zeroed takes no memory until it is touched.
fn zeros(chunks: usize) -> Vec<Chunk> {
    let mut words = std::mem::ManuallyDrop::new(vec![0u128; chunks]);
    // SAFETY: a chunk has the size and the alignment of a `u128`, and zeros are a valid one.
    unsafe { Vec::from_raw_parts(words.as_mut_ptr().cast(), words.len(), words.capacity()) }
}

impl Region {
    /// Makes its storage, if there is none.
    fn provide(&mut self) {
        // Reads of a whole vector at the end stay inside the last chunk.
        let chunks = self.bytes.div_ceil(16) as usize;
        if self.words.len() == chunks {
            return;
        }
        self.words = zeros(chunks);
        for (at, bytes) in std::mem::take(&mut self.contents) {
            if let Some(place) =
                self.bytes_mut().get_mut(at as usize..).and_then(|to| to.get_mut(..bytes.len()))
            {
                place.copy_from_slice(&bytes);
            }
        }
    }

    /// Whether it is constant memory whose values nobody has given.
    pub fn is_unfilled(&self) -> bool {
        self.access == Access::ReadOnly && !self.filled
    }

    fn data(&self) -> *mut u8 {
        // Through the interior mutability of the atomics this pointer may write.
        self.words.as_ptr().cast_mut().cast()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: atomics have the layout of plain words, `&mut self` excludes every other access, and the region has at least
        // `bytes` bytes.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.bytes as usize) }
    }
}

/// All allocations. The index of a region is the high part of its addresses.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    regions: Vec<Option<Region>>,
    allocated: u64,
}

impl GlobalMemory {
    /// Memory without allocations; region 0 stays empty, so that null and small numbers are no addresses.
    pub fn new() -> Self {
        Self { regions: vec![None], allocated: 0 }
    }

    /// Bytes of all allocations.
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    /// Adds a zeroed allocation and returns its address.
    pub fn allocate(&mut self, name: String, bytes: u64, access: Access) -> u64 {
        let start = self.reserve(name, bytes, access, None);
        if let Some(Some(region)) = self.regions.last_mut() {
            region.provide();
        }
        start
    }

    /// Adds an allocation that holds `contents`, if there are any given, and zeros elsewhere, and returns its address. It takes no memory
    /// until it is accessed or [provided](Self::provide).
    pub fn reserve(
        &mut self,
        name: String,
        bytes: u64,
        access: Access,
        contents: Option<Vec<(u64, Vec<u8>)>>,
    ) -> u64 {
        self.allocated = self.allocated.saturating_add(bytes);
        let (filled, contents) = (contents.is_some(), contents.unwrap_or_default());
        self.regions.push(Some(Region { name, bytes, access, contents, filled, words: Vec::new() }));
        address::of_region(self.regions.len() as u64 - 1)
    }

    /// Makes the storage of all allocations, which kernels need.
    pub fn provide(&mut self) {
        self.regions.iter_mut().flatten().for_each(Region::provide);
    }

    /// The largest allocation.
    pub fn largest(&self) -> Option<&Region> {
        self.regions.iter().flatten().max_by_key(|region| region.bytes)
    }

    /// Removes the allocation that starts at `start`. Its addresses are never used again.
    pub fn free(&mut self, start: u64) -> Option<()> {
        let index = (start >> address::REGION_SHIFT) as usize;
        if start != address::of_region(index as u64) {
            return None;
        }
        let region = self.regions.get_mut(index)?.take()?;
        self.allocated -= region.bytes;
        Some(())
    }

    /// The allocation that `at` was made from: in bounds or not.
    #[inline(always)]
    pub fn region(&self, at: u64) -> Option<&Region> {
        self.regions.get((at >> address::REGION_SHIFT) as usize)?.as_ref()
    }

    /// Bytes of all regions, by number.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.regions.iter().map(|region| region.as_ref().map_or(0, |region| region.bytes))
    }

    /// The bytes that a pointer like `at` may reach, once they are provided.
    #[inline(always)]
    pub fn object(&self, at: u64) -> Option<Object> {
        let region = self.region(at)?;
        let start = address::of_region(at >> address::REGION_SHIFT);
        let writable = region.access == Access::ReadWrite;
        Some(Object { start, bytes: region.bytes, data: region.data(), writable })
    }

    /// For the host: `bytes` bytes at `at`, to be written.
    pub fn slice_mut(&mut self, at: u64, bytes: u64) -> Option<&mut [u8]> {
        let index = (at >> address::REGION_SHIFT) as usize;
        self.regions.get_mut(index)?.as_mut()?.filled = true;
        self.bytes(at, bytes)
    }

    fn bytes(&mut self, at: u64, bytes: u64) -> Option<&mut [u8]> {
        let index = (at >> address::REGION_SHIFT) as usize;
        let region = self.regions.get_mut(index)?.as_mut()?;
        let start = at.checked_sub(address::of_region(index as u64))?;
        let end = start.checked_add(bytes).filter(|&end| end <= region.bytes)?;
        region.provide();
        region.bytes_mut().get_mut(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// For the host: `bytes` bytes at `at`.
    pub fn slice(&mut self, at: u64, bytes: u64) -> Option<&[u8]> {
        self.bytes(at, bytes).map(|slice| &*slice)
    }
}
