//! Loads, stores, atomics, asynchronous copies, and what is known about addresses.

use super::{Lowerer, Lowering, operands::Target, other_form, unsupported, width_of};
use crate::alu;
use crate::parse::ast::{Immediate, Operand};
use crate::program::{grammar::Split, instruction::*, layout::address};
use crate::ptx_isa::{Modifier, Modifiers, Opcode, ScalarOp, Type};

const SPACES: &[(Modifier, Space)] = &[
    (Modifier::Global, Space::Global),
    (Modifier::Shared, Space::Shared),
    (Modifier::SharedCta, Space::Shared),
    (Modifier::SharedCluster, Space::Shared),
    (Modifier::Local, Space::Local),
    (Modifier::Const, Space::Const),
    (Modifier::Param, Space::Param),
    (Modifier::ParamEntry, Space::Param),
    (Modifier::ParamFunc, Space::Param),
];

const VECTORS: &[(Modifier, u32)] = &[(Modifier::V2, 2), (Modifier::V4, 4), (Modifier::V8, 8)];

const ORDERS: &[(Modifier, Order)] = &[
    (Modifier::Volatile, Order::Volatile),
    (Modifier::Relaxed, Order::Strong),
    (Modifier::Acquire, Order::Strong),
    (Modifier::Release, Order::Strong),
    (Modifier::AcqRel, Order::Strong),
    (Modifier::Mmio, Order::Strong),
];

const ATOMICS: &[(Modifier, AtomicOp)] = &[
    (Modifier::Add, AtomicOp::Add),
    (Modifier::Min, AtomicOp::Min),
    (Modifier::Max, AtomicOp::Max),
    (Modifier::Inc, AtomicOp::Inc),
    (Modifier::Dec, AtomicOp::Dec),
    (Modifier::Exch, AtomicOp::Exch),
    (Modifier::Cas, AtomicOp::Cas),
    (Modifier::And, AtomicOp::And),
    (Modifier::Or, AtomicOp::Or),
    (Modifier::Xor, AtomicOp::Xor),
];

