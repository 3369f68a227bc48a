//! Tables of any shape whose rows and columns have names: `.csv` with a first line and a first column of them.

use super::{
    Comments, Delimiter, Dialect, Labels, ReadOptions, Spec, Stack, WriteOptions, csv,
    fault::{Fault, bad, excerpt},
    input::text_stack,
    output::replace,
    records::{Cell, Record, Records, quoted_name},
    table,
};
use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};
use tilewright_core::{DynMatrix, DynRef, Error, ErrorKind, MatRef, NO_ARG};

/// What the rows and columns of a matrix are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Of the rows, in order.
    pub rows: Labels,
    /// Of the columns, in order.
    pub columns: Labels,
}

impl Names {
    /// Those of the transpose.
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows }
    }
}

/// A table with names, its numbers still text.
///
/// A first cell that is empty makes a table, and so does a first line without any number above a line that begins with none. The first cell
/// may also be left out, as R does. Behind an empty cell numbers are names where they count from 0 or are in quotes.
///
/// ```
/// use tilewright_files::{NamedTable, ReadOptions, Spec};
/// let spec = Spec::parse("km.csv")?;
/// let table = NamedTable::parse(&spec, b",MSP,BOS\nHNL,6385,inf\n", &ReadOptions::default())?.unwrap();
/// assert_eq!((table.names().rows.name(0), table.names().columns.find("BOS")), (Some("HNL"), Some(1)));
/// assert_eq!(table.read(&ReadOptions::default())?.shape(), [1, 2]);
/// assert!(NamedTable::parse(&spec, b"1,2\n3,4\n", &ReadOptions::default())?.is_none());
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamedTable {
    path: PathBuf,
    names: Names,
    /// Lines stand where they stood.
    numbers: String,
}

impl NamedTable {
    /// The table that a file is; `None` for one without names.
    ///
    /// # Errors
    /// `io`; `bad-file`, naming line and column, for a name that is missing or given twice, and for rows of different lengths.
    pub fn open(spec: &Spec, options: &ReadOptions) -> Result<Option<Self>, Error> {
        let read = || -> Result<_, Fault> {
            let mut input = BufReader::new(File::open(spec.path())?);
            // Most files are large and have no names.
            if !begins_table(&mut input, &options.text)? {
                return Ok(None);
            }
            parse(spec.path(), &std::fs::read(spec.path())?, options)
        };
        read().map_err(|fault| fault.at(spec.path()))
    }

    /// The same of a file's bytes; the path of `spec` serves for errors only.
    ///
    /// # Errors
    /// As [`NamedTable::open`].
    pub fn parse(spec: &Spec, bytes: &[u8], options: &ReadOptions) -> Result<Option<Self>, Error> {
        parse(spec.path(), bytes, options).map_err(|fault| fault.at(spec.path()))
    }

    /// The names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The numbers.
    ///
    /// # Errors
    /// `bad-file`, naming line and column, for what is no number of the type that was asked for; `out-of-memory`.
    pub fn read(&self, options: &ReadOptions) -> Result<Stack, Error> {
        self.matrix(options).map(text_stack).map_err(|fault| fault.at(&self.path))
    }

    /// The numbers, and how many cells were empty.
    pub(super) fn matrix(&self, options: &ReadOptions) -> Result<(DynMatrix, usize), Fault> {
        let delimiter = Some(Delimiter::Char(','));
        let text = Dialect { delimiter, comments: Comments::None, ..Dialect::default() };
        csv::read_behind(1, &mut self.numbers.as_bytes(), &ReadOptions { text, ..options.clone() })
    }
}

/// Whether a file is a table with names.
fn begins_table(input: &mut dyn BufRead, text: &Dialect) -> Result<bool, Fault> {
    let mut records = Records::new(input, text);
    // What cannot be split has no names. The reader of the numbers reports why.
    let (Ok(Some(first)), Ok(Some(second))) = (records.next(), records.next()) else { return Ok(false) };
    Ok(records.delimiter() != Delimiter::Blanks && is_table(&first, &second, text))
}

/// Whether these are the first lines of a table with names.
pub(super) fn is_table(first: &Record, second: &Record, text: &Dialect) -> bool {
    let is_number = |cell: &Cell| text.is_number(&cell.text);
    let (corner, columns) = (&first.cells[0], &first.cells[1..]);
    if columns.is_empty() && first.cells.len() == second.cells.len() {
        return false;
    }
    if corner.is_empty() {
        // Numbers are names where they count, as those that pandas gives, or are in quotes; otherwise a number is missing.
        let counts = columns.iter().enumerate().all(|(i, cell)| cell.text == i.to_string());
        return counts || columns.iter().any(|cell| cell.is_quoted) || !columns.iter().all(is_number);
    }
    !first.cells.iter().any(is_number) && !is_number(&second.cells[0])
}

