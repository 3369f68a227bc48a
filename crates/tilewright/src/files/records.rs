//! Lines of cells with commas or other characters between them, some of them quoted.

use super::{
    fault::{Fault, bad},
    text::Lines,
};
use std::io::BufRead;

/// The lines of a csv file that are neither blank nor start with `#`.
pub(super) struct Records<'a> {
    lines: Lines<'a>,
    separator: char,
}

/// The cells of a line, without quotes and the white space around them.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// From 1.
    pub line: usize,
    pub cells: Vec<String>,
}

impl<'a> Records<'a> {
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self::separated(input, ',')
    }

    /// With another character between cells.
    pub fn separated(input: &'a mut dyn BufRead, separator: char) -> Self {
        Self { lines: Lines::new(input), separator }
    }

    pub fn next(&mut self) -> Result<Option<Record>, Fault> {
        let Some((line, text)) = self.lines.content(b'#')? else { return Ok(None) };
        Ok(Some(Record { line, cells: cells(line, text, self.separator)? }))
    }
}

/// Splits at separators outside quotes. Within quotes, two of them stand for one.
fn cells(line: usize, text: &str, separator: char) -> Result<Vec<String>, Fault> {
    let (mut cells, mut rest) = (Vec::new(), text);
    loop {
        let start = rest.trim_start();
        let end = if let Some(quoted) = start.strip_prefix('"') {
            let (cell, after) = unquote(quoted)
                .ok_or_else(|| bad!("line {line}, column {}: a quote is not closed", cells.len() + 1))?;
            cells.push(cell);
            let after = after.trim_start();
            if !after.is_empty() && !after.starts_with(separator) {
                return Err(bad!("line {line}, column {}: text follows the closing quote", cells.len()));
            }
            after
        } else {
            let end = start.find(separator).unwrap_or(start.len());
            cells.push(start[..end].trim_end().to_owned());
            &start[end..]
        };
        match end.strip_prefix(separator) {
            Some(next) => rest = next,
            None => return Ok(cells),
        }
    }
}

/// A cell that began with a quote, and what follows the closing one.
fn unquote(text: &str) -> Option<(String, &str)> {
    let (mut cell, mut rest) = (String::new(), text);
    loop {
        let quote = rest.find('"')?;
        cell.push_str(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((cell, rest)),
        }
    }
}

/// A cell as a csv file spells it.
pub(super) fn quote(cell: &str) -> String {
    let plain = !cell.contains(['"', ',', '\n', '\r', '#']) && cell.trim() == cell && !cell.is_empty();
    if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_protect_commas_and_quotes() {
        for (text, expected) in [
            ("a, b ,c", vec!["a", "b", "c"]),
            ("\"a, b\",\"say \"\"no\"\"\"", vec!["a, b", "say \"no\""]),
            (",,", vec!["", "", ""]),
            (" \"x\" , y", vec!["x", "y"]),
        ] {
            assert_eq!(cells(1, text, ',').unwrap(), expected);
            let again = expected.iter().map(|cell| quote(cell)).collect::<Vec<_>>().join(",");
            assert_eq!(cells(1, &again, ',').unwrap(), expected);
        }
        assert_eq!(cells(1, "\"a; b\";1,5", ';').unwrap(), ["a; b", "1,5"]);
        assert!(cells(1, "a,\"b", ',').is_err() && cells(1, "\"a\"b", ',').is_err());
    }
}
