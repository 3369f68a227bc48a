//! Barriers in shared memory that count arrivals: `mbarrier`, and copies that arrive at one.

use super::{Lowerer, Lowering, operands::Target, unsupported};
use crate::parse::ast::Operand;
use crate::program::{instruction::*, opcode::Split};
use crate::ptx_isa::{Modifier, Type};

/// Parts of opcodes that change nothing here: how long a wait may take, and whom the order reaches.
const WITHOUT_EFFECT: &[&str] =
    &["shared", "shared::cta", "shared::cluster", "cta", "cluster", "release", "acquire", "b64"];

impl<'a> Lowerer<'a, '_> {
    /// `mbarrier.init.shared.b64 [a], count;` and what is done with it then.
    pub fn mbarrier(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let words: Vec<&str> = split.text.split('.').skip(1).collect();
        let Some((&what, rest)) = words.split_first() else { return unsupported("an operation is expected") };
        let (mut completes, mut relaxed, mut parity, mut expects) = (true, false, false, false);
        for word in rest {
            match *word {
                "noComplete" => completes = false,
                "relaxed" => relaxed = true,
                "parity" => parity = true,
                "expect_tx" => expects = true,
                known if WITHOUT_EFFECT.contains(&known) => {}
                other => return unsupported(format!("the modifier `.{other}` is not known")),
            }
        }
        if what == "pending_count" {
            return self.pending_count(operands);
        }
        let kind = match what {
            "init" => MbarrierKind::Init,
            "inval" => MbarrierKind::Invalidate,
            "arrive" => MbarrierKind::Arrive { drops: false, completes, expects },
            "arrive_drop" => MbarrierKind::Arrive { drops: true, completes, expects },
            "expect_tx" => MbarrierKind::Expect,
            "complete_tx" => MbarrierKind::Complete,
            "test_wait" | "try_wait" => MbarrierKind::Wait { parity },
            _ => return unsupported("this operation on an mbarrier is not known"),
        };
        let has_result = matches!(kind, MbarrierKind::Arrive { .. } | MbarrierKind::Wait { .. });
        let (to, rest) = match operands {
            [to, rest @ ..] if has_result && !matches!(to, Operand::Address(_)) => (Some(to), rest),
            rest => (None, rest),
        };
        let [address, rest @ ..] = rest else { return unsupported("an address is expected") };
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
        self.push_mbarrier(split, target, kind, operand, dst, relaxed)?;
        self.deliver(destination.as_ref());
        Ok(())
    }

    /// `cp.async.mbarrier.arrive.noinc.shared.b64 [a];`
    pub fn copies_arrive(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let counts = split.text.split('.').any(|word| word == "noinc");
        let target = self.address(operands.first())?;
        self.push_mbarrier(split, target, MbarrierKind::Copies { counts }, None, None, false)
    }

    pub fn push_mbarrier(
        &mut self,
        split: &Split<'a>,
        target: Target,
        kind: MbarrierKind,
        operand: Option<Slot>,
        dst: Option<Slot>,
        relaxed: bool,
    ) -> Lowering<()> {
        let mut memory = self.access(split, target, Type::B64, 1)?;
        memory.values = vec![dst];
        if memory.space == Space::Generic && split.has(Modifier::Shared) {
            memory.space = Space::Shared;
        }
        self.sites.mbarriers.push(MbarrierSite { memory, kind, operand, orders: !relaxed });
        self.push(Rare::Mbarrier, self.sites.mbarriers.len() as u32 - 1);
        Ok(())
    }

    /// How many arrivals a state says are missing: its low bits.
    fn pending_count(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, state] = operands else { return unsupported("two registers are expected") };
        let state = self.source(state, Type::B64)?;
        let mask = self.constants.slot(Width::Double, MBARRIER_COUNT);
        let count = self.temporary(Width::Double);
        let inst = self.push(Op::And64, 0);
        (inst.dst, inst.a, inst.b) = (count.place, state.place, mask.place);
        let word = self.convert(Op::Truncate, count, Width::Word);
        self.single(Op::Mov32, to, word, Type::U32)
    }
}
