//! Shared memory of a block.

use super::Object;
use crate::program::{SharedVariable, address, readable};

/// Where a shared variable is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedPlace {
    /// Its address in the own block, which is not 0.
    pub address: u64,
    /// Offset into the storage.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
}

impl SharedPlace {
    /// Bytes between the beginning of the variable's region and its address.
    pub fn low(self) -> u32 {
        self.address as u32 & (address::SHARED_BASE as u32 - 1)
    }
}

/// Where the shared variables of an entry lie.
#[derive(Clone, Debug, Default)]
pub struct SharedLayout {
    /// By the number in addresses: the variables that the entry uses. Others have address 0.
    places: Vec<SharedPlace>,
    /// Bytes of all.
    pub bytes: u32,
    /// Names, for messages.
    pub names: Vec<String>,
}

impl SharedLayout {
    /// Lays out the `used` variables and `dynamic` bytes behind them.
    pub fn new(variables: &[SharedVariable], used: &[u32], dynamic: u32) -> Self {
        let slots = variables.iter().map(|variable| variable.slot as usize + 1).max().unwrap_or(1);
        let mut layout =
            Self { places: vec![SharedPlace::default(); slots], bytes: 0, names: vec![String::new(); slots] };
        // Others have the numbers of the variables that are used; in a message a wrong pointer may still name what the entry does not use.
        for variable in variables {
            layout.names[variable.slot as usize] = readable(&variable.name);
        }
        for &index in used.iter().filter(|&&index| index != 0) {
            let variable = &variables[index as usize];
            layout.names[variable.slot as usize] = readable(&variable.name);
            layout.add(variable.slot as usize, variable.bytes as u32, variable.start);
        }
        layout.add(0, dynamic, 0);
        layout
    }

    fn add(&mut self, index: usize, bytes: u32, low: u32) {
        // Every variable starts at a multiple of 16 in the storage, for vector accesses.
        let offset = self.bytes.next_multiple_of(16);
        let address = address::of_shared(index as u64) + u64::from(low);
        self.places[index] = SharedPlace { address, offset, bytes };
        self.bytes = offset + bytes;
    }

    /// The name of the variable that `at` was made from.
    pub fn name(&self, at: u64) -> &str {
        self.names.get((at >> address::SHARED_SHIFT) as usize).map_or("shared memory", String::as_str)
    }

    /// The variable that `at` was made from.
    #[inline(always)]
    pub fn place(&self, at: u64) -> Option<SharedPlace> {
        let place = self.places.get((at >> address::SHARED_SHIFT) as usize)?;
        (place.address != 0).then_some(*place)
    }

    /// Where the variable begins that an address lies in or near.
    pub fn start(&self, at: u64) -> u64 {
        self.place(at).map_or(address::of_shared(at >> address::SHARED_SHIFT), |place| place.address)
    }

    /// The variable that `at` was made from, and the bytes between its start and `at`.
    pub fn named(&self, at: u64) -> (&str, u64) {
        (self.name(at), at.wrapping_sub(self.start(at)))
    }

    /// The address in the own block of a place that is named by its low bits alone, as descriptors of matrices do.
    pub fn address(&self, low: u32) -> Option<u64> {
        let number = self.places.iter().position(|place| low.wrapping_sub(place.low()) < place.bytes)?;
        Some(address::of_shared(number as u64) + u64::from(low))
    }
}

/// The storage.
#[derive(Debug, Default)]
pub struct SharedMemory {
    words: Vec<u128>,
}

impl SharedMemory {
    /// `bytes` bytes.
    pub fn new(bytes: u32) -> Self {
        Self { words: vec![0; bytes.div_ceil(16) as usize] }
    }

    /// Its first byte.
    pub fn data(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// The variable that `at` was made from.
    #[inline(always)]
    pub fn object(&mut self, layout: &SharedLayout, at: u64) -> Option<Object> {
        let SharedPlace { address: start, offset, bytes } = layout.place(at)?;
        // SAFETY: the layout keeps every variable inside the storage.
        let data = unsafe { self.data().add(offset as usize) };
        Some(Object { start, bytes: bytes.into(), data, writable: true })
    }
}
