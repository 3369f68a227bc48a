//! Barriers, fences, and exchanges between the lanes of a warp.

use super::{Lowerer, Lowering, other_form, unsupported};
use crate::alu;
use crate::parse::ast::{Immediate, Operand};
use crate::program::{grammar::Split, instruction::*};
use crate::ptx_isa::{Modifier, Modifiers, Opcode, ScalarOp, Type};

impl<'a> Lowerer<'a, '_> {
    /// `fence` and `membar`.
    pub fn fence(&mut self, split: &Split<'a>) -> Lowering<()> {
        // How far a fence reaches: 0 the block, 1 the device and beyond.
        let far = split.has(Modifier::Gl) || split.has(Modifier::Sys) || split.has(Modifier::Gpu);
        self.push(Rare::Fence, u32::from(far));
        Ok(())
    }

    pub fn warp_sync(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [mask] = operands else { return other_form() };
        let mask = self.source(mask, Type::B32)?;
        self.push(Op::WarpSync, 0).a = mask.place;
        Ok(())
    }

    pub fn barrier(&mut self, split: &Split<'a>, aligned: bool, operands: &[Operand<'a>]) -> Lowering<()> {
        let kind = match () {
            () if split.has(Modifier::Popc) => BarrierKind::Popc,
            () if split.has(Modifier::And) => BarrierKind::And,
            () if split.has(Modifier::Or) => BarrierKind::Or,
            () if split.has(Modifier::Arrive) => BarrierKind::Arrive,
            () => BarrierKind::Sync,
        };
        let reduces = matches!(kind, BarrierKind::Popc | BarrierKind::And | BarrierKind::Or);
        let (to, rest) = if reduces {
            let [to, rest @ ..] = operands else { return other_form() };
            (Some(to), rest)
        } else {
            (None, operands)
        };
        let (predicate, rest) = match (reduces, rest) {
            (true, [rest @ .., last]) => (Some(self.predicate(last)?), rest),
            (true, []) => return other_form(),
            (false, rest) => (None, rest),
        };
        let Some(id) = rest.first() else { return other_form() };
        let (id, number) = match id {
            Operand::Immediate(Immediate::Int(number)) => (None, *number as u32),
            register => (Some(self.source(register, Type::U32)?), 0),
        };
        let threads = match rest.get(1) {
            Some(operand) => Some(self.source(operand, Type::U32)?),
            None => None,
        };
        let aligned = aligned || split.has(Modifier::Aligned);
        let ty = if kind == BarrierKind::Popc { Type::U32 } else { Type::Pred };
        let destination = match to {
            Some(to) => self.destination(to, ty)?,
            None => None,
        };
        self.sites.barriers.push(BarrierSite {
            id,
            number,
            threads,
            kind,
            aligned: if aligned { Aligned::Yes } else { Aligned::No },
            dst: destination.as_ref().map(|d| d.slot),
            predicate,
        });
        self.push(Op::Barrier, self.sites.barriers.len() as u32 - 1);
        self.deliver(destination.as_ref());
        Ok(())
    }

    pub fn shuffle(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        const MODES: &[(Modifier, ShuffleMode)] = &[
            (Modifier::Up, ShuffleMode::Up),
            (Modifier::Down, ShuffleMode::Down),
            (Modifier::Bfly, ShuffleMode::Butterfly),
            (Modifier::Idx, ShuffleMode::Index),
        ];
        let (Some(mode), [to, value, lane, clamp, rest @ ..]) = (split.modifiers.pick(MODES), operands)
        else {
            return other_form();
        };
        let (to, valid) = match to {
            Operand::Pair(to, valid) => (Operand::Name(to), Some(Operand::Name(valid))),
            single => (single.clone(), None),
        };
        let value = self.source(value, Type::B32)?;
        let lane = Some(self.source(lane, Type::B32)?);
        let clamp = Some(self.source(clamp, Type::B32)?);
        let members = match rest.first() {
            Some(mask) => Some(self.source(mask, Type::B32)?),
            None => None,
        };
        let destination = self.destination(&to, Type::B32)?;
        let valid = match &valid {
            Some(valid) => self.destination(valid, Type::Pred)?.map(|d| d.slot),
            None => None,
        };
        let site = WarpSite {
            dst: destination.as_ref().map(|d| d.slot),
            valid,
            value,
            flip: 0,
            lane,
            clamp,
            members,
            mode: WarpMode::Shuffle(mode),
        };
        self.warp(Op::Shuffle, site);
        self.deliver(destination.as_ref());
        Ok(())
    }

    fn warp(&mut self, op: Op, site: WarpSite) {
        self.sites.warps.push(site);
        self.push(op, self.sites.warps.len() as u32 - 1);
    }

    pub fn vote(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        const MODES: &[(Modifier, VoteMode)] = &[
            (Modifier::Ballot, VoteMode::Ballot),
            (Modifier::All, VoteMode::All),
            (Modifier::Any, VoteMode::Any),
            (Modifier::Uni, VoteMode::Uniform),
        ];
        let (Some(mode), [to, predicate, rest @ ..]) = (split.modifiers.pick(MODES), operands) else {
            return other_form();
        };
        let (value, flip) = self.predicate(predicate)?;
        let members = match rest.first() {
            Some(mask) => Some(self.source(mask, Type::B32)?),
            None => None,
        };
        let ty = if mode == VoteMode::Ballot { Type::B32 } else { Type::Pred };
        let destination = self.destination(to, ty)?;
        let site = WarpSite {
            dst: destination.as_ref().map(|d| d.slot),
            valid: None,
            value,
            flip,
            lane: None,
            clamp: None,
            members,
            mode: WarpMode::Vote(mode),
        };
        self.warp(Op::Vote, site);
        self.deliver(destination.as_ref());
        Ok(())
    }

    pub fn match_sync(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, value, mask]) = (split.ty(0), operands) else {
            return other_form();
        };
        let (to, valid) = match to {
            Operand::Pair(to, valid) => (Operand::Name(to), Some(Operand::Name(valid))),
            single => (single.clone(), None),
        };
        let value = self.source(value, ty)?;
        let members = Some(self.source(mask, Type::B32)?);
        let destination = self.destination(&to, Type::B32)?;
        let valid = match &valid {
            Some(valid) => self.destination(valid, Type::Pred)?.map(|d| d.slot),
            None => None,
        };
        let mode = if split.has(Modifier::All) { WarpMode::MatchAll } else { WarpMode::MatchAny };
        let site = WarpSite {
            dst: destination.as_ref().map(|d| d.slot),
            valid,
            value,
            flip: 0,
            lane: None,
            clamp: None,
            members,
            mode,
        };
        self.warp(Op::Match, site);
        self.deliver(destination.as_ref());
        Ok(())
    }

    pub fn redux(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        const OPS: &[(Modifier, AtomicOp)] = &[
            (Modifier::Add, AtomicOp::Add),
            (Modifier::Min, AtomicOp::Min),
            (Modifier::Max, AtomicOp::Max),
            (Modifier::And, AtomicOp::And),
            (Modifier::Or, AtomicOp::Or),
            (Modifier::Xor, AtomicOp::Xor),
        ];
        let (Some(ty), Some(op), [to, value, mask]) = (split.ty(0), split.modifiers.pick(OPS), operands)
        else {
            return other_form();
        };
        let mode = if ty == Type::F32 {
            let opcode = if op == AtomicOp::Min { Opcode::Min } else { Opcode::Max };
            let kept = [Modifier::Nan].into_iter().filter(|&modifier| split.has(modifier));
            let semantics = ScalarOp::of_two(opcode, ty, kept.collect::<Modifiers>());
            let bits = if split.has(Modifier::Abs) { i32::MAX as u32 } else { u32::MAX };
            match alu::prepare(&semantics) {
                Some(eval) => WarpMode::ReduceFloat(eval, bits),
                None => return unsupported("this reduction is not supported"),
            }
        } else {
            WarpMode::Reduce(op, ty)
        };
        let value = self.source(value, ty)?;
        let members = Some(self.source(mask, Type::B32)?);
        let destination = self.destination(to, ty)?;
        let site = WarpSite {
            dst: destination.as_ref().map(|d| d.slot),
            valid: None,
            value,
            flip: 0,
            lane: None,
            clamp: None,
            members,
            mode,
        };
        self.warp(Op::Redux, site);
        self.deliver(destination.as_ref());
        Ok(())
    }

    /// `movmatrix.sync.aligned.m8n8.trans.b16 d, a`.
    pub fn transpose(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, value] = operands else { return other_form() };
        let value = self.source(value, Type::B32)?;
        let destination = self.destination(to, Type::B32)?;
        let site = WarpSite {
            dst: destination.as_ref().map(|d| d.slot),
            valid: None,
            value,
            flip: 0,
            lane: None,
            clamp: None,
            members: Some(self.constants.slot(Width::Word, u64::from(u32::MAX))),
            mode: WarpMode::Transpose,
        };
        self.warp(Op::Redux, site);
        self.deliver(destination.as_ref());
        Ok(())
    }

    pub fn active_mask(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to] = operands else { return other_form() };
        if let Some(destination) = self.destination(to, Type::B32)? {
            self.push(Rare::ActiveMask, 0).dst = destination.slot.place;
            self.deliver(Some(&destination));
        }
        Ok(())
    }

    /// `elect.sync d|p, mask`: the lowest member.
    pub fn elect(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [Operand::Pair(leader, elected), mask] = operands else {
            return other_form();
        };
        let mask = self.source(mask, Type::B32)?;
        let leader = self.destination(&Operand::Name(leader), Type::B32)?;
        let elected = self.destination(&Operand::Name(elected), Type::Pred)?;
        let site = WarpSite {
            dst: leader.as_ref().map(|d| d.slot),
            valid: elected.map(|d| d.slot),
            value: mask,
            flip: 0,
            lane: None,
            clamp: None,
            members: Some(mask),
            mode: WarpMode::Elect,
        };
        self.warp(Op::Elect, site);
        self.deliver(leader.as_ref());
        Ok(())
    }
}
