//! What stands between the cells of a line.

use std::{fmt, str::FromStr};

/// What stands between the cells of a `.csv` file.
///
/// ```
/// use tilewright_files::Delimiter;
/// assert_eq!("tab".parse(), Ok(Delimiter::Char('\t')));
/// assert_eq!(";".parse(), Ok(Delimiter::Char(';')));
/// assert_eq!("blanks".parse(), Ok(Delimiter::Blanks));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delimiter {
    /// One such character.
    Char(char),
    /// One or more blanks and tabs.
    Blanks,
}

/// Words for delimiters that shells treat in ways of their own.
const NAMES: [(&str, Delimiter); 5] = [
    ("comma", Delimiter::Char(',')),
    ("semicolon", Delimiter::Char(';')),
    ("tab", Delimiter::Char('\t')),
    ("blanks", Delimiter::Blanks),
    (" ", Delimiter::Blanks),
];

impl Delimiter {
    /// The delimiter of a line of numbers: a semicolon, else a comma, else a tab, else blanks; a comma for a line without any. A comma that
    /// begins a fraction is none.
    pub(super) fn of(line: &str, decimal_comma: bool) -> Self {
        let is_between = |c: &char| line.contains(*c) && (*c != ',' || !decimal_comma || line.contains('"'));
        match [';', ',', '\t'].into_iter().find(is_between) {
            Some(c) => Self::Char(c),
            None if line.trim().contains(' ') => Self::Blanks,
            None => Self::Char(if decimal_comma { ';' } else { ',' }),
        }
    }

    /// The cells of a line.
    pub(super) fn split(self, line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Char(c) => Box::new(line.split(c)),
            Self::Blanks => Box::new(line.split_whitespace()),
        }
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// A character, or `comma`, `semicolon`, `tab`, `blanks`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, named)) = NAMES.into_iter().find(|(name, _)| *name == text) {
            return Ok(named);
        }
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(c), None) if !c.is_ascii_alphanumeric() && !matches!(c, '.' | '+' | '-' | '"' | '#') => {
                Ok(Self::Char(c))
            }
            _ => {
                Err("a delimiter is one character that no number has, or comma, semicolon, tab or blanks"
                    .into())
            }
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.into_iter().find(|(_, named)| named == self) {
            Some((name, _)) => f.write_str(name),
            None => match self {
                Self::Char(c) => write!(f, "{c}"),
                Self::Blanks => f.write_str("blanks"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_characters() {
        for (text, delimiter) in NAMES.iter().filter(|(name, _)| *name != " ") {
            assert_eq!((text.parse(), delimiter.to_string()), (Ok(*delimiter), (*text).to_owned()));
        }
        assert_eq!("|".parse(), Ok(Delimiter::Char('|')));
        for wrong in ["", "1", "x", ".", "-", "ab", "\""] {
            assert!(wrong.parse::<Delimiter>().is_err(), "{wrong}");
        }
    }
}
