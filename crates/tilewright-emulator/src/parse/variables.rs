//! Declarations of variables, registers and parameters.

use super::{
    ParseError,
    ast::{Generic, Immediate, Init, Linkage, StateSpace, Variable},
    cursor::Cursor,
    expression::{self, integer},
    instructions::immediate,
    lexer::TokenKind,
};
use crate::ptx_isa::Type;

const SPACES: &[(&str, StateSpace)] = &[
    ("reg", StateSpace::Reg),
    ("sreg", StateSpace::Sreg),
    ("const", StateSpace::Const),
    ("global", StateSpace::Global),
    ("local", StateSpace::Local),
    ("param", StateSpace::Param),
    ("shared", StateSpace::Shared),
    ("shared::cta", StateSpace::Shared),
    ("tex", StateSpace::Tex),
];

fn space(name: &str) -> Option<StateSpace> {
    // `.const[2]` of old compilers lexes as `const` followed by a bracket.
    SPACES.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Whether a declaration starts with this directive.
pub fn starts_variable(name: &str) -> bool {
    space(name.split('.').next().unwrap_or(name)).is_some()
}

/// What stands before the names of a declaration.
struct Head {
    space: Option<StateSpace>,
    align: Option<u32>,
    vector: u32,
    ty: Option<Type>,
}

fn head(cursor: &mut Cursor<'_>) -> Result<Head, ParseError> {
    let mut head = Head { space: None, align: None, vector: 1, ty: None };
    while let TokenKind::Dotted(words) = cursor.kind() {
        cursor.advance();
        for word in words.split('.') {
            if let Some(space) = space(word) {
                // `.param .u64 .ptr .global`: the second space says where the pointer points.
                head.space = head.space.or(Some(space));
                if cursor.at(b'[') && space == StateSpace::Const {
                    cursor.advance();
                    cursor.int("a bank")?;
                    cursor.expect(b']')?;
                }
            } else if let Some(ty) = Type::parse(word) {
                head.ty = Some(ty);
            } else {
                match word {
                    "v2" => head.vector = 2,
                    "v4" => head.vector = 4,
                    "v8" => head.vector = 8,
                    "align" => {
                        let align = cursor.int("an alignment")?;
                        if !align.is_power_of_two() || align > 1 << 20 {
                            return cursor.fail(format!("an alignment is a power of two, {align} is not"));
                        }
                        // The alignment of a `.ptr` is not that of the parameter itself.
                        head.align = head.align.or(Some(align as u32));
                    }
                    "ptr" => head.align = head.align.or(Some(0)),
                    "attribute" => skip_parentheses(cursor)?,
                    _ => {}
                }
            }
        }
    }
    head.align = head.align.filter(|&align| align > 0);
    Ok(head)
}

fn skip_parentheses(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.expect(b'(')?;
    let mut depth = 1;
    while depth > 0 {
        match cursor.advance() {
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth -= 1,
            TokenKind::End => return cursor.fail("expected `)`, found the end of the text"),
            _ => {}
        }
    }
    Ok(())
}

/// `.space .type a, b<3>, c[4] = {...};`
pub fn declaration<'a>(
    cursor: &mut Cursor<'a>,
    linkage: Linkage,
    into: &mut Vec<Variable<'a>>,
) -> Result<(), ParseError> {
    let head = head(cursor)?;
    loop {
        into.push(declarator(cursor, &head, linkage)?);
        if !cursor.take(b',') {
            return cursor.expect(b';');
        }
    }
}

/// One parameter of a function. `...` is a parameter called so.
pub fn parameter<'a>(cursor: &mut Cursor<'a>) -> Result<Variable<'a>, ParseError> {
    let head = head(cursor)?;
    if cursor.at(b'.') {
        while cursor.take(b'.') {}
        return Ok(variable(&head, "...", cursor.line(), Linkage::Internal));
    }
    declarator(cursor, &head, Linkage::Internal)
}

