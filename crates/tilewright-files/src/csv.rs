//! Numbers with a delimiter between them, one row per line.
//!
//! Blank lines and comments are skipped; no number begins with `#`. Cells are numbers, `inf`, `nan`, `true` or `false`,
//! with or without quotes and white space around them, and every error names its line exactly.

use super::{
    Delimiter, ReadOptions, WriteOptions,
    dialect::between_cells,
    elements::{self, push, with_dtype},
    fault::{Fault, bad, excerpt},
    records::cells,
    text::{self, Lines, Text},
};
use std::io::{BufRead, Write};
use tilewright_core::{DynMatrix, DynRef, Hint, Layout, Matrix, Setting, Value};

/// The matrix, and how many of its cells were empty.
pub(super) fn read(input: &mut dyn BufRead, options: &ReadOptions) -> Result<(DynMatrix, usize), Fault> {
    read_behind(0, input, options)
}

/// The same where `passed` columns stood in front of the first, as far as messages are concerned.
pub(super) fn read_behind(
    passed: usize,
    input: &mut dyn BufRead,
    options: &ReadOptions,
) -> Result<(DynMatrix, usize), Fault> {
    match options.dtype {
        Some(dtype) => with_dtype!(dtype, T => {
            let mut data = Vec::<T>::new();
            let (layout, empty) = rows(passed, input, options, |place, cell| {
                let x = T::parse(cell, options.extremes).ok_or_else(|| refuse::<T>(place, cell, options))?;
                push(&mut data, x)
            })?;
            Ok((Matrix::from_vec(data, layout)?.into(), empty))
        }),
        None => {
            let mut cells = Guess::Bool(Vec::new());
            let (layout, empty) =
                rows(passed, input, options, |place, cell| cells.add(place, cell, options))?;
            let matrix = match cells {
                Guess::Bool(data) => Matrix::from_vec(data, layout)?.into(),
                Guess::Int(data) => Matrix::from_vec(data, layout)?.into(),
                Guess::Float(data) => Matrix::from_vec(data, layout)?.into(),
            };
            Ok((matrix, empty))
        }
    }
}

