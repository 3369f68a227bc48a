//! Texts with whole-number expressions in braces: `f32[{n * n}]:random`.
//!
//! An expression has + - * / % and parentheses, `ceil_div(a, b)`, `min(a, b)` and `max(a, b)`, and names of the matrix. A name alone may be a text.

use std::collections::BTreeMap;

/// What names stand for.
pub type Bindings = BTreeMap<String, String>;

/// Nested parentheses beyond this are no expression of a person.
const DEEPEST: usize = 50;

/// The text with every expression in braces computed. Two braces are one.
///
/// # Errors
/// What is wrong, in words.
pub fn fill(text: &str, bindings: &Bindings) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = behind;
        } else if brace == "}" {
            return Err("there is a } without a {".into());
        } else {
            let (inner, behind) = rest.split_once('}').ok_or("there is a { without a }")?;
            match bindings.get(inner.trim()) {
                Some(value) => out.push_str(value),
                None => out.push_str(&evaluate(inner, bindings)?.to_string()),
            }
            rest = behind;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The value of an expression.
///
/// # Errors
/// What is wrong, in words.
pub fn evaluate(text: &str, bindings: &Bindings) -> Result<i64, String> {
    let mut parser = Parser { text, rest: text, bindings, depth: 0 };
    let value = parser.sum()?;
    match parser.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("'{rest}' is not expected in {{{text}}}")),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    bindings: &'a Bindings,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.take_any(&["+", "-"]) {
            let next = self.product()?;
            value =
                self.within(if sign == "+" { value.checked_add(next) } else { value.checked_sub(next) })?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.term()?;
        while let Some(sign) = self.take_any(&["*", "/", "%"]) {
            let next = self.term()?;
            value = match sign {
                "*" => self.within(value.checked_mul(next))?,
                _ if next == 0 => return Err(self.wrong("it divides by 0")),
                "/" => self.within(value.checked_div_euclid(next))?,
                _ => self.within(value.checked_rem_euclid(next))?,
            };
        }
        Ok(value)
    }

    fn term(&mut self) -> Result<i64, String> {
        if self.depth == DEEPEST {
            return Err(self.wrong("it is nested too deeply"));
        }
        self.depth += 1;
        let value = self.inner_term();
        self.depth -= 1;
        value
    }

    fn inner_term(&mut self) -> Result<i64, String> {
        if self.take("-") {
            let value = self.term()?;
            return self.within(value.checked_neg());
        }
        if self.take("(") {
            let value = self.sum()?;
            return self.closed(value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        self.rest = &rest[end..];
        if word.is_empty() {
            return Err(self.wrong("a number or a name is missing"));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map_err(|_| self.wrong(&format!("'{word}' is no number")));
        }
        if self.take("(") {
            return self.call(word);
        }
        let Some(value) = self.bindings.get(word) else {
            let names = self.bindings.keys().cloned().collect::<Vec<_>>().join(", ");
            let known = if names.is_empty() {
                "the matrix has no names".into()
            } else {
                format!("the matrix has {names}")
            };
            return Err(self.wrong(&format!("{word} is not known: {known}")));
        };
        value.parse().map_err(|_| self.wrong(&format!("{word} is '{value}', which is no whole number")))
    }

    fn call(&mut self, name: &str) -> Result<i64, String> {
        let a = self.sum()?;
        if !self.take(",") {
            return Err(self.wrong(&format!("{name} takes two numbers")));
        }
        let b = self.sum()?;
        let value = match name {
            "min" => a.min(b),
            "max" => a.max(b),
            "ceil_div" if b <= 0 => return Err(self.wrong("ceil_div divides by a number from 1")),
            // The quotient towards minus infinity of the negative is minus that towards infinity.
            "ceil_div" => {
                self.within(a.checked_neg().and_then(|n| n.checked_div_euclid(b)?.checked_neg()))?
            }
            _ => {
                return Err(self.wrong(&format!("there is no function {name}; there are ceil_div, min, max")));
            }
        };
        self.closed(value)
    }

    fn closed(&mut self, value: i64) -> Result<i64, String> {
        if self.take(")") { Ok(value) } else { Err(self.wrong("a ) is missing")) }
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn take_any(&mut self, tokens: &[&'static str]) -> Option<&'static str> {
        tokens.iter().find(|token| self.take(token)).copied()
    }

    fn within(&self, value: Option<i64>) -> Result<i64, String> {
        value.ok_or_else(|| self.wrong("the number is too large"))
    }

    fn wrong(&self, why: &str) -> String {
        format!("{{{}}}: {why}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings() -> Bindings {
        [("n", "1000"), ("tile", "16"), ("type", "f32")].map(|(n, v)| (n.to_owned(), v.to_owned())).into()
    }

    #[test]
    fn expressions_are_computed() {
        let value = |text| evaluate(text, &bindings());
        assert_eq!(value("ceil_div(n, 256)"), Ok(4));
        assert_eq!(value("ceil_div(1024, 256) + ceil_div(-5, 2)"), Ok(4 - 2));
        assert_eq!(value("2 + 3 * (n - 1) % 7 - -1"), Ok(2 + 2997 % 7 + 1));
        assert_eq!(value("min(n, tile) * max(2,3)"), Ok(48));
        assert_eq!(
            fill("{type}[{n},{tile*2}]:random {{x}}", &bindings()).as_deref(),
            Ok("f32[1000,32]:random {x}")
        );
    }

    #[test]
    fn wrong_expressions_say_what_is_wrong() {
        for (text, why) in [
            ("{m}", "m is not known: the matrix has n, tile, type"),
            ("{n / (tile - 16)}", "divides by 0"),
            ("{type + 1}", "no whole number"),
            ("{n", "without a }"),
            ("n}", "without a {"),
            ("{}", "missing"),
            ("{(n}", "a ) is missing"),
            ("{n n}", "not expected"),
            ("{half(n, 2)}", "there is no function half"),
            ("{9223372036854775807 + 1}", "too large"),
            ("{99999999999999999999}", "no number"),
        ] {
            let error = fill(text, &bindings()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = format!("{{{}1{}}}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(fill(&deep, &bindings()).unwrap_err().contains("nested too deeply"));
    }
}
