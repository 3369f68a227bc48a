//! Constant expressions: integers of 64 bits with the operators of C.
//!
//! `WARP_SZ` is a number to the lexer, so that it may stand wherever one may.

use super::{ParseError, cursor::Cursor, lexer::TokenKind};

/// How deep parentheses, signs and conditions may nest.
const DEPTH: u32 = 64;

/// The whole expression, conditions included.
pub const CONDITION: u8 = 0;
/// Sums and what binds more strongly: inside of `<...>`.
pub const SUM: u8 = 9;
/// Products and what binds more strongly: one summand of an offset.
pub const PRODUCT: u8 = 10;

/// Operators by their characters, longer ones first, and how strongly they bind.
const OPERATORS: &[(&[u8], u8)] = &[
    (b"||", 1),
    (b"&&", 2),
    (b"==", 6),
    (b"!=", 6),
    (b"<<", 8),
    (b">>", 8),
    (b"<=", 7),
    (b">=", 7),
    (b"|", 3),
    (b"^", 4),
    (b"&", 5),
    (b"<", 7),
    (b">", 7),
    (b"+", SUM),
    (b"-", SUM),
    (b"*", PRODUCT),
    (b"/", PRODUCT),
    (b"%", PRODUCT),
];

/// An integer, signed unless it does not fit or a cast says otherwise.
#[derive(Clone, Copy)]
struct Integer {
    bits: u64,
    signed: bool,
}

impl Integer {
    fn truth(holds: bool) -> Self {
        Self { bits: u64::from(holds), signed: true }
    }
}

/// An integer whose operators all bind at least as strongly as `least`; `what` is what the reader expects here.
pub fn integer(cursor: &mut Cursor<'_>, what: &str, least: u8) -> Result<u64, ParseError> {
    expression(cursor, what, least, 0).map(|value| value.bits)
}

fn expression(cursor: &mut Cursor<'_>, what: &str, least: u8, depth: u32) -> Result<Integer, ParseError> {
    if depth > DEPTH {
        return cursor.fail("this expression nests too deeply");
    }
    let mut left = operand(cursor, what, depth)?;
    while let Some((operator, binding)) = operator(cursor).filter(|found| found.1 >= least) {
        for _ in operator {
            cursor.advance();
        }
        // Operators of one kind bind to the left.
        let right = expression(cursor, what, binding + 1, depth + 1)?;
        left = match apply(operator, left, right) {
            Some(value) => value,
            None => return cursor.fail("this expression divides by zero"),
        };
    }
    if least == CONDITION && cursor.take(b'?') {
        let yes = expression(cursor, what, CONDITION, depth + 1)?;
        cursor.expect(b':')?;
        let no = expression(cursor, what, CONDITION, depth + 1)?;
        return Ok(if left.bits != 0 { yes } else { no });
    }
    Ok(left)
}

/// The operator at the cursor.
fn operator(cursor: &Cursor<'_>) -> Option<(&'static [u8], u8)> {
    let byte = |kind| match kind {
        TokenKind::Punct(byte) => Some(byte),
        // Names may begin with it.
        TokenKind::Word("%") => Some(b'%'),
        _ => None,
    };
    let (first, second) = (byte(cursor.kind())?, byte(cursor.kind_after()));
    let is_here =
        |operator: &[u8]| operator[0] == first && operator.get(1).is_none_or(|&b| Some(b) == second);
    OPERATORS.iter().copied().find(|(operator, _)| is_here(operator))
}

/// A number, or an expression in parentheses, with signs, casts and the like before it.
fn operand(cursor: &mut Cursor<'_>, what: &str, depth: u32) -> Result<Integer, ParseError> {
    if depth > DEPTH {
        return cursor.fail("this expression nests too deeply");
    }
    match cursor.kind() {
        TokenKind::Int(bits) => {
            cursor.advance();
            Ok(Integer { bits, signed: bits <= i64::MAX as u64 })
        }
        TokenKind::Punct(sign @ (b'+' | b'-' | b'~' | b'!')) => {
            cursor.advance();
            let Integer { bits, signed } = operand(cursor, what, depth + 1)?;
            Ok(match sign {
                b'-' => Integer { bits: bits.wrapping_neg(), signed },
                b'~' => Integer { bits: !bits, signed },
                b'!' => Integer::truth(bits == 0),
                _ => Integer { bits, signed },
            })
        }
        TokenKind::Punct(b'(') => {
            cursor.advance();
            if let TokenKind::Dotted(ty @ ("s64" | "u64")) = cursor.kind() {
                cursor.advance();
                cursor.expect(b')')?;
                return Ok(Integer { signed: ty == "s64", ..operand(cursor, what, depth + 1)? });
            }
            let value = expression(cursor, what, CONDITION, depth + 1)?;
            cursor.expect(b')')?;
            Ok(value)
        }
        _ => cursor.fail(format!("expected {what}, found {}", cursor.describe())),
    }
}

/// `None`: a division by zero.
fn apply(operator: &[u8], left: Integer, right: Integer) -> Option<Integer> {
    let (a, b) = (left.bits, right.bits);
    let signed = left.signed && right.signed;
    let same = |bits: u64| Integer { bits, signed };
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    let less = |a: u64, b: u64| if signed { (a as i64) < b as i64 } else { a < b };
    Some(match operator {
        b"||" => Integer::truth(a != 0 || b != 0),
        b"&&" => Integer::truth(a != 0 && b != 0),
        b"==" => Integer::truth(a == b),
        b"!=" => Integer::truth(a != b),
        b"<" => Integer::truth(less(a, b)),
        b">" => Integer::truth(less(b, a)),
        b"<=" => Integer::truth(!less(b, a)),
        b">=" => Integer::truth(!less(a, b)),
        b"|" => same(a | b),
        b"^" => same(a ^ b),
        b"&" => same(a & b),
        b"<<" => Integer { bits: a.checked_shl(amount).unwrap_or(0), ..left },
        b">>" if left.signed => Integer { bits: (a as i64 >> amount.min(63)) as u64, ..left },
        b">>" => Integer { bits: a.checked_shr(amount).unwrap_or(0), ..left },
        b"+" => same(a.wrapping_add(b)),
        b"-" => same(a.wrapping_sub(b)),
        b"*" => same(a.wrapping_mul(b)),
        _ if b == 0 => return None,
        b"/" if signed => same((a as i64).wrapping_div(b as i64) as u64),
        b"/" => same(a / b),
        _ if signed => same((a as i64).wrapping_rem(b as i64) as u64),
        _ => same(a % b),
    })
}
