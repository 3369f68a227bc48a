//! Matrix instructions of warpgroups.

use super::Slot;
use crate::ptx_isa::{Major, MatrixOp};

/// `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub struct WgmmaSite {
    /// The shape, types and arithmetic; m is the 16 rows that each warp has of the 64.
    pub op: MatrixOp,
    /// Where A comes from.
    pub a: WgmmaFactor,
    /// The descriptor of B.
    pub b: Slot,
    /// The registers of D before.
    pub c: Vec<Slot>,
    /// The registers of D.
    pub d: Vec<Slot>,
    /// `scale-d`: whether D is added to, and what to XOR it with.
    pub accumulates: (Slot, u32),
    /// Whether the signs of A and of B change.
    pub negates: [bool; 2],
    /// How A and B lie in shared memory: `Major::Row` has neighbours along k.
    pub majors: [Major; 2],
    /// Row of the access counters, for its operands in shared memory.
    pub counter: u32,
    /// What the code around it does wrong with its registers, and the instruction that does it, if there is one.
    pub misuses: Vec<(RegisterMisuse, Option<u32>)>,
}

/// What code does wrong with the registers of `wgmma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterMisuse {
    /// It reads or writes them before the instruction is waited for.
    Touched,
    /// It has written them, and executes no `wgmma.fence` before the instruction.
    Unfenced,
}

/// Where A of `wgmma` is.
#[derive(Clone, Debug)]
pub enum WgmmaFactor {
    /// In shared memory, as this descriptor says.
    Shared(Slot),
    /// In registers.
    Registers(Vec<Slot>),
}
