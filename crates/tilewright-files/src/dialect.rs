//! How the lines of a `.csv` file are written.

use super::{Delimiter, text};
use std::{borrow::Cow, str::FromStr};
use tilewright_core::{Hint, Setting};

/// How the lines of a `.csv` file are written.
///
/// Names are what the file says: blanks around them belong to them, as in RFC 4180, unless [`trim`](Self::trim) is set. A cell in quotes may hold
/// delimiters, line ends and, doubled, quotes. Blanks around numbers never count.
///
/// ```
/// use tilewright_files::{Dialect, EdgeOptions, Spec, read_edges};
/// # let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("roads.csv");
/// std::fs::write(&path, "made by hand\nvon;nach;km\nOslo;Voss;360,5\n").unwrap();
/// let text = Dialect { skip_rows: 1, decimal_comma: true, ..Dialect::default() };
/// let roads = read_edges(&Spec::parse(&path)?, &EdgeOptions { text, ..EdgeOptions::default() })?;
/// assert_eq!(roads.edges, [(0, 1, tilewright_core::Value::Float(360.5))]);
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// What stands between cells; `None` goes by the first line.
    pub delimiter: Option<Delimiter>,
    /// Lines at the beginning to pass over.
    pub skip_rows: usize,
    /// Which lines are comments.
    pub comments: Comments,
    /// Whether blanks around names without quotes are dropped.
    pub trim: bool,
    /// Whether numbers have a comma in front of their fraction.
    pub decimal_comma: bool,
}

/// Which lines of a `.csv` file are comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comments {
    /// Those that begin with `#` and cannot be rows. Where names are read, one that could be a row is refused: as many cells, and numbers where
    /// the first row has them.
    #[default]
    Unlike,
    /// Those that begin with this character.
    Marked(char),
    /// None.
    None,
}

impl Comments {
    /// What a comment begins with; nothing where there are none.
    pub(super) fn mark(self) -> String {
        match self {
            Self::Unlike => "#".into(),
            Self::Marked(mark) => mark.into(),
            Self::None => String::new(),
        }
    }
}

impl FromStr for Comments {
    type Err = String;

    /// A character, or `none`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            _ if text == "none" => Ok(Self::None),
            (Some(c), None) if !c.is_alphanumeric() && !matches!(c, '"' | '.' | '+' | '-') => {
                Ok(Self::Marked(c))
            }
            _ => Err("a comment begins with one character, such as # or %; none: no line is one".into()),
        }
    }
}

impl Dialect {
    /// A cell with a point in front of its fraction; `None` for one that has a point where a comma is expected.
    pub(super) fn number<'a>(&self, cell: &'a str) -> Option<Cow<'a, str>> {
        let cell = cell.trim();
        match self.decimal_comma {
            false => Some(cell.into()),
            true if cell.contains('.') => None,
            true => Some(cell.replacen(',', ".", 1).into()),
        }
    }

    /// Whether a cell is a number, an infinity, NaN or a boolean.
    pub(super) fn is_number(&self, cell: &str) -> bool {
        self.number(cell).is_some_and(|cell| text::value(&cell).is_some())
    }

    /// What to do about a cell that would be a number in another dialect.
    pub(super) fn hint(&self, cell: &str) -> Option<Hint> {
        let cell = cell.trim();
        if self.decimal_comma && cell.contains('.') {
            let hint = Hint::from("with ").set(Setting::DecimalComma);
            return Some(hint.say(" a number has no point, not even between thousands"));
        }
        has_decimal_comma(cell).then(|| {
            let hint = Hint::from("say ").set(Setting::DecimalComma);
            hint.say(" if commas stand in front of fractions, and what is between cells with ")
                .set(Setting::Delimiter)
        })
    }
}

/// Where to say what stands between cells.
pub(super) fn between_cells() -> Hint {
    Hint::from(Setting::Delimiter).say(" says what is between cells")
}

/// Whether a text is a number whose fraction a comma begins.
pub(super) fn has_decimal_comma(cell: &str) -> bool {
    let cell = cell.trim();
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    cell.split_once(',').is_some_and(|(whole, fraction)| {
        is_digit(whole.chars().last()) && is_digit(fraction.chars().next()) && !fraction.contains(',')
    }) && text::value(&cell.replacen(',', ".", 1)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_in_front_of_fractions() {
        let commas = Dialect { decimal_comma: true, ..Dialect::default() };
        assert_eq!(commas.number(" 12,5 ").as_deref(), Some("12.5"));
        assert!(commas.is_number("-1e3") && !commas.is_number("1.5") && !commas.is_number("1.234,5"));
        assert!(commas.hint("1.234,5").is_some_and(|hint| hint.to_string().contains("thousands")));
        for (cell, expected) in
            [("12,5", true), ("-0,5", true), ("1,2,3", false), ("a,b", false), ("1.5", false)]
        {
            assert_eq!(has_decimal_comma(cell), expected, "{cell}");
        }
    }

    #[test]
    fn comments_are_named_by_their_mark() {
        assert_eq!("none".parse(), Ok(Comments::None));
        assert_eq!("%".parse(), Ok(Comments::Marked('%')));
        for wrong in ["", "ab", "a", "1", "\"", "-"] {
            assert!(wrong.parse::<Comments>().is_err(), "{wrong}");
        }
    }
}
