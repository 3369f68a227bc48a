//! Barriers, and exchange between the lanes of a warp.

use super::{AtomicOp, MemorySite, Slot};
use crate::alu::Operation;
use crate::ptx_isa::Type;

/// A barrier of the block.
#[derive(Clone, Copy, Debug)]
pub struct BarrierSite {
    /// The barrier's number.
    pub id: Option<Slot>,
    /// The number if it is not in a register.
    pub number: u32,
    /// How many threads take part, if not all.
    pub threads: Option<Slot>,
    /// Whether the caller waits.
    pub kind: BarrierKind,
    /// `.aligned`: all lanes of a warp must be here.
    pub aligned: Aligned,
    /// Where the reduced predicate goes.
    pub dst: Option<Slot>,
    /// The predicate to reduce and what inverts it.
    pub predicate: Option<(Slot, u32)>,
}

/// The forms of `bar`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Arrive and wait.
    Sync,
    /// Arrive only.
    Arrive,
    /// Arrive, wait, and get the number of true predicates.
    Popc,
    /// ... whether all are true.
    And,
    /// ... whether any is true.
    Or,
}

/// Whether all lanes of the warp must execute an instruction together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    /// `.aligned`.
    Yes,
    /// Not said.
    No,
}

/// The bits of an mbarrier's state that count missing arrivals.
pub const MBARRIER_COUNT: u64 = (1 << 20) - 1;

/// An instruction on an mbarrier.
#[derive(Clone, Debug)]
pub struct MbarrierSite {
    /// Where it lies; `values[0]` is the result: the state before an arrival, or whether a phase is over.
    pub memory: MemorySite,
    /// What is done.
    pub kind: MbarrierKind,
    /// A count, a parity or a state.
    pub operand: Option<Slot>,
    /// Whether arrivals release what came before, and waits acquire it.
    pub orders: bool,
}

/// What is done with an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierKind {
    /// `init`.
    Init,
    /// `inval`.
    Invalidate,
    /// `arrive` and `arrive_drop`.
    Arrive {
        /// Whether later phases expect so many arrivals fewer.
        drops: bool,
        /// Whether the phase may end by it.
        completes: bool,
        /// Whether the operand is bytes that are announced.
        expects: bool,
    },
    /// `cp.async.mbarrier.arrive`: when the copies of the thread have arrived.
    Copies {
        /// `.noinc`: it is one of the expected arrivals.
        counts: bool,
    },
    /// `expect_tx`.
    Expect,
    /// `complete_tx`.
    Complete,
    /// `test_wait` and `try_wait`.
    Wait {
        /// Whether the operand is the parity of a phase, and not a state.
        parity: bool,
    },
}

/// The forms of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX mode of the same spelling")]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// The forms of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX mode of the same spelling")]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// `shfl`, `vote`, `match`, `redux`, `elect`: lanes exchange values.
#[derive(Clone, Debug)]
pub struct WarpSite {
    /// The result.
    pub dst: Option<Slot>,
    /// The predicate result of `shfl`, `match.all` and `elect`.
    pub valid: Option<Slot>,
    /// The value; `elect` has none, and its members stand here.
    pub value: Slot,
    /// XORed with a predicate value.
    pub flip: u32,
    /// Lane or offset, and clamp of `shfl`.
    pub lane: Option<Slot>,
    /// Clamp and segment mask of `shfl`.
    pub clamp: Option<Slot>,
    /// The members; `None`: the active lanes (before sm_70).
    pub members: Option<Slot>,
    /// What exactly.
    pub mode: WarpMode,
}

/// What the lanes compute together.
#[derive(Clone, Debug)]
pub enum WarpMode {
    /// `shfl`.
    Shuffle(ShuffleMode),
    /// `vote`.
    Vote(VoteMode),
    /// `match.any`.
    MatchAny,
    /// `match.all`.
    MatchAll,
    /// `elect`: the lowest member.
    Elect,
    /// `redux` of integers.
    Reduce(AtomicOp, Type),
    /// `redux` of f32, with the two-operand semantics; the bits of a value that count: not the sign with `.abs`.
    ReduceFloat(Operation, u32),
    /// `movmatrix`: the 8 x 8 matrix of 16-bit elements that the warp holds becomes its transpose.
    Transpose,
}
