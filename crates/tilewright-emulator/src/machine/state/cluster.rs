//! What the blocks of a cluster share: they reach each other's shared memory and meet at a barrier.

use std::cell::{Cell, RefCell};

use super::transfer::Transfer;
use crate::check::{Known, Side};
use crate::memory::{Object, SharedLayout};
use crate::program::address;

/// The last access of a block to another's shared memory.
#[derive(Debug)]
pub struct Touch {
    /// The rank of whose memory it is.
    pub rank: u32,
    /// When, by the block that has come.
    pub stamp: u32,
    pub side: Side,
}

/// A bulk copy to another block.
#[derive(Debug)]
pub struct Incoming {
    /// The rank of the block.
    pub rank: u32,
    /// Where its bytes go: addresses in the block's own shared memory, and lengths.
    pub places: Vec<(u64, u32)>,
    /// Whether they have come.
    pub is_done: bool,
    /// What the block that issues it knows then.
    pub known: Known,
    pub side: Side,
}

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The number of its first block.
    number: u32,
    /// Threads that have not exited.
    live: Cell<u32>,
    /// Threads that have come to the barrier.
    arrived: Cell<u32>,
    /// How often all have come.
    phase: Cell<u32>,
    /// The storage of each block's shared memory, by rank. It stays where it is as long as a block of the cluster runs.
    storage: RefCell<Vec<*mut u8>>,
    /// Bytes of shared memory that another block has written: the rank of whose they are, the offset into the storage, and how many.
    written: RefCell<Vec<(u32, u32, u32)>>,
    /// How often something has happened at an mbarrier, or a thread has exited.
    pub events: Cell<u64>,
    /// Bulk copies on their way to an mbarrier of a block.
    pub loads: RefCell<Vec<Transfer>>,
    /// Blocks that have exited, a bit for each rank.
    pub gone: Cell<u32>,
    /// Accesses to the shared memory of other blocks.
    pub touches: RefCell<Vec<Touch>>,
    /// Copies to the shared memory of other blocks that these have not been asked about.
    pub incoming: RefCell<Vec<Incoming>>,
}

impl Cluster {
    /// A cluster of so many threads whose first block has this number; blocks are added.
    pub fn new(number: u32, threads: u32) -> Self {
        Self { number, live: Cell::new(threads), ..Self::default() }
    }

    /// The next block, with the storage of its shared memory.
    pub fn add(&self, storage: *mut u8) {
        self.storage.borrow_mut().push(storage);
    }

    /// The number of its first block.
    pub fn first(&self) -> u32 {
        self.number
    }

    /// Blocks of the cluster.
    pub fn size(&self) -> u32 {
        self.storage.borrow().len() as u32
    }

    /// Whether the block of this rank has exited.
    pub fn has_exited(&self, rank: u32) -> bool {
        self.gone.get() >> rank & 1 == 1
    }

    /// Threads have exited: the barrier does not wait for them.
    pub fn exited(&self, threads: u32) {
        self.live.set(self.live.get().saturating_sub(threads));
        self.happened();
        self.complete();
    }

    /// Something has happened that threads may wait for at an mbarrier.
    pub fn happened(&self) {
        self.events.set(self.events.get() + 1);
    }

    fn complete(&self) {
        let arrived = self.arrived.get();
        if arrived > 0 && arrived >= self.live.get() {
            self.arrived.set(0);
            self.phase.set(self.phase.get().wrapping_add(1));
        }
    }

    /// Where the blocks of a cluster publish what they did before its barrier: no address of memory.
    pub fn place(&self) -> u64 {
        u64::MAX - u64::from(self.number)
    }

    /// Where what was done before an arrival is published, for an mbarrier at an address by rank: no address of memory.
    pub fn place_of(&self, at: u64) -> u64 {
        1 << 63 | u64::from(self.number) << 32 | at & u64::from(u32::MAX)
    }

    /// The shared memory that an address of another block, or of the own one by its rank, leads to; and the rank.
    pub fn object(&self, layout: &SharedLayout, at: u64) -> Option<(u32, Object)> {
        let rank = address::rank_of(at)?;
        let place = layout.place(at)?;
        let data = *self.storage.borrow().get(rank as usize)?;
        let start = (at & !address::CLUSTER_OFFSET) + u64::from(place.low());
        // SAFETY: all blocks of a cluster have the same layout, which keeps every variable inside the storage.
        let data = unsafe { data.add(place.offset as usize) };
        Some((rank, Object { start, bytes: place.bytes.into(), data, writable: true }))
    }

    /// Notes that `bytes` bytes were written `offset` bytes into the storage of a block.
    pub fn note_written(&self, rank: u32, layout: &SharedLayout, at: u64, bytes: u32) {
        let Some(place) = layout.place(at) else { return };
        let inside = ((at & address::CLUSTER_OFFSET) as u32).wrapping_sub(place.low());
        self.written.borrow_mut().push((rank, place.offset.wrapping_add(inside), bytes));
    }

    /// Threads arrive at the barrier. Returns the phase that they wait for the end of.
    pub fn arrive(&self, threads: u32) -> u32 {
        let phase = self.phase.get();
        self.arrived.set(self.arrived.get() + threads);
        self.complete();
        phase
    }

    /// How often all have come to the barrier.
    pub fn phase(&self) -> u32 {
        self.phase.get()
    }

    /// Hands out what other blocks have written to the block of this rank: offset and bytes.
    pub fn take_written(&self, rank: u32, mut take: impl FnMut(u32, u32)) {
        self.written.borrow_mut().retain(|&(of, offset, bytes)| {
            if of == rank {
                take(offset, bytes);
            }
            of != rank
        });
    }
}
