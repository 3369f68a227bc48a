//! Instructions that compute, where an [`Inst`](super::Inst) has no room for all of their operands.

use super::Slot;
use crate::alu::{MAX_SOURCES, Operation};
use crate::ptx_isa::MatrixOp;

/// An instruction of the scalar semantics.
#[derive(Clone, Debug)]
pub struct ScalarSite {
    /// The evaluation.
    pub eval: Operation,
    /// The bit of the result that is the second destination.
    pub second_bit: u32,
    /// Destination; a second one for `p|q`.
    pub dst: [Option<Slot>; 2],
    /// Sources, and whether a predicate source is inverted.
    pub src: [Option<Slot>; MAX_SOURCES],
    /// XORed with predicate sources.
    pub flip: [u64; MAX_SOURCES],
    /// Mask of the bits of the destination type.
    pub mask: u64,
}

/// A vector in or out of one register.
#[derive(Clone, Debug)]
pub struct PackSite {
    /// The wide register.
    pub whole: Slot,
    /// The elements, low first.
    pub parts: Vec<Option<Slot>>,
    /// Bits of an element.
    pub bits: u32,
}

/// Carry chains.
#[derive(Clone, Copy, Debug)]
pub struct CarrySite {
    /// Which sum.
    pub sum: CarrySum,
    /// Whether the carry flag goes in.
    pub carry_in: CarryUse,
    /// Whether it comes out.
    pub carry_out: CarryUse,
    /// 32 or 64.
    pub bits: u32,
    /// Signed product (`mad.hi.cc.s32`).
    pub signed: Signed,
    /// Destination and sources.
    pub dst: Option<Slot>,
    /// Sources.
    pub src: [Option<Slot>; 3],
}

/// Signedness of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// `.s32`, `.s64`.
    Yes,
    /// `.u32`, `.u64`.
    No,
}

/// The sums of carry chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX instruction of the same spelling")]
pub enum CarrySum {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// Whether the carry flag takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryUse {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// `mma.sync` and `wmma.mma`.
#[derive(Clone, Debug)]
pub struct MmaSite {
    /// The description for the semantics.
    pub op: MatrixOp,
    /// Fragments.
    pub d: Vec<Slot>,
    /// A.
    pub a: Vec<Slot>,
    /// B.
    pub b: Vec<Slot>,
    /// C.
    pub c: Vec<Slot>,
}
