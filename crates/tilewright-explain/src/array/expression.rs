//! Sizes as expressions of whole numbers: `M*N`, `(n + 255) / 256`.

/// Deeper brackets are a mistake.
const DEEPEST: usize = 64;

/// The value of an expression with `+ - * / %`, brackets, `min`, `max` and `ceil_div`; division is that of C. `known` gives the values of names.
pub fn evaluate(text: &str, known: &dyn Fn(&str) -> Option<i128>) -> Result<i128, String> {
    let mut parser = Parser { rest: text.trim_start(), known, depth: 0 };
    let value = parser.sum()?;
    match parser.rest {
        "" => Ok(value),
        rest => Err(format!("'{rest}' is not expected here")),
    }
}

/// The names in a text that could be an expression.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

struct Parser<'a> {
    rest: &'a str,
    known: &'a dyn Fn(&str) -> Option<i128>,
    depth: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        loop {
            value = match () {
                () if self.accept('+') => value.checked_add(self.product()?),
                () if self.accept('-') => value.checked_sub(self.product()?),
                () => return Ok(value),
            }
            .ok_or(TOO_LARGE)?;
        }
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.factor()?;
        loop {
            value = match () {
                () if self.accept('*') => value.checked_mul(self.factor()?).ok_or(TOO_LARGE)?,
                () if self.accept('/') => value.checked_div(self.factor()?).ok_or("division by zero")?,
                () if self.accept('%') => value.checked_rem(self.factor()?).ok_or("division by zero")?,
                () => return Ok(value),
            };
        }
    }

    fn factor(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too many brackets".into());
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<i128, String> {
        if self.accept('-') {
            return Ok(self.factor()?.checked_neg().ok_or(TOO_LARGE)?);
        }
        if self.accept('(') {
            let value = self.sum()?;
            return self.expect(')').map(|()| value);
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        if let Some(value) = (self.known)(word) {
            return Ok(value);
        }
        match word {
            "min" | "max" | "ceil_div" => self.function(word),
            "" if self.rest.is_empty() => Err("a number is missing at its end".into()),
            "" => Err(format!("a number is expected at '{}'", self.rest)),
            _ if self.rest.starts_with('(') => {
                Err(format!("there is no function {word}; there are ceil_div, min, max"))
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => Err(format!("'{word}' is no number")),
            _ => Err(format!("'{word}' is not known")),
        }
    }

    fn function(&mut self, name: &str) -> Result<i128, String> {
        self.expect('(')?;
        let one = self.sum()?;
        self.expect(',')?;
        let other = self.sum()?;
        self.expect(')')?;
        Ok(match name {
            "min" => one.min(other),
            "max" => one.max(other),
            _ => {
                let (whole, rest) = (one.checked_div(other), one.checked_rem(other));
                let (whole, rest) = whole.zip(rest).ok_or("division by zero")?;
                whole + i128::from(rest != 0 && (rest < 0) == (other < 0))
            }
        })
    }

    fn accept(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.accept(c) { Ok(()) } else { Err(format!("'{c}' is expected at '{}'", self.rest)) }
    }
}

const TOO_LARGE: &str = "the number is too large";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<i128, String> {
        evaluate(text, &|name| [("M", 48), ("N", 32)].into_iter().find(|(n, _)| *n == name).map(|(_, v)| v))
    }

    #[test]
    fn values() {
        for (text, value) in [
            ("7", 7),
            ("M*N", 1536),
            (" ( M + 31 ) / 32 ", 2),
            ("-M + 2 * 3", -42),
            ("M - N - 1", 15),
            ("100 % 7 * 2", 4),
            ("max(M, min(N, 4)) + ceil_div(M, 32)", 50),
            ("ceil_div(64, 32) + ceil_div(-5, 2)", 0),
            ("2*-3", -6),
        ] {
            assert_eq!(of(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (text, words) in [
            ("", "missing"),
            ("M*", "missing"),
            ("K", "'K' is not known"),
            ("2x", "'2x' is no number"),
            ("M N", "'N' is not expected"),
            ("(M", "')' is expected"),
            ("M / (N - 32)", "division by zero"),
            ("*M", "a number is expected at '*M'"),
            ("min(M)", "',' is expected"),
            ("half(M, 2)", "there is no function half"),
            ("99999999999999999999999999999999999999 * 99999999999999999999999999999999999999", "too large"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        for deep in ["(".repeat(100_000), "-".repeat(100_000)] {
            assert!(of(&deep).unwrap_err().contains("brackets"));
        }
    }
    #[test]
    fn names_of_a_text() {
        assert_eq!(names("f32[M, 2*n_1]:3").collect::<Vec<_>>(), ["f32", "M", "n_1"]);
    }
}
