//! Square tables whose rows and columns have names: `.csv` with a first line and a first column of them, as spreadsheets and pandas write it.

use super::{
    Labels, ReadOptions, Spec, WriteOptions, csv,
    elements::with_dtype,
    fault::{Fault, bad, excerpt},
    labels,
    output::replace,
    records::{Records, quote},
    text::{self, Text},
};
use crate::{DynMatrix, DynRef, Error, Layout};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Write},
    path::Path,
};

/// Reads names of vertices: one a line, or those of a column of a csv file with a header.
///
/// # Errors
/// `io`; `bad-file`, naming line and column, for a name that is given twice or missing.
pub fn read_labels(path: &Path, column: Option<&str>) -> Result<Labels, Error> {
    let read = || labels::read(&mut BufReader::new(File::open(path)?), column);
    read().map_err(|fault: Fault| fault.at(path))
}

/// Reads a table whose first line and first column hold the same names in the same order; `None` for a file that is no such table, which is one whose first cell is not
/// empty.
///
/// # Errors
/// `io`; `bad-file`, naming line and column.
pub fn read_table(spec: &Spec, options: &ReadOptions) -> Result<Option<(DynMatrix, Labels)>, Error> {
    let read = || -> Result<_, Fault> {
        let mut input = BufReader::new(File::open(spec.path())?);
        let mut records = Records::new(&mut input);
        let Some(header) = records.next()?.filter(|first| first.cells.len() > 1 && first.cells[0].is_empty())
        else {
            return Ok(None);
        };
        let mut names = Labels::default();
        for (i, name) in header.cells.iter().enumerate().skip(1) {
            let again = names.find(name).is_some();
            if again || name.is_empty() {
                let what = if again {
                    format!("'{}' is there already", excerpt(name))
                } else {
                    "there is no name".into()
                };
                return Err(bad!("line {}, column {}: {what}", header.line, i + 1));
            }
            names.number(name);
        }
        let mut plain = String::new();
        let mut rows = 0;
        while let Some(record) = records.next()? {
            let (line, found, expected) = (record.line, record.cells.len(), header.cells.len());
            if found != expected {
                return Err(bad!("line {line} has {found} cells, but line {} has {expected}", header.line));
            }
            match names.name(rows) {
                Some(name) if name == record.cells[0] => {}
                Some(name) => {
                    return Err(bad!(
                        "line {line}, column 1: '{}' is not '{}', the name of this column",
                        excerpt(&record.cells[0]),
                        excerpt(name)
                    )
                    .hint("rows have the names of columns, in the same order"));
                }
                None => return Err(bad!("line {line}: more rows than the {rows} columns")),
            }
            for (i, cell) in record.cells.iter().enumerate().skip(1) {
                if text::value(cell).is_none() {
                    return Err(bad!("line {line}, column {}: '{}' is not a number", i + 1, excerpt(cell))
                        .hint("write inf where there is none"));
                }
                plain += if i > 1 { "," } else { "" };
                plain += cell;
            }
            plain.push('\n');
            rows += 1;
        }
        if rows < names.len() {
            return Err(bad!("the table has {rows} rows, but {} columns", names.len()));
        }
        Ok(Some((csv::read(&mut plain.as_bytes(), options)?, names)))
    };
    read().map_err(|fault| fault.at(spec.path()))
}

/// Writes a square matrix as a table with names; the file is replaced as a whole or not at all.
///
/// # Errors
/// `io`; `result-mismatch` where there are not as many names as rows and columns.
pub fn write_table(path: &Path, m: DynRef<'_>, names: &Labels, options: &WriteOptions) -> Result<(), Error> {
    check(m.layout(), names)?;
    replace(path, |file| {
        let mut out = BufWriter::new(file);
        table(&mut out, m, [names, names], options)?;
        Ok(out.flush()?)
    })
    .map_err(|fault| fault.at(path))
}

/// As [`write_table`], to any destination.
///
/// # Errors
/// As [`write_table`].
pub fn write_table_to(
    mut out: impl Write,
    m: DynRef<'_>,
    names: &Labels,
    options: &WriteOptions,
) -> Result<(), Error> {
    check(m.layout(), names)?;
    let written = table(&mut out, m, [names, names], options).and_then(|()| Ok(out.flush()?));
    written.map_err(|fault| fault.at(Path::new("stdout")))
}

fn check(layout: Layout, names: &Labels) -> Result<(), Error> {
    let (Layout { rows, cols, .. }, n) = (layout, names.len());
    if (rows, cols) == (n, n) {
        return Ok(());
    }
    Err(crate::ErrorKind::ResultMismatch { what: "the table of names", rows: n, cols: n, m: rows, n: cols }
        .into())
}

/// Rows and columns under their names.
pub(super) fn table(
    out: &mut dyn Write,
    m: DynRef<'_>,
    [rows, columns]: [&Labels; 2],
    options: &WriteOptions,
) -> Result<(), Fault> {
    head(out, columns)?;
    with_dtype!(m.dtype(), T => {
        let m = super::elements::typed::<T>(m);
        for (i, name) in rows.names().iter().enumerate() {
            out.write_all(quote(name).as_bytes())?;
            for x in m.window(i, 0, 1, m.cols())?.iter() {
                out.write_all(b",")?;
                x.print(options.extremes, out)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// An empty cell, and the names of columns.
pub(super) fn head(out: &mut dyn Write, columns: &Labels) -> Result<(), Fault> {
    for name in columns.names() {
        write!(out, ",{}", quote(name))?;
    }
    Ok(out.write_all(b"\n")?)
}
