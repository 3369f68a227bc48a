//! Memory of a thread that a function takes while it runs: `alloca`, `stacksave`, `stackrestore`.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::parse::ast::{Immediate, Operand};
use crate::program::{
    grammar::{self, Split},
    instruction::*,
    locals::LocalVariable,
    names::Pinned,
};
use crate::ptx_isa::Type;

/// Bytes that one call of a function can take so. What goes beyond is found when it is accessed.
const BYTES: u32 = 16 << 10;

/// The alignment unless another is asked for.
const ALIGN: u64 = 8;

impl<'a> Lowerer<'a, '_> {
    /// If the function takes memory as it runs: a local variable of which it takes pieces, and a register that says where the next one begins.
    pub fn stack(&mut self, splits: &[Option<Split<'_>>]) {
        let takes = |split: &Split<'_>| split.lowering() == grammar::Lowering::Alloca;
        if !splits.iter().flatten().any(takes) {
            return;
        }
        let offset = self.function.local_bytes.next_multiple_of(16);
        self.function.local_bytes = offset + BYTES;
        self.function.locals.push(LocalVariable { name: "alloca".into(), bytes: BYTES, offset });
        let top = self.registers.add(Width::Double, Pinned::Yes);
        self.push(Op::LocalAddress, self.function.locals.len() as u32 - 1).dst = top.place;
        self.top = Some(top);
    }

    /// `stacksave.u64 s;`
    pub fn stack_save(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to] = operands else { return other_form() };
        let top = self.top()?;
        self.single(Op::Mov64, to, top, Type::U64)
    }

    /// `stackrestore.u64 s;`
    pub fn stack_restore(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [from] = operands else { return other_form() };
        let (top, value) = (self.top()?, self.source(from, Type::U64)?);
        let inst = self.push(Op::Mov64, 0);
        (inst.dst, inst.a) = (top.place, value.place);
        Ok(())
    }

    fn top(&self) -> Lowering<Slot> {
        match self.top {
            Some(top) => Ok(top),
            None => unsupported("an `alloca` in the function is expected"),
        }
    }

    /// `alloca.u64 p, bytes, align;`
    pub fn alloca(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, bytes, rest @ ..] = operands else { return other_form() };
        let top = self.top()?;
        let align = match rest.first() {
            Some(Operand::Immediate(Immediate::Int(align))) if align.is_power_of_two() => *align,
            Some(_) => return unsupported("an alignment is a power of two"),
            None => ALIGN,
        };
        let bytes = self.source(bytes, Type::U64)?;
        let [less, mask] =
            [align - 1, align.wrapping_neg()].map(|value| self.constants.slot(Width::Double, value));
        for (op, operand) in [(Op::Add64, less), (Op::And64, mask)] {
            let inst = self.push(op, 0);
            (inst.dst, inst.a, inst.b) = (top.place, top.place, operand.place);
        }
        self.single(Op::Mov64, to, top, Type::U64)?;
        let inst = self.push(Op::Add64, 0);
        (inst.dst, inst.a, inst.b) = (top.place, top.place, bytes.place);
        Ok(())
    }
}
