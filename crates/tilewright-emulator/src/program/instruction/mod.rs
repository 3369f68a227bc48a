//! The decoded instruction: small, flat, with every name resolved.

mod arithmetic;
mod bulk;
mod calls;
mod class;
mod memory;
mod op;
mod spin;
mod sync;
mod tensor;

pub use arithmetic::*;
pub use bulk::*;
pub use calls::*;
pub use class::*;
pub use memory::*;
pub use op::*;
pub use spin::is_loop;
pub use sync::*;
pub use tensor::*;

use crate::ptx_isa::{Kind, Type};

/// Where an operand lies: a byte offset into the frame of the executing function if not negative, else into the program's constants
/// (`-1 - offset`). Registers are rows of 32 lanes, predicates are masks of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub i32);

impl Place {
    /// For an operand that is not there.
    pub const NONE: Place = Place(i32::MAX);
}

/// How an operand is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// A mask with a bit per lane.
    Predicate,
    /// `[u32; 32]`; narrower values have zeros above.
    Word,
    /// `[u64; 32]`.
    Double,
}

impl Width {
    /// Bytes of a row.
    pub const fn bytes(self) -> i32 {
        match self {
            Width::Predicate => 4,
            Width::Word => 128,
            Width::Double => 256,
        }
    }

    /// The storage of a register of type `ty`; `None` for 128 bits.
    pub fn of(ty: Type) -> Option<Self> {
        match (ty.kind(), ty.bits()) {
            (Kind::Predicate, _) => Some(Width::Predicate),
            (_, 0..=32) => Some(Width::Word),
            (_, 33..=64) => Some(Width::Double),
            _ => None,
        }
    }
}

/// An operand with its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where.
    pub place: Place,
    /// How.
    pub width: Width,
}

/// A guard: lanes whose predicate differs from `when` sit the instruction out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate, or [`Place::NONE`].
    pub place: Place,
    /// XORed with the predicate: all ones for `@!p`.
    pub flip: u32,
}

impl Guard {
    /// No guard.
    pub const NONE: Guard = Guard { place: Place::NONE, flip: 0 };
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// An index whose meaning `op` knows: a site, a block, a target.
    pub aux: u32,
    /// Destination.
    pub dst: Place,
    /// First source.
    pub a: Place,
    /// Second source.
    pub b: Place,
    /// Third source.
    pub c: Place,
    /// Who takes part.
    pub guard: Guard,
}
