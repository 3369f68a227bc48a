//! Directives that declare no variable.

use super::{
    ParseError,
    ast::{Location, Statement},
    cursor::Cursor,
    lexer::TokenKind,
};

pub fn version(cursor: &mut Cursor<'_>) -> Result<(u32, u32), ParseError> {
    match cursor.kind() {
        TokenKind::F64(value) => {
            cursor.advance();
            Ok((value as u32, (value.fract() * 10.0).round() as u32))
        }
        _ => Ok((cursor.int("a version such as 9.0")? as u32, 0)),
    }
}

pub fn target<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<&'a str>, ParseError> {
    let mut names = vec![cursor.word("a target such as sm_90")?];
    while cursor.take(b',') {
        names.push(cursor.word("a target such as sm_90")?);
    }
    Ok(names)
}

/// `.file 1 "path"`, with the time and size that some compilers append.
pub fn file<'a>(cursor: &mut Cursor<'a>) -> Result<(u32, &'a str), ParseError> {
    cursor.advance();
    let index = cursor.int("the number of a file")? as u32;
    let TokenKind::Text(mut path) = cursor.kind() else {
        return cursor.fail(format!("expected a path in quotes, found {}", cursor.describe()));
    };
    cursor.advance();
    // DWARF 5 style: directory, then name.
    if let TokenKind::Text(name) = cursor.kind() {
        path = name;
        cursor.advance();
    }
    while cursor.take(b',') {
        cursor.int("a number")?;
    }
    Ok((index, path))
}

/// `.loc 1 20 5`, `.loc 1 20 5, function_name $L__info_string0, inlined_at 1 30 7`.
pub fn location<'a>(cursor: &mut Cursor<'a>) -> Result<Location<'a>, ParseError> {
    cursor.advance();
    let (file, line, column) = position(cursor)?;
    let mut location = Location { file, line, column, inlined_at: None, function: None };
    while cursor.take(b',') {
        match cursor.word("function_name or inlined_at")? {
            "function_name" => {
                location.function = Some(cursor.word("a label")?);
                if cursor.take(b'+') {
                    cursor.int("a number")?;
                }
            }
            "inlined_at" => location.inlined_at = Some(position(cursor)?),
            other => return cursor.fail(format!("`{other}` is no attribute of .loc")),
        }
    }
    // Words such as `prologue_end` belong to DWARF alone.
    while let TokenKind::Word("prologue_end" | "is_stmt") = cursor.kind() {
        cursor.advance();
    }
    Ok(location)
}

fn position(cursor: &mut Cursor<'_>) -> Result<(u32, u32, u32), ParseError> {
    let mut numbers = [0u32; 3];
    for number in &mut numbers {
        *number = cursor.int("file, line and column")? as u32;
    }
    Ok(numbers.into())
}

/// A directive of a function's head and its numbers: `.maxntid 256, 1, 1`, `.noreturn`, `.attribute(...)`.
pub fn of_function<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a str, Vec<u64>), ParseError> {
    let TokenKind::Dotted(name) = cursor.advance() else {
        return cursor.fail("expected a directive");
    };
    let mut numbers = Vec::new();
    let parenthesised = cursor.take(b'(');
    loop {
        match cursor.kind() {
            TokenKind::Int(value) => numbers.push(value),
            TokenKind::Text(_) => {}
            TokenKind::Dotted(_) | TokenKind::Word(_) if parenthesised => {}
            TokenKind::Punct(b',') => {}
            TokenKind::Punct(b'(') if parenthesised => {
                // `.attribute(.unified(1, 2))`.
                while !cursor.at(b')') && cursor.kind() != TokenKind::End {
                    cursor.advance();
                }
            }
            TokenKind::Punct(b')') if parenthesised => {
                cursor.advance();
                return Ok((name, numbers));
            }
            _ if parenthesised => return cursor.fail(format!("expected `)`, found {}", cursor.describe())),
            _ => return Ok((name, numbers)),
        }
        cursor.advance();
    }
}

/// What may stand behind `name:` in place of an instruction.
pub fn labelled<'a>(cursor: &mut Cursor<'a>, name: &'a str) -> Result<Option<Statement<'a>>, ParseError> {
    match cursor.kind() {
        TokenKind::Dotted("branchtargets" | "calltargets") => {
            cursor.advance();
            let mut targets = vec![cursor.word("a label")?];
            while cursor.take(b',') {
                targets.push(cursor.word("a label")?);
            }
            cursor.expect(b';')?;
            Ok(Some(Statement::Targets(name, targets)))
        }
        TokenKind::Dotted("callprototype") => {
            cursor.skip_statement()?;
            Ok(Some(Statement::Prototype(name)))
        }
        _ => Ok(None),
    }
}

/// `.pragma "nounroll";`; other strings mean nothing here.
pub fn pragma<'a>(cursor: &mut Cursor<'a>) -> Option<Statement<'a>> {
    cursor.advance();
    let mut found = None;
    while let TokenKind::Text(text) = cursor.kind() {
        cursor.advance();
        found = found.or((text == "nounroll").then_some(Statement::NoUnroll));
        cursor.take(b',');
    }
    cursor.take(b';');
    found
}

/// A directive that means nothing here: `.language`.
pub fn skip(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    let line = cursor.line();
    cursor.advance();
    loop {
        match cursor.kind() {
            TokenKind::Punct(b';') => {
                cursor.advance();
                return Ok(());
            }
            TokenKind::Punct(b'{') => return cursor.skip_braces(),
            TokenKind::Punct(b'}') | TokenKind::End => return Ok(()),
            // Without a semicolon a directive ends with its line.
            TokenKind::Dotted(_) | TokenKind::Punct(b'@') if cursor.line() > line => return Ok(()),
            _ => {
                cursor.advance();
            }
        }
    }
}
