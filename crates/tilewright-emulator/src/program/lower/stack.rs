//! Memory of a thread that a function takes while it runs: `alloca`, `stacksave`, `stackrestore`.

use super::{Lowerer, Lowering, unsupported};
use crate::parse::ast::{Immediate, Operand, Statement};
use crate::program::{instruction::*, locals::LocalVariable, names::Pinned, opcode::Split};
use crate::ptx_isa::Type;

/// Bytes that one call of a function can take so. What goes beyond is found when it is accessed.
const BYTES: u32 = 16 << 10;

/// The alignment unless another is asked for.
const ALIGN: u64 = 8;

impl<'a> Lowerer<'a, '_> {
    /// If the function takes memory as it runs: a local variable of which it takes pieces, and a register that says where the next one begins.
    pub fn stack(&mut self, body: &[Statement<'a>]) {
        let takes = |statement: &Statement<'_>| matches!(statement, Statement::Instruction(instruction) if instruction.opcode.starts_with("alloca"));
        if !body.iter().any(takes) {
            return;
        }
        let offset = self.function.local_bytes.next_multiple_of(16);
        self.function.local_bytes = offset + BYTES;
        self.function.locals.push(LocalVariable { name: "alloca".into(), bytes: BYTES, offset });
        let top = self.registers.add(Width::Double, Pinned::Yes);
        self.push(Op::LocalAddress, self.function.locals.len() as u32 - 1).dst = top.place;
        self.top = Some(top);
    }

    /// `alloca.u64 p, bytes, align;`, `stacksave.u64 s;`, `stackrestore.u64 s;`
    pub fn stack_instruction(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(first), Some(top)) = (operands.first(), self.top) else {
            return unsupported("an operand, and an `alloca` in the function are expected");
        };
        match split.base {
            "stacksave" => self.single(Op::Mov64, first, top, Type::U64),
            "stackrestore" => {
                let value = self.source(first, Type::U64)?;
                let inst = self.push(Op::Mov64, 0);
                (inst.dst, inst.a) = (top.place, value.place);
                Ok(())
            }
            _ => self.take(first, &operands[1..], top),
        }
    }

    fn take(&mut self, to: &Operand<'a>, operands: &[Operand<'a>], top: Slot) -> Lowering<()> {
        let [bytes, rest @ ..] = operands else { return unsupported("how many bytes is missing") };
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
