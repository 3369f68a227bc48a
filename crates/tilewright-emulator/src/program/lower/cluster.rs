//! What blocks of a cluster do with each other's shared memory: addresses by rank, and stores that an mbarrier waits for.

use super::{Lowerer, Lowering, other_form};
use crate::parse::ast::{Immediate, Operand};
use crate::program::{grammar::Split, instruction::*, layout::address};
use crate::ptx_isa::{Modifier, Type};

impl<'a> Lowerer<'a, '_> {
    /// `mapa.shared::cluster.u32 d, a, rank;`: the address of the same variable in another block.
    pub fn mapa(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, from, rank]) = (split.ty(0), operands) else {
            return other_form();
        };
        let wide = ty.bits() == 64;
        let (from, rank) = (self.source(from, ty)?, self.source(rank, Type::U32)?);
        let rank = self.combined(Op::Shl32, rank, u64::from(address::RANK_SHIFT), Width::Word);
        let kept = !address::RANK_FIELD;
        let (and, or, width) =
            if wide { (Op::And64, Op::Or64, Width::Double) } else { (Op::And32, Op::Or32, Width::Word) };
        let rank = if wide { self.convert(Op::ExtendU32, rank, width) } else { rank };
        let base = self.combined(and, from, kept, width);
        let sum = self.temporary(width);
        let inst = self.push(or, 0);
        (inst.dst, inst.a, inst.b) = (sum.place, base.place, rank.place);
        self.single(if wide { Op::Mov64 } else { Op::Mov32 }, to, sum, ty)
    }

    /// `getctarank.shared::cluster.u32 d, a;`: whose shared memory an address is in.
    pub fn rank_of(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, from]) = (split.ty(0), operands) else {
            return other_form();
        };
        let from = self.source(from, ty)?;
        let low =
            if from.width == Width::Double { self.convert(Op::Truncate, from, Width::Word) } else { from };
        let shifted = self.combined(Op::ShrU32, low, u64::from(address::RANK_SHIFT), Width::Word);
        let rank = self.combined(Op::And32, shifted, address::RANK_FIELD >> address::RANK_SHIFT, Width::Word);
        let own = self.temporary(Width::Word);
        self.push(Op::Read(Special::ClusterCtarank), 0).dst = own.place;
        let is_own = self.temporary(Width::Predicate);
        let mark = self.constants.slot(Width::Word, address::OWN_BLOCK >> address::RANK_SHIFT);
        let inst = self.push(Op::SetpU32(Compare::Ge), 0);
        (inst.dst, inst.a, inst.b) = (is_own.place, rank.place, mark.place);
        let found = self.temporary(Width::Word);
        let inst = self.push(Op::Selp32, 0);
        (inst.dst, inst.a, inst.b, inst.c) = (found.place, own.place, rank.place, is_own.place);
        self.single(Op::Mov32, to, found, Type::U32)
    }

    /// `st.async` and `red.async`: the access, and the bytes of it at an mbarrier that waits for them. The data are there at once.
    pub fn asynchronous(
        &mut self,
        split: &Split<'a>,
        operands: &[Operand<'a>],
        access: impl FnOnce(&mut Self, &Split<'a>, &[Operand<'a>]) -> Lowering<()>,
    ) -> Lowering<()> {
        let [rest @ .., barrier] = operands else { return other_form() };
        let Some(ty) = split.ty(0) else { return other_form() };
        access(self, split, rest)?;
        let vectors = [(Modifier::V2, 2), (Modifier::V4, 4), (Modifier::V8, 8)];
        let bytes = ty.bytes() * split.modifiers.pick(&vectors).unwrap_or(1);
        let bytes = self.immediate(Immediate::Int(bytes.into()), Type::U32)?;
        let target = self.address(Some(barrier))?;
        self.push_mbarrier(split.modifiers, target, MbarrierKind::Complete, Some(bytes), None, false)
    }

    /// `op` of a register and a number, in a new register.
    fn combined(&mut self, op: Op, from: Slot, number: u64, width: Width) -> Slot {
        let (number, to) = (self.constants.slot(width, number), self.temporary(width));
        let inst = self.push(op, 0);
        (inst.dst, inst.a, inst.b) = (to.place, from.place, number.place);
        to
    }
}
