//! Splits PTX into tokens.

use super::ParseError;

/// A token and where it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    /// Byte offset in the text.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind<'a> {
    /// `add.s32`, `%r1`, `%tid.x`, `$L__BB0_1`, `foo`: dots and `::` belong to the word.
    Word(&'a str),
    /// `.reg`, `.v4.f32`: without the leading dot.
    Dotted(&'a str),
    /// An integer, wrapped to 64 bits.
    Int(u64),
    /// `0f3F800000`.
    F32(u32),
    /// `0d3FF0000000000000`, and decimal numbers.
    F64(f64),
    Text(&'a str),
    Punct(u8),
    End,
}

/// Splits `text`. The last token is [`TokenKind::End`].
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, line_start: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 5);
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

/// The one constant that PTX names.
const WARP_SIZE: u64 = 32;

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%') || byte >= 0x80
}

fn in_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit()
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.line,
            column: (self.at - self.line_start) as u32 + 1,
            message: message.into(),
        })
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.at += 1;
                    self.newline();
                }
                (b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', _) => self.at += 1,
                (0, _) if self.at < self.bytes.len() => self.at += 1,
                (b'/', b'/') => {
                    while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    self.at += 2;
                    while (self.peek(0), self.peek(1)) != (b'*', b'/') {
                        if self.at >= self.bytes.len() {
                            return self.fail("this comment has no end");
                        }
                        self.at += 1;
                        if self.bytes[self.at - 1] == b'\n' {
                            self.newline();
                        }
                    }
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blanks()?;
        let (offset, line) = (self.at, self.line);
        let first = self.peek(0);
        let kind = if offset >= self.bytes.len() {
            TokenKind::End
        } else if starts_word(first) {
            match self.word() {
                "WARP_SZ" => TokenKind::Int(WARP_SIZE),
                word => TokenKind::Word(word),
            }
        } else if first == b'.' && starts_word(self.peek(1)) {
            self.at += 1;
            TokenKind::Dotted(self.word())
        } else if first.is_ascii_digit() || first == b'.' && self.peek(1).is_ascii_digit() {
            self.number()?
        } else if first == b'"' {
            self.string()?
        } else {
            self.at += 1;
            TokenKind::Punct(first)
        };
        Ok(Token { kind, offset, line })
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        loop {
            let next = self.peek(0);
            if in_word(next) && self.at < self.bytes.len() {
                self.at += 1;
            } else if next == b'.' && in_word(self.peek(1)) {
                self.at += 2;
            } else if next == b':' && self.peek(1) == b':' && in_word(self.peek(2)) {
                self.at += 3;
            } else {
                // Bytes of other scripts are taken whole: every continuation byte counts as part of a word.
                return &self.text[start..self.at];
            }
        }
    }

    fn number(&mut self) -> Result<TokenKind<'a>, ParseError> {
        let start = self.at;
        let (radix, prefix) = match (self.peek(0), self.peek(1) | 0x20) {
            (b'0', b'f') => return self.float_bits(8).map(|bits| TokenKind::F32(bits as u32)),
            (b'0', b'd') => return self.float_bits(16).map(|bits| TokenKind::F64(f64::from_bits(bits))),
            (b'0', b'x') => (16, 2),
            (b'0', b'b') => (2, 2),
            (b'0', b'0'..=b'7') => (8, 1),
            _ => (10, 0),
        };
        if radix == 10 || radix == 8 {
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
            let exponent = matches!(self.peek(0), b'e' | b'E')
                && (self.peek(1).is_ascii_digit()
                    || matches!(self.peek(1), b'+' | b'-') && self.peek(2).is_ascii_digit());
            if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() || exponent || self.trailing_dot() {
                return self.decimal(start);
            }
            self.at = start;
        }
        self.at += prefix;
        let mut value: u64 = 0;
        let digits = self.at;
        while let Some(digit) = (self.peek(0) as char).to_digit(radix) {
            value = value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        if digits == self.at {
            return self.fail("a number needs digits");
        }
        if matches!(self.peek(0), b'U' | b'u') {
            self.at += 1;
        }
        if in_word(self.peek(0)) && self.at < self.bytes.len() {
            return self.fail(format!("`{}` is no digit of a number", self.peek(0) as char));
        }
        Ok(TokenKind::Int(value))
    }

    fn trailing_dot(&self) -> bool {
        self.peek(0) == b'.' && !in_word(self.peek(1))
    }

    fn decimal(&mut self, start: usize) -> Result<TokenKind<'a>, ParseError> {
        if self.peek(0) == b'.' {
            self.at += 1;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        if matches!(self.peek(0), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
            }
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        match self.text[start..self.at].parse() {
            Ok(value) => Ok(TokenKind::F64(value)),
            Err(_) => self.fail("this number cannot be read"),
        }
    }

    fn float_bits(&mut self, digits: usize) -> Result<u64, ParseError> {
        self.at += 2;
        let mut bits = 0u64;
        for _ in 0..digits {
            match (self.peek(0) as char).to_digit(16) {
                Some(digit) => bits = bits << 4 | u64::from(digit),
                None => return self.fail(format!("a float in hexadecimal has {digits} digits")),
            }
            self.at += 1;
        }
        Ok(bits)
    }

    fn string(&mut self) -> Result<TokenKind<'a>, ParseError> {
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.bytes.get(self.at) {
                None => return self.fail("this string has no end"),
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b'\n') => {
                    self.at += 1;
                    self.newline();
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(TokenKind::Text(self.text.get(start..self.at - 1).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        tokens(text).expect("lexes").into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_keep_their_dots() {
        assert_eq!(
            kinds("@!%p1 ld.shared::cta.v4.f32 %f1, [%r1+-16]; $L_1: // end"),
            [
                TokenKind::Punct(b'@'),
                TokenKind::Punct(b'!'),
                TokenKind::Word("%p1"),
                TokenKind::Word("ld.shared::cta.v4.f32"),
                TokenKind::Word("%f1"),
                TokenKind::Punct(b','),
                TokenKind::Punct(b'['),
                TokenKind::Word("%r1"),
                TokenKind::Punct(b'+'),
                TokenKind::Punct(b'-'),
                TokenKind::Int(16),
                TokenKind::Punct(b']'),
                TokenKind::Punct(b';'),
                TokenKind::Word("$L_1"),
                TokenKind::Punct(b':'),
                TokenKind::End,
            ]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(
            kinds("0f3F800000 0d3FF0000000000000 0xFFu 017 0b101U 1.5e2 42 18446744073709551615 0"),
            [
                TokenKind::F32(0x3f80_0000),
                TokenKind::F64(1.0),
                TokenKind::Int(255),
                TokenKind::Int(15),
                TokenKind::Int(5),
                TokenKind::F64(150.0),
                TokenKind::Int(42),
                TokenKind::Int(u64::MAX),
                TokenKind::Int(0),
                TokenKind::End,
            ]
        );
        assert!(tokens("0x").is_err());
        assert!(tokens("0f3F8").is_err());
    }

    #[test]
    fn lines_are_counted_through_comments() {
        let tokens = tokens("/* a\n b */ x\n\ny").expect("lexes");
        assert_eq!((tokens[0].line, tokens[1].line), (2, 4));
    }
}
