//! The token stream with one token of lookahead, and the errors that name a place in it.

use super::{
    ParseError,
    lexer::{Token, TokenKind},
};

pub struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Result<Self, ParseError> {
        Ok(Self { text, tokens: super::lexer::tokens(text)?, at: 0 })
    }

    pub fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    pub fn kind(&self) -> TokenKind<'a> {
        self.token().kind
    }

    pub fn line(&self) -> u32 {
        self.token().line
    }

    pub fn kind_after(&self) -> TokenKind<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    /// Takes the token; the end stays the end.
    pub fn advance(&mut self) -> TokenKind<'a> {
        let kind = self.kind();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let Token { offset, line, .. } = self.token();
        let start =
            self.text.as_bytes()[..offset].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Err(ParseError { line, column: (offset - start) as u32 + 1, message: message.into() })
    }

    pub fn at(&self, punct: u8) -> bool {
        self.kind() == TokenKind::Punct(punct)
    }

    pub fn take(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, punct: u8) -> Result<(), ParseError> {
        if self.take(punct) {
            return Ok(());
        }
        self.fail(format!("expected `{}`, found {}", punct as char, self.describe()))
    }

    pub fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        match self.kind() {
            TokenKind::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => self.fail(format!("expected {what}, found {}", self.describe())),
        }
    }

    /// An opcode with its modifiers, before which there may be blanks.
    pub fn opcode(&mut self) -> Result<&'a str, ParseError> {
        let start = self.token().offset;
        let mut opcode = self.word("an opcode")?;
        while let TokenKind::Dotted(word) = self.kind() {
            opcode = &self.text[start..self.token().offset + 1 + word.len()];
            self.advance();
        }
        Ok(opcode)
    }

    pub fn int(&mut self, what: &str) -> Result<u64, ParseError> {
        let negative = self.take(b'-');
        match self.kind() {
            TokenKind::Int(value) => {
                self.advance();
                Ok(if negative { value.wrapping_neg() } else { value })
            }
            _ => self.fail(format!("expected {what}, found {}", self.describe())),
        }
    }

    pub fn describe(&self) -> String {
        match self.kind() {
            TokenKind::Word(word) => format!("`{word}`"),
            TokenKind::Dotted(word) => format!("`.{word}`"),
            TokenKind::Int(value) => format!("`{value}`"),
            TokenKind::F32(bits) => format!("`{}`", f32::from_bits(bits)),
            TokenKind::F64(value) => format!("`{value}`"),
            TokenKind::Text(text) => format!("the string \"{text}\""),
            TokenKind::Punct(byte) => format!("`{}`", byte as char),
            TokenKind::End => "the end of the text".into(),
        }
    }

    /// Skips to behind the brace that closes the one at the cursor.
    pub fn skip_braces(&mut self) -> Result<(), ParseError> {
        self.expect(b'{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.advance() {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') => depth -= 1,
                TokenKind::End => return self.fail("expected `}`, found the end of the text"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Skips to behind the next `;`.
    pub fn skip_statement(&mut self) -> Result<(), ParseError> {
        loop {
            match self.advance() {
                TokenKind::Punct(b';') => return Ok(()),
                TokenKind::End => return self.fail("expected `;`, found the end of the text"),
                _ => {}
            }
        }
    }
}
