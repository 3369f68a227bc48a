//! The modifiers and types of an instruction, consumed one by one.

use super::float::Rounding;
use crate::ptx_isa::{Modifier, Modifiers, Opcode, ScalarOp, Type};

const ROUNDINGS: &[(Modifier, Rounding)] = &[
    (Modifier::Rn, Rounding::NearestEven),
    (Modifier::Rna, Rounding::NearestAway),
    (Modifier::Rz, Rounding::TowardZero),
    (Modifier::Rm, Rounding::Down),
    (Modifier::Rp, Rounding::Up),
];

/// An instruction being resolved: each group of instructions takes what it understands, and whatever is left at the end
/// makes the instruction unsupported, so that no modifier is ever ignored.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub opcode: Opcode,
    /// The number of source operands written.
    pub sources: usize,
    op: &'a ScalarOp,
    modifiers: Modifiers,
    types_taken: u8,
}

impl<'a> Form<'a> {
    pub fn new(op: &'a ScalarOp) -> Self {
        Form { opcode: op.opcode, sources: op.sources.into(), op, modifiers: op.modifiers, types_taken: 0 }
    }

    /// Whether a modifier is left.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.has(modifier)
    }

    /// Takes a modifier; whether it was there.
    pub fn take(&mut self, modifier: Modifier) -> bool {
        let found = self.modifiers.has(modifier);
        self.modifiers.remove(modifier);
        found
    }

    /// Takes the modifier among those of the table, and gives its meaning.
    pub fn take_from<T: Copy>(&mut self, table: &[(Modifier, T)]) -> Option<T> {
        let &(modifier, meaning) = table.iter().find(|row| self.modifiers.has(row.0))?;
        self.modifiers.remove(modifier);
        Some(meaning)
    }

    /// Takes the next type in the order written.
    pub fn take_type(&mut self) -> Option<Type> {
        let next = self.types_taken;
        let ty = *self.op.types.get(usize::from(next)).filter(|_| next < self.op.written_types)?;
        self.types_taken += 1;
        Some(ty)
    }

    pub fn take_rounding(&mut self) -> Option<Rounding> {
        self.take_from(ROUNDINGS)
    }

    /// The part of the destination (0) or of a source (1, 2, 3) that the instruction names.
    pub fn selector(&self, operand: usize) -> crate::ptx_isa::Selector {
        self.op.selectors[operand]
    }

    /// Whether every modifier and type was taken.
    pub fn is_spent(&self) -> bool {
        self.modifiers == Modifiers::default() && self.types_taken == self.op.written_types
    }
}
