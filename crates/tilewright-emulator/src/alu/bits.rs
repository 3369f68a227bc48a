//! Logic, shifts and bit-field instructions.

use super::form::Form;
use super::integer::with_integer;
use super::operation::{Operation, binary, ternary, unary, words};
use super::value::{Int, Value};
use crate::ptx_isa::{Modifier, Opcode, Type};

/// Resolves logic, shift and bit-field instructions; `None` if the opcode is not one of them.
pub(super) fn resolve(op: &mut Form) -> Option<Operation> {
    match op.opcode {
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Cnot => logic(op),
        Opcode::Lop3 => lop3(op),
        Opcode::Shl | Opcode::Shr => shift(op),
        Opcode::Shf => funnel_shift(op),
        Opcode::Prmt => permute(op),
        Opcode::Popc | Opcode::Clz | Opcode::Brev => count(op),
        Opcode::Bfind => find(op),
        Opcode::Fns => (op.take_type()? == Type::B32).then(|| ternary(find_nth_set)),
        Opcode::Bfe => extract(op),
        Opcode::Bfi => insert(op),
        Opcode::Szext => extend(op),
        Opcode::Bmsk => mask(op),
        _ => None,
    }
}

fn logic(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    if ty == Type::Pred {
        return Some(match op.opcode {
            Opcode::And => binary(|a: bool, b: bool| a & b),
            Opcode::Or => binary(|a: bool, b: bool| a | b),
            Opcode::Xor => binary(|a: bool, b: bool| a ^ b),
            Opcode::Not => unary(|a: bool| !a),
            _ => return None,
        });
    }
    with_integer!(ty, T => match op.opcode {
        Opcode::And => binary(|a: T, b: T| a & b),
        Opcode::Or => binary(|a: T, b: T| a | b),
        Opcode::Xor => binary(|a: T, b: T| a ^ b),
        Opcode::Not => unary(|a: T| !a),
        _ => unary(|a: T| T::from(a == 0)),
    }, B16 = u16, B32 = u32, B64 = u64)
}

/// Bit i of the result is the entry of the table at the index formed by the i-th bits of a, b and c, a the highest.
pub(super) fn lop3_b32(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let minterm = |index: u32| {
        let literal = |value: u32, bit: u32| if index >> bit & 1 == 1 { value } else { !value };
        if table >> index & 1 == 1 { literal(a, 2) & literal(b, 1) & literal(c, 0) } else { 0 }
    };
    (0..8).fold(0, |result, index| result | minterm(index))
}

/// With a Boolean operation the instruction also gives the predicate `(d != 0) op q`, as bit 32 of the result.
fn lop3(op: &mut Form) -> Option<Operation> {
    let or = op.take_from(&[(Modifier::And, false), (Modifier::Or, true)]);
    if op.take_type()? != Type::B32 {
        return None;
    }
    let value = |a: u64, b: u64, c: u64, table: u64| lop3_b32(a as u32, b as u32, c as u32, table as u32);
    Some(match or {
        None => words(move |[a, b, c, table]| value(a, b, c, table).into()),
        Some(or) => words(move |[a, b, c, table, q]| {
            let d = value(a, b, c, table);
            let (nonzero, q) = (d != 0, q & 1 != 0);
            let p = if or { nonzero | q } else { nonzero & q };
            u64::from(p) << 32 | u64::from(d)
        }),
    })
}

/// Shift amounts are unsigned 32-bit values and are clamped to the width of the type.
fn shift(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    let left = op.opcode == Opcode::Shl;
    if left {
        with_integer!(ty, T => binary(|a: T, b: u32| a.checked_shl(b).unwrap_or(0)), B16 = u16, B32 = u32, B64 = u64)
    } else {
        with_integer!(ty, T => binary(|a: T, b: u32| a >> b.min(T::BITS - 1) >> u32::from(b >= T::BITS)))
    }
}

/// `shf`: the upper half of `{b, a} << c` or the lower half of `{b, a} >> c`.
fn funnel_shift(op: &mut Form) -> Option<Operation> {
    let left = op.take_from(&[(Modifier::Left, true), (Modifier::Right, false)])?;
    let wrap = op.take_from(&[(Modifier::Wrap, true), (Modifier::Clamp, false)])?;
    if op.take_type()? != Type::B32 {
        return None;
    }
    let amount = move |c: u32| if wrap { c & 31 } else { c.min(32) };
    let both = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
    Some(if left {
        ternary(move |a: u32, b: u32, c: u32| (both(a, b) << amount(c) >> 32) as u32)
    } else {
        ternary(move |a: u32, b: u32, c: u32| (both(a, b) >> amount(c)) as u32)
    })
}