impl<'a> Lowerer<'a, '_> {
    /// `red`: an atomic whose result nobody takes.
    pub fn reduction(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let mut with_sink = vec![Operand::Name("_")];
        with_sink.extend_from_slice(operands);
        self.atomic(split, &with_sink)
    }

    /// `createpolicy`: a policy says nothing to the emulator, but it is a value.
    pub fn cache_policy(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, ..] = operands else { return other_form() };
        let zero = self.constants.slot(Width::Double, 0);
        self.single(Op::Mov64, to, zero, Type::B64)
    }

    /// The description of an access without its registers.
    pub fn access(
        &mut self,
        modifiers: Modifiers,
        target: Target,
        ty: Type,
        elements: u32,
    ) -> Lowering<MemorySite> {
        let Target::Address(address) = target else { return unsupported("parameters have no address here") };
        // Without a space, an address that names a variable is one in the space of the variable.
        let space = modifiers.pick(SPACES).or(address.space).unwrap_or(Space::Generic);
        let order = modifiers.pick(ORDERS).unwrap_or(Order::Weak);
        let releases = modifiers.has(Modifier::Release)
            || modifiers.has(Modifier::AcqRel)
            || modifiers.has(Modifier::Sc);
        Ok(MemorySite {
            space,
            bytes: ty.bytes(),
            elements,
            order,
            scope: if modifiers.has(Modifier::Cta) { Scope::Block } else { Scope::Device },
            is_flag: false,
            releases: if releases { Releases::Yes } else { Releases::No },
            base: address.base,
            offset: address.offset,
            values: Vec::new(),
            counter: 0,
            issue: self.issue.take(),
            is_read_only: modifiers.has(Modifier::Nc),
        })
    }

    pub fn load(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, from, ..]) = (split.ty(0).map(element_type), operands) else {
            return other_form();
        };
        width_of(ty)?;
        let target = self.address(Some(from))?;
        if let Target::Rows(first, offset) = target {
            return self.load_rows(first, offset, ty, to);
        }
        let parts = self.parts(to);
        check_vector(split, parts)?;
        let mut site = self.access(split.modifiers, target, ty, parts.len() as u32)?;
        let mut destinations = Vec::with_capacity(parts.len());
        for part in parts {
            destinations.push(self.destination(part, ty)?);
        }
        site.values = destinations.iter().map(|d| d.as_ref().map(|d| d.slot)).collect();
        let op = match (site.space, site.order) {
            (Space::Param, _) => Op::LoadParam,
            (Space::Global | Space::Shared | Space::Generic, Order::Volatile | Order::Strong) => {
                Rare::Poll.into()
            }
            _ => Op::Load,
        };
        self.sites.memories.push(site);
        self.push(op, self.sites.memories.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }

    pub fn store(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, from, ..]) = (split.ty(0).map(element_type), operands) else {
            return other_form();
        };
        width_of(ty)?;
        let target = self.address(Some(to))?;
        if let Target::Rows(first, offset) = target {
            return self.store_rows(first, offset, ty, from);
        }
        let parts = self.parts(from);
        check_vector(split, parts)?;
        let mut site = self.access(split.modifiers, target, ty, parts.len() as u32)?;
        for part in parts {
            let slot = match part {
                Operand::Name("_") => None,
                _ => Some(self.source(part, ty)?),
            };
            site.values.push(slot);
        }
        self.sites.memories.push(site);
        self.push(Op::Store, self.sites.memories.len() as u32 - 1);
        Ok(())
    }

    pub fn atomic(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, address, values @ ..]) = (split.ty(0), operands) else {
            return other_form();
        };
        let register = element_type(ty);
        width_of(register)?;
        let Some(op) = split.modifiers.pick(ATOMICS) else { return other_form() };
        let wanted = if op == AtomicOp::Cas { 2 } else { 1 };
        if values.len() < wanted {
            return other_form();
        }
        if ty == Type::B128 && !matches!(op, AtomicOp::Cas | AtomicOp::Exch) {
            return unsupported("128 bits are only exchanged, and compared and swapped");
        }
        let elements = self.parts(&values[0]).len();
        check_vector(split, self.parts(&values[0]))?;
        let target = self.address(Some(address))?;
        let mut memory = self.access(split.modifiers, target, register, elements as u32)?;
        memory.order = Order::Strong;
        let mut slots = vec![[None; 2]; elements];
        for (which, value) in values[..wanted].iter().enumerate() {
            check_vector(split, self.parts(value))?;
            for (slots, part) in slots.iter_mut().zip(self.parts(value)) {
                slots[which] = Some(self.source(part, register)?);
            }
        }
        let eval = self.float_semantics(op, ty)?;
        let mut destinations = Vec::with_capacity(elements);
        for part in self.parts(to) {
            destinations.push(self.destination(part, register)?);
        }
        memory.values = destinations.iter().map(|d| d.as_ref().map(|d| d.slot)).collect();
        let maybe_shared = matches!(memory.space, Space::Shared | Space::Generic);
        let loads = (maybe_shared && is_loop(op, ty)).then_some(0);
        self.sites.atomics.push(AtomicSite { memory, op, ty, operands: slots, eval, loads });
        self.push(Rare::Atomic, self.sites.atomics.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }

    fn float_semantics(&self, op: AtomicOp, ty: Type) -> Lowering<Option<alu::Operation>> {
        let opcode = match op {
            AtomicOp::Add => Opcode::Add,
            AtomicOp::Min => Opcode::Min,
            AtomicOp::Max => Opcode::Max,
            _ => return Ok(None),
        };
        if !ty.is_float() {
            return Ok(None);
        }
        let rounding = (opcode == Opcode::Add).then_some(Modifier::Rn);
        let op = ScalarOp::of_two(opcode, ty, rounding.into_iter().collect());
        match alu::prepare(&op) {
            Some(eval) => Ok(Some(eval)),
            None => unsupported("this type is not supported in atomics"),
        }
    }

    /// Generic addresses are those of global memory; shared and local memory are windows.
    pub fn cvta(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, from] = operands else { return other_form() };
        let window = match split.modifiers.pick(SPACES) {
            Some(Space::Shared) => address::SHARED_WINDOW,
            Some(Space::Local) => address::LOCAL_WINDOW,
            Some(Space::Param) => address::PARAM_WINDOW,
            Some(_) => 0,
            None => return other_form(),
        };
        let value = self.source(from, Type::U64)?;
        if window == 0 {
            return self.single(Op::Mov64, to, value, Type::U64);
        }
        let window = self.constants.slot(Width::Double, window);
        let destination = self.destination(to, Type::U64)?;
        if let Some(destination) = &destination {
            let inst = self.push(if split.has(Modifier::To) { Op::Sub64 } else { Op::Add64 }, 0);
            (inst.dst, inst.a, inst.b) = (destination.slot.place, value.place, window.place);
        }
        self.deliver(destination.as_ref());
        Ok(())
    }

    pub fn isspacep(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(space), [to, from]) = (split.modifiers.pick(SPACES), operands) else {
            return other_form();
        };
        let address = self.source(from, Type::U64)?;
        let Some(destination) = self.destination(to, Type::Pred)? else { return Ok(()) };
        let of_cluster = split.has(Modifier::SharedCluster);
        self.sites.spaces.push(SpaceSite { space, of_cluster, address, dst: destination.slot });
        self.push(Rare::IsSpace, self.sites.spaces.len() as u32 - 1);
        Ok(())
    }

    /// `cp.async.wait_group n;` and `cp.async.wait_all;`, which waits for copies that no group holds too.
    pub fn wait_for_copies(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let open = match operands.first() {
            Some(Operand::Immediate(Immediate::Int(open))) => *open as u32,
            _ => u32::MAX,
        };
        self.push(Rare::WaitGroup, open);
        Ok(())
    }

    /// `cp.async.ca.shared.global [to], [from], bytes;`
    pub fn copy_async(&mut self, operands: &[Operand<'a>]) -> Lowering<()> {
        let [to, from, size, rest @ ..] = operands else {
            return other_form();
        };
        let bytes = match size {
            Operand::Immediate(Immediate::Int(bytes @ (4 | 8 | 16))) => *bytes as u32,
            _ => return unsupported("a copy has 4, 8 or 16 bytes"),
        };
        let side = |space: Modifier| [space].into_iter().collect();
        let target = self.address(Some(to))?;
        let mut to = self.access(side(Modifier::Shared), target, Type::B8, 1)?;
        let target = self.address(Some(from))?;
        let mut from = self.access(side(Modifier::Global), target, Type::B8, 1)?;
        (to.bytes, from.bytes) = (bytes, bytes);
        let (mut source_bytes, mut ignore) = (None, None);
        if let Some(operand) = rest.first() {
            // A cache policy, which is a 64-bit register, means nothing here.
            match operand {
                Operand::Name(name) => {
                    let register = self.register(name)?;
                    match register.slot.width {
                        Width::Predicate => ignore = Some((register.slot, 0)),
                        Width::Word => source_bytes = Some(register.slot),
                        Width::Double => {}
                    }
                }
                Operand::Not(_) => ignore = Some(self.predicate(operand)?),
                _ => source_bytes = Some(self.source(operand, Type::U32)?),
            }
        }
        self.sites.copies.push(CopySite { to, from, source_bytes, ignore });
        self.push(Rare::CopyAsync, self.sites.copies.len() as u32 - 1);
        Ok(())
    }
}

/// The type of the registers that hold a value: one of 128 bits has two.
fn element_type(ty: Type) -> Type {
    if ty == Type::B128 { Type::B64 } else { ty }
}

fn check_vector(split: &Split<'_>, parts: &[Operand<'_>]) -> Lowering<()> {
    let halves = if split.ty(0) == Some(Type::B128) { 2 } else { 1 };
    let wanted = halves * split.modifiers.pick(VECTORS).unwrap_or(1);
    if parts.len() != wanted as usize {
        return unsupported(format!("{wanted} registers are expected"));
    }
    Ok(())
}
