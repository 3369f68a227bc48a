//! What to do about a race.

use super::{finding::FindingKind, shared::Mode};

/// How far apart the threads are that such a race is between; what orders threads that far apart orders nearer ones too. `None`: it is
/// no race that order alone would mend.
pub fn reach(kind: FindingKind) -> Option<u32> {
    match kind {
        FindingKind::WarpRace => Some(0),
        FindingKind::SharedRace | FindingKind::GlobalRace => Some(1),
        FindingKind::BlockRace => Some(2),
        _ => None,
    }
}

/// The fix of a race whose later access is a `mode`; `benign`: both stores write the same value.
pub fn fix(kind: FindingKind, mode: Mode, benign: bool) -> String {
    if benign {
        return "harmless, since the values are equal; let one thread write to make that plain".into();
    }
    match kind {
        FindingKind::LostUpdate => "use an atomic operation, such as atomicAdd, in place of load, change and store",
        FindingKind::WarpRace => {
            "put __syncwarp() between the two accesses, at the end of the loop's body if they are in different iterations: \
             lanes of a warp need not run in step"
        },
        FindingKind::BlockRace => {
            "blocks run in any order: give each block its own elements, use atomics, or split the kernel in two"
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