fn parse(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Option<NamedTable>, Fault> {
    if !begins_table(&mut &*bytes, &options.text)? {
        return Ok(None);
    }
    let mut input = bytes;
    let mut records = Records::new(&mut input, &options.text);
    let (mut rows, mut numbers, mut line) = (Labels::default(), String::new(), 1);
    let Some(header) = records.next()? else { return Ok(None) };
    let mut columns = None;
    while let Some(record) = records.next()? {
        let columns = match &mut columns {
            Some(columns) => columns,
            new => new.insert(names_of(
                &header,
                usize::from(header.cells[0].is_empty() || record.cells.len() == header.cells.len()),
            )?),
        };
        let (found, expected) = (record.cells.len(), columns.len() + 1);
        if found != expected {
            return Err(bad!(
                "line {} has {found} cells, but a name and {} numbers are wanted",
                record.line,
                expected - 1
            ));
        }
        add(&mut rows, &record, 0)?;
        while line < record.line {
            numbers.push('\n');
            line += 1;
        }
        for (i, cell) in record.cells.iter().enumerate().skip(1) {
            let Some(number) =
                options.text.number(&cell.text).filter(|cell| !cell.contains([',', '"', '\n']))
            else {
                let fault = bad!("line {line}, column {}: '{}' is not a number", i + 1, excerpt(&cell.text));
                return Err(match options.text.hint(&cell.text) {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                });
            };
            numbers += if i > 1 { "," } else { "" };
            // An empty line would be none.
            numbers += if number.is_empty() { "\"\"" } else { &number };
        }
    }
    let Some(columns) = columns else { return Ok(None) };
    numbers.push('\n');
    Ok(Some(NamedTable { path: path.to_owned(), names: Names { rows, columns }, numbers }))
}

/// The names of a line, behind its corner.
fn names_of(header: &Record, corner: usize) -> Result<Labels, Fault> {
    let mut labels = Labels::default();
    for i in corner..header.cells.len() {
        add(&mut labels, header, i)?;
    }
    Ok(labels)
}

/// Adds a name, if it is one, and a new one.
fn add(labels: &mut Labels, record: &Record, i: usize) -> Result<(), Fault> {
    let (line, column, name) = (record.line, i + 1, &record.cells[i].text);
    if name.is_empty() {
        return Err(bad!("line {line}, column {column}: there is no name"));
    }
    if labels.find(name).is_some() {
        return Err(bad!("line {line}, column {column}: '{}' is a name already", excerpt(name))
            .hint("every row and every column has a name of its own"));
    }
    labels.number(name);
    Ok(())
}

/// Writes a matrix as a table with names; the file is replaced as a whole or not at all.
///
/// # Errors
/// `io`; `result-mismatch` where there are not as many names as rows and columns.
pub fn write_named(path: &Path, names: &Names, m: DynRef<'_>, options: &WriteOptions) -> Result<(), Error> {
    check(names, m.layout().rows, m.layout().cols)?;
    replaced(path, |out| table::table(out, m, [&names.rows, &names.columns], options))
}

/// As [`write_named`], to any destination.
///
/// # Errors
/// As [`write_named`].
pub fn write_named_to(
    mut out: impl Write,
    names: &Names,
    m: DynRef<'_>,
    options: &WriteOptions,
) -> Result<(), Error> {
    check(names, m.layout().rows, m.layout().cols)?;
    let written = table::table(&mut out, m, [&names.rows, &names.columns], options);
    written.and_then(|()| Ok(out.flush()?)).map_err(|fault| fault.at(Path::new("stdout")))
}

/// Writes for each element the name of the term that won, and an empty cell where there is none.
///
/// # Errors
/// As [`write_named`]; `result-mismatch`, too, for a term that has no name.
pub fn write_winners(path: &Path, names: &Names, terms: &Labels, arg: MatRef<'_, u32>) -> Result<(), Error> {
    check(names, arg.rows(), arg.cols())?;
    let is_unnamed = |k: &u32| *k != NO_ARG && terms.name(*k as usize).is_none();
    if let Some(k) = arg.iter().find(is_unnamed) {
        let (rows, m) = (terms.len(), k as usize + 1);
        return Err(ErrorKind::ResultMismatch { what: "the names of terms", rows, cols: 1, m, n: 1 }.into());
    }
    replaced(path, |out| winners(out, names, terms, arg))
}

fn winners(out: &mut dyn Write, names: &Names, terms: &Labels, arg: MatRef<'_, u32>) -> Result<(), Fault> {
    table::head(out, &names.columns)?;
    for (i, row) in names.rows.names().iter().enumerate() {
        out.write_all(quoted_name(row).as_bytes())?;
        for k in arg.window(i, 0, 1, arg.cols())?.iter() {
            write!(out, ",{}", terms.name(k as usize).map(quoted_name).unwrap_or_default())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn check(names: &Names, m: usize, n: usize) -> Result<(), Error> {
    let (rows, cols) = (names.rows.len(), names.columns.len());
    if (rows, cols) == (m, n) {
        return Ok(());
    }
    Err(ErrorKind::ResultMismatch { what: "the names", rows, cols, m, n }.into())
}

fn replaced(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Error> {
    let write = |file: &File| {
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        Ok(out.flush()?)
    };
    replace(path, write).map_err(|fault| fault.at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Matrix};

    fn parsed(text: &str) -> Result<Option<NamedTable>, String> {
        let spec = Spec::parse("km.csv").unwrap();
        NamedTable::parse(&spec, text.as_bytes(), &ReadOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_known_from_numbers() {
        for text in [
            ",a,b\nx,1,2\ny,3,4\n",
            "from,a,b\nx,1,2\ny,3,4\n",
            "# a comment\n\n;a;b\nx;1;2\n\ny;3;4\n",
            "\"\",\"a\",b\nx,1,2\ny,3,4\n",
            "a\tb\nx\t1\t2\ny\t3\t4\n",
            "\"\",\"a\",\"b\"\n\"x\",1,2\n\"y\",3,4\n",
        ] {
            let table = parsed(text).unwrap().unwrap();
            let names = [&table.names().rows, &table.names().columns].map(|labels| labels.names().join(" "));
            assert_eq!(names, ["x y", "a b"], "{text}");
            let stack = table.read(&ReadOptions::default()).unwrap();
            assert_eq!((stack.shape(), stack.dtype()), (&[2, 2][..], DType::I64));
            assert_eq!(stack.matrix(0).unwrap().get(1, 0), Some(tilewright_core::Value::Int(3)));
        }
        // What pandas writes of a frame without names.
        assert_eq!(parsed(",0,1\n0,5,6\n").unwrap().unwrap().names().rows.names(), ["0"]);
        for text in
            ["1,2\n3,4\n", ",2\n3,4\n", "inf,nan\n1,2\n", "a,b\n1,2\n", "1 2\n3 4\n", "a\nb\n", "a,b\n", ""]
        {
            assert!(parsed(text).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_found_where_it_stands() {
        for (text, expected) in [
            (",a,a\nx,1,2\n", "line 1, column 3: 'a' is a name already"),
            (",a,b\nx,1,2\n\nx,3,4\n", "line 4, column 1: 'x' is a name already"),
            (",a,\nx,1,2\n", "line 1, column 3: there is no name"),
            (",a,b\nx,1,2\ny,3\n", "line 3 has 2 cells, but a name and 2 numbers are wanted"),
            (";a;b\nx;1,5;2\n", "line 2, column 2: '1,5' is not a number"),
            (",a\nx,1\n#y,2\n", "line 3 begins with #"),
        ] {
            assert!(parsed(text).unwrap_err().contains(expected), "{}", parsed(text).unwrap_err());
        }
        let table = parsed(",a,b\n\nx,1,2\ny,3,four\n").unwrap().unwrap();
        let error = table.read(&ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("line 4, column 3: 'four' is not a number"), "{error}");
        let table = parsed(",a\nx,\n").unwrap().unwrap();
        let error = table.read(&ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("line 2, column 2: the cell is empty"), "{error}");
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let table = parsed(",\"Boston, MA\",MSP\nHNL,1,inf\n").unwrap().unwrap();
        let stack = table.read(&ReadOptions::default()).unwrap();
        let mut out = Vec::new();
        write_named_to(&mut out, table.names(), stack.rows(), &WriteOptions::default()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), ",\"Boston, MA\",MSP\nHNL,1.0,inf\n");
        let wrong = table.names().clone().transposed();
        assert!(write_named_to(Vec::new(), &wrong, stack.rows(), &WriteOptions::default()).is_err());
        let (arg, terms) = (Matrix::from([[1, NO_ARG]]), Labels::new(["SLC", "MSP"]).unwrap());
        let mut out = Vec::new();
        winners(&mut out, table.names(), &terms, arg.as_ref()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), ",\"Boston, MA\",MSP\nHNL,MSP,\n");
        let few = Labels::new(["SLC"]).unwrap();
        let path = Path::new("never.csv");
        assert!(write_winners(path, table.names(), &few, arg.as_ref()).is_err());
    }
}