/// For each mode of `prmt`: the four source bytes, lowest first, for a control of 0, 1, 2 and 3.
const PERMUTATIONS: &[(Modifier, [[u32; 4]; 4])] = &[
    (Modifier::F4e, [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]),
    (Modifier::B4e, [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]]),
    (Modifier::Rc8, [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]),
    (Modifier::Ecl, [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]]),
    (Modifier::Ecr, [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]),
    (Modifier::Rc16, [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
];

fn permute(op: &mut Form) -> Option<Operation> {
    let mode = op.take_from(PERMUTATIONS);
    if op.take_type()? != Type::B32 {
        return None;
    }
    let byte = |a: u64, b: u64, index: u32| (b << 32 | a & 0xffff_ffff) >> (8 * index) & 0xff;
    Some(match mode {
        Some(table) => words(move |[a, b, c]| {
            let chosen = table[(c & 3) as usize];
            (0..4).fold(0, |d, i| d | byte(a, b, chosen[i]) << (8 * i))
        }),
        None => words(move |[a, b, c]| {
            (0..4).fold(0, |d, i| {
                let control = (c >> (4 * i)) as u32 & 0xf;
                let value = byte(a, b, control & 7);
                // Bit 3 of a control replicates the sign of the byte.
                let value = if control & 8 != 0 { 0xff * (value >> 7) } else { value };
                d | value << (8 * i)
            })
        }),
    })
}

fn count(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    with_integer!(ty, T => match op.opcode {
        Opcode::Popc => unary(|a: T| a.count_ones()),
        Opcode::Clz => unary(|a: T| a.leading_zeros()),
        _ => unary(|a: T| a.reverse_bits()),
    }, B32 = u32, B64 = u64)
}

/// `bfind`: the position of the highest set bit, or of the highest bit unlike the sign; all ones if there is none.
/// `.shiftamt` gives the left shift that brings it to the top.
fn find(op: &mut Form) -> Option<Operation> {
    let shift_amount = op.take(Modifier::ShiftAmt);
    let ty = op.take_type()?;
    with_integer!(ty, T => unary(move |a: T| {
        let magnitude = if a.wide() < 0 { !a } else { a };
        match magnitude.leading_zeros() {
            zeros if zeros == T::BITS => u32::MAX,
            zeros if shift_amount => zeros,
            zeros => T::BITS - 1 - zeros,
        }
    }), U32 = u32, U64 = u64, S32 = i32, S64 = i64)
}

/// The position of the n-th set bit counted from `base`, upwards for n > 0, downwards for n < 0; with n = 0 the bit at
/// `base` itself if it is set. All ones if there is none.
pub(super) fn find_nth_set(mask: u32, base: u32, n: i32) -> u32 {
    const NONE: u32 = u32::MAX;
    if base > 31 {
        return NONE;
    }
    let is_set = |bit: &u32| mask >> bit & 1 == 1;
    let nth = match n {
        0 => (base..=base).find(is_set),
        1.. => (base..32).filter(is_set).nth(n as usize - 1),
        _ => (0..=base).rev().filter(is_set).nth(n.unsigned_abs() as usize - 1),
    };
    nth.unwrap_or(NONE)
}

/// `bfe`: the field of `c & 255` bits from bit `b & 255`. Beyond the top of the value a signed field continues with the
/// value's sign; a field of no bits is 0.
fn extract(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    with_integer!(ty, T => ternary(|a: T, b: u32, c: u32| {
        let (position, length) = (b & 0xff, (c & 0xff).min(T::BITS));
        if length == 0 {
            return T::wrap(0);
        }
        // Above the value, `wide` has its sign or zeros.
        let (field, unused) = (a.wide() >> position.min(127), 128 - length);
        T::wrap(if T::SIGNED { field << unused >> unused } else { ((field << unused) as u128 >> unused) as i128 })
    }), U32 = u32, U64 = u64, S32 = i32, S64 = i64)
}

/// `bfi`: b with the low `d & 255` bits of a put at bit `c & 255`.
fn insert(op: &mut Form) -> Option<Operation> {
    let ty = op.take_type()?;
    with_integer!(ty, T => words(move |[a, b, c, d]| {
        let (position, length) = ((c & 0xff) as u32, (d & 0xff) as u32);
        if position >= T::BITS {
            return T::from_word(b).word();
        }
        let ones = if length >= T::BITS { T::MAX } else { (1 << length) - 1 };
        (T::from_word(b) & !(ones << position) | (T::from_word(a) & ones) << position).word()
    }), B32 = u32, B64 = u64)
}

/// `szext`: the low b bits of a, sign- or zero-extended; with `.clamp` an amount above 32 counts as 32.
fn extend(op: &mut Form) -> Option<Operation> {
    let wrap = op.take_from(&[(Modifier::Wrap, true), (Modifier::Clamp, false)])?;
    let length = move |b: u32| if wrap { b & 31 } else { b.min(32) };
    Some(match op.take_type()? {
        Type::U32 => binary(move |a: u32, b: u32| (u64::from(a) & ((1 << length(b)) - 1)) as u32),
        Type::S32 => binary(move |a: i32, b: u32| {
            let unused = 64 - length(b);
            if unused == 64 { 0 } else { (i64::from(a) << unused >> unused) as i32 }
        }),
        _ => return None,
    })
}

/// `bmsk`: b ones from bit a upwards.
fn mask(op: &mut Form) -> Option<Operation> {
    let wrap = op.take_from(&[(Modifier::Wrap, true), (Modifier::Clamp, false)])?;
    if op.take_type()? != Type::B32 {
        return None;
    }
    Some(binary(move |a: u32, b: u32| {
        let (a, b) = if wrap { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
        (((1u64 << b) - 1) << a) as u32
    }))
}
