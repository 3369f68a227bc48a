//! Shared variables: their numbers, and where they lie.

use super::address;

/// A shared variable.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// The name; dynamic shared memory is called by its first name.
    pub name: String,
    /// Bytes; 0 for dynamic shared memory.
    pub bytes: u64,
    /// Alignment.
    pub align: u64,
    /// Its number in addresses.
    pub slot: u32,
    /// Where it lies in the shared memory of its block, as descriptors of matrices name it: the low bits of its address.
    pub start: u32,
}

/// Whose a shared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedScope {
    /// Several functions may use it.
    Module,
    /// Only this entry; other entries use the same numbers.
    Entry,
}

/// Shared variables that addresses can tell apart beside dynamic memory.
pub const SHARED_SLOTS: u32 = 254;

/// Numbers of shared variables: those of the module from below, those of entries from above.
#[derive(Clone, Debug)]
pub struct SharedSlots {
    next: u32,
    next_of_entry: u32,
    lowest_of_entries: u32,
}

impl SharedSlots {
    pub fn take(&mut self, scope: SharedScope) -> Option<u32> {
        let (slot, is_free) = match scope {
            SharedScope::Module => (self.next, self.next < self.lowest_of_entries),
            SharedScope::Entry => (self.next_of_entry, self.next_of_entry >= self.next),
        };
        match scope {
            _ if !is_free => return None,
            SharedScope::Module => self.next += 1,
            SharedScope::Entry => {
                self.next_of_entry -= 1;
                self.lowest_of_entries = self.lowest_of_entries.min(slot);
            }
        }
        Some(slot)
    }

    /// Entries have the same numbers.
    pub fn begin_entry(&mut self) {
        self.next_of_entry = SHARED_SLOTS;
    }
}

impl Default for SharedSlots {
    fn default() -> Self {
        // 0 is that of dynamic shared memory.
        Self { next: 1, next_of_entry: SHARED_SLOTS, lowest_of_entries: SHARED_SLOTS + 1 }
    }
}

/// Where shared variables lie, as far as the low bits of addresses tell it: dynamic memory from 0 upwards, the others from the top
/// downwards, so that no two meet that a kernel has room for. Variables of different entries share their places.
#[derive(Clone, Debug)]
pub struct SharedPlaces {
    lowest_of_module: u32,
    lowest_of_entry: u32,
    lowest_of_entries: u32,
}

impl SharedPlaces {
    const TOP: u32 = address::CLUSTER_OFFSET as u32 + 1;
    /// Rows of all banks do not straddle the beginning of a variable.
    const ALIGN: u64 = 128;

    pub fn take(&mut self, scope: SharedScope, bytes: u64, align: u64) -> u32 {
        let below = match scope {
            SharedScope::Module => self.lowest_of_module.min(self.lowest_of_entries),
            SharedScope::Entry => self.lowest_of_entry,
        };
        // One that has no room below the others, or none at all, is refused when it is launched.
        let end = if bytes > below.into() { Self::TOP } else { below };
        let start = u64::from(end).saturating_sub(bytes) / align.max(Self::ALIGN) * align.max(Self::ALIGN);
        let start = start as u32;
        self.lowest_of_entry = start;
        match scope {
            SharedScope::Module => self.lowest_of_module = start,
            SharedScope::Entry => self.lowest_of_entries = self.lowest_of_entries.min(start),
        }
        start
    }

    /// Entries have the same places.
    pub fn begin_entry(&mut self) {
        self.lowest_of_entry = self.lowest_of_module;
    }
}

impl Default for SharedPlaces {
    fn default() -> Self {
        let [lowest_of_module, lowest_of_entry, lowest_of_entries] = [SharedPlaces::TOP; 3];
        Self { lowest_of_module, lowest_of_entry, lowest_of_entries }
    }
}
