//! What to do about a race.

use super::{kind::FindingKind, shared::Mode};

/// What the two accesses of a race are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Both store the same value.
    Benign,
    /// Both are strong, one of them for its own block alone.
    Scope,
    /// One of them waits for what the other stores, or asks for it, and only one of the two is strong.
    Poll,
    /// Threads tell each other by other memory, in which something waits or is counted.
    Signal,
    /// Blocks take turns: they wait for what others store.
    Turns,
    /// Nothing of that.
    Data,
}

impl Setting {
    /// Whether a barrier between the two would mend it.
    pub fn wants_barrier(self) -> bool {
        self == Self::Data
    }
}

/// What to do where threads initialise an mbarrier together.
pub const INITIALISE_ONCE: &str = "let one thread initialise it: all make the same of it, but PTX leaves open what becomes of an mbarrier that is \
                                   initialised again";

/// What to do where the bytes of a bulk store are used too early.
pub const WAIT_FOR_STORE: &str = "let the thread that issues the copy wait with cp.async.bulk.wait_group 0, without .read, and put a barrier between that \
                                  and the access";

/// The fix of a race whose later access is a `mode`.
pub fn fix(kind: FindingKind, mode: Mode, setting: Setting) -> String {
    match (setting, kind) {
        (Setting::Benign, _) => "harmless, since the values are equal; let one thread write to make that plain",
        (Setting::Scope, _) => {
            "let both reach the whole device: atomicAdd in place of atomicAdd_block, cuda::thread_scope_device, .gpu in place of .cta"
        }
        (Setting::Poll, _) => {
            "make the flag strong on both sides: store it by atomicExch, or as volatile, behind a __threadfence(), and load it as volatile, or \
             with cuda::atomic_ref. A barrier in its place would wait for ever"
        }
        (Setting::Turns, FindingKind::BlockRace | FindingKind::LostUpdate)
        | (Setting::Signal, FindingKind::BlockRace) => {
            "put __threadfence() between the store and the atomic, or the store of the flag, that tells other blocks of it: in every thread that \
             stores, and before the __syncthreads() if another thread tells"
        }
        (Setting::Signal, FindingKind::SharedRace | FindingKind::GlobalRace) => {
            "put __threadfence_block() between the store and that of the flag that tells of it, and behind the loop that waits for the flag"
        }
        (_, FindingKind::LostUpdate) => {
            "use an atomic operation, such as atomicAdd, in place of load, change and store; where a block adds up one value, let it add among its \
             own threads first"
        }
        (_, FindingKind::WarpRace) => {
            "put __syncwarp() between the two accesses, at the end of the loop's body if they are in different iterations: \
             lanes of a warp need not run in step"
        }
        (_, FindingKind::BlockRace) if mode == Mode::Update => {
            "set the value in a kernel before this one, and let all blocks change it in the same way here: blocks run in any order"
        }
        (_, FindingKind::BlockRace) => {
            "write to an array that no block reads, without overlap, and each element in one block; or split the kernel in two between the accesses: \
             blocks run in any order"
        }
        _ if mode == Mode::Read => {
            "put __syncthreads() between the store and the load, where every thread of the block passes: at the end of the \
             loop's body if they are in different iterations"
        }
        _ => {
            "put __syncthreads() between the earlier access and the store, where every thread of the block passes: at the \
             end of the loop's body if they are in different iterations"
        }
    }
    .into()
}
