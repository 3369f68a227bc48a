//! From text to expressions, with errors that show the place.

use super::{Binary, Expression, Expressions, Fault, Holds, Node, Number, Unary, excerpt::short};
use core::ops::Range;

/// Parses `add=...; mul=...; zero=...`, and perhaps `one=...` and `where=...`.
pub(super) fn parse(text: &str) -> Result<Expressions, Fault> {
    let fault = |at: Range<usize>, what: String| Fault { text: text.to_owned(), at, what };
    let mut found: [Option<Expression>; KEYS.len()] = [const { None }; KEYS.len()];
    let mut start = 0;
    for part in text.split(';') {
        let range = start..start + part.len();
        start = range.end + 1;
        if part.trim().is_empty() {
            continue;
        }
        let first = range.start + part.len() - part.trim_start().len();
        let Some(equals) = part.find('=') else {
            return Err(fault(first..range.end, format!("a name and `=` are expected: {KNOWN}")));
        };
        let name = part[..equals].trim();
        let Some(key) = KEYS.iter().position(|key| key.name == name) else {
            return Err(fault(
                first..first + name.len().max(1),
                format!("`{}` is none of {KNOWN}", short(name)),
            ));
        };
        if found[key].is_some() {
            return Err(fault(first..first + name.len(), format!("`{name}` is given twice")));
        }
        let range = range.start + equals + 1..range.end;
        found[key] = Some(Parser::new(text, range, KEYS[key].variables).whole()?);
    }
    let missing = KEYS.iter().zip(&found).find(|(key, found)| key.is_needed && found.is_none());
    if let Some((key, _)) = missing {
        let end = text.trim_end().len();
        return Err(fault(end..end, format!("`{}=` is missing: {}", key.name, key.meaning)));
    }
    let [Some(add), Some(mul), Some(zero), one, condition] = found else {
        return Err(fault(0..0, "add, mul and zero are needed".into()));
    };
    Ok(Expressions { text: text.trim().to_owned(), add, mul, zero, one, condition, holds: Holds::default() })
}

/// What can be said of a semiring.
struct Key {
    name: &'static str,
    meaning: &'static str,
    variables: &'static [&'static str],
    is_needed: bool,
}

const KNOWN: &str = "add, mul, zero, one, where";

const KEYS: [Key; 5] = [
    Key { name: "add", meaning: "the sum of x and y", variables: &["x", "y"], is_needed: true },
    Key { name: "mul", meaning: "the product of x and y", variables: &["x", "y"], is_needed: true },
    Key { name: "zero", meaning: "the sum of no terms", variables: &[], is_needed: true },
    Key { name: "one", meaning: "the product of no factors", variables: &[], is_needed: false },
    Key { name: "where", meaning: "which elements x there are", variables: &["x"], is_needed: false },
];

/// Functions of two numbers. Those of C have no opinion on types here.
const PAIRS: [(&str, Binary); 6] = [
    ("min", Binary::Min),
    ("fmin", Binary::Min),
    ("fminf", Binary::Min),
    ("max", Binary::Max),
    ("fmax", Binary::Max),
    ("fmaxf", Binary::Max),
];
const SINGLES: [(&str, Unary); 3] =
    [("abs", Unary::Absolute), ("fabs", Unary::Absolute), ("fabsf", Unary::Absolute)];

/// Operators of two numbers, those that bind least first, as in C.
const LEVELS: [&[(&str, Binary)]; 6] = [
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[("<=", Binary::LessEqual), (">=", Binary::GreaterEqual), ("<", Binary::Less), (">", Binary::Greater)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide)],
];

