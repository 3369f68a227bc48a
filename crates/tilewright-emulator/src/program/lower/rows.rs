//! Parameters of functions and calls: words in the frame.

use super::{Lowerer, Lowering, unsupported};
use crate::parse::ast::Operand;
use crate::program::instruction::*;
use crate::ptx_isa::Type;

impl<'a> Lowerer<'a, '_> {
    /// `ld.param` in a function, or of a call's result.
    pub fn load_rows(&mut self, first: Place, offset: u32, ty: Type, to: &Operand<'a>) -> Lowering<()> {
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
            let value = self.source(part, ty)?;
            if value.width == Width::Predicate {
                return unsupported("a predicate is no parameter");
            }
            let offset = offset + index as u32 * ty.bytes();
            self.sites.rows.push(RowsSite { first, offset, bytes: ty.bytes(), value });
            self.push(Rare::WriteRows, self.sites.rows.len() as u32 - 1);
        }
        Ok(())
    }
}
