//! Square tables whose rows and columns have names: `.csv` with a first line and a first column of them, as spreadsheets and pandas write it.

use super::{
    Dialect, Input, Labels, NamedTable, Names, ReadOptions, Spec, WriteOptions, csv,
    elements::with_dtype,
    fault::{Fault, bad, excerpt},
    labels,
    output::replace,
    records::{Cell, Records, quoted_name},
    text::Text,
};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Write},
    path::Path,
};
use tilewright_core::{DynRef, Error, Layout};

/// Reads names of vertices: one a line, or those of a column of a csv file with a header.
///
/// # Errors
/// `io`; `bad-file`, naming line and column, for a name that is given twice or missing.
pub fn read_labels(path: &Path, column: Option<&str>) -> Result<Labels, Error> {
    let read = || labels::read(&mut BufReader::new(File::open(path)?), column);
    read().map_err(|fault: Fault| fault.at(path))
}

/// Reads a table whose first line and first column hold the same names in the same order. The first column may be left out, as pandas does without
/// an index: then the first line has as many names as there are lines of numbers. `None` for a file without names.
///
/// # Errors
/// `io`; `bad-file`, naming line and column.
pub fn read_table(spec: &Spec, options: &ReadOptions) -> Result<Option<(Input, Labels)>, Error> {
    let read = || -> Result<_, Fault> {
        let Some(table) = NamedTable::open(spec, options)? else { return headed(spec, options) };
        let Names { rows, columns } = table.names();
        let mut pairs = rows.names().iter().zip(columns.names());
        if let Some((row, column)) = pairs.find(|(row, column)| row != column) {
            return Err(bad!("the row '{}' stands where the column is '{}'", excerpt(row), excerpt(column))
                .hint("rows have the names of columns, in the same order"));
        }
        if rows.len() != columns.len() {
            return Err(bad!("the table has {} rows, but {} columns", rows.len(), columns.len()));
        }
        let labels = rows.clone();
        Ok(Some((Input::of_text(table.matrix(options)?), labels)))
    };
    read().map_err(|fault: Fault| fault.at(spec.path()))
}

/// A matrix under a line of names.
fn headed(spec: &Spec, options: &ReadOptions) -> Result<Option<(Input, Labels)>, Fault> {
    let mut input = BufReader::new(File::open(spec.path())?);
    let mut records = Records::new(&mut input, &options.text);
    let Some(first) = records.next()? else { return Ok(None) };
    let is_number = |cell: &Cell| options.text.is_number(&cell.text) || cell.is_empty();
    let is_headed = !first.cells.iter().any(is_number)
        && records.next()?.is_some_and(|second| second.cells.iter().all(is_number));
    if !is_headed {
        return Ok(None);
    }
    let labels = Labels::new(first.cells.iter().map(|cell| cell.text.as_str()))?;
    let text =
        Dialect { skip_rows: first.line, delimiter: Some(records.delimiter()), ..options.text.clone() };
    let numbers =
        csv::read(&mut BufReader::new(File::open(spec.path())?), &ReadOptions { text, ..options.clone() })?;
    let Layout { rows, cols, .. } = numbers.0.layout();
    if rows != cols {
        return Err(bad!("the table has {rows} rows, but {cols} columns"));
    }
    Ok(Some((Input::of_text(numbers), labels)))
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
    Err(tilewright_core::ErrorKind::ResultMismatch {
        what: "the table of names",
        rows: n,
        cols: n,
        m: rows,
        n: cols,
    }
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
            out.write_all(quoted_name(name).as_bytes())?;
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
        write!(out, ",{}", quoted_name(name))?;
    }
    Ok(out.write_all(b"\n")?)
}
