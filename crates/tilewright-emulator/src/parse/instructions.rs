//! Instructions and operands.

use super::{
    ParseError,
    ast::{Guard, Immediate, Instruction, Operand},
    cursor::Cursor,
    expression::{self, integer},
    lexer::TokenKind,
};

/// How deep vectors, addresses and lists may nest: PTX needs two.
const DEPTH: u32 = 8;

/// `@!p opcode a, b, c;`
pub fn instruction<'a>(cursor: &mut Cursor<'a>) -> Result<Instruction<'a>, ParseError> {
    let guard = if cursor.take(b'@') {
        let when = !cursor.take(b'!');
        Some(Guard { predicate: cursor.word("a predicate")?, when })
    } else {
        None
    };
    let line = cursor.line();
    let opcode = cursor.opcode()?;
    let mut operands = Vec::new();
    while !cursor.take(b';') {
        operands.push(operand(cursor, 0, opcode.starts_with("call"))?);
        if !cursor.take(b',') && !cursor.at(b';') {
            return cursor.fail(format!("expected `,` or `;`, found {}", cursor.describe()));
        }
    }
    Ok(Instruction { guard, opcode, operands, line })
}

/// One operand; parentheses are lists of arguments if `lists` says so, and those of an expression otherwise.
fn operand<'a>(cursor: &mut Cursor<'a>, depth: u32, lists: bool) -> Result<Operand<'a>, ParseError> {
    if depth > DEPTH {
        return cursor.fail("these operands nest too deeply");
    }
    match cursor.kind() {
        TokenKind::Punct(b'{') => {
            let vector = list(cursor, b'{', b'}', depth)?;
            match cursor.take(b'|') {
                true => Ok(Operand::VectorPair(vector, cursor.word("a register")?)),
                false => Ok(Operand::Vector(vector)),
            }
        }
        TokenKind::Punct(b'[') => {
            let address = list(cursor, b'[', b']', depth)?;
            // That an address is the same on the host and the device changes nothing.
            if cursor.kind() == TokenKind::Dotted("unified") {
                cursor.advance();
            }
            Ok(Operand::Address(address))
        }
        TokenKind::Punct(b'(') if lists => Ok(Operand::List(list(cursor, b'(', b')', depth)?)),
        TokenKind::Punct(b'!') if matches!(cursor.kind_after(), TokenKind::Word(_)) => {
            cursor.advance();
            Ok(Operand::Not(cursor.word("a predicate")?))
        }
        TokenKind::Punct(b'-') if matches!(cursor.kind_after(), TokenKind::Word(_)) => {
            cursor.advance();
            Ok(Operand::Negated(cursor.word("a register")?))
        }
        TokenKind::Word(name) => {
            cursor.advance();
            if cursor.take(b'|') {
                return Ok(Operand::Pair(name, cursor.word("a register")?));
            }
            let offset = offset(cursor)?;
            Ok(if offset == 0 { Operand::Name(name) } else { Operand::Offset(name, offset) })
        }
        _ => Ok(Operand::Immediate(immediate(cursor)?)),
    }
}

fn list<'a>(
    cursor: &mut Cursor<'a>,
    open: u8,
    close: u8,
    depth: u32,
) -> Result<Vec<Operand<'a>>, ParseError> {
    cursor.expect(open)?;
    let mut items = Vec::new();
    while !cursor.take(close) {
        items.push(operand(cursor, depth + 1, false)?);
        if !cursor.take(b',') && !cursor.at(close) {
            return cursor.fail(format!("expected `,` or `{}`, found {}", close as char, cursor.describe()));
        }
    }
    Ok(items)
}

/// `+4`, `+-4`, `-4`, and sums of them.
fn offset(cursor: &mut Cursor<'_>) -> Result<i64, ParseError> {
    let mut sum = 0i64;
    loop {
        let negative = match cursor.kind() {
            TokenKind::Punct(b'+') => false,
            TokenKind::Punct(b'-') => true,
            _ => return Ok(sum),
        };
        cursor.advance();
        let value = integer(cursor, "a number of bytes", expression::PRODUCT)? as i64;
        sum = sum.wrapping_add(if negative { value.wrapping_neg() } else { value });
    }
}

/// A number: one with a point and an optional sign, or an expression of integers.
pub fn immediate(cursor: &mut Cursor<'_>) -> Result<Immediate, ParseError> {
    let negative = cursor.at(b'-');
    let is_float = |kind| matches!(kind, TokenKind::F32(_) | TokenKind::F64(_));
    if (negative || cursor.at(b'+')) && is_float(cursor.kind_after()) {
        cursor.advance();
    }
    let value = match cursor.kind() {
        TokenKind::F32(bits) => Immediate::F32(bits ^ u32::from(negative) << 31),
        TokenKind::F64(value) => Immediate::F64(if negative { -value } else { value }),
        _ => return integer(cursor, "an operand", expression::CONDITION).map(Immediate::Int),
    };
    cursor.advance();
    Ok(value)
}
