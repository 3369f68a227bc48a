//! Operands: registers, immediates, special registers and addresses of symbols.

use super::{
    Lowerer, Lowering, Refusal,
    special::{self, Reading},
    unsupported, width_of,
};
use crate::parse::ast::{Generic, Immediate, Operand};
use crate::program::{
    instruction::*,
    layout::{ModuleName, immediate_bits},
    names::{Local, Register},
};
use crate::ptx_isa::{Kind, Type};

/// What has to happen to a result before it is in the register that the program names.
pub struct Destination {
    /// Where the instruction writes.
    pub slot: Slot,
    after: Vec<Op>,
    register: Slot,
}

/// A resolved memory address.
pub struct Address {
    /// The register part.
    pub base: Option<Slot>,
    /// The constant part.
    pub offset: i64,
    /// The space of the variable that it names, where that is no global one.
    pub space: Option<Space>,
}

/// What a name in brackets leads to.
pub enum Target {
    /// An address in some space.
    Address(Address),
    /// The rows of a parameter, and an offset into it.
    Rows(Place, u32),
}

impl<'a> Lowerer<'a, '_> {
    /// The register called `name`.
    pub fn register(&mut self, name: &'a str) -> Lowering<Register> {
        match self.scopes.find(name, &mut self.registers) {
            Some(Local::Register(register)) => Ok(register),
            Some(_) => unsupported(format!("`{name}` is no register")),
            None => self.undeclared(name),
        }
    }

    /// Register `index` of the vector variable called `name`.
    fn element(&mut self, name: &'a str, index: u32) -> Lowering<Register> {
        match self.scopes.find(name, &mut self.registers) {
            Some(Local::Vector(vector)) => Ok(vector.element(index)),
            _ => self.undeclared(name),
        }
    }

    /// An operand, and in place of every vector variable that it names the registers of it.
    pub fn pieces(&mut self, operand: &Operand<'a>) -> Operand<'a> {
        match operand {
            Operand::Name(name) => match self.scopes.find(name, &mut self.registers) {
                Some(Local::Vector(vector)) => {
                    Operand::Vector((0..vector.count).map(|index| Operand::Element(name, index)).collect())
                }
                _ => operand.clone(),
            },
            Operand::Vector(parts) => {
                let flat = parts.iter().flat_map(|part| match self.pieces(part) {
                    Operand::Vector(parts) => parts,
                    single => vec![single],
                });
                Operand::Vector(flat.collect())
            }
            Operand::Address(parts) => Operand::Address(parts.iter().map(|part| self.pieces(part)).collect()),
            Operand::List(parts) => Operand::List(parts.iter().map(|part| self.pieces(part)).collect()),
            other => other.clone(),
        }
    }

    /// The register or vector called `name` as an operand, and the type of a register of it.
    pub fn operand_of_register(&mut self, name: &'a str) -> Lowering<(Operand<'a>, Type)> {
        let operand = self.pieces(&Operand::Name(name));
        let first = match &operand {
            Operand::Vector(_) => self.element(name, 0)?,
            _ => self.register(name)?,
        };
        let ty = if first.slot.width == Width::Predicate { Type::Pred } else { bits_type(first.bits)? };
        Ok((operand, ty))
    }

    /// `slot + offset`, in a register of the same width.
    fn sum(&mut self, slot: Slot, offset: i64) -> Lowering<Slot> {
        if offset == 0 {
            return Ok(slot);
        }
        let op = if slot.width == Width::Double { Op::Add64 } else { Op::Add32 };
        let (sum, offset) = (self.temporary(slot.width), self.constants.slot(slot.width, offset as u64));
        let inst = self.push(op, 0);
        (inst.dst, inst.a, inst.b) = (sum.place, slot.place, offset.place);
        Ok(sum)
    }

    /// A source operand of type `ty`, with zeros above its bits.
    pub fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Lowering<Slot> {
        let width = width_of(ty)?;
        match operand {
            Operand::Immediate(value) => self.immediate(*value, ty),
            Operand::Name(name) => {
                if let Some(Local::Register(register)) = self.scopes.find(name, &mut self.registers) {
                    return self.fitted(register, ty);
                }
                match special::find(name) {
                    Some(Reading::Value(special, own)) => self.read_special(special, own, ty),
                    Some(Reading::Constant(value, own)) => {
                        let slot = self.constants.slot(width_of(own)?, value);
                        self.fitted(Register { slot, bits: own.bits() }, ty)
                    }
                    Some(Reading::Missing(why)) => unsupported(format!("`{name}` cannot be read: {why}")),
                    None => self.symbol(name, 0, width),
                }
            }
            Operand::Offset(name, offset) => self.symbol(name, *offset, width),
            Operand::Element(name, index) => {
                let register = self.element(name, *index)?;
                self.fitted(register, ty)
            }
            Operand::Vector(parts) if ty.kind() != Kind::Predicate => {
                let slot = self.temporary(width);
                self.pack(slot, parts, ty)?;
                Ok(slot)
            }
            _ => unsupported("this operand is not supported here"),
        }
    }

    /// A special register of type `own` as an operand of type `ty`.
    fn read_special(&mut self, special: Special, own: Type, ty: Type) -> Lowering<Slot> {
        let width = width_of(own)?;
        if width == Width::Predicate {
            let (word, slot) = (self.read_special(special, Type::U32, Type::U32)?, self.temporary(width));
            let zero = self.constants.slot(Width::Word, 0);
            let inst = self.push(Op::SetpU32(Compare::Ne), 0);
            (inst.dst, inst.a, inst.b) = (slot.place, word.place, zero.place);
            return self.fitted(Register { slot, bits: 1 }, ty);
        }
        let slot = self.temporary(width);
        self.push(Op::Read(special), u32::from(slot.width == Width::Double)).dst = slot.place;
        self.fitted(Register { slot, bits: own.bits() }, ty)
    }

    /// A predicate source, and what to XOR with it.
    pub fn predicate(&mut self, operand: &Operand<'a>) -> Lowering<(Slot, u32)> {
        match operand {
            Operand::Not(name) => Ok((self.register(name)?.slot, u32::MAX)),
            _ => Ok((self.source(operand, Type::Pred)?, 0)),
        }
    }

    /// Brings a register to the storage and width of `ty`.
    pub fn fitted(&mut self, register: Register, ty: Type) -> Lowering<Slot> {
        let want = width_of(ty)?;
        let Register { slot, bits } = register;
        let (slot, bits) = match (slot.width, want) {
            (Width::Double, Width::Word) => (self.convert(Op::Truncate, slot, Width::Word), 32),
            (Width::Word, Width::Double) => (self.convert(Op::ExtendU32, slot, Width::Double), bits),
            (a, b) if a == b => (slot, bits),
            _ => return unsupported("a predicate and a number are not the same"),
        };
        Ok(match (want, ty.bits()) {
            (Width::Word, 8) if bits > 8 => self.convert(Op::Low8, slot, Width::Word),
            (Width::Word, 16) if bits > 16 => self.convert(Op::Low16, slot, Width::Word),
            _ => slot,
        })
    }

    /// Appends a conversion into a new register.
    pub fn convert(&mut self, op: Op, from: Slot, to: Width) -> Slot {
        let slot = self.temporary(to);
        let inst = self.push(op, 0);
        (inst.dst, inst.a) = (slot.place, from.place);
        slot
    }

    /// A number as an operand of type `ty`.
    pub fn immediate(&mut self, value: Immediate, ty: Type) -> Lowering<Slot> {
        let width = width_of(ty)?;
        let bits = match (value, ty) {
            (Immediate::Int(value), Type::F32) => u64::from((value as i64 as f32).to_bits()),
            (Immediate::Int(value), Type::F64) => (value as i64 as f64).to_bits(),
            (Immediate::F64(_), ty) if ty.is_float() && ty.bits() < 32 => {
                return unsupported("decimal constants of 16-bit types are not supported");
            }
            (Immediate::Int(value), Type::Pred) => u64::from(value != 0),
            (value, _) => immediate_bits(value, if ty.bits() > 32 { 8 } else { 4 }),
        };
        let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
        Ok(self.constants.slot(width, bits & mask))
    }

    /// The address of a symbol as a value.
    fn symbol(&mut self, name: &'a str, offset: i64, width: Width) -> Lowering<Slot> {
        match self.target(name, offset)? {
            Target::Address(Address { base: Some(base), offset, .. }) => {
                let base = self.fitted_address(base, width)?;
                self.sum(base, offset)
            }
            Target::Address(Address { base: None, offset, .. }) => {
                Ok(self.constants.slot(width, offset as u64))
            }
            Target::Rows(..) => unsupported(format!("the address of parameter `{name}` cannot be taken")),
        }
    }

    fn fitted_address(&mut self, slot: Slot, width: Width) -> Lowering<Slot> {
        let ty = if width == Width::Double { Type::U64 } else { Type::U32 };
        self.fitted(Register { slot, bits: 64 }, ty)
    }

    /// What `name + offset` leads to: in brackets, or as a value.
    pub fn target(&mut self, name: &'a str, offset: i64) -> Lowering<Target> {
        let constant = |start: u64, space: Option<Space>| {
            let offset = (start as i64).wrapping_add(offset);
            Ok(Target::Address(Address { base: None, offset, space }))
        };
        match self.scopes.find(name, &mut self.registers) {
            Some(Local::Register(register)) => {
                Ok(Target::Address(Address { base: Some(register.slot), offset, space: None }))
            }
            Some(Local::Vector(_)) => unsupported(format!("`{name}`, a vector, is no address")),
            Some(Local::Shared(index)) => constant(self.layout.address_of_shared(index), Some(Space::Shared)),
            Some(Local::Address(start)) => constant(start, None),
            Some(Local::EntryParam(start)) => constant(u64::from(start), Some(Space::Param)),
            Some(Local::Rows(rows)) => {
                let end = i64::from(rows.words) * 4;
                if offset < 0 || offset >= end {
                    return unsupported(format!("parameter `{name}` has only {end} bytes"));
                }
                Ok(Target::Rows(rows.first, offset as u32))
            }
            Some(Local::Stack(variable)) => {
                // Where a local variable lies depends on the level of recursion.
                let slot = self.temporary(Width::Double);
                self.push(Op::LocalAddress, variable).dst = slot.place;
                let base = Some(self.sum(slot, offset)?);
                Ok(Target::Address(Address { base, offset: 0, space: Some(Space::Local) }))
            }
            None => match self.module_name(name) {
                Some(known) => {
                    if let ModuleName::Shared(index) = known {
                        self.use_shared(index);
                    }
                    if let ModuleName::Function(index) = known {
                        self.may_call(index);
                    }
                    let is_shared = matches!(known, ModuleName::Shared(_));
                    constant(self.layout.address_of(known, Generic::No), is_shared.then_some(Space::Shared))
                }
                None => self.undeclared(name),
            },
        }
    }

    /// Notes that `index` may be called from here.
    pub fn may_call(&mut self, index: u32) {
        if !self.function.callees.contains(&index) {
            self.function.callees.push(index);
        }
    }

    /// `[...]` of a memory instruction.
    pub fn address(&mut self, operand: Option<&Operand<'a>>) -> Lowering<Target> {
        let Some(Operand::Address(parts)) = operand else { return unsupported("an address is missing") };
        match parts.as_slice() {
            [Operand::Name(name)] => self.target(name, 0),
            [Operand::Offset(name, offset)] => self.target(name, *offset),
            [Operand::Immediate(Immediate::Int(value))] => {
                Ok(Target::Address(Address { base: None, offset: *value as i64, space: None }))
            }
            _ => unsupported("this form of address is not supported"),
        }
    }

    /// A destination of type `ty`; `None` for `_`.
    pub fn destination(&mut self, operand: &Operand<'a>, ty: Type) -> Lowering<Option<Destination>> {
        let register = match operand {
            Operand::Name("_") => return Ok(None),
            Operand::Name(name) => self.register(name)?,
            Operand::Element(name, index) => self.element(name, *index)?,
            _ => return unsupported("the destination must be a register"),
        };
        self.destination_register(register, ty).map(Some)
    }

    /// A named register as the destination of a result of type `ty`.
    ///
    /// A register may be wider than the type. Signed results are then extended with their sign, all others with zeros.
    pub fn destination_register(&mut self, register: Register, ty: Type) -> Lowering<Destination> {
        let width = width_of(ty)?;
        let Register { slot, bits } = register;
        if (width == Width::Predicate) != (slot.width == Width::Predicate) {
            return unsupported("a predicate and a number are not the same");
        }
        let signed = ty.kind() == Kind::Signed && ty.bits() < bits;
        let mut after = Vec::new();
        match ty.bits() {
            8 if signed => after.push(Op::LowS8),
            16 if signed => after.push(Op::LowS16),
            _ => {}
        }
        match (width, slot.width) {
            (Width::Word, Width::Double) => after.push(if signed { Op::ExtendS32 } else { Op::ExtendU32 }),
            (Width::Double, Width::Word) => after.push(Op::Truncate),
            (Width::Word, Width::Word) if bits == 16 && (signed || ty.bits() > 16) => after.push(Op::Low16),
            _ => {}
        }
        let direct = if after.is_empty() { slot } else { self.temporary(width) };
        Ok(Destination { slot: direct, after, register: slot })
    }

    /// Finishes a destination behind the instruction that wrote it.
    pub fn deliver(&mut self, destination: Option<&Destination>) {
        let Some(Destination { slot, after, register }) = destination else { return };
        let mut from = *slot;
        for (index, &op) in after.iter().enumerate() {
            let last = index + 1 == after.len();
            let to = if last { *register } else { self.temporary(Width::Word) };
            let inst = self.push(op, 0);
            (inst.dst, inst.a) = (to.place, from.place);
            from = to;
        }
    }

    /// The registers of a vector operand, or a single one.
    pub fn parts<'o>(&self, operand: &'o Operand<'a>) -> &'o [Operand<'a>] {
        match operand {
            Operand::Vector(parts) => parts,
            single => std::slice::from_ref(single),
        }
    }

    /// `mov.b64 %rd, {%r1, %r2}`: several registers into one.
    pub fn pack(&mut self, whole: Slot, parts: &[Operand<'a>], ty: Type) -> Lowering<()> {
        let bits = element_bits(ty, parts.len())?;
        let mut slots = Vec::with_capacity(parts.len());
        for part in parts {
            slots.push(Some(self.source(part, bits_type(bits)?)?));
        }
        self.sites.packs.push(PackSite { whole, parts: slots, bits });
        self.push(Rare::Pack, self.sites.packs.len() as u32 - 1);
        Ok(())
    }

    /// `mov.b64 {%r1, %r2}, %rd`: one register into several.
    pub fn unpack(&mut self, parts: &[Operand<'a>], whole: Slot, ty: Type) -> Lowering<()> {
        let bits = element_bits(ty, parts.len())?;
        let mut destinations = Vec::with_capacity(parts.len());
        for part in parts {
            destinations.push(self.destination(part, bits_type(bits)?)?);
        }
        let slots = destinations.iter().map(|d| d.as_ref().map(|d| d.slot)).collect();
        self.sites.packs.push(PackSite { whole, parts: slots, bits });
        self.push(Rare::Unpack, self.sites.packs.len() as u32 - 1);
        destinations.iter().for_each(|destination| self.deliver(destination.as_ref()));
        Ok(())
    }
}

fn element_bits(ty: Type, parts: usize) -> Lowering<u32> {
    match parts {
        2 | 4 | 8 if ty.bits() / parts as u32 >= 8 => Ok(ty.bits() / parts as u32),
        _ => unsupported("a vector has 2, 4 or 8 elements"),
    }
}

fn bits_type(bits: u32) -> Lowering<Type> {
    match bits {
        8 => Ok(Type::B8),
        16 => Ok(Type::B16),
        32 => Ok(Type::B32),
        64 => Ok(Type::B64),
        _ => Err(Refusal::Unsupported(format!("vector elements of {bits} bits are not supported"))),
    }
}
