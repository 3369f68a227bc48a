//! Global and constant memory: allocations, each in a region of its own, and memory of the host that kernels may reach.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicU64;

use super::{Atomic, Object, Words};
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

/// Zeros; none if the system has no room for them. What the system has zeroed takes no memory until it is touched.
fn zeros(chunks: usize) -> Option<Vec<Chunk>> {
    if chunks == 0 {
        return Some(Vec::new());
    }
    let layout = std::alloc::Layout::array::<Chunk>(chunks).ok()?;
    // SAFETY: the layout has a size that is not zero.
    let words = unsafe { std::alloc::alloc_zeroed(layout) };
    // SAFETY: the global allocator gave this layout, and zeros are a valid chunk.
    (!words.is_null()).then(|| unsafe { Vec::from_raw_parts(words.cast(), chunks, chunks) })
}

impl Region {
    /// Makes its storage, if there is none. `None` if the system has no room for it.
    fn provide(&mut self) -> Option<()> {
        // Reads of a whole vector at the end stay inside the last chunk.
        let chunks = self.bytes.div_ceil(16) as usize;
        if self.words.len() == chunks {
            return Some(());
        }
        self.words = zeros(chunks)?;
        for (at, bytes) in std::mem::take(&mut self.contents) {
            if let Some(place) =
                self.bytes_mut().get_mut(at as usize..).and_then(|to| to.get_mut(..bytes.len()))
            {
                place.copy_from_slice(&bytes);
            }
        }
        Some(())
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

/// How many freed regions rest before the first of them is used again: so long a use of freed memory is found.
const RESTING: usize = 1024;

/// All allocations. The number of a region is the high part of its addresses.
#[derive(Debug)]
pub struct GlobalMemory {
    /// The number of the first region.
    first: u64,
    /// Most regions.
    most: usize,
    regions: Vec<Option<Region>>,
    /// Slots of freed regions, the oldest first.
    freed: VecDeque<usize>,
    allocated: u64,
    /// Memory of the host that kernels may reach, by its address.
    mapped: BTreeMap<u64, Mapped>,
}

/// Memory of the host that kernels reach at the host's own addresses.
#[derive(Debug)]
struct Mapped {
    bytes: u64,
    name: String,
}

impl GlobalMemory {
    /// Memory without allocations, for at most `most` at a time, whose regions have the numbers from `first` on.
    pub fn new(first: u64, most: usize) -> Self {
        let (regions, freed, mapped) = Default::default();
        Self { first, most, regions, freed, allocated: 0, mapped }
    }

    /// Bytes of all allocations.
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    /// The number of the first of `count` regions in a row that are free: behind all others, or, where there are no more, of those that were freed.
    /// `None` if there are not so many.
    pub fn free_regions(&self, count: usize) -> Option<u64> {
        let behind = self.regions.len();
        if count <= self.most.saturating_sub(behind) {
            return Some(self.first + behind as u64);
        }
        let mut run = 0;
        self.regions.iter().enumerate().find_map(|(slot, region)| {
            run = if region.is_none() { run + 1 } else { 0 };
            (run == count).then(|| self.first + (slot + 1 - count) as u64)
        })
    }

    /// Gives an allocation another name.
    pub fn rename(&mut self, at: u64, name: String) -> Option<()> {
        let slot = self.slot(at);
        self.regions.get_mut(slot)?.as_mut()?.name = name;
        Some(())
    }

    /// Adds a zeroed allocation and returns its address. `None` if this process has no room for it.
    pub fn allocate(&mut self, name: String, bytes: u64, access: Access) -> Option<u64> {
        let (contents, words) = Default::default();
        let mut region = Region { name, bytes, access, contents, filled: false, words };
        region.provide()?;
        let is_full = self.regions.len() >= self.most;
        let slot = match self.freed.len() > RESTING || is_full {
            true => self.freed.pop_front()?,
            false => self.regions.len(),
        };
        if slot == self.regions.len() {
            self.regions.push(None);
        }
        self.regions[slot] = Some(region);
        self.allocated = self.allocated.saturating_add(bytes);
        Some(address::of_region(self.first + slot as u64))
    }

    /// Adds an allocation in [a free region](Self::free_regions) that holds `contents`, if there are any given, and zeros elsewhere. It takes no
    /// memory until it is accessed or [provided](Self::provide).
    pub fn reserve(
        &mut self,
        region: u64,
        name: String,
        bytes: u64,
        access: Access,
        contents: Option<Vec<(u64, Vec<u8>)>>,
    ) {
        let slot = (region - self.first) as usize;
        if slot < self.regions.len() {
            self.freed.retain(|&freed| freed != slot);
        } else {
            self.regions.resize_with(slot + 1, || None);
        }
        self.allocated = self.allocated.saturating_add(bytes);
        let (filled, contents) = (contents.is_some(), contents.unwrap_or_default());
        self.regions[slot] = Some(Region { name, bytes, access, contents, filled, words: Vec::new() });
    }

    /// Makes the storage of all allocations, which kernels need. `None` if this process has no room for it.
    pub fn provide(&mut self) -> Option<()> {
        self.regions.iter_mut().flatten().try_for_each(Region::provide)
    }

    /// Lets kernels reach `bytes` bytes of the host at `at`.
    pub fn map(&mut self, at: u64, bytes: u64, name: String) {
        self.mapped.insert(at, Mapped { bytes, name });
    }

    /// Takes memory of the host away from kernels.
    pub fn unmap(&mut self, at: u64) {
        self.mapped.remove(&at);
    }

    /// The memory of the host that holds the byte at `at`.
    pub fn mapped(&self, at: u64) -> Option<Object> {
        let (start, bytes) = self.mapping(at).map(|(start, mapped)| (start, mapped.bytes))?;
        let data = std::ptr::with_exposed_provenance_mut(start as usize);
        Some(Object { start, bytes, data, writable: true })
    }

    fn mapping(&self, at: u64) -> Option<(u64, &Mapped)> {
        let (&start, mapped) = self.mapped.range(..=at).next_back()?;
        (at - start < mapped.bytes).then_some((start, mapped))
    }

    /// The largest allocation.
    pub fn largest(&self) -> Option<&Region> {
        self.regions.iter().flatten().max_by_key(|region| region.bytes)
    }

    /// Removes the allocation that starts at `start`. Its addresses are not used again for long.
    pub fn free(&mut self, start: u64) -> Option<()> {
        let slot = self.slot(start);
        if start != address::of_region(start >> address::REGION_SHIFT) {
            return None;
        }
        let region = self.regions.get_mut(slot)?.take()?;
        self.allocated -= region.bytes;
        self.freed.push_back(slot);
        Some(())
    }

    /// The place of the region of an address among all regions.
    #[inline(always)]
    pub fn slot(&self, at: u64) -> usize {
        (at >> address::REGION_SHIFT).wrapping_sub(self.first) as usize
    }

    /// The allocation that `at` was made from: in bounds or not.
    #[inline(always)]
    pub fn region(&self, at: u64) -> Option<&Region> {
        self.regions.get(self.slot(at))?.as_ref()
    }

    /// What messages call the memory at `at`.
    pub fn name(&self, at: u64) -> Option<&str> {
        let mapped = || self.mapping(at).map(|(_, mapped)| mapped.name.as_str());
        self.region(at).map(|region| region.name.as_str()).or_else(mapped)
    }

    /// Whether global memory has the byte at `at`.
    pub fn is_global(&self, at: u64) -> bool {
        match self.region(at) {
            Some(region) => region.access == Access::ReadWrite,
            None => self.mapping(at).is_some(),
        }
    }

    /// The first byte of the region in a slot, once it is provided.
    pub fn data_of_slot(&self, slot: usize) -> Option<*mut u8> {
        self.regions.get(slot)?.as_ref().map(Region::data)
    }

    /// Bytes of all regions, by slot.
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

    /// The 1, 2 or 4 bytes at `at`, a multiple of them, while kernels run; `None` if there are none.
    pub fn bits(&self, at: u64, bytes: u32) -> Option<u32> {
        let object = self.object(at).or_else(|| self.mapped(at))?;
        let offset = at.wrapping_sub(object.start);
        let is_inside = object.bytes.checked_sub(bytes.into()).is_some_and(|limit| offset <= limit);
        if !is_inside || !at.is_multiple_of(bytes.into()) {
            return None;
        }
        // SAFETY: inside the object and aligned, as its first byte is.
        let bits = unsafe {
            let data = object.data.add(offset as usize);
            match bytes {
                1 => Atomic::read::<1>(data),
                2 => Atomic::read::<2>(data),
                _ => Atomic::read::<4>(data),
            }
        };
        Some(bits as u32)
    }

    /// For the host: `bytes` bytes at `at`, to be written.
    pub fn slice_mut(&mut self, at: u64, bytes: u64) -> Option<&mut [u8]> {
        let slot = self.slot(at);
        self.regions.get_mut(slot)?.as_mut()?.filled = true;
        self.bytes(at, bytes)
    }

    fn bytes(&mut self, at: u64, bytes: u64) -> Option<&mut [u8]> {
        let slot = self.slot(at);
        let region = self.regions.get_mut(slot)?.as_mut()?;
        let start = at.checked_sub(address::of_region(at >> address::REGION_SHIFT))?;
        let end = start.checked_add(bytes).filter(|&end| end <= region.bytes)?;
        region.provide()?;
        region.bytes_mut().get_mut(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// For the host: `bytes` bytes at `at`.
    pub fn slice(&mut self, at: u64, bytes: u64) -> Option<&[u8]> {
        self.bytes(at, bytes).map(|slice| &*slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_addresses_rest_before_they_are_used_again() {
        let mut memory = GlobalMemory::new(1, usize::MAX);
        let first = memory.allocate("first".into(), 16, Access::ReadWrite).unwrap();
        memory.free(first).unwrap();
        let mut later = Vec::new();
        for _ in 0..2 * RESTING {
            let at = memory.allocate("later".into(), 16, Access::ReadWrite).unwrap();
            memory.free(at).unwrap();
            later.push(at);
        }
        let again = later.iter().position(|&at| at == first).unwrap();
        assert!(again >= RESTING, "{again}");
        assert_eq!((memory.allocated(), memory.free(first)), (0, None));
        assert!(memory.regions.len() <= RESTING + 2, "{}", memory.regions.len());
    }

    #[test]
    fn memory_of_the_host_ends_where_it_ends() {
        let mut memory = GlobalMemory::new(1, usize::MAX);
        let words = [0u64; 2];
        let at = words.as_ptr().expose_provenance() as u64;
        memory.map(at, 16, "words".into());
        assert_eq!(memory.mapped(at + 15).map(|object| (object.start, object.bytes)), Some((at, 16)));
        assert!(memory.mapped(at + 16).is_none() && memory.mapped(at - 1).is_none());
        assert_eq!(memory.name(at + 3), Some("words"));
        memory.unmap(at);
        assert!(memory.mapped(at).is_none());
    }

    #[test]
    fn what_no_process_has_is_refused() {
        let mut memory = GlobalMemory::new(1, usize::MAX);
        assert_eq!(memory.allocate("all".into(), 1 << 62, Access::ReadWrite), None);
        assert_eq!(memory.allocated(), 0);
    }
}
