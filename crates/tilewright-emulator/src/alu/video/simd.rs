//! The forms on two half-words (`vadd2`, ...) and on four bytes (`vadd4`, ...).

use super::{COMPARISONS, Primary, clamped, signedness, value};
use crate::alu::form::Form;
use crate::alu::operation::{Operation, words};
use crate::ptx_isa::{Modifier, Opcode, Selector};

/// The average rounded up, or for negative sums towards negative infinity.
fn average(a: i64, b: i64) -> i64 {
    (a + b + i64::from(a + b >= 0)) >> 1
}

fn primary(op: &mut Form) -> Option<(Primary, usize)> {
    use Opcode::*;
    Some(match op.opcode {
        Vadd2 => (|a, b| a + b, 2),
        Vadd4 => (|a, b| a + b, 4),
        Vsub2 => (|a, b| a - b, 2),
        Vsub4 => (|a, b| a - b, 4),
        Vavrg2 => (average, 2),
        Vavrg4 => (average, 4),
        Vabsdiff2 => (|a, b| (a - b).abs(), 2),
        Vabsdiff4 => (|a, b| (a - b).abs(), 4),
        Vmin2 => (|a, b| a.min(b), 2),
        Vmin4 => (|a, b| a.min(b), 4),
        Vmax2 => (|a, b| a.max(b), 2),
        Vmax4 => (|a, b| a.max(b), 4),
        Vset2 => (op.take_from(COMPARISONS)?, 2),
        Vset4 => (op.take_from(COMPARISONS)?, 4),
        _ => return None,
    })
}

/// For each element of the result, lowest first, the element of the pair of registers it comes from.
fn elements(selector: Selector, count: usize, default: [u32; 4]) -> Option<[u32; 4]> {
    let nibbles = match (selector, count) {
        (Selector::Whole, _) => return Some(default),
        (Selector::Halves(nibbles), 2) | (Selector::Bytes(nibbles), 4) => nibbles,
        _ => return None,
    };
    let chosen = std::array::from_fn(|i| u32::from(nibbles >> (4 * i)) & 0xf);
    chosen.iter().all(|&element| element < 2 * count as u32).then_some(chosen)
}

/// Which elements of the destination are written: those whose digits stand in its suffix, in falling order.
fn mask(selector: Selector, count: usize) -> Option<[bool; 4]> {
    let mut digits = match (selector, count) {
        (Selector::Whole, _) => return Some([true; 4]),
        (Selector::Half(index), 2) | (Selector::Byte(index), 4) => u16::from(index),
        (Selector::Halves(digits), 2) | (Selector::Bytes(digits), 4) => digits,
        _ => return None,
    };
    let mut mask = [false; 4];
    loop {
        *mask.get_mut(usize::from(digits & 0xf)).filter(|written| !**written)? = true;
        digits >>= 4;
        // A leading zero cannot be told from no digit, but the digits fall, so that it is the only one.
        if digits == 0 {
            return Some(mask);
        }
    }
}

pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    let (primary, count) = primary(op)?;
    let compares = matches!(op.opcode, Opcode::Vset2 | Opcode::Vset4);
    let (saturate, accumulate) = (op.take(Modifier::Sat), op.take(Modifier::Add));
    if saturate && (accumulate || compares) {
        return None;
    }
    let d_signed = if compares { false } else { signedness(op.take_type()?)? };
    let a_signed = signedness(op.take_type()?)?;
    let b_signed = signedness(op.take_type()?)?;
    let written = mask(op.selector(0), count)?;
    let a_elements = elements(op.selector(1), count, [0, 1, 2, 3])?;
    let b_default = std::array::from_fn(|i| (count + i) as u32);
    let b_elements = elements(op.selector(2), count, b_default)?;
    let bits = 32 / count as u32;
    Some(words(move |[a, b, c]| {
        let both = b << 32 | a & 0xffff_ffff;
        let result = |i: usize| {
            let a = value(both >> (bits * a_elements[i]), bits, a_signed);
            let b = value(both >> (bits * b_elements[i]), bits, b_signed);
            let result = primary(a, b);
            if saturate { clamped(result, bits, d_signed) } else { result }
        };
        let written = (0..count).filter(|&i| written[i]);
        if accumulate {
            return u64::from(written.fold(c as u32, |sum, i| sum.wrapping_add(result(i) as u32)));
        }
        written.fold(c & 0xffff_ffff, |d, i| {
            let (mask, offset) = ((1u64 << bits) - 1, bits * i as u32);
            d & !(mask << offset) | (result(i) as u64 & mask) << offset
        })
    }))
}
