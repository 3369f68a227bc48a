//! Modules and functions.

use super::{
    ParseError,
    ast::{Function, FunctionKind, Linkage, Module, StateSpace, Statement, Variable},
    cursor::Cursor,
    directives, instructions,
    lexer::TokenKind,
    variables,
};

/// Parses a PTX module.
///
/// # Errors
/// A [`ParseError`] with the place, if `text` is not PTX. Never panics.
///
/// ```
/// let module = tilewright_emulator::parse::parse(
///     ".version 9.0 .target sm_90 .address_size 64 .visible .entry k() { ret; }",
/// )?;
/// assert_eq!(module.functions[0].name, "k");
/// # Ok::<(), tilewright_emulator::parse::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Module<'_>, ParseError> {
    let mut cursor = Cursor::new(text)?;
    let mut module = Module { address_size: 64, ..Module::default() };
    let mut linkage = Linkage::Internal;
    loop {
        match cursor.kind() {
            TokenKind::End => return Ok(module),
            TokenKind::Punct(b';') => {
                cursor.advance();
            }
            TokenKind::Dotted(name) => match linkage_of(name) {
                Some(found) => {
                    linkage = found;
                    cursor.advance();
                }
                None => item(&mut cursor, &mut module, name, std::mem::take(&mut linkage))?,
            },
            _ => return cursor.fail(format!("expected a directive, found {}", cursor.describe())),
        }
    }
}

fn linkage_of(name: &str) -> Option<Linkage> {
    Some(match name {
        "visible" => Linkage::Visible,
        "extern" => Linkage::Extern,
        "weak" => Linkage::Weak,
        "common" => Linkage::Common,
        _ => return None,
    })
}

fn item<'a>(
    cursor: &mut Cursor<'a>,
    module: &mut Module<'a>,
    name: &'a str,
    linkage: Linkage,
) -> Result<(), ParseError> {
    match name {
        "entry" | "func" => {
            let function = function(cursor, linkage)?;
            module.functions.push(function);
        }
        "file" => {
            let file = directives::file(cursor)?;
            module.files.push(file);
        }
        "version" => {
            cursor.advance();
            module.version = directives::version(cursor)?;
        }
        "target" => {
            cursor.advance();
            module.target = directives::target(cursor)?;
        }
        "address_size" => {
            cursor.advance();
            module.address_size = cursor.int("32 or 64")? as u32;
        }
        "section" => {
            cursor.advance();
            cursor.advance();
            cursor.skip_braces()?;
        }
        "alias" => {
            cursor.advance();
            let new = cursor.word("a name")?;
            cursor.expect(b',')?;
            module.aliases.push((new, cursor.word("a name")?));
            cursor.expect(b';')?;
        }
        _ if variables::starts_variable(name) => {
            variables::declaration(cursor, linkage, &mut module.variables)?
        }
        _ => directives::skip(cursor)?,
    }
    Ok(())
}

fn function<'a>(cursor: &mut Cursor<'a>, linkage: Linkage) -> Result<Function<'a>, ParseError> {
    let kind = match cursor.advance() {
        TokenKind::Dotted("entry") => FunctionKind::Entry,
        _ => FunctionKind::Device,
    };
    let mut directives = Vec::new();
    while let TokenKind::Dotted(_) = cursor.kind() {
        directives.push(directives::of_function(cursor)?);
    }
    let returns = if cursor.at(b'(') { parameters(cursor)? } else { Vec::new() };
    let line = cursor.line();
    let name = cursor.word("the name of a function")?;
    let params = if cursor.at(b'(') { parameters(cursor)? } else { Vec::new() };
    while let TokenKind::Dotted(_) = cursor.kind() {
        directives.push(directives::of_function(cursor)?);
    }
    let body = if cursor.take(b';') { None } else { Some(body(cursor)?) };
    Ok(Function { kind, linkage, name, returns, params, directives, body, line })
}

fn parameters<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Variable<'a>>, ParseError> {
    cursor.expect(b'(')?;
    let mut params = Vec::new();
    while !cursor.take(b')') {
        if !cursor.take(b',') {
            params.push(variables::parameter(cursor)?);
        }
    }
    Ok(params)
}

fn body<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Statement<'a>>, ParseError> {
    cursor.expect(b'{')?;
    let mut statements = Vec::new();
    let mut depth = 0u32;
    loop {
        match cursor.kind() {
            TokenKind::Punct(b'{') => {
                cursor.advance();
                depth += 1;
                statements.push(Statement::OpenScope);
            }
            TokenKind::Punct(b'}') => {
                cursor.advance();
                if depth == 0 {
                    return Ok(statements);
                }
                depth -= 1;
                statements.push(Statement::CloseScope);
            }
            TokenKind::Punct(b';') => {
                cursor.advance();
            }
            TokenKind::Dotted(name) => directive_in_body(cursor, name, &mut statements)?,
            TokenKind::Word(name) if cursor.kind_after() == TokenKind::Punct(b':') => {
                cursor.advance();
                cursor.advance();
                match directives::labelled(cursor, name)? {
                    Some(statement) => statements.push(statement),
                    None => statements.push(Statement::Label(name)),
                }
            }
            TokenKind::Word(_) | TokenKind::Punct(b'@') => {
                statements.push(Statement::Instruction(instructions::instruction(cursor)?));
            }
            _ => return cursor.fail(format!("expected a statement, found {}", cursor.describe())),
        }
    }
}

fn directive_in_body<'a>(
    cursor: &mut Cursor<'a>,
    name: &'a str,
    statements: &mut Vec<Statement<'a>>,
) -> Result<(), ParseError> {
    match name {
        "loc" => statements.push(Statement::Location(directives::location(cursor)?)),
        "extern" | "visible" | "weak" | "common" => {
            cursor.advance();
            let mut found = Vec::new();
            variables::declaration(cursor, linkage_of(name).unwrap_or_default(), &mut found)?;
            statements.extend(found.into_iter().map(Statement::Variable));
        }
        _ if variables::starts_variable(name) => {
            let mut found = Vec::new();
            variables::declaration(cursor, Linkage::Internal, &mut found)?;
            // Local variables without a space are registers' opposite: PTX has none, so nothing to decide here.
            debug_assert!(found.iter().all(|variable| variable.space != StateSpace::Sreg));
            statements.extend(found.into_iter().map(Statement::Variable));
        }
        "file" => {
            directives::file(cursor)?;
        }
        "section" => {
            cursor.advance();
            cursor.advance();
            cursor.skip_braces()?;
        }
        "pragma" => statements.extend(directives::pragma(cursor)),
        _ => directives::skip(cursor)?,
    }
    Ok(())
}
