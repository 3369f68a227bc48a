//! What the instructions of one basic block do to shared memory, and the values of its registers.

use std::collections::HashMap;

use super::{
    function::{Body, Definitions, destination, registers},
    value::{self, ALL_ZEROS, Atom, Origin, Value},
};
use crate::parse::ast::{Instruction, Operand, Statement};
use crate::program::grammar::{Lowering, Split};
use crate::ptx_isa::{Modifier, Opcode, Type};

const SETP: Lowering = Lowering::Scalar(Opcode::Setp, 2);

/// Something that an access may be unable to cross, or an access.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    pub reads: bool,
    pub writes: bool,
    pub access: Option<Access<'a>>,
}

/// An access that may become part of another.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    pub statement: usize,
    pub is_store: bool,
    pub element: u32,
    pub elements: u32,
    pub address: Value<'a>,
}

/// `setp`: which comparison, and of what.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    pub how: Option<Modifier>,
    pub is_signed: bool,
    pub left: Value<'a>,
    pub right: Value<'a>,
}

/// One walk through a block.
#[derive(Clone, Debug, Default)]
pub struct Trace<'a> {
    pub events: Vec<Event<'a>>,
    /// The registers that it writes, with their values at its end.
    pub written: HashMap<&'a str, Value<'a>>,
    pub comparisons: HashMap<&'a str, Comparison<'a>>,
    /// Instructions but for those that only move or steer.
    pub size: u32,
    /// Loads among them.
    pub loads: u32,
}

/// What is known where a block begins.
#[derive(Clone, Copy)]
pub struct Before<'b, 'a> {
    pub block: usize,
    /// Registers with one definition, by the blocks before.
    pub values: &'b HashMap<&'a str, Value<'a>>,
    pub definitions: &'b Definitions<'a>,
    /// Whether the block is a loop that is unrolled, so that what its registers hold at first comes from elsewhere.
    pub is_unrolled: bool,
}

impl<'a> Trace<'a> {
    /// Walks through statements `start..end`.
    pub fn new(body: &Body<'_, 'a>, start: usize, end: usize, before: Before<'_, 'a>) -> Self {
        let mut trace = Self::default();
        for statement in start..end {
            if let (Statement::Instruction(inst), Some(split)) =
                (&body.statements[statement], &body.splits[statement])
            {
                trace.step(body, statement, split, inst, before);
            }
        }
        trace
    }

    fn step(
        &mut self,
        body: &Body<'_, 'a>,
        statement: usize,
        split: &Split<'a>,
        inst: &Instruction<'a>,
        before: Before<'_, 'a>,
    ) {
        let lowering = split.lowering();
        let is_free = matches!(lowering, Lowering::Mov | Lowering::Branch | SETP);
        self.size += u32::from(!is_free);
        self.loads += u32::from(lowering == Lowering::Load);
        let space = if split.has(Modifier::Shared) || split.has(Modifier::SharedCta) {
            Some(true)
        } else {
            let elsewhere = [Modifier::Global, Modifier::Local, Modifier::Const, Modifier::Param];
            let is_elsewhere =
                elsewhere.iter().any(|&space| split.has(space)) || split.has(Modifier::ParamEntry);
            (!is_elsewhere).then_some(false)
        };
        use Lowering::*;
        let (reads, writes) = match lowering {
            Load | Store | StoreAsync | Atomic | Reduction | ReductionAsync if space.is_none() => {
                (false, false)
            }
            Load | LoadMatrix | LoadFragment(_) => (true, false),
            Store | StoreAsync | StoreMatrix | StoreFragment => (false, true),
            Atomic | Reduction | ReductionAsync => (true, true),
            Barrier { .. } | WarpBarrier | ClusterArrive | ClusterWait | Fence | Mbarrier(_) | Call => {
                (true, true)
            }
            CopyAsync | CommitCopies | WaitForCopies | ArriveAfterCopies => (true, true),
            _ => (false, false),
        };
        if reads || writes {
            let is_plain = space == Some(true) && inst.guard.is_none() && !split.has(Modifier::Volatile);
            let access = if is_plain { self.access(body, statement, split, inst, before) } else { None };
            self.events.push(Event { reads, writes, access });
        }
        self.define(body, statement, split, inst, before);
    }