/// Parentheses, signs and choices inside each other.
const DEEPEST: usize = 64;
/// Numbers and operations of an expression: trying the laws takes a second then.
const MOST_NODES: usize = 4096;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    variables: &'static [&'static str],
    nodes: Vec<Node>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, range: Range<usize>, variables: &'static [&'static str]) -> Self {
        Self { text, at: range.start, end: range.end, variables, nodes: Vec::new(), depth: 0 }
    }

    fn whole(mut self) -> Result<Expression, Fault> {
        self.choice()?;
        self.skip_blanks();
        match self.rest().chars().next() {
            None => Ok(Expression { nodes: self.nodes }),
            Some(next) => Err(self.fault(next.len_utf8(), format!("`{next}` is not expected here"))),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn fault(&self, length: usize, what: String) -> Fault {
        Fault { text: self.text.to_owned(), at: self.at..self.at + length, what }
    }

    /// Whether this comes next, which is then passed.
    fn takes(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(symbol);
        if is_next {
            self.at += symbol.len();
        }
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Fault> {
        if self.takes(symbol) {
            return Ok(());
        }
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Err(self.fault(length, format!("`{symbol}` is expected here")))
    }

    fn push(&mut self, node: Node) -> Result<usize, Fault> {
        if self.nodes.len() == MOST_NODES {
            return Err(self.fault(0, format!("an expression of more than {MOST_NODES} parts")));
        }
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// The negative of a number is a number: the smallest integer is none with a sign before the largest.
    fn push_negative(&mut self, x: usize) -> Result<usize, Fault> {
        match self.nodes.get_mut(x) {
            Some(Node::Number(number)) => {
                *number = number.negated();
                Ok(x)
            }
            _ => self.push(Node::Unary(Unary::Negate, x)),
        }
    }

    /// `a`, or `a ? b : c`.
    fn choice(&mut self) -> Result<usize, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault(0, "too many parentheses inside each other".into()));
        }
        let condition = self.level(0)?;
        let node = if self.takes("?") {
            let yes = self.choice()?;
            self.expect(":")?;
            let no = self.choice()?;
            self.push(Node::Choose(condition, yes, no))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    /// Operators of one strength, from left to right.
    fn level(&mut self, level: usize) -> Result<usize, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(&(_, operation)) = operators.iter().find(|(symbol, _)| self.takes(symbol)) {
            let right = self.level(level + 1)?;
            left = self.push(Node::Binary(operation, left, right))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<usize, Fault> {
        for (symbol, operation) in [("-", Unary::Negate), ("!", Unary::Not)] {
            if self.takes(symbol) {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.fault(0, "too many signs".into()));
                }
                let x = self.unary()?;
                self.depth -= 1;
                return match operation {
                    Unary::Negate => self.push_negative(x),
                    _ => self.push(Node::Unary(operation, x)),
                };
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<usize, Fault> {
        if self.takes("(") {
            let inside = self.choice()?;
            self.expect(")")?;
            return Ok(inside);
        }
        self.skip_blanks();
        let rest = self.rest();
        match rest.chars().next() {
            None => Err(self.fault(0, "an expression is expected here".into())),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.fault(c.len_utf8(), format!("`{c}` is not expected here"))),
        }
    }

    fn number(&mut self) -> Result<usize, Fault> {
        let bytes = self.rest().as_bytes();
        let mut length = 0;
        while let Some(&byte) = bytes.get(length) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(bytes[length - 1], b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || is_sign) {
                break;
            }
            length += 1;
        }
        let text = &self.rest()[..length];
        let digits = text.strip_suffix(['f', 'F']).unwrap_or(text);
        let Some(number) = Number::parse(digits) else {
            return Err(self.fault(length, format!("`{}` is not a number", short(text))));
        };
        self.at += length;
        self.push(Node::Number(number))
    }

    fn name(&mut self) -> Result<usize, Fault> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..length];
        if self.variables.contains(&name) {
            self.at += length;
            return self.push(if name == "x" { Node::X } else { Node::Y });
        }
        if matches!(name, "inf" | "INFINITY") {
            self.at += length;
            return self.push(Node::Number(Number::INFINITY));
        }
        if let Some(&(_, operation)) = PAIRS.iter().find(|(known, _)| *known == name) {
            self.at += length;
            self.expect("(")?;
            let x = self.choice()?;
            self.expect(",")?;
            let y = self.choice()?;
            self.expect(")")?;
            return self.push(Node::Binary(operation, x, y));
        }
        if let Some(&(_, operation)) = SINGLES.iter().find(|(known, _)| *known == name) {
            self.at += length;
            self.expect("(")?;
            let x = self.choice()?;
            self.expect(")")?;
            return self.push(Node::Unary(operation, x));
        }
        let variables = match self.variables {
            [] => String::new(),
            names => format!("{}, ", names.join(", ")),
        };
        let known = format!("{variables}inf, min, max, fminf, fmaxf, abs, fabsf");
        Err(self.fault(length, format!("`{}` is none of {known}", short(name))))
    }
}
