//! The entries of a Matrix Market coordinate file, without those that it leaves out.

use super::{
    edges::{EdgeList, EdgeOptions},
    fault::{Fault, bad, excerpt},
    mtx::{Banner, Field, Storage, Symmetry, index},
    text::{self, Lines},
};
use std::io::BufRead;
use tilewright_core::Value;

/// Whether the file has coordinates rather than all elements.
pub(super) fn is_coordinate(input: &mut dyn BufRead) -> Result<bool, Fault> {
    let mut lines = Lines::new(input);
    let Some((_, line)) = lines.any()? else { return Ok(false) };
    Ok(Banner::parse(line)?.storage == Storage::Coordinate)
}

pub(super) fn read(input: &mut dyn BufRead, options: &EdgeOptions) -> Result<EdgeList, Fault> {
    let mut lines = Lines::new(input);
    let banner = match lines.any()? {
        Some((_, line)) => Banner::parse(line)?,
        None => return Err(bad!("the file is empty")),
    };
    if banner.storage != Storage::Coordinate {
        return Err(bad!("line 1: an array is no list of edges").hint("it is read as a matrix"));
    }
    let Some((line, content)) = lines.content(b'%')? else {
        return Err(bad!("the file ends before the size line"));
    };
    let sizes: Option<Vec<usize>> = content.split_whitespace().map(|word| word.parse().ok()).collect();
    let Some(&[rows, cols, entries]) = sizes.as_deref() else {
        return Err(bad!("line {line}: '{}' is not a size line", excerpt(content))
            .hint("a size line reads ROWS COLUMNS ENTRIES"));
    };
    if rows != cols {
        return Err(bad!("line {line}: a {rows}x{cols} matrix is no graph: it has as many rows as columns"));
    }
    let mut edges = Vec::new();
    let mut found = 0;
    while let Some((line, content)) = lines.content(b'%')? {
        if found == entries {
            return Err(bad!("line {line}: more entries than the {entries} that the size line announces"));
        }
        found += 1;
        let mut words = content.split_whitespace();
        let (from, to) = (index(&mut words, "row", line, rows)?, index(&mut words, "column", line, cols)?);
        let weight = match (banner.field, words.next()) {
            (Field::Pattern, None) => options.unit,
            (Field::Pattern, Some(word)) => {
                return Err(bad!("line {line}: a pattern has no value '{}'", excerpt(word)));
            }
            (_, None) => return Err(bad!("line {line}: the value is missing")),
            (_, Some(word)) => text::value(word)
                .ok_or_else(|| bad!("line {line}, column 3: '{}' is not a number", excerpt(word)))?,
        };
        if let Some(word) = words.next() {
            return Err(bad!("line {line}: '{}' follows the entry", excerpt(word)));
        }
        super::elements::push(&mut edges, (from, to, weight))?;
        if from != to && banner.symmetry != Symmetry::General {
            let weight = if banner.symmetry == Symmetry::Skew { negative(weight) } else { weight };
            super::elements::push(&mut edges, (to, from, weight))?;
        }
    }
    if found < entries {
        return Err(bad!("the file has {found} entries, but its size line announces {entries}"));
    }
    Ok(EdgeList { vertices: rows, edges, labels: None, empty: 0 })
}

fn negative(weight: Value) -> Value {
    match weight {
        Value::Int(x) => x.checked_neg().map_or(Value::Float(-(x as f64)), Value::Int),
        other => Value::Float(-other.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_edges() {
        let read = |text: &str| read(&mut text.as_bytes(), &EdgeOptions::default());
        let list = read("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 4\n").unwrap();
        assert_eq!((list.vertices, list.edges.len()), (3, 3));
        assert_eq!(list.edges[1], (0, 1, Value::Float(0.5)));
        let list = read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n").unwrap();
        assert_eq!(list.edges, [(0, 1, Value::Int(1))]);
        for (text, expected) in [
            ("%%MatrixMarket matrix coordinate real general\n2 3 0\n", "is no graph"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", "line 3, column 3: 'x'"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "the file has 1 entries"),
            ("%%MatrixMarket matrix array real general\n1 1\n1\n", "an array is no list"),
        ] {
            assert!(format!("{:?}", read(text).unwrap_err()).contains(expected), "{text}");
        }
    }
}
