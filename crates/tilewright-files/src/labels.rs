//! Names of vertices, rows and columns.

use super::{
    Dialect,
    fault::{Fault, bad, excerpt},
};
use std::{collections::HashMap, io::BufRead};

/// Names of the rows and columns of a square table, in order: each once.
///
/// ```
/// use tilewright_files::Labels;
/// let airports = Labels::new(["HNL", "BOS"])?;
/// assert_eq!((airports.find("BOS"), airports.name(0)), (Some(1), Some("HNL")));
/// assert!(Labels::new(["HNL", "HNL"]).is_err());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Labels {
    /// These names.
    ///
    /// # Errors
    /// `unsupported` for a name that is given twice, and for an empty one.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Result<Self, tilewright_core::Error> {
        let mut labels = Self::default();
        for name in names {
            let name = name.into();
            if name.is_empty() || labels.find(&name).is_some() {
                let why = if name.is_empty() { "it is empty" } else { "it is given twice" };
                let what = format!("the name '{}'", excerpt(&name));
                let hint = "every vertex has a name of its own".into();
                return Err(tilewright_core::ErrorKind::Unsupported { what, why: why.into(), hint }.into());
            }
            labels.add(name);
        }
        Ok(labels)
    }

    /// The number of a name that is there, or of one that is added.
    pub(super) fn number(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| self.add(name.to_owned()))
    }

    fn add(&mut self, name: String) -> usize {
        let number = self.names.len();
        self.numbers.insert(name.clone(), number);
        self.names.push(name);
        number
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// The name of a row or column.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(String::as_str)
    }
    /// All names in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// The row and column that has this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
    /// The names most like another one: those that begin with it, whatever the case of letters and blanks around them.
    pub fn like(&self, name: &str) -> Vec<&str> {
        let name = name.to_lowercase();
        let similar = |known: &&str| known.to_lowercase().trim_start().starts_with(name.trim());
        self.names.iter().map(String::as_str).filter(similar).take(3).collect()
    }

    /// The order of names that are whole numbers is that of the numbers. Gives where each name was.
    pub(super) fn sort_numbers(&mut self) -> Option<Vec<usize>> {
        let numbers: Vec<u64> = self.names.iter().map(|name| whole(name)).collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&i| numbers[i]);
        let names = order.iter().map(|&i| self.names[i].clone()).collect::<Vec<_>>();
        self.numbers = names.iter().cloned().enumerate().map(|(i, name)| (name, i)).collect();
        self.names = names;
        Some(order)
    }
}

/// The number that digits spell, as they are written usually.
pub(super) fn whole(text: &str) -> Option<u64> {
    let is_usual = text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if is_usual { text.parse().ok() } else { None }
}

/// Reads names from a column of a csv file with a header, or from a file with one name a line.
pub(super) fn read(input: &mut dyn BufRead, column: Option<&str>) -> Result<Labels, Fault> {
    let dialect = Dialect { delimiter: Some(super::Delimiter::Char(',')), ..Dialect::default() };
    let mut records = super::records::Records::new(input, &dialect);
    let mut labels = Labels::default();
    let mut lines: Vec<usize> = Vec::new();
    let at = match (column, column.and_then(|_| records.next().transpose())) {
        (None, _) => 0,
        (Some(column), None) => {
            return Err(bad!("the file has no column '{}': it is empty", excerpt(column)));
        }
        (Some(column), Some(header)) => {
            let header = header?;
            header.cells.iter().position(|cell| cell.text.trim() == column.trim()).ok_or_else(|| {
                bad!("line {}: there is no column '{}'", header.line, excerpt(column))
                    .hint(format!("its columns are {}", header.shown()))
            })?
        }
    };
    while let Some(record) = records.next()? {
        let line = record.line;
        let name = record.cells.get(at).map(|cell| &cell.text).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| bad!("line {line}, column {}: there is no name", at + 1))?;
        if let Some(first) = labels.find(name) {
            return Err(bad!(
                "line {line}, column {}: '{}' is the name of line {} already",
                at + 1,
                excerpt(name),
                lines[first]
            )
            .hint("every vertex has a name of its own"));
        }
        labels.add(name.clone());
        lines.push(line);
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_lines_and_columns() {
        let read =
            |text: &str, column| read(&mut text.as_bytes(), column).map_err(|fault| format!("{fault:?}"));
        assert_eq!(read("HNL\nBOS\n\n# no, none\n", None).unwrap().names(), ["HNL", "BOS"]);
        let table = "index,code,city\n0,HNL,\"Honolulu, HI\"\n1,BOS,Boston\n";
        assert_eq!(read(table, Some("code")).unwrap().find("BOS"), Some(1));
        assert_eq!(read(table, Some("city")).unwrap().name(0), Some("Honolulu, HI"));
        for (text, column, expected) in [
            (table, Some("iata"), "line 1: there is no column 'iata'"),
            ("A\nB\nA\n", None, "line 3, column 1: 'A' is the name of line 1 already"),
            ("a,b\n1,x\n2,\n", Some("b"), "line 3, column 2: there is no name"),
            ("", Some("b"), "it is empty"),
            ("A\n#B\n", None, "line 2 begins with #"),
        ] {
            let message = read(text, column).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn names_that_are_numbers_are_put_in_order() {
        let mut labels = Labels::new(["10", "9", "0"]).unwrap();
        assert_eq!(labels.sort_numbers(), Some(vec![2, 1, 0]));
        assert_eq!((labels.names().join(" "), labels.find("10")), ("0 9 10".into(), Some(2)));
        assert_eq!(Labels::new(["1", "01"]).unwrap().sort_numbers(), None);
        assert_eq!(labels.like("1"), ["10"]);
    }
}
