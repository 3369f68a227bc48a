//! Addresses as an assembler knows them: a sum of unknowns and a constant.

use crate::parse::ast::{Immediate, Operand};
use crate::program::grammar::{Lowering, Split};
use crate::ptx_isa::{Modifier, Opcode, Type};

/// Trailing zero bits of a number that has no other bits.
pub const ALL_ZEROS: u32 = 32;

/// Most terms of a sum; longer ones become unknowns of their own.
const MOST_TERMS: usize = 8;

/// A value that nothing is known of but its zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom<'a> {
    /// The register or variable.
    pub name: &'a str,
    /// Which of its values.
    pub origin: Origin,
}

/// Where a value is from. A register may have several; within one block, equal atoms are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The address of a shared variable, or a special register: it never changes.
    Given,
    /// What the register held where this block began.
    Entry(usize),
    /// The result of this statement.
    Statement(usize),
}

/// The low 32 bits of a value, which are all of a shared address: `constant + Σ factor · atom`, modulo 2^32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The atoms in order, each with its factor.
    pub terms: Vec<(Atom<'a>, u32)>,
    /// The constant, which an instruction can hold beside the register.
    pub constant: u32,
    /// Trailing zero bits of the sum of the terms, as the operations that made it show them.
    pub zeros: u32,
}

impl<'a> Value<'a> {
    pub const fn constant(constant: u32) -> Self {
        Self { terms: Vec::new(), constant, zeros: ALL_ZEROS }
    }

    pub fn atom(atom: Atom<'a>, zeros: u32) -> Self {
        Self { terms: vec![(atom, 1)], constant: 0, zeros }
    }

    /// The number, if there are no unknowns.
    pub fn number(&self) -> Option<u32> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Trailing zero bits of the whole.
    pub fn all_zeros(&self) -> u32 {
        self.zeros.min(self.constant.trailing_zeros())
    }

    fn scaled(&self, factor: u32) -> Self {
        let terms = self.terms.iter().map(|&(atom, times)| (atom, times.wrapping_mul(factor)));
        Self {
            terms: terms.filter(|term| term.1 != 0).collect(),
            constant: self.constant.wrapping_mul(factor),
            zeros: (self.zeros + factor.trailing_zeros()).min(ALL_ZEROS),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let mut terms = self.terms.clone();
        for &(atom, times) in &other.terms {
            match terms.binary_search_by_key(&atom, |term| term.0) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(times),
                Err(at) => terms.insert(at, (atom, times)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Self {
            terms,
            constant: self.constant.wrapping_add(other.constant),
            zeros: self.zeros.min(other.zeros),
        }
    }
}

/// The value of an operand, if it is a register, a variable or an integer.
pub fn operand<'a>(operand: &Operand<'a>, known: &mut impl FnMut(&'a str) -> Value<'a>) -> Option<Value<'a>> {
    match operand {
        Operand::Name(name) => Some(known(name)),
        Operand::Offset(name, bytes) => Some(known(name).plus(&Value::constant(*bytes as u32))),
        Operand::Immediate(Immediate::Int(number)) => Some(Value::constant(*number as u32)),
        _ => None,
    }
}

/// What an instruction computes; `unknown` makes a new atom with so many zeros.
pub fn result<'a>(
    split: &Split<'a>,
    sources: &[Operand<'a>],
    known: &mut impl FnMut(&'a str) -> Value<'a>,
    unknown: impl Fn(u32) -> Value<'a>,
) -> Value<'a> {
    let value = computed(split, sources, known, &unknown).unwrap_or_else(|| unknown(0));
    if value.terms.len() > MOST_TERMS { unknown(value.all_zeros()) } else { value }
}

fn computed<'a>(
    split: &Split<'a>,
    sources: &[Operand<'a>],
    known: &mut impl FnMut(&'a str) -> Value<'a>,
    unknown: &impl Fn(u32) -> Value<'a>,
) -> Option<Value<'a>> {
    let is_address = |ty: &Type| !ty.is_float() && matches!(ty.bits(), 32 | 64);
    if split.lowering() != Lowering::ConvertAddress && !split.types.iter().all(is_address) {
        return None;
    }
    let a = operand(sources.first()?, known)?;
    let b = sources.get(1).and_then(|source| operand(source, known));
    let product = |a: &Value<'a>, b: &Value<'a>| match (a.number(), b.number()) {
        (_, Some(factor)) => a.scaled(factor),
        (Some(factor), _) => b.scaled(factor),
        _ => unknown((a.all_zeros() + b.all_zeros()).min(ALL_ZEROS)),
    };
    let opcode = match split.lowering() {
        Lowering::Mov | Lowering::ConvertAddress => return Some(a),
        Lowering::Scalar(opcode, _) => opcode,
        _ => return None,
    };
    Some(match opcode {
        Opcode::Cvt => a,
        Opcode::Add => a.plus(&b?),
        Opcode::Sub => a.plus(&b?.scaled(u32::MAX)),
        Opcode::Mul if !split.has(Modifier::Hi) => product(&a, &b?),
        Opcode::Mad if !split.has(Modifier::Hi) => product(&a, &b?).plus(&operand(sources.get(2)?, known)?),
        Opcode::Shl => a.scaled(1u32.checked_shl(b?.number()?).unwrap_or(0)),
        Opcode::Shr => unknown(a.all_zeros().saturating_sub(b?.number()?)),
        Opcode::And => unknown(a.all_zeros().max(b?.all_zeros())),
        // Where no bit is set in both, these are sums.
        Opcode::Or | Opcode::Xor => {
            let b = b?;
            let fits = |sum: &Value<'_>, bits: u32| bits.checked_shr(sum.all_zeros()).unwrap_or(0) == 0;
            match (a.number(), b.number()) {
                (_, Some(bits)) if fits(&a, bits) => a.plus(&b),
                (Some(bits), _) if fits(&b, bits) => a.plus(&b),
                _ => unknown(a.all_zeros().min(b.all_zeros())),
            }
        }
        Opcode::Min | Opcode::Max | Opcode::Selp => unknown(a.all_zeros().min(b?.all_zeros())),
        _ => return None,
    })
}
