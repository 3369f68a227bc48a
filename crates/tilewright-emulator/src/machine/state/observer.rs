//! Watching memory accesses as they are executed.

use crate::count::AccessKind;

/// Is told of every memory access of a launch. Blocks run at the same time, on several threads.
pub trait Observer: Sync {
    /// One warp executes one access.
    fn access(&self, access: &ObservedAccess<'_>);

    /// Something happens at an mbarrier, or to the products of a warpgroup.
    fn event(&self, _event: &ObservedEvent<'_>) {}

    /// The launch begins again: what was told so far has not happened. A launch on several threads that finds a fault does so, to find the same
    /// ones every time.
    fn restart(&self) {}
}

/// A memory access as one warp executes it.
#[derive(Clone, Copy, Debug)]
pub struct ObservedAccess<'a> {
    /// The block.
    pub block: [u32; 3],
    /// The warp of the block.
    pub warp: u32,
    /// The line of the PTX text, from 1.
    pub ptx_line: u32,
    /// What is done to which memory.
    pub kind: AccessKind,
    /// Bit `n` is lane `n`.
    pub active: u32,
    /// The address of each lane; that of an inactive lane means nothing.
    pub addresses: &'a [u64; 32],
    /// Bytes that one lane moves.
    pub bytes: u32,
    /// The address at which begins what the first active lane accesses: a variable in shared memory, an allocation or a variable in global and
    /// constant memory. 0 in local memory, whose addresses count from there.
    pub start: u64,
    /// In shared memory: the name of that variable in the source; empty elsewhere.
    pub variable: &'a str,
    /// Grows with every barrier that all threads of the block have passed. A block of one warp may pass several before it does.
    pub epoch: u32,
}

/// What happens beside accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A lane arrives at an mbarrier, or announces bytes.
    Arrives,
    /// Lanes look at an mbarrier whose phase is not over, and go on looking.
    Waits,
    /// A lane has waited.
    Passes,
    /// A bulk copy is issued that completes at an mbarrier.
    Copies,
    /// Its bytes have come.
    Lands,
    /// A phase of an mbarrier is over.
    Ends,
    /// A warpgroup has issued a group of products.
    Multiplies,
    /// It has waited for a group.
    Collects,
}

/// Something that happens in a block, by one warp.
#[derive(Clone, Copy, Debug)]
pub struct ObservedEvent<'a> {
    /// The block.
    pub block: [u32; 3],
    /// The warp of the block.
    pub warp: u32,
    /// What.
    pub kind: EventKind,
    /// The shared variable of the mbarrier; empty for products.
    pub variable: &'a str,
    /// Bytes from its start.
    pub offset: u64,
}
