//! What a bulk copy moves.

use crate::check::Side;
use crate::program::instruction::AtomicOp;
use crate::ptx_isa::Type;
use crate::tensor_map::{ElementType, Row, Swizzle};

/// The side of a copy that is not the shared memory it names first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// Global memory.
    Global,
    /// The own shared memory: the copy goes to another block.
    Shared,
}

/// A bulk copy of a thread.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The block, warp and lane that have issued it, and where.
    pub block: u32,
    pub warp: u32,
    pub lane: u8,
    pub pc: u32,
    /// Whether `shared` is written.
    pub is_load: bool,
    /// The address in shared memory, with the rank of its block.
    pub shared: u64,
    pub far: Far,
    pub rows: Vec<Row>,
    pub swizzle: Swizzle,
    /// The type of the elements of a tensor.
    pub element: Option<ElementType>,
    /// Eight bytes of what lies outside of a tensor.
    pub fill: u64,
    /// What is done with what is there.
    pub reduction: Option<(AtomicOp, Option<Type>)>,
    /// The mbarrier that is told, with the rank of its block.
    pub barrier: Option<u64>,
    /// When it was issued, by its block.
    pub stamp: u32,
    /// Warps, a bit for each, whose wait at the mbarrier has passed while it was on its way.
    pub passed_by: u32,
    /// Whether it is the store of an earlier lane once more, by the same instruction: the epilogues of CUTLASS let a whole warp issue one.
    pub repeats: bool,
    /// What a store has found in shared memory when it was issued.
    pub before: Vec<u8>,
}

impl Transfer {
    /// Who has issued it.
    pub fn side(&self) -> Side {
        Side { pc: Some(self.pc), block: self.block, warp: self.warp, lanes: 1 << self.lane }
    }

    /// Whether both put the same bytes of shared memory in the same place.
    pub fn is_same_store(&self, other: &Self) -> bool {
        let is_plain = self.reduction.is_none() && other.reduction.is_none();
        is_plain && self.shared == other.shared && self.swizzle == other.swizzle && self.rows == other.rows
    }
}
