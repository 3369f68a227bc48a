//! Shared memory of a block.

use super::Object;
use crate::program::{SharedVariable, address, readable};

/// Where a shared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPlace {
    /// Offset into the storage.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// The low bits of its address.
    pub start: u32,
}

/// Where the shared variables of an entry lie.
#[derive(Clone, Debug, Default)]
pub struct SharedLayout {
    /// By the number in addresses: the variables that the entry uses.
    pub places: Vec<Option<SharedPlace>>,
    /// Bytes of all.
    pub bytes: u32,
    /// Names, for messages.
    pub names: Vec<String>,
}

impl SharedLayout {
    /// Lays out the `used` variables and `dynamic` bytes behind them.
    pub fn new(variables: &[SharedVariable], used: &[u32], dynamic: u32) -> Self {
        let slots = variables.iter().map(|variable| variable.slot as usize + 1).max().unwrap_or(1);
        let mut layout = Self { places: vec![None; slots], bytes: 0, names: vec![String::new(); slots] };
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

    fn add(&mut self, index: usize, bytes: u32, start: u32) {
        // Every variable starts at a multiple of 16 in the storage, for vector accesses.
        let offset = self.bytes.next_multiple_of(16);
        self.places[index] = Some(SharedPlace { offset, bytes, start });
        self.bytes = offset + bytes;
    }

    /// The name of the variable that `at` was made from.
    pub fn name(&self, at: u64) -> &str {
        self.names.get((at >> address::SHARED_SHIFT) as usize).map_or("shared memory", String::as_str)
    }

    /// The variable that `at` was made from.
    #[inline(always)]
    pub fn place(&self, at: u64) -> Option<SharedPlace> {
        *self.places.get((at >> address::SHARED_SHIFT) as usize)?
    }

    /// Where the variable begins that an address lies in or near.
    pub fn start(&self, at: u64) -> u64 {
        let start = self.place(at).map_or(0, |place| place.start);
        address::of_shared(at >> address::SHARED_SHIFT) + u64::from(start)
    }

    /// The variable that `at` was made from, and the bytes between its start and `at`.
    pub fn named(&self, at: u64) -> (&str, u64) {
        (self.name(at), at.wrapping_sub(self.start(at)))
    }

    /// The address in the own block of a place that is named by its low bits alone, as descriptors of matrices do.
    pub fn address(&self, low: u32) -> Option<u64> {
        let holds = |place: &SharedPlace| low.wrapping_sub(place.start) < place.bytes;
        let number = self.places.iter().position(|place| place.as_ref().is_some_and(holds))?;
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
        let SharedPlace { offset, bytes, start } = layout.place(at)?;
        // SAFETY: the layout keeps every variable inside the storage.
        let data = unsafe { self.data().add(offset as usize) };
        let start = address::of_shared(at >> address::SHARED_SHIFT) + u64::from(start);
        Some(Object { start, bytes: bytes.into(), data, writable: true })
    }
}