    fn access(
        &self,
        body: &Body<'_, 'a>,
        statement: usize,
        split: &Split<'a>,
        inst: &Instruction<'a>,
        before: Before<'_, 'a>,
    ) -> Option<Access<'a>> {
        let is_store = match split.lowering() {
            Lowering::Load => false,
            Lowering::Store => true,
            _ => return None,
        };
        let (address, data) = match (&inst.operands[..], is_store) {
            ([data, address], false) | ([address, data], true) => (address, data),
            _ => return None,
        };
        let Operand::Address(address) = address else { return None };
        let address = value::operand(address.first()?, &mut |name| self.value(body, name, before))?;
        let registers = match data {
            Operand::Vector(parts) => parts,
            one => std::slice::from_ref(one),
        };
        let element = split.ty(0)?.bytes();
        // Bytes are widened to registers one by one, and so are 16-bit integers that become words.
        let is_widened = |part: &Operand<'a>| matches!(part, Operand::Name(name) if body.is_widened(name));
        if !matches!(element, 2 | 4 | 8) || (element == 2 && !is_store && registers.iter().any(is_widened)) {
            return None;
        }
        Some(Access { statement, is_store, element, elements: registers.len() as u32, address })
    }

    /// What a name stands for at this point.
    fn value(&self, body: &Body<'_, 'a>, name: &'a str, before: Before<'_, 'a>) -> Value<'a> {
        if let Some(&zeros) = body.variables.get(name) {
            return Value::atom(Atom { name, origin: Origin::Given }, zeros);
        }
        if let Some(value) = self.written.get(name).or_else(|| before.values.get(name)) {
            return value.clone();
        }
        if body.is_given(name) {
            return Value::atom(Atom { name, origin: Origin::Given }, 0);
        }
        let outside = before.is_unrolled.then_some(before.block);
        let atom = Atom { name, origin: Origin::Entry(before.block) };
        Value::atom(atom, before.definitions.zeros(name, outside))
    }

    fn define(
        &mut self,
        body: &Body<'_, 'a>,
        statement: usize,
        split: &Split<'a>,
        inst: &Instruction<'a>,
        before: Before<'_, 'a>,
    ) {
        let (Some(to), sources) = destination(inst) else { return };
        let unknown = |name: &'a str, zeros: u32| {
            Value::atom(Atom { name, origin: Origin::Statement(statement) }, zeros.min(ALL_ZEROS))
        };
        match to {
            Operand::Name(name) if split.lowering() == SETP => {
                self.compare(body, name, split, sources, before);
            }
            Operand::Name(name) => {
                let mut known = |name| self.value(body, name, before);
                let value = match inst.guard {
                    Some(_) => unknown(name, 0),
                    None => value::result(split, sources, &mut known, |zeros| unknown(name, zeros)),
                };
                self.written.insert(name, value);
            }
            other => {
                for name in registers(other) {
                    self.written.insert(name, unknown(name, 0));
                }
            }
        }
    }

    fn compare(
        &mut self,
        body: &Body<'_, 'a>,
        to: &'a str,
        split: &Split<'a>,
        sources: &[Operand<'a>],
        before: Before<'_, 'a>,
    ) {
        let mut known = |name| self.value(body, name, before);
        let [left, right] = sources else { return };
        let is_word = split.ty(0).is_some_and(|ty| matches!(ty, Type::U32 | Type::S32 | Type::B32));
        if let (Some(left), Some(right), true) =
            (value::operand(left, &mut known), value::operand(right, &mut known), is_word)
        {
            let how = [Modifier::Ne, Modifier::Lt, Modifier::Le, Modifier::Gt, Modifier::Ge];
            let how = how.into_iter().find(|&how| split.has(how));
            let is_signed = split.ty(0).is_some_and(Type::is_signed);
            self.comparisons.insert(to, Comparison { how, is_signed, left, right });
        }
    }
}
