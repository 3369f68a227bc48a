//! Watching memory accesses as they are executed.

use crate::count::AccessKind;

/// Is told of every memory access of a launch. Blocks run at the same time, on several threads.
pub trait Observer: Sync {
    /// One warp executes one access.
    fn access(&self, access: &ObservedAccess<'_>);

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
