//! Arithmetic: hot instructions get an operation of their own, everything else goes through the scalar semantics.

use super::{Lowerer, Lowering, hot::hot, other_form, unsupported};
use crate::alu::{self, MAX_SOURCES};
use crate::parse::ast::Operand;
use crate::program::{grammar::Split, instruction::*, names::Local};
use crate::ptx_isa::{Modifier, Opcode, ScalarOp, Selector, Type};

impl<'a> Lowerer<'a, '_> {
    /// An instruction of the scalar semantics, or an operation of its own; with `.cc` the first link of a carry chain.
    pub fn arithmetic(
        &mut self,
        split: &Split<'a>,
        opcode: Opcode,
        minimum: usize,
        operands: &[Operand<'a>],
    ) -> Lowering<()> {
        if split.has(Modifier::Cc) && matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mad) {
            return self.carry(split, opcode, CarryUse::No, operands);
        }
        if operands.len() <= minimum {
            return other_form();
        }
        let (Some(first), Some(second)) = (split.ty(0), split.ty(1)) else {
            return other_form();
        };
        let op = ScalarOp {
            opcode,
            types: [first, second, split.ty(2).unwrap_or(second)],
            written_types: split.types.len() as u8,
            modifiers: split.modifiers,
            sources: (operands.len() - 1) as u8,
            selectors: [Selector::Whole; 4],
        };
        // Operations of their own have one result.
        let pair = matches!(operands[0], Operand::Pair(..));
        match hot(&op).filter(|_| !pair) {
            Some(hot) => self.hot(hot, &op, operands),
            None => self.scalar(op, operands),
        }
    }

    /// An instruction with an operation of its own.
    fn hot(&mut self, hot: Op, op: &ScalarOp, operands: &[Operand<'a>]) -> Lowering<()> {
        let mut places = [Place::NONE; 3];
        if operands.len() > 1 + places.len() {
            return unsupported(format!("at most {} sources are expected", places.len()));
        }
        for (index, operand) in operands[1..].iter().enumerate() {
            let ty = source_type(op, index);
            if ty == Type::Pred {
                let (slot, flip) = self.predicate(operand)?;
                places[index] =
                    if flip == 0 { slot } else { self.convert(Op::PredNot, slot, Width::Predicate) }.place;
            } else {
                places[index] = self.source(operand, ty)?.place;
            }
        }
        let destination = self.destination(&operands[0], destination_type(op))?;
        if let Some(destination) = &destination {
            let inst = self.push(hot, 0);
            inst.dst = destination.slot.place;
            [inst.a, inst.b, inst.c] = places;
        }
        self.deliver(destination.as_ref());
        Ok(())
    }

    /// An instruction of the scalar semantics.
    fn scalar(&mut self, mut op: ScalarOp, operands: &[Operand<'a>]) -> Lowering<()> {
        let mut names: Vec<Operand<'a>> = operands.to_vec();
        for (operand, selector) in names.iter_mut().zip(&mut op.selectors) {
            if let Operand::Name(name) = operand {
                (*name, *selector) = select(name);
            }
        }
        let (src, flip) = self.scalar_sources(&op, &names[1..])?;
        let Some(eval) = alu::prepare(&op) else {
            return unsupported("this combination of types and modifiers is not supported");
        };
        let ty = destination_type(&op);
        let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
        let (first, second) = match &names[0] {
            Operand::Pair(first, second) => (
                self.destination(&Operand::Name(first), ty)?,
                self.destination(&Operand::Name(second), Type::Pred)?,
            ),
            single => (self.destination(single, ty)?, None),
        };
        let second_bit = if op.opcode == Opcode::Lop3 { 32 } else { 1 };
        let dst = [first.as_ref().map(|d| d.slot), second.as_ref().map(|d| d.slot)];
        self.sites.scalars.push(ScalarSite { eval, second_bit, dst, src, flip, mask });
        self.push(Op::Scalar, self.sites.scalars.len() as u32 - 1);
        self.deliver(first.as_ref());
        Ok(())
    }

    fn scalar_sources(
        &mut self,
        op: &ScalarOp,
        operands: &[Operand<'a>],
    ) -> Lowering<([Option<Slot>; MAX_SOURCES], [u64; MAX_SOURCES])> {
        let (mut src, mut flip) = ([None; MAX_SOURCES], [0; MAX_SOURCES]);
        if operands.len() > MAX_SOURCES {
            return unsupported(format!("more than {MAX_SOURCES} sources are not supported"));
        }
        for (index, operand) in operands.iter().enumerate() {
            let ty = source_type(op, index);
            if ty == Type::Pred {
                let (slot, inverted) = self.predicate(operand)?;
                src[index] = Some(slot);
                flip[index] = u64::from(inverted & 1);
            } else {
                src[index] = Some(self.source(operand, ty)?);
            }
        }
        Ok((src, flip))
    }

    pub fn mov(&mut self, split: &Split<'a>, operands: &[Operand<'a>]) -> Lowering<()> {
        let (Some(ty), [to, from]) = (split.ty(0), operands) else {
            return other_form();
        };
        match (to, from) {
            (Operand::Vector(to), Operand::Vector(from)) if is_vector(split) => self.mov_all(ty, to, from),
            (Operand::Vector(parts), _) => {
                let whole = self.source(from, ty)?;
                self.unpack(parts, whole, ty)
            }
            (Operand::Name(name), Operand::Vector(parts)) => {
                let register = self.register(name)?;
                let destination = self.destination_register(register, ty)?;
                self.pack(destination.slot, parts, ty)?;
                self.deliver(Some(&destination));
                Ok(())
            }
            (Operand::Name(name), _) if self.is_row(name) => {
                unsupported("a parameter is written with st.param")
            }
            _ if ty == Type::Pred => {
                let (slot, flip) = self.predicate(from)?;
                let op = if flip == 0 { Op::MovPred } else { Op::PredNot };
                self.single(op, to, slot, ty)
            }
            _ => {
                let slot = self.source(from, ty)?;
                self.single(if slot.width == Width::Double { Op::Mov64 } else { Op::Mov32 }, to, slot, ty)
            }
        }
    }

    /// `mov.v4.u16 {a, b, c, d}, {b, a, d, c}`: all are read before the first is written.
    fn mov_all(&mut self, ty: Type, to: &[Operand<'a>], from: &[Operand<'a>]) -> Lowering<()> {
        let ty = if ty == Type::B128 { Type::B64 } else { ty };
        if to.len() != from.len() {
            return unsupported("as many registers as values are expected");
        }
        let mut values = Vec::with_capacity(from.len());
        for part in from {
            let slot = self.source(part, ty)?;
            let op = if slot.width == Width::Double { Op::Mov64 } else { Op::Mov32 };
            values.push(self.convert(op, slot, slot.width));
        }
        for (part, value) in to.iter().zip(values) {
            self.single(if value.width == Width::Double { Op::Mov64 } else { Op::Mov32 }, part, value, ty)?;
        }
        Ok(())
    }

    fn is_row(&mut self, name: &'a str) -> bool {
        matches!(self.scopes.find(name, &mut self.registers), Some(Local::Rows(_)))
    }

    /// `to = op(from)`.
    pub fn single(&mut self, op: Op, to: &Operand<'a>, from: Slot, ty: Type) -> Lowering<()> {
        let destination = self.destination(to, ty)?;
        if let Some(destination) = &destination {
            let inst = self.push(op, 0);
            (inst.dst, inst.a) = (destination.slot.place, from.place);
        }
        self.deliver(destination.as_ref());
        Ok(())
    }

    /// A link of a carry chain.
    pub fn carry(
        &mut self,
        split: &Split<'a>,
        opcode: Opcode,
        carry_in: CarryUse,
        operands: &[Operand<'a>],
    ) -> Lowering<()> {
        let (sum, sources) = match opcode {
            Opcode::Add => (CarrySum::Add, 2),
            Opcode::Sub => (CarrySum::Sub, 2),
            _ if split.has(Modifier::Hi) => (CarrySum::MadHi, 3),
            _ => (CarrySum::MadLo, 3),
        };
        let Some(ty) = split.ty(0).filter(|ty| matches!(ty.bits(), 32 | 64)) else {
            return unsupported("carry chains have 32 or 64 bits");
        };
        if operands.len() != sources + 1 {
            return other_form();
        }
        let mut src = [None; 3];
        for (slot, operand) in src.iter_mut().zip(&operands[1..]) {
            *slot = Some(self.source(operand, ty)?);
        }
        let destination = self.destination(&operands[0], ty)?;
        self.sites.carries.push(CarrySite {
            sum,
            carry_in,
            carry_out: if split.has(Modifier::Cc) { CarryUse::Yes } else { CarryUse::No },
            bits: ty.bits(),
            signed: if ty.is_signed() { Signed::Yes } else { Signed::No },
            dst: destination.as_ref().map(|d| d.slot),
            src,
        });
        self.push(Rare::Carry, self.sites.carries.len() as u32 - 1);
        self.deliver(destination.as_ref());
        Ok(())
    }
}

/// Whether a `mov` moves element by element, and not the bits of one register.
fn is_vector(split: &Split<'_>) -> bool {
    let vectors = [Modifier::V2, Modifier::V4, Modifier::V8];
    vectors.into_iter().any(|modifier| split.has(modifier)) || split.ty(0) == Some(Type::B128)
}

/// Splits `%r1.b2` into the register and the part of it.
fn select(name: &str) -> (&str, Selector) {
    let Some((register, part)) = name.rsplit_once('.') else { return (name, Selector::Whole) };
    let digits = part.get(1..).unwrap_or_default();
    let Ok(number) = u16::from_str_radix(digits, 16) else { return (name, Selector::Whole) };
    match (part.as_bytes().first(), digits.len()) {
        (Some(b'b'), 1) => (register, Selector::Byte(number as u8)),
        (Some(b'h'), 1) => (register, Selector::Half(number as u8)),
        (Some(b'b'), _) => (register, Selector::Bytes(number)),
        (Some(b'h'), _) => (register, Selector::Halves(number)),
        _ => (name, Selector::Whole),
    }
}

/// The type that an operand of twice the width has.
fn twice(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}

fn destination_type(op: &ScalarOp) -> Type {
    match op.opcode {
        Opcode::Mul | Opcode::Mad if op.modifiers.has(Modifier::Wide) => twice(op.types[0]),
        Opcode::Setp | Opcode::Testp => Type::Pred,
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => Type::U32,
        Opcode::Fns => Type::B32,
        Opcode::Cvt if op.modifiers.has(Modifier::Pack) => Type::B32,
        Opcode::Dp2a | Opcode::Dp4a => {
            if op.types[0].is_signed() || op.types[1].is_signed() {
                Type::S32
            } else {
                Type::U32
            }
        }
        _ => op.types[0],
    }
}

fn source_type(op: &ScalarOp, index: usize) -> Type {
    let ty = op.types[0];
    match (op.opcode, index) {
        (Opcode::Cvt, 0) => op.types[1],
        // `cvt.pack` and packed destinations have two sources, then bits: an accumulator or random bits.
        (Opcode::Cvt, 1) => op.types[1],
        (Opcode::Cvt, _) => Type::B32,
        (Opcode::Set, 0 | 1) => op.types[1],
        (Opcode::Set | Opcode::Setp | Opcode::Selp, 2) => Type::Pred,
        (Opcode::Slct, 2) => op.types[1],
        (Opcode::Shl | Opcode::Shr, 1) | (Opcode::Shf, 2) => Type::U32,
        (Opcode::Bfe, 1 | 2) | (Opcode::Bfi, 2 | 3) => Type::U32,
        (Opcode::Lop3, 4) => Type::Pred,
        (Opcode::Bmsk | Opcode::Prmt | Opcode::Lop3 | Opcode::Fns | Opcode::Dp2a | Opcode::Dp4a, _) => {
            Type::B32
        }
        (Opcode::Szext, 1) => Type::U32,
        (Opcode::Mad, 2) if op.modifiers.has(Modifier::Wide) => twice(ty),
        // `fma.rn.f32.f16`: the factors have the second type.
        (Opcode::Fma | Opcode::Add | Opcode::Sub, 0 | 1) if op.written_types == 2 && index == 0 => {
            op.types[1]
        }
        (Opcode::Fma, 1) if op.written_types == 2 => op.types[1],
        (
            Opcode::Vadd
            | Opcode::Vsub
            | Opcode::Vabsdiff
            | Opcode::Vmin
            | Opcode::Vmax
            | Opcode::Vshl
            | Opcode::Vshr
            | Opcode::Vmad
            | Opcode::Vset
            | Opcode::Vadd2
            | Opcode::Vsub2
            | Opcode::Vavrg2
            | Opcode::Vabsdiff2
            | Opcode::Vmin2
            | Opcode::Vmax2
            | Opcode::Vset2
            | Opcode::Vadd4
            | Opcode::Vsub4
            | Opcode::Vavrg4
            | Opcode::Vabsdiff4
            | Opcode::Vmin4
            | Opcode::Vmax4
            | Opcode::Vset4,
            _,
        ) => Type::B32,
        _ => ty,
    }
}