fn variable<'a>(head: &Head, name: &'a str, line: u32, linkage: Linkage) -> Variable<'a> {
    Variable {
        space: head.space.unwrap_or(StateSpace::Param),
        linkage,
        align: head.align,
        vector: head.vector,
        ty: head.ty.unwrap_or(Type::B32),
        name,
        range: None,
        dims: Vec::new(),
        init: Vec::new(),
        line,
    }
}

fn declarator<'a>(
    cursor: &mut Cursor<'a>,
    head: &Head,
    linkage: Linkage,
) -> Result<Variable<'a>, ParseError> {
    let line = cursor.line();
    if head.ty.is_none() {
        return cursor.fail(format!("expected a type, found {}", cursor.describe()));
    }
    let mut variable = variable(head, cursor.word("a name")?, line, linkage);
    if cursor.take(b'<') {
        variable.range =
            Some(integer(cursor, "how many registers", expression::SUM)?.min(u64::from(u32::MAX)) as u32);
        cursor.expect(b'>')?;
    }
    while cursor.take(b'[') {
        let dim =
            if cursor.at(b']') { None } else { Some(integer(cursor, "a length", expression::CONDITION)?) };
        variable.dims.push(dim);
        cursor.expect(b']')?;
    }
    if cursor.take(b'=') {
        initialiser(cursor, &mut variable.init)?;
    }
    Ok(variable)
}

fn initialiser<'a>(cursor: &mut Cursor<'a>, into: &mut Vec<Init<'a>>) -> Result<(), ParseError> {
    if !cursor.at(b'{') {
        into.push(element(cursor)?);
        return Ok(());
    }
    cursor.expect(b'{')?;
    let mut depth = 1;
    while depth > 0 {
        match cursor.kind() {
            TokenKind::Punct(b'{') => {
                cursor.advance();
                depth += 1;
                into.push(Init::Open);
            }
            TokenKind::Punct(b'}') => {
                cursor.advance();
                depth -= 1;
                if depth > 0 {
                    into.push(Init::Close);
                }
            }
            TokenKind::Punct(b',') => {
                cursor.advance();
            }
            _ => into.push(element(cursor)?),
        }
    }
    Ok(())
}

fn element<'a>(cursor: &mut Cursor<'a>) -> Result<Init<'a>, ParseError> {
    if let TokenKind::Word(word) = cursor.kind() {
        cursor.advance();
        // Samplers are initialised as `{ filter_mode = linear, ... }`.
        if cursor.take(b'=') {
            cursor.advance();
            return Ok(Init::Value(Immediate::Int(0)));
        }
        if word == "generic" && cursor.take(b'(') {
            let symbol = cursor.word("a symbol")?;
            cursor.expect(b')')?;
            return address(cursor, symbol, Generic::Yes, None);
        }
        return address(cursor, word, Generic::No, None);
    }
    let value = immediate(cursor)?;
    if !cursor.take(b'(') {
        return Ok(Init::Value(value));
    }
    // `0xff00(symbol)`: one byte of an address.
    let Immediate::Int(mask) = value else { return cursor.fail("a mask is an integer") };
    let mut symbol = cursor.word("a symbol")?;
    let mut generic = Generic::No;
    if symbol == "generic" && cursor.take(b'(') {
        symbol = cursor.word("a symbol")?;
        generic = Generic::Yes;
        cursor.expect(b')')?;
    }
    let init = address(cursor, symbol, generic, Some((mask.trailing_zeros() / 8) as u8))?;
    cursor.expect(b')')?;
    Ok(init)
}

fn address<'a>(
    cursor: &mut Cursor<'a>,
    symbol: &'a str,
    generic: Generic,
    byte: Option<u8>,
) -> Result<Init<'a>, ParseError> {
    let addend = match cursor.kind() {
        TokenKind::Punct(b'+') => {
            cursor.advance();
            integer(cursor, "a number", expression::SUM)? as i64
        }
        TokenKind::Punct(b'-') => integer(cursor, "a number", expression::SUM)? as i64,
        _ => 0,
    };
    Ok(Init::Address { symbol, addend, generic, byte })
}
