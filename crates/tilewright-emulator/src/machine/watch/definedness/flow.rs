//! From the undefined bits of sources to those of a result, for one lane.

use crate::alu::{MAX_SOURCES, Operation};
use crate::program::instruction::{Compare, Op, Width};

/// One lane's operand: its value, and a set bit for each bit that is not defined.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operand {
    /// The value; undefined bits are as they happen to be.
    pub value: u64,
    /// Which bits those are.
    pub undefined: u64,
}

impl Operand {
    fn least(self) -> u64 {
        self.value & !self.undefined
    }

    fn most(self) -> u64 {
        self.value | self.undefined
    }
}

/// How wide the result and the three sources of a plain operation are; no source that it does not have is looked at.
pub fn widths(op: Op) -> [Width; 4] {
    use Op::*;
    use Width::{Double as D, Predicate as P, Word as W};
    match op {
        Mov64 | Add64 | Sub64 | MulLo64 | MadLo64 | And64 | Or64 | Xor64 | Not64 | Neg64 => [D; 4],
        MinS64 | MinU64 | MaxS64 | MaxU64 => [D; 4],
        AddF64 | SubF64 | MulF64 | FmaF64 | MinF64 | MaxF64 | NegF64 | AbsF64 => [D; 4],
        MulWideS32 | MulWideU32 | MadWideS32 | MadWideU32 => [D, W, W, D],
        Shl64 | ShrU64 | ShrS64 => [D, D, W, W],
        SetpS32(_) | SetpU32(_) | SetpF32(_) => [P, W, W, W],
        SetpS64(_) | SetpU64(_) | SetpF64(_) => [P, D, D, D],
        Selp32 => [W, W, W, P],
        Selp64 => [D, D, D, P],
        MovPred | PredAnd | PredOr | PredXor | PredNot => [P; 4],
        ExtendS32 | ExtendU32 => [D, W, W, W],
        Truncate => [W, D, D, D],
        _ => [W; 4],
    }
}

/// The undefined bits of the result of a plain operation.
pub fn through(op: Op, [a, b, c]: [Operand; 3]) -> u64 {
    use Op::*;
    let either = a.undefined | b.undefined;
    match op {
        Mov32 | Mov64 | MovPred | Not32 | Not64 | PredNot | NegF32 | NegF64 => a.undefined,
        ExtendU32 | Truncate => a.undefined,
        ExtendS32 => a.undefined as u32 as i32 as i64 as u64,
        Low8 => a.undefined & 0xff,
        Low16 => a.undefined & 0xffff,
        LowS8 => a.undefined as u8 as i8 as i32 as u32 as u64,
        LowS16 => a.undefined as u16 as i16 as i32 as u32 as u64,
        AbsF32 => a.undefined & 0x7fff_ffff,
        AbsF64 => a.undefined & !(1 << 63),
        And32 | And64 | PredAnd => either & a.most() & b.most(),
        Or32 | Or64 | PredOr => either & !a.least() & !b.least(),
        Xor32 | Xor64 | PredXor => either,
        Add32 | Sub32 | Neg32 | Add64 | Sub64 | Neg64 => upwards(either),
        MulLo32 | MulLo64 | MulWideS32 | MulWideU32 => product(a, b),
        MadLo32 | MadLo64 | MadWideS32 | MadWideU32 => upwards(product(a, b) | c.undefined),
        Shl32 | ShrU32 | ShrS32 | Shl64 | ShrU64 | ShrS64 => shifted(op, a.undefined, b),
        SetpS32(compare) => compared(compare, [a, b], 1 << 31),
        SetpS64(compare) => compared(compare, [a, b], 1 << 63),
        SetpU32(compare) | SetpU64(compare) => compared(compare, [a, b], 0),
        Selp32 | Selp64 if c.undefined & 1 == 1 => either | a.value ^ b.value,
        Selp32 | Selp64 => {
            if c.value & 1 == 1 {
                a.undefined
            } else {
                b.undefined
            }
        }
        // Every bit of a result hangs on every bit of the sources.
        _ => all(either | c.undefined),
    }
}

/// All bits, if there is one.
fn all(undefined: u64) -> u64 {
    if undefined == 0 { 0 } else { u64::MAX }
}

/// The lowest bit and all above it, where a carry may come to.
pub fn upwards(undefined: u64) -> u64 {
    undefined | undefined.wrapping_neg()
}

fn product(a: Operand, b: Operand) -> u64 {
    let is_zero = |x: Operand| x.value == 0 && x.undefined == 0;
    if is_zero(a) || is_zero(b) { 0 } else { upwards(a.undefined | b.undefined) }
}

fn shifted(op: Op, a: u64, by: Operand) -> u64 {
    if by.undefined != 0 {
        return u64::MAX;
    }
    let by = by.value as u32;
    match op {
        Op::Shl32 => (a as u32).checked_shl(by).unwrap_or(0).into(),
        Op::ShrU32 => (a as u32).checked_shr(by).unwrap_or(0).into(),
        Op::ShrS32 => (a as u32 as i32 >> by.min(31)) as u32 as u64,
        Op::Shl64 => a.checked_shl(by).unwrap_or(0),
        Op::ShrU64 => a.checked_shr(by).unwrap_or(0),
        _ => (a as i64 >> by.min(63)) as u64,
    }
}

