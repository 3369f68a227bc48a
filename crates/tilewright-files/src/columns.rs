//! Which columns of a list of edges are read.

use super::{
    Delimiter,
    fault::{Fault, bad, excerpt},
    records::{Record, cells},
};
use std::str::FromStr;

/// The columns of a list of edges: those of the two vertices and, unless edges have none, of the weight.
///
/// ```
/// use tilewright_files::Columns;
/// let columns: Columns = "src,dst,km".parse()?;
/// assert_eq!(columns, "src, dst, km".parse()?);
/// assert!("1,2".parse::<Columns>().is_ok() && "1".parse::<Columns>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    from: Column,
    to: Column,
    weight: Option<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// From 0.
    Number(usize),
    /// In the first line.
    Name(String),
}

impl FromStr for Columns {
    type Err = String;

    /// Two or three names or numbers from 1, with commas between them; a name with a comma has quotes.
    fn from_str(text: &str) -> Result<Self, String> {
        let split = cells(1, text.to_owned(), Delimiter::Char(','), true, &mut || Ok(None));
        let column = |text: String| match text.parse::<usize>() {
            Ok(number @ 1..) => Some(Column::Number(number - 1)),
            Ok(0) => None,
            Err(_) => (!text.is_empty()).then_some(Column::Name(text)),
        };
        let columns: Option<Vec<Column>> =
            split.ok().and_then(|cells| cells.into_iter().map(|cell| column(cell.text)).collect());
        let mut columns = columns.unwrap_or_default().into_iter();
        match (columns.next(), columns.next(), columns.next(), columns.next()) {
            (Some(from), Some(to), weight, None) => Ok(Self { from, to, weight }),
            _ => Err("two or three columns are named or numbered from 1: from,to,weight or 1,2,3".into()),
        }
    }
}

/// Where in a row they stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub from: usize,
    pub to: usize,
    pub weight: Option<usize>,
}

impl Columns {
    /// Whether they are known by the first line alone.
    pub(super) fn are_named(&self) -> bool {
        [Some(&self.from), Some(&self.to), self.weight.as_ref()]
            .into_iter()
            .flatten()
            .any(|column| matches!(column, Column::Name(_)))
    }

    /// Their places, seen from the first line.
    pub(super) fn places(&self, first: &Record) -> Result<Places, Fault> {
        let place = |column: &Column| {
            let (found, what) = match column {
                Column::Number(number) => {
                    ((*number < first.cells.len()).then_some(*number), (number + 1).to_string())
                }
                Column::Name(name) => (
                    first.cells.iter().position(|cell| cell.text.trim() == name),
                    format!("'{}'", excerpt(name)),
                ),
            };
            found.ok_or_else(|| {
                bad!("line {}: there is no column {what}", first.line)
                    .hint(format!("its columns are {}", first.shown()))
            })
        };
        let weight = self.weight.as_ref().map(place).transpose()?;
        Ok(Places { from: place(&self.from)?, to: place(&self.to)?, weight })
    }
}
