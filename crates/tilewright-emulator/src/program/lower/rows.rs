//! Parameters of functions and calls: words in the frame.

use super::{Lowerer, Lowering};
use crate::parse::ast::Operand;
use crate::program::instruction::*;
use crate::ptx_isa::Type;

impl<'a> Lowerer<'a, '_> {
    /// `ld.param` in a function, or of a call's result.
    pub fn load_rows(&mut self, first: Place, offset: u32, ty: Type, to: &Operand<'a>) -> Lowering<()> {
        if ty == Type::Pred {
            return self.load_predicate(first, offset, to);
        }
        for (index, part) in self.parts(to).iter().enumerate() {
            let destination = self.destination(part, ty)?;
            let Some(destination) = destination else { continue };
            let offset = offset + index as u32 * ty.bytes();
            self.sites.rows.push(RowsSite { first, offset, bytes: ty.bytes(), value: destination.slot });
            self.push(Rare::ReadRows, self.sites.rows.len() as u32 - 1);
            self.deliver(Some(&destination));
        }
        Ok(())
    }

    /// `st.param`.
    pub fn store_rows(&mut self, first: Place, offset: u32, ty: Type, from: &Operand<'a>) -> Lowering<()> {
        for (index, part) in self.parts(from).iter().enumerate() {
            let mut value = self.source(part, ty)?;
            if value.width == Width::Predicate {
                value = self.word_of(value);
            }
            let offset = offset + index as u32 * ty.bytes();
            self.sites.rows.push(RowsSite { first, offset, bytes: ty.bytes(), value });
            self.push(Rare::WriteRows, self.sites.rows.len() as u32 - 1);
        }
        Ok(())
    }

    /// A predicate comes as a word.
    fn load_predicate(&mut self, first: Place, offset: u32, to: &Operand<'a>) -> Lowering<()> {
        let Some(destination) = self.destination(to, Type::Pred)? else { return Ok(()) };
        let value = self.temporary(Width::Word);
        self.sites.rows.push(RowsSite { first, offset, bytes: 1, value });
        self.push(Rare::ReadRows, self.sites.rows.len() as u32 - 1);
        let zero = self.constants.slot(Width::Word, 0);
        let inst = self.push(Op::SetpU32(Compare::Ne), 0);
        (inst.dst, inst.a, inst.b) = (destination.slot.place, value.place, zero.place);
        Ok(())
    }

    /// 1 where a predicate holds, and 0 elsewhere.
    fn word_of(&mut self, predicate: Slot) -> Slot {
        let [one, zero] = [1, 0].map(|value| self.constants.slot(Width::Word, value));
        let value = self.temporary(Width::Word);
        let inst = self.push(Op::Selp32, 0);
        (inst.dst, inst.a, inst.b, inst.c) = (value.place, one.place, zero.place, predicate.place);
        value
    }
}