/// Whether the outcome of an integer comparison is open; `sign` is the bit whose order is the other way round.
fn compared(compare: Compare, [a, b]: [Operand; 2], sign: u64) -> u64 {
    if a.undefined | b.undefined == 0 {
        return 0;
    }
    let [a, b] = [a, b].map(|x| Operand { value: x.value ^ sign, ..x });
    let is_closed = match compare {
        Compare::Eq | Compare::Ne => (a.value ^ b.value) & !a.undefined & !b.undefined != 0,
        Compare::Lt | Compare::Ge => a.most() < b.least() || a.least() >= b.most(),
        Compare::Le | Compare::Gt => a.most() <= b.least() || a.least() > b.most(),
        _ => false,
    };
    u64::from(!is_closed)
}

/// What stands in for undefined bits to see whether a result hangs on them: extremes with and without sign, and mixtures.
pub const TRIALS: [u64; 6] =
    [0, u64::MAX, 0x5555_5555_5555_5555, 0x8000_8000_8000_8000, 0x7fff_ffff_7fff_ffff, 0xb3c6_5a0f_3c96_a5e1];

/// The undefined bits of the result of an operation of the scalar semantics: those that change with undefined bits of the sources. So bits that are
/// masked, shifted out, or chosen by other bits are defined, whatever the operation.
pub fn tried(operation: &Operation, sources: [Operand; MAX_SOURCES]) -> u64 {
    let result = operation.lane(sources.map(|source| source.value));
    let mut changes = 0;
    let mut attempt = |values: [u64; MAX_SOURCES]| changes |= operation.lane(values) ^ result;
    for trial in 0..TRIALS.len() {
        // All sources alike, and each with another stand-in.
        for apart in [0, 1] {
            attempt(std::array::from_fn(|i| {
                with(sources[i], TRIALS[(trial + apart * i) % TRIALS.len()].rotate_left((apart * i) as u32))
            }));
        }
    }
    // A comparison for equality holds for one value alone.
    for i in 0..MAX_SOURCES {
        for j in (0..MAX_SOURCES).filter(|&j| j != i && sources[i].undefined != 0) {
            let mut values = sources.map(|source| source.value);
            values[i] = with(sources[i], values[j]);
            attempt(values);
        }
    }
    changes
}

/// The value with other undefined bits.
pub fn with(operand: Operand, bits: u64) -> u64 {
    operand.least() | bits & operand.undefined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the operation computes of 8 bits within a word.
    fn compute(op: Op, a: u64, b: u64) -> u64 {
        let (a, b) = (a as u32, b as u32);
        match op {
            Op::And32 => a & b,
            Op::Or32 => a | b,
            Op::Xor32 => a ^ b,
            Op::Add32 => a.wrapping_add(b),
            Op::Sub32 => a.wrapping_sub(b),
            Op::MulLo32 => a.wrapping_mul(b),
            Op::Shl32 => a.checked_shl(b).unwrap_or(0),
            Op::ShrU32 => a.checked_shr(b).unwrap_or(0),
            Op::ShrS32 => (a as i32 >> b.min(31)) as u32,
            Op::LowS8 => a as i8 as u32,
            Op::SetpU32(Compare::Eq) => u32::from(a == b),
            Op::SetpU32(Compare::Lt) => u32::from(a < b),
            Op::SetpS32(Compare::Le) => u32::from(a as i32 <= b as i32),
            _ => u32::from(a as i32 > b as i32),
        }
        .into()
    }

    proptest! {
        /// Every bit that some choice of the undefined bits changes is undefined; and where one operand is wholly defined, logic and comparisons call
        /// no other bit so.
        #[test]
        fn no_change_goes_unnoticed(
            values in any::<[u32; 2]>(), low in any::<[u8; 2]>(), small in any::<bool>(), shift in 0..25u32, which in 0..14usize
        ) {
            let op = [
                Op::And32, Op::Or32, Op::Xor32, Op::Add32, Op::Sub32, Op::MulLo32, Op::Shl32, Op::ShrU32, Op::ShrS32, Op::LowS8,
                Op::SetpU32(Compare::Eq), Op::SetpU32(Compare::Lt), Op::SetpS32(Compare::Le), Op::SetpS32(Compare::Gt),
            ][which];
            // Few undefined bits, so that all choices can be tried.
            let operand = |i: usize| Operand {
                value: u64::from(if small { values[i] & 0x1f } else { values[i] }),
                undefined: u64::from(u32::from(low[i] & 0x0f) << shift),
            };
            let sources = [operand(0), operand(1)];
            let width = if matches!(op, Op::SetpU32(_) | Op::SetpS32(_)) { 1 } else { u64::from(u32::MAX) };
            let told = through(op, [sources[0], sources[1], Operand::default()]) & width;
            let first = compute(op, sources[0].value, sources[1].value);
            let mut changes = 0;
            for a in 0..16u64 {
                for b in 0..16u64 {
                    let [a, b] = [with(sources[0], a << shift), with(sources[1], b << shift)];
                    changes |= compute(op, a, b) ^ first;
                }
            }
            prop_assert_eq!(changes & !told, 0, "{:?} {:?}: {:x} of {:x}", op, sources, changes, told);
            let is_exact = !matches!(op, Op::Add32 | Op::Sub32 | Op::MulLo32 | Op::Shl32 | Op::ShrU32 | Op::ShrS32);
            if is_exact && (sources[0].undefined == 0 || sources[1].undefined == 0) {
                prop_assert_eq!(changes, told, "{:?} {:?}", op, sources);
            }
        }
    }
}
