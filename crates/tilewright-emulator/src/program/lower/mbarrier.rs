//! Barriers in shared memory that count arrivals: `mbarrier`, and copies that arrive at one.

use super::{Lowerer, Lowering, operands::Target, other_form};
use crate::parse::ast::Operand;
use crate::program::{
    grammar::{Mbarrier, Split},
    instruction::*,
};
use crate::ptx_isa::{Modifier, Modifiers, Type};

impl<'a> Lowerer<'a, '_> {
    /// `mbarrier.init.shared.b64 [a], count;` and what is done with it then.
    pub fn mbarrier(&mut self, split: &Split<'a>, what: Mbarrier, operands: &[Operand<'a>]) -> Lowering<()> {
        if split.types.iter().any(|&ty| ty != Type::B64) {
            return other_form();
        }
        let arrive = |drops| MbarrierKind::Arrive {
            drops,
            completes: !split.has(Modifier::NoComplete),
            expects: split.has(Modifier::ExpectTx),
        };
        let kind = match what {
            Mbarrier::Init => MbarrierKind::Init,
            Mbarrier::Invalidate => MbarrierKind::Invalidate,
            Mbarrier::Arrive => arrive(false),
            Mbarrier::ArriveDrop => arrive(true),
            Mbarrier::ExpectTx => MbarrierKind::Expect,
            Mbarrier::CompleteTx => MbarrierKind::Complete,
            Mbarrier::Wait => MbarrierKind::Wait { parity: split.has(Modifier::Parity) },
            Mbarrier::PendingCount => return self.pending_count(operands),
        };
        let has_result = matches!(kind, MbarrierKind::Arrive { .. } | MbarrierKind::Wait { .. });
        let (to, rest) = match operands {
            [to, rest @ ..] if has_result && !matches!(to, Operand::Address(_)) => (Some(to), rest),
            rest => (None, rest),
        };
        let [address, rest @ ..] = rest else { return other_form() };
        let ty = match kind {
            MbarrierKind::Wait { parity: false } => Type::B64,
            _ => Type::U32,
        };
        let operand = match rest.first() {
            Some(operand) => Some(self.source(operand, ty)?),
            None => None,
        };
        let result = if matches!(kind, MbarrierKind::Wait { .. }) { Type::Pred } else { Type::B64 };
        let destination = match to {
            Some(to) => self.destination(to, result)?,
            None => None,
        };
        let target = self.address(Some(address))?;
        let dst = destination.as_ref().map(|d| d.slot);
        self.push_mbarrier(split.modifiers, target, kind, operand, dst, split.has(Modifier::Relaxed))?;
        self.deliver(destination.as_ref());
        Ok(())
    }

    /// `cp.async.mbarrier.arrive.noinc.shared.b64 [a];`
    pub fn copies_arrive(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let counts = split.has(Modifier::NoInc);
        let target = self.address(operands.first())?;
        self.push_mbarrier(split.modifiers, target, MbarrierKind::Copies { counts }, None, None, false)
    }

    pub fn push_mbarrier(
        &mut self,
        modifiers: Modifiers,
        target: Target,
        kind: MbarrierKind,
        operand: Option<Slot>,
        dst: Option<Slot>,
        relaxed: bool,
    ) -> Lowering<()> {
        let mut memory = self.access(modifiers, target, Type::B64, 1)?;
        memory.values = vec![dst];
        if memory.space == Space::Generic && modifiers.has(Modifier::Shared) {
            memory.space = Space::Shared;
        }
        self.sites.mbarriers.push(MbarrierSite { memory, kind, operand, orders: !relaxed });
        self.push(Rare::Mbarrier, self.sites.mbarriers.len() as u32 - 1);
        Ok(())
    }

    /// How many arrivals a state says are missing: its low bits.
    fn pending_count(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, state] = operands else { return other_form() };
        let state = self.source(state, Type::B64)?;
        let mask = self.constants.slot(Width::Double, MBARRIER_COUNT);
        let count = self.temporary(Width::Double);
        let inst = self.push(Op::And64, 0);
        (inst.dst, inst.a, inst.b) = (count.place, state.place, mask.place);
        let word = self.convert(Op::Truncate, count, Width::Word);
        self.single(Op::Mov32, to, word, Type::U32)
    }
}
