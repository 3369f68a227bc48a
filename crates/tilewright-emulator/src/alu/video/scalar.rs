//! `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`, `vmad`.

use super::{COMPARISONS, Primary, clamped, signedness, value};
use crate::alu::form::Form;
use crate::alu::operation::{Operation, words};
use crate::ptx_isa::{Modifier, Opcode, Selector};

/// A byte, half-word or word of a register: offset and width in bits.
#[derive(Clone, Copy)]
struct Part {
    offset: u32,
    bits: u32,
}

impl Part {
    fn of(selector: Selector) -> Option<Part> {
        Some(match selector {
            Selector::Whole => Part { offset: 0, bits: 32 },
            Selector::Byte(index @ 0..=3) => Part { offset: 8 * u32::from(index), bits: 8 },
            Selector::Half(index @ 0..=1) => Part { offset: 16 * u32::from(index), bits: 16 },
            _ => return None,
        })
    }

    fn read(self, word: u64, signed: bool) -> i64 {
        value(word >> self.offset, self.bits, signed)
    }

    /// `word` with this part replaced.
    fn merge(self, word: u64, part: i64) -> u64 {
        let mask = (1u64 << self.bits) - 1;
        word & 0xffff_ffff & !(mask << self.offset) | (part as u64 & mask) << self.offset
    }
}

const PRIMARIES: &[(Opcode, Primary)] = &[
    (Opcode::Vadd, |a, b| a + b),
    (Opcode::Vsub, |a, b| a - b),
    (Opcode::Vabsdiff, |a, b| (a - b).abs()),
    (Opcode::Vmin, |a, b| a.min(b)),
    (Opcode::Vmax, |a, b| a.max(b)),
];

/// Secondary operations on the intermediate result and c.
const SECONDARIES: &[(Modifier, Primary)] =
    &[(Modifier::Add, |a, c| a + c), (Modifier::Min, |a, c| a.min(c)), (Modifier::Max, |a, c| a.max(c))];

pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    match op.opcode {
        Opcode::Vmad => multiply_add(op),
        Opcode::Vset => {
            let compare = op.take_from(COMPARISONS)?;
            combine(op, compare, Destination::Unsigned)
        }
        Opcode::Vshl | Opcode::Vshr => {
            let shift = shift(op)?;
            combine(op, shift, Destination::Typed)
        }
        opcode => {
            let primary = PRIMARIES.iter().find(|row| row.0 == opcode)?.1;
            combine(op, primary, Destination::Typed)
        }
    }
}

/// The shift amount is clamped to 32 or taken modulo 32.
fn shift(op: &mut Form) -> Option<Primary> {
    let wrap = op.take_from(&[(Modifier::Wrap, true), (Modifier::Clamp, false)])?;
    Some(match (op.opcode, wrap) {
        (Opcode::Vshl, true) => |a, b| a << (b & 31),
        // A shift by 32 leaves no bit, but saturates to the side of a.
        (Opcode::Vshl, false) => |a, b| if b < 32 { a << b } else { a.signum() << 62 },
        (_, true) => |a, b| a >> (b & 31),
        (_, false) => |a, b| a >> b.min(32),
    })
}

/// Where the type of the result comes from.
enum Destination {
    /// The first type.
    Typed,
    /// There is none: the result is unsigned.
    Unsigned,
}

/// Select, operate, saturate to the part that is written, then the secondary operation or the merge with c.
fn combine(op: &mut Form, primary: Primary, destination: Destination) -> Option<Operation> {
    let saturate = op.take(Modifier::Sat);
    if saturate && op.opcode == Opcode::Vset {
        return None;
    }
    let secondary = op.take_from(SECONDARIES);
    let d_signed = match destination {
        Destination::Typed => signedness(op.take_type()?)?,
        Destination::Unsigned => false,
    };
    let a_signed = signedness(op.take_type()?)?;
    let b_signed = signedness(op.take_type()?)?;
    if b_signed && matches!(op.opcode, Opcode::Vshl | Opcode::Vshr) {
        return None;
    }
    let (d, a_part, b_part) = (op.selector(0), Part::of(op.selector(1))?, Part::of(op.selector(2))?);
    let merges = d != Selector::Whole;
    let d_part = Part::of(d)?;
    if op.sources != if secondary.is_some() || merges { 3 } else { 2 } || secondary.is_some() && merges {
        return None;
    }
    let operation = words(move |[a, b, c]| {
        let result = primary(a_part.read(a, a_signed), b_part.read(b, b_signed));
        let result = if saturate { clamped(result, d_part.bits, d_signed) } else { result };
        let result = secondary.map_or(result, |secondary| secondary(result, value(c, 32, d_signed)));
        d_part.merge(c, result)
    });
    Some(operation.with_sources(op.sources))
}

/// `vmad`: `(a b + c) >> scale`, or `a b + c + 1` before scaling with `.po`. All intermediate results fit 128 bits.
fn multiply_add(op: &mut Form) -> Option<Operation> {
    let saturate = op.take(Modifier::Sat);
    let plus_one = i128::from(op.take(Modifier::Po));
    let scale = op.take_from(&[(Modifier::Shr7, 7), (Modifier::Shr15, 15)]).unwrap_or(0);
    signedness(op.take_type()?)?;
    let a_signed = signedness(op.take_type()?)?;
    let b_signed = signedness(op.take_type()?)?;
    let signed = a_signed || b_signed;
    let (a_part, b_part) = (Part::of(op.selector(1))?, Part::of(op.selector(2))?);
    Some(words(move |[a, b, c]| {
        let product = i128::from(a_part.read(a, a_signed)) * i128::from(b_part.read(b, b_signed));
        let sum = (product + i128::from(value(c, 32, signed)) + plus_one) >> scale;
        let (lowest, highest) =
            if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
        let result = if saturate { sum.clamp(lowest, highest) } else { sum };
        u64::from(result as u32)
    }))
}
