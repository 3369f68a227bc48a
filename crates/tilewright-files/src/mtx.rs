//! Matrix Market: text with a banner, a size line and one entry per line.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real general
//! % comment
//! 3 4 2            rows, columns, entries; an array has no third number
//! 1 1 0.5          row and column from 1, then the value; an array has values only, column by column
//! 3 4 -2
//! ```
//!
//! A coordinate file becomes dense. What its missing entries mean depends on the semiring, so the caller says.

use super::{
    ReadOptions,
    elements::{self, push, with_dtype},
    fault::{Fault, bad, excerpt},
    text::{self, Lines, Text},
};
use std::io::{BufRead, Write};
use tilewright_core::{DType, DynMatrix, DynRef, Element, Extremes, Layout, Matrix, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Storage {
    Array,
    Coordinate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    Real,
    Integer,
    Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Banner {
    pub storage: Storage,
    pub field: Field,
    pub symmetry: Symmetry,
}

impl Banner {
    pub fn parse(line: &str) -> Result<Self, Fault> {
        let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words.first() != Some(&"%%matrixmarket") {
            return Err(bad!("line 1: not a Matrix Market file: it starts with '{}'", excerpt(line))
                .hint("the first line reads like %%MatrixMarket matrix array real general"));
        }
        let &[_, object, storage, field, symmetry] = words.as_slice() else {
            return Err(bad!("line 1: the banner has {} words, 5 are needed", words.len())
                .hint("it reads like %%MatrixMarket matrix array real general"));
        };
        let unknown = |what: &str, found: &str, known: &str| {
            bad!("line 1: {what} '{}' is not supported", excerpt(found)).hint(format!("known are {known}"))
        };
        if object != "matrix" {
            return Err(unknown("object", object, "matrix"));
        }
        let banner = Self {
            storage: match storage {
                "array" => Storage::Array,
                "coordinate" => Storage::Coordinate,
                _ => return Err(unknown("format", storage, "array, coordinate")),
            },
            field: match field {
                "real" | "double" => Field::Real,
                "integer" => Field::Integer,
                "pattern" => Field::Pattern,
                _ => return Err(unknown("field", field, "real, double, integer, pattern")),
            },
            symmetry: match symmetry {
                "general" => Symmetry::General,
                "symmetric" => Symmetry::Symmetric,
                "skew-symmetric" => Symmetry::Skew,
                _ => return Err(unknown("symmetry", symmetry, "general, symmetric, skew-symmetric")),
            },
        };
        match banner {
            Self { field: Field::Pattern, storage: Storage::Array, .. } => {
                Err(bad!("line 1: a pattern has no values, so it cannot be an array"))
            }
            Self { field: Field::Pattern, symmetry: Symmetry::Skew, .. } => {
                Err(bad!("line 1: a pattern has no signs, so it cannot be skew-symmetric"))
            }
            _ => Ok(banner),
        }
    }

    /// The element type when the caller asks for none: what the file says, unless a value that stands for
    /// the file's missing entries needs more.
    fn dtype(&self, options: &ReadOptions) -> DType {
        let fits = |value| i64::from_value(value, options.extremes).is_some();
        let fill_fits = self.storage == Storage::Array || fits(options.fill);
        match (self.field, options.pattern) {
            (Field::Real, _) | (Field::Pattern, Value::Float(_)) => DType::F64,
            (Field::Pattern, Value::Bool(_))
                if bool::from_value(options.fill, options.extremes).is_some() =>
            {
                DType::Bool
            }
            _ if fill_fits => DType::I64,
            _ => DType::F64,
        }
    }
}

pub(super) fn read(input: &mut dyn BufRead, options: &ReadOptions) -> Result<DynMatrix, Fault> {
    let mut lines = Lines::new(input);
    let banner = match lines.any()? {
        Some((_, line)) => Banner::parse(line)?,
        None => return Err(bad!("the file is empty")),
    };
    let Some((line, content)) = lines.content(b'%')? else {
        return Err(bad!("the file ends before the size line"));
    };
    let sizes: Option<Vec<usize>> = content.split_whitespace().map(|word| word.parse().ok()).collect();
    let (rows, cols, entries) = match (banner.storage, sizes.as_deref()) {
        (Storage::Array, Some(&[rows, cols])) => (rows, cols, None),
        (Storage::Coordinate, Some(&[rows, cols, entries])) => (rows, cols, Some(entries)),
        (storage, _) => {
            let wanted = if storage == Storage::Array { "ROWS COLUMNS" } else { "ROWS COLUMNS ENTRIES" };
            return Err(bad!("line {line}: '{}' is not a size line", excerpt(content))
                .hint(format!("a size line reads {wanted}")));
        }
    };
    if banner.symmetry != Symmetry::General && rows != cols {
        return Err(bad!("line {line}: a {rows}x{cols} matrix cannot be symmetric"));
    }
    let dtype = options.dtype.unwrap_or_else(|| banner.dtype(options));
    with_dtype!(dtype, T => {
        let shape = Layout::col_major(rows, cols);
        Ok(match entries {
            None => array::<T>(&mut lines, banner.symmetry, shape, options)?,
            Some(entries) => coordinate::<T>(&mut lines, banner, shape, entries, options)?,
        }
        .into())
    })
}

fn parse<T: Text>(line: usize, text: &str, options: &ReadOptions) -> Result<T, Fault> {
    T::parse(text, options.extremes).ok_or_else(|| text::refuse::<T>(format_args!("line {line}"), text))
}

fn negate<T: Text>(line: usize, value: T) -> Result<T, Fault> {
    value.negate().ok_or_else(|| bad!("line {line}: {value} has no opposite in {}", T::DTYPE))
}

/// Values column by column; of a symmetric matrix, the part on and below the diagonal.
fn array<T: Text>(
    lines: &mut Lines<'_>,
    symmetry: Symmetry,
    shape: Layout,
    options: &ReadOptions,
) -> Result<Matrix<T>, Fault> {
    let n = shape.rows;
    let triangle = |n: usize| n.checked_add(1).and_then(|above| n.checked_mul(above)).map(|twice| twice / 2);
    let expected = match symmetry {
        Symmetry::General => shape.len(),
        Symmetry::Symmetric => triangle(n),
        Symmetry::Skew => triangle(n.saturating_sub(1)),
    };
    let expected = expected.ok_or_else(|| bad!("a {n}x{} matrix exceeds the address space", shape.cols))?;
    // Grows with the file, not with what its size line claims.
    let mut values = Vec::new();
    while let Some((line, content)) = lines.content(b'%')? {
        for word in content.split_whitespace() {
            if values.len() == expected {
                return Err(bad!("line {line}: more values than the {expected} that the sizes call for"));
            }
            let value: T = parse(line, word, options)?;
            if symmetry == Symmetry::Skew {
                // Checked here, where the line is known; used below.
                negate(line, value)?;
            }
            push(&mut values, value)?;
        }
    }
    if values.len() < expected {
        return Err(bad!("the file has {} values, but its sizes call for {expected}", values.len()));
    }
    if symmetry == Symmetry::General {
        return Ok(Matrix::from_vec(values, shape)?);
    }
    let mut matrix = Matrix::filled(n, n, T::DEFAULT)?;
    let mut full = matrix.as_mut();
    let mut values = values.into_iter();
    for j in 0..n {
        let first = if symmetry == Symmetry::Skew { j + 1 } else { j };
        for (i, value) in (first..n).zip(&mut values) {
            let mirrored = if symmetry == Symmetry::Skew { negate(0, value)? } else { value };
            set(&mut full, i, j, value);
            set(&mut full, j, i, mirrored);
        }
    }
    Ok(matrix)
}

fn set<T>(m: &mut tilewright_core::MatMut<'_, T>, row: usize, col: usize, value: T) {
    if let Some(slot) = m.get_mut(row, col) {
        *slot = value;
    }
}

/// Entries in any order; every one at most once.
fn coordinate<T: Text>(
    lines: &mut Lines<'_>,
    banner: Banner,
    shape: Layout,
    entries: usize,
    options: &ReadOptions,
) -> Result<Matrix<T>, Fault> {
    let Layout { rows, cols, .. } = shape;
    // The one place where a short file may ask for much memory, so it has a limit of its own.
    let bytes = shape.len().and_then(|len| len.checked_mul(size_of::<T>()));
    if bytes.is_none_or(|bytes| bytes as u64 > options.max_bytes) {
        let size = rows as f64 * cols as f64 * size_of::<T>() as f64;
        return Err(bad!(
            "{rows}x{cols} as a dense {} matrix takes {:.1} GiB",
            T::DTYPE,
            size / (1u64 << 30) as f64
        )
        .hint("only dense matrices are multiplied here; a narrower element type takes less"));
    }
    let fill = T::from_value(options.fill, options.extremes);
    let pattern = T::from_value(options.pattern, options.extremes);
    let mut matrix = Matrix::filled(rows, cols, fill.unwrap_or(T::DEFAULT))?;
    let mut dense = matrix.as_mut();
    // One bit per element tells a second entry from a first. `rows * cols` did not overflow above.
    let mut seen = Matrix::filled((rows * cols).div_ceil(64), 1, 0u64)?.into_vec();
    let mut first_entry = |line: usize, i: usize, j: usize| {
        let (word, bit) = ((i * cols + j) / 64, 1 << ((i * cols + j) % 64));
        if seen[word] & bit != 0 {
            return Err(bad!("line {line}: a second entry for ({}, {})", i + 1, j + 1)
                .hint("what a sum of two entries means depends on the semiring; combine them before"));
        }
        seen[word] |= bit;
        Ok(())
    };
    let (mut found, mut set_elements) = (0, 0);
    while let Some((line, content)) = lines.content(b'%')? {
        if found == entries {
            return Err(bad!("line {line}: more entries than the {entries} that the size line announces"));
        }
        found += 1;
        let mut words = content.split_whitespace();
        let (i, j) = (index(&mut words, "row", line, rows)?, index(&mut words, "column", line, cols)?);
        let value = match (banner.field, words.next()) {
            (Field::Pattern, None) => pattern.ok_or_else(|| {
                bad!("the entries of a pattern cannot be {} in {}", options.pattern, T::DTYPE)
            })?,
            (_, Some(word)) if banner.field != Field::Pattern => parse(line, word, options)?,
            (_, None) => return Err(bad!("line {line}: the value is missing")),
            (_, Some(word)) => return Err(bad!("line {line}: a pattern has no value '{}'", excerpt(word))),
        };
        if let Some(word) = words.next() {
            return Err(bad!("line {line}: '{}' follows the entry", excerpt(word)));
        }
        first_entry(line, i, j)?;
        set(&mut dense, i, j, value);
        set_elements += 1;
        match banner.symmetry {
            Symmetry::Skew if i == j => {
                return Err(bad!("line {line}: a skew-symmetric matrix has no entry on its diagonal"));
            }
            Symmetry::Symmetric | Symmetry::Skew if i != j => {
                first_entry(line, j, i)?;
                let mirrored = if banner.symmetry == Symmetry::Skew { negate(line, value)? } else { value };
                set(&mut dense, j, i, mirrored);
                set_elements += 1;
            }
            _ => {}
        }
    }
    if found < entries {
        return Err(bad!("the file has {found} entries, but its size line announces {entries}"));
    }
    if fill.is_none() && set_elements < rows * cols {
        return Err(bad!("missing entries cannot be {} in {}", options.fill, T::DTYPE)
            .hint("choose a floating-point element type"));
    }
    Ok(matrix)
}

/// The next word as an index, counted from 0.
pub(super) fn index<'w>(
    words: &mut impl Iterator<Item = &'w str>,
    what: &str,
    line: usize,
    size: usize,
) -> Result<usize, Fault> {
    let word = words.next().ok_or_else(|| bad!("line {line}: the {what} is missing"))?;
    match word.parse::<usize>() {
        Ok(index @ 1..) if index <= size => Ok(index - 1),
        Ok(0) => {
            Err(bad!("line {line}: {what} 0 is outside the matrix").hint("rows and columns count from 1"))
        }
        Ok(index) => Err(bad!("line {line}: {what} {index} is outside the {size} of the matrix")),
        Err(_) => Err(bad!("line {line}: '{}' is not a {what} number", excerpt(word))),
    }
}

/// Writes numbers as an array, column by column, and booleans as the pattern of what is true.
pub(super) fn write(out: &mut dyn Write, m: DynRef<'_>) -> Result<(), Fault> {
    let Layout { rows, cols, .. } = m.layout();
    if let Some(m) = m.typed::<bool>() {
        let entries = m.iter().filter(|&x| x).count();
        writeln!(out, "%%MatrixMarket matrix coordinate pattern general\n{rows} {cols} {entries}")?;
        for (position, _) in m.iter().enumerate().filter(|&(_, x)| x) {
            writeln!(out, "{} {}", position / cols + 1, position % cols + 1)?;
        }
        return Ok(());
    }
    let field = if m.dtype().is_float() { "real" } else { "integer" };
    writeln!(out, "%%MatrixMarket matrix array {field} general\n{rows} {cols}")?;
    with_dtype!(m.dtype(), T => {
        for x in elements::typed::<T>(m).t().iter() {
            x.print(Extremes::Refuse, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str, options: &ReadOptions) -> Result<DynMatrix, String> {
        read(&mut text.as_bytes(), options).map_err(|fault| match fault {
            Fault::Bad { problem, hint } => format!("{problem} | {}", hint.unwrap_or_default()),
            other => format!("{other:?}"),
        })
    }

    fn rows<T: Text>(text: &str, options: &ReadOptions) -> Vec<T> {
        read_text(text, options).unwrap().into_typed::<T>().unwrap().as_ref().iter().collect()
    }

    #[test]
    fn arrays_run_column_by_column() {
        let text = "%%MatrixMarket matrix array integer general\n% c\n\n2 3\n1\n2\n3\n4\n\n5\n6\n";
        assert_eq!(rows::<i64>(text, &ReadOptions::default()), [1, 3, 5, 2, 4, 6]);
        let text = "%%MatrixMarket MATRIX Array Real Symmetric\r\n2 2\r\n1\r\n2\r\n3\r\n";
        assert_eq!(rows::<f64>(text, &ReadOptions::default()), [1.0, 2.0, 2.0, 3.0]);
        let text = "%%MatrixMarket matrix array double skew-symmetric\n2 2\n7\n";
        assert_eq!(rows::<f64>(text, &ReadOptions::default()), [0.0, -7.0, 7.0, 0.0]);
        let text = "%%MatrixMarket matrix array real general\n0 5\n";
        assert_eq!(read_text(text, &ReadOptions::default()).unwrap().layout().cols, 5);
    }

    #[test]
    fn coordinates_become_dense_with_the_callers_fill() {
        let inf = Value::Float(f64::INFINITY);
        let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 2.5\n";
        let fill = ReadOptions { fill: inf, ..Default::default() };
        assert_eq!(rows::<f64>(text, &fill), [4.0, 2.5, 2.5, f64::INFINITY]);
        assert_eq!(rows::<f64>(text, &ReadOptions::default()), [4.0, 2.5, 2.5, 0.0]);

        let text = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 3\n";
        let absent = ReadOptions { extremes: Extremes::Absent, ..fill.clone() };
        assert_eq!(rows::<i64>(text, &absent), [i64::MAX, i64::MAX, 3, i64::MAX]);
        // Without a meaning for infinities in integers, the matrix becomes a float matrix.
        assert_eq!(rows::<f64>(text, &fill), [f64::INFINITY, f64::INFINITY, 3.0, f64::INFINITY]);
        let i32s = ReadOptions { dtype: Some(DType::I32), ..fill };
        assert!(read_text(text, &i32s).unwrap_err().contains("missing entries cannot be inf in i32"));

        let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
        assert_eq!(rows::<bool>(text, &ReadOptions::default()), [false, true, true, false]);
        let f32s = ReadOptions { dtype: Some(DType::F32), pattern: Value::Int(2), ..Default::default() };
        assert_eq!(rows::<f32>(text, &f32s), [0.0, 2.0, 2.0, 0.0]);
        let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n";
        assert_eq!(rows::<i64>(text, &ReadOptions::default()), [0, -5, 5, 0]);
    }

    #[test]
    fn errors_name_the_line() {
        let coordinate = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
        let array = |rest: &str| format!("%%MatrixMarket matrix array real general\n{rest}");
        let banner = |words: &str| format!("%%MatrixMarket {words}\n1 1 1\n1 1 1\n");
        for (text, expected) in [
            (String::new(), "the file is empty"),
            ("1 2 3".into(), "line 1: not a Matrix Market file"),
            (banner("matrix array"), "the banner has 3 words"),
            (banner("vector array real general"), "object 'vector' is not supported"),
            (banner("matrix dense real general"), "format 'dense'"),
            (banner("matrix coordinate complex general"), "field 'complex' is not supported"),
            (banner("matrix coordinate real hermitian"), "symmetry 'hermitian' is not supported"),
            (banner("matrix array pattern general"), "a pattern has no values"),
            (banner("matrix coordinate pattern skew-symmetric"), "a pattern has no signs"),
            (banner("matrix coordinate pattern general"), "line 3: a pattern has no value '1'"),
            (coordinate("% only comments\n"), "ends before the size line"),
            (
                coordinate("2 2\n"),
                "line 2: '2 2' is not a size line | a size line reads ROWS COLUMNS ENTRIES",
            ),
            (array("2 -2\n"), "line 2: '2 -2' is not a size line"),
            (coordinate("2 2 1\n3 1 5\n"), "line 3: row 3 is outside the 2"),
            (
                coordinate("2 2 1\n1 0 5\n"),
                "line 3: column 0 is outside the matrix | rows and columns count from 1",
            ),
            (coordinate("2 2 1\nx 1 5\n"), "line 3: 'x' is not a row number"),
            (coordinate("2 2 1\n1 1\n"), "line 3: the value is missing"),
            (coordinate("2 2 1\n1 1 z\n"), "line 3: 'z' is not a number"),
            (coordinate("2 2 1\n1 1 1 1\n"), "line 3: '1' follows the entry"),
            (coordinate("2 2 2\n1 1 1\n% c\n1 1 2\n"), "line 5: a second entry for (1, 1)"),
            (coordinate("2 2 2\n1 1 1\n"), "the file has 1 entries, but its size line announces 2"),
            (coordinate("2 2 1\n1 1 1\n1 2 1\n"), "line 4: more entries than the 1"),
            (array("2 1\n1\n"), "the file has 1 values, but its sizes call for 2"),
            (array("1 1\n1\n2\n"), "line 4: more values than the 1"),
            (coordinate("1000000 1000000 1\n1 1 1\n"), "takes 7450.6 GiB"),
            (coordinate("18446744073709551615 2 1\n1 1 1\n"), "GiB"),
            (array("18446744073709551615 2\n"), "exceeds the address space"),
            (banner("matrix coordinate real skew-symmetric"), "no entry on its diagonal"),
            ("%%MatrixMarket matrix array real symmetric\n2 3\n".into(), "cannot be symmetric"),
        ] {
            let message = read_text(&text, &ReadOptions::default()).unwrap_err();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
}