/// Where a cell stands, for messages.
struct Place {
    line: usize,
    column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a cell is no element of type `T`.
fn refuse<T: Text>(place: &Place, cell: &str, options: &ReadOptions) -> Fault {
    if cell.is_empty() {
        // What sparse files leave out is what an empty cell would have to be.
        let absent = match options.fill {
            Value::Float(x) => x.to_string(),
            _ => "0".into(),
        };
        return bad!("{place}: the cell is empty")
            .hint(format!("write {absent} for an absent entry; pandas does with `na_rep`"));
    }
    text::refuse::<T>(place, cell)
}

/// Calls `cell` for every cell, row by row, and gives the shape and the number of empty cells. These are what is absent, where they may be.
fn rows(
    passed: usize,
    input: &mut dyn BufRead,
    options: &ReadOptions,
    mut cell: impl FnMut(&Place, &str) -> Result<(), Fault>,
) -> Result<(Layout, usize), Fault> {
    let dialect = &options.text;
    let (mark, absent) = (dialect.comments.mark(), options.fill.to_string());
    let mut lines = Lines::new(input);
    for _ in 0..dialect.skip_rows {
        lines.pass()?;
    }
    let mut delimiter = dialect.delimiter;
    // Rows so far, and the line and length of the first.
    let (mut rows, mut first, mut empty) = (0, None, 0);
    while let Some((line, content)) = lines.raw()? {
        let content = content.trim_end_matches(['\r', '\n']);
        let is_blank = match delimiter {
            Some(Delimiter::Char(c)) => !content.contains(|x: char| x == c || !x.is_whitespace()),
            _ => content.trim().is_empty(),
        };
        if is_blank || !mark.is_empty() && content.trim_start().starts_with(&mark) {
            continue;
        }
        let mut place = Place { line, column: passed };
        let delimiter = *delimiter.get_or_insert_with(|| Delimiter::of(content, dialect.decimal_comma));
        let mut take = |text: &str| {
            place.column += 1;
            let Some(number) = dialect.number(text) else {
                return Err(bad!("{place}: '{}' is not a number", excerpt(text)));
            };
            let is_absent = number.is_empty() && options.empty_is_absent;
            empty += usize::from(is_absent);
            cell(&place, if is_absent { &absent } else { &number })
        };
        let mut take = |text: &str| {
            take(text).map_err(|fault| match fault {
                Fault::Bad { problem, hint: None } => {
                    let is_first = rows + passed == 0 && text::value(text.trim()).is_none();
                    let hint = dialect.hint(text).or_else(|| is_first.then(names));
                    Fault::Bad { problem, hint }
                }
                other => other,
            })
        };
        if content.contains('"') {
            for quoted in cells(line, content.to_owned(), delimiter, true, &mut || Ok(None))? {
                take(&quoted.text)?;
            }
        } else {
            delimiter.split(content).try_for_each(&mut take)?;
        }
        let (first_line, cols) = *first.get_or_insert((line, place.column));
        if cols != place.column {
            let found = place.column;
            return Err(bad!("line {line} has {found} cells, but line {first_line} has {cols}"));
        }
        rows += 1;
    }
    match first {
        Some((_, cols)) => Ok((Layout::row_major(rows, cols - passed), empty)),
        None => Err(bad!("the file has no rows")),
    }
}

/// What to do about a first line that is not of numbers.
fn names() -> Hint {
    Hint::from("if the first line holds names, pass over it with ")
        .set_to(Setting::SkipRows, 1)
        .also(between_cells())
        .also(Hint::from(Setting::NamedTable).say(" reads names, too"))
}

/// The narrowest of bool, i64 and f64 that holds every cell so far.
enum Guess {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Float(Vec<f64>),
}

impl Guess {
    fn add(&mut self, place: &Place, cell: &str, options: &ReadOptions) -> Result<(), Fault> {
        let refused = || refuse::<f64>(place, cell, options);
        let value = match text::value(cell).ok_or_else(refused)? {
            // An integer has no negative zero.
            Value::Int(0) if cell.starts_with('-') => Value::Float(-0.0),
            value => value,
        };
        // An i64 becomes the nearest f64, just as its digits would when read as one.
        match (&*self, value) {
            (Self::Bool(old), Value::Int(_)) => *self = Self::Int(widen(old, i64::from)?),
            (Self::Bool(old), Value::Float(_)) => {
                *self = Self::Float(widen(old, |x| f64::from(u8::from(x)))?)
            }
            (Self::Int(old), Value::Float(_)) => *self = Self::Float(widen(old, |x| x as f64)?),
            _ => {}
        }
        match (self, value) {
            (Self::Bool(data), Value::Bool(x)) => push(data, x),
            (Self::Int(data), Value::Int(x)) => push(data, x),
            (Self::Int(data), Value::Bool(x)) => push(data, x.into()),
            (Self::Float(data), _) => {
                push(data, f64::parse(cell, tilewright_core::Extremes::Refuse).ok_or_else(refused)?)
            }
            _ => Err(refused()),
        }
    }
}

fn widen<T: Copy, U>(old: &[T], convert: impl Fn(T) -> U) -> Result<Vec<U>, Fault> {
    let mut new = elements::reserve(old.len())?;
    new.extend(old.iter().map(|&x| convert(x)));
    Ok(new)
}

/// Writes row by row, whatever the strides.
pub(super) fn write(out: &mut dyn Write, m: DynRef<'_>, options: &WriteOptions) -> Result<(), Fault> {
    let Layout { rows, cols, .. } = m.layout();
    if m.layout().is_empty() {
        return Err(bad!("a {rows}x{cols} matrix has no rows or columns to write as text")
            .hint("write .npy or .safetensors, which keep the shape"));
    }
    with_dtype!(m.dtype(), T => {
        let m = elements::typed::<T>(m);
        for i in 0..rows {
            for (j, x) in m.window(i, 0, 1, cols)?.iter().enumerate() {
                if j > 0 {
                    out.write_all(b",")?;
                }
                x.print(options.extremes, out)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use tilewright_core::{DType, Extremes};

    fn read_text(text: &str, options: &ReadOptions) -> Result<DynMatrix, String> {
        read(&mut text.as_bytes(), options).map(|read| read.0).map_err(|fault| match fault {
            Fault::Bad { problem, hint } => format!("{problem} | {}", hint.unwrap_or_default()),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn the_element_type_is_the_narrowest_that_holds_every_cell() {
        let default = ReadOptions::default();
        for (text, dtype) in [
            ("1,2\n3,-4", DType::I64),
            ("1,2.0\n", DType::F64),
            ("9223372036854775808", DType::F64),
            ("1,inf", DType::F64),
            ("true,False", DType::Bool),
            ("true,2", DType::I64),
            ("true,2.5", DType::F64),
            ("-0", DType::F64),
        ] {
            assert_eq!(read_text(text, &default).unwrap().dtype(), dtype, "{text}");
        }
        let m = read_text("true,9007199254740993,2.5\n", &default).unwrap().into_typed::<f64>().unwrap();
        assert_eq!(m.as_slice(), [1.0, 9_007_199_254_740_992.0, 2.5]);
    }

    #[test]
    fn marks_comments_blanks_quotes_and_line_ends_are_tolerated() {
        let text = "\u{feff}# distances\r\n\r\n \"1\" ,\t2\r\n\r\n3,  4";
        let m = read_text(text, &ReadOptions::default()).unwrap().into_typed::<i64>().unwrap();
        assert_eq!((m.rows(), m.as_slice()), (2, &[1, 2, 3, 4][..]));
    }

    #[test]
    fn the_first_line_tells_the_delimiter_unless_it_is_given() {
        for text in
            ["1,2\n3,4\n", "1;2\n3;4\n", "1\t2\n3\t4\n", "  1 2\n3   4 \n", "1, 2\n3,4", "\"1\";2\n3; 4"]
        {
            let m = read_text(text, &ReadOptions::default()).unwrap().into_typed::<i64>().unwrap();
            assert_eq!(m.as_slice(), [1, 2, 3, 4], "{text:?}");
        }
        let text = Dialect { delimiter: Some(Delimiter::Char('|')), ..Dialect::default() };
        let bars = ReadOptions { text, ..Default::default() };
        let m = read_text("1|2\n3|4\n", &bars).unwrap().into_typed::<i64>().unwrap();
        assert_eq!(m.as_slice(), [1, 2, 3, 4]);
    }

    #[test]
    fn rows_at_the_beginning_can_be_passed_over() {
        let text = Dialect { skip_rows: 2, ..Dialect::default() };
        let options = ReadOptions { text, ..Default::default() };
        let m = read_text("a table\nfrom,to\n1,2\n", &options).unwrap().into_typed::<i64>().unwrap();
        assert_eq!(m.as_slice(), [1, 2]);
        // Lines keep their numbers.
        assert!(read_text("x\ny\n1,z\n", &options).unwrap_err().contains("line 3, column 2"));
        assert!(read_text("x\n", &options).unwrap_err().contains("no rows"));
    }

    #[test]
    fn commas_begin_fractions_where_that_is_said() {
        let text = Dialect { decimal_comma: true, ..Dialect::default() };
        let options = ReadOptions { text, ..Default::default() };
        for text in ["1,5;2\n3;-4,25\n", "1,5\t2\n3\t-4,25\n", "1,5 2\n3 -4,25\n", "\"1,5\",2\n3,\"-4,25\"\n"]
        {
            let m = read_text(text, &options).unwrap().into_typed::<f64>().unwrap();
            assert_eq!(m.as_slice(), [1.5, 2.0, 3.0, -4.25], "{text:?}");
        }
        assert!(
            read_text("1.5;2\n", &options)
                .unwrap_err()
                .contains("'1.5' is not a number | with `decimal_comma`")
        );
    }

    #[test]
    fn empty_cells_are_absent_where_that_is_said() {
        let options = ReadOptions {
            fill: Value::Float(f64::INFINITY),
            extremes: Extremes::Absent,
            empty_is_absent: true,
            ..Default::default()
        };
        for text in ["0,\n ,3\n", "0\t\n\t3\n", "0;\"\"\n;3\n"] {
            let (m, empty) = read(&mut text.as_bytes(), &options).unwrap();
            let m = m.into_typed::<f64>().unwrap();
            assert_eq!((m.as_slice(), empty), (&[0.0, f64::INFINITY, f64::INFINITY, 3.0][..], 2), "{text:?}");
        }
        let i32s = ReadOptions { dtype: Some(DType::I32), ..options };
        assert_eq!(
            read_text("0,\n,3\n", &i32s).unwrap().into_typed::<i32>().unwrap().as_slice(),
            [0, i32::MAX, i32::MAX, 3]
        );
    }

    #[test]
    fn infinities_can_stand_for_absent_integers() {
        let options =
            ReadOptions { dtype: Some(DType::I32), extremes: Extremes::Absent, ..Default::default() };
        let m = read_text("1,inf\n-inf,2", &options).unwrap().into_typed::<i32>().unwrap();
        assert_eq!(m.as_slice(), [1, i32::MAX, i32::MIN, 2]);
        let mut out = Vec::new();
        let options = WriteOptions { extremes: Extremes::Absent };
        write(&mut out, m.as_ref().into(), &options).unwrap();
        assert_eq!(out, b"1,inf\n-inf,2\n");
    }

    #[test]
    fn errors_name_line_column_and_text() {
        let i32s = ReadOptions { dtype: Some(DType::I32), ..Default::default() };
        let min_plus = ReadOptions { fill: Value::Float(f64::INFINITY), ..Default::default() };
        let text = Dialect { delimiter: Some(Delimiter::Char(',')), ..Dialect::default() };
        let commas = ReadOptions { text, ..Default::default() };
        for (text, options, expected) in [
            ("", &ReadOptions::default(), "no rows"),
            ("# nothing\n\n", &ReadOptions::default(), "no rows"),
            ("1,2\n3", &ReadOptions::default(), "line 2 has 1 cells, but line 1 has 2"),
            ("\n1,2\n# c\n3,4,5", &ReadOptions::default(), "line 4 has 3 cells, but line 2 has 2"),
            ("1,2\n3,x", &ReadOptions::default(), "line 2, column 2: 'x' is not a number"),
            ("1,\n", &ReadOptions::default(), "line 1, column 2: the cell is empty | write 0 for an absent"),
            ("1,\n", &min_plus, "line 1, column 2: the cell is empty | write inf for an absent"),
            ("from,to\n1,2", &ReadOptions::default(), "'from' is not a number | if the first line holds"),
            ("1,5;2\n", &ReadOptions::default(), "column 1: '1,5' is not a number | say `decimal_comma`"),
            ("\"1,5\",2\n", &ReadOptions::default(), "column 1: '1,5' is not a number | say `decimal_comma`"),
            ("1;2\n", &commas, "'1;2' is not a number"),
            ("1,2\n3,3.5", &i32s, "line 2, column 2: 3.5 cannot be represented as i32"),
            ("1,inf", &i32s, "line 1, column 2: inf cannot be represented as i32"),
            ("1e999", &ReadOptions::default(), "1e999 cannot be represented as f64"),
            ("\u{1}", &ReadOptions::default(), r"'\u{1}' is not a number"),
        ] {
            let message = read_text(text, options).unwrap_err();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
        let mut latin: &[u8] = b"1,2\n\xE9,3";
        let fault = read(&mut latin, &ReadOptions::default()).unwrap_err();
        assert!(format!("{fault:?}").contains("line 2 is not UTF-8"));
    }
}
