//! Lists of edges: `.csv` with a line for each edge, Matrix Market coordinates, `.npz` of `scipy.sparse`.

use super::{
    Format, Labels, Spec,
    fault::{Fault, bad, excerpt},
    labels::whole,
    records::{Record, Records},
    sparse_mtx, sparse_npz, text,
};
use crate::{Error, Value};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

/// The edges of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeList {
    /// Vertices: their numbers are smaller.
    pub vertices: usize,
    /// From, to, weight, in the order of the file.
    pub edges: Vec<(usize, usize, Value)>,
    /// Names, where the file has them: those of `.csv`.
    pub labels: Option<Labels>,
}

/// How to read a list of edges.
#[derive(Clone, Debug)]
pub struct EdgeOptions {
    /// Whether every edge leads both ways.
    pub directions: Directions,
    /// The weight of an edge that has none.
    pub unit: Value,
    /// Vertices are the numbers below this one, whether or not edges name them; by default they are what edges name.
    pub vertices: Option<usize>,
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// From the first vertex to the second.
    #[default]
    One,
    /// Both ways.
    Both,
}

impl Default for EdgeOptions {
    /// One way, weight 1, vertices as they are named.
    fn default() -> Self {
        Self { directions: Directions::One, unit: Value::Int(1), vertices: None }
    }
}

/// Reads a list of edges.
///
/// A `.csv` file has a line `from,to,weight` for each edge; the weight may be left out of all lines. A first line whose third cell is no number is a header, and so is `from,to`.
/// Vertices are names. Where all of them are whole numbers they are in the order of numbers, otherwise in the order of their first edge. Parallel edges
/// are kept.
///
/// ```
/// use tilewright::files::{EdgeOptions, Spec, read_edges};
/// # let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("roads.csv");
/// std::fs::write(&path, "from,to,km\nBergen,Voss,100\nVoss,Oslo,360.5\n").unwrap();
/// let roads = read_edges(&Spec::parse(&path)?, &EdgeOptions::default())?;
/// assert_eq!((roads.vertices, roads.edges.len()), (3, 2));
/// assert_eq!(roads.labels.unwrap().find("Oslo"), Some(2));
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// `io`; `bad-file`, naming line and column; `out-of-memory`.
pub fn read_edges(spec: &Spec, options: &EdgeOptions) -> Result<EdgeList, Error> {
    open(spec, options).map_err(|fault| fault.at(spec.path()))
}

fn open(spec: &Spec, options: &EdgeOptions) -> Result<EdgeList, Fault> {
    let file = File::open(spec.path())?;
    let mut list = match spec.format() {
        Format::Csv => csv(&mut BufReader::new(file), options)?,
        Format::Mtx => sparse_mtx::read(&mut BufReader::new(file), options)?,
        Format::Npz => sparse_npz::read(BufReader::new(file))?,
        other => {
            return Err(bad!("a {other} file is no list of edges")
                .hint("lists of edges are .csv, .mtx and .npz of scipy.sparse"));
        }
    };
    if let (Some(vertices), None) = (options.vertices, &list.labels) {
        if vertices < list.vertices {
            return Err(bad!(
                "the matrix has {} rows, more than the {vertices} vertices that were asked for",
                list.vertices
            ));
        }
        list.vertices = vertices;
    }
    if options.directions == Directions::Both {
        let back: Vec<_> =
            list.edges.iter().filter(|edge| edge.0 != edge.1).map(|&(from, to, w)| (to, from, w)).collect();
        list.edges.extend(back);
    }
    Ok(list)
}

/// Whether a file is a list of edges rather than a matrix: a Matrix Market file of coordinates, an `.npz` of `scipy.sparse`, or a `.csv` whose first line names columns or vertices, or it has two or three columns and more rows than
/// a square matrix would.
///
/// # Errors
/// `io`.
pub fn is_edge_list(spec: &Spec) -> Result<bool, Error> {
    let look = || -> Result<bool, Fault> {
        if spec.format() == Format::Npz {
            return Ok(sparse_npz::is_sparse(BufReader::new(File::open(spec.path())?)));
        }
        if spec.format() == Format::Mtx {
            return sparse_mtx::is_coordinate(&mut BufReader::new(File::open(spec.path())?));
        }
        if spec.format() != Format::Csv {
            return Ok(false);
        }
        let mut input = BufReader::new(File::open(spec.path())?);
        let mut records = Records::new(&mut input);
        let Some(first) = records.next()? else { return Ok(false) };
        let columns = first.cells.len();
        // A table with names begins with an empty cell.
        if !(2..=3).contains(&columns) || first.cells[0].is_empty() {
            return Ok(false);
        }
        // A name in the first two columns is that of a vertex, or of a column.
        let is_named = |record: &Record| record.cells.iter().take(2).any(|cell| text::value(cell).is_none());
        let (mut rows, mut named) = (1, is_named(&first));
        while let Some(record) = records.next()? {
            rows += 1;
            named |= is_named(&record);
            if named || rows > columns {
                return Ok(true);
            }
        }
        Ok(named || rows != columns)
    };
    look().map_err(|fault| fault.at(spec.path()))
}

/// Reads pairs of names, one a line: `from,to`, with their lines. A first line `from,to` is a header.
///
/// # Errors
/// `io`; `bad-file`, naming the line.
pub fn read_pairs(path: &Path) -> Result<Vec<(usize, String, String)>, Error> {
    let read = || -> Result<_, Fault> {
        let mut input = BufReader::new(File::open(path)?);
        let (mut records, mut pairs) = (Records::new(&mut input), Vec::new());
        while let Some(Record { line, cells }) = records.next()? {
            match <[String; 2]>::try_from(cells) {
                Ok([from, to]) if pairs.is_empty() && (from.as_str(), to.as_str()) == ("from", "to") => {}
                Ok([from, to]) => pairs.push((line, from, to)),
                Err(cells) => {
                    return Err(
                        bad!("line {line}: a pair has {} cells", cells.len()).hint("a pair reads from,to")
                    );
                }
            }
        }
        Ok(pairs)
    };
    read().map_err(|fault| fault.at(path))
}

fn csv(input: &mut dyn BufRead, options: &EdgeOptions) -> Result<EdgeList, Fault> {
    let mut records = Records::new(input);
    let (mut labels, mut edges) = (Labels::default(), Vec::new());
    let mut columns: Option<(usize, usize)> = None;
    while let Some(record) = records.next()? {
        let (line, count) = (record.line, record.cells.len());
        if columns.is_none() && is_header(&record) {
            columns = Some((line, count.min(3)));
            continue;
        }
        let (first, expected) = *columns.get_or_insert((line, count));
        if !(2..=3).contains(&count) {
            return Err(bad!("line {line}: an edge has {count} cells")
                .hint("an edge reads from,to or from,to,weight"));
        }
        if count != expected {
            return Err(bad!("line {line} has {count} cells, but line {first} has {expected}"));
        }
        let vertex =
            |at: usize, labels: &mut Labels| vertex(&record.cells[at], line, at + 1, options, labels);
        let (from, to) = (vertex(0, &mut labels)?, vertex(1, &mut labels)?);
        let weight = match record.cells.get(2) {
            None => options.unit,
            Some(cell) => weight(cell, line)?,
        };
        super::elements::push(&mut edges, (from, to, weight))?;
    }
    if columns.is_none() {
        return Err(bad!("the file has no edges").hint("an edge reads from,to,weight"));
    }
    if let Some(vertices) = options.vertices {
        return Ok(EdgeList { vertices, edges, labels: None });
    }
    if let Some(order) = labels.sort_numbers() {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        edges.iter_mut().for_each(|edge| (edge.0, edge.1) = (place[edge.0], place[edge.1]));
    }
    Ok(EdgeList { vertices: labels.len(), edges, labels: Some(labels) })
}

/// A first line that names columns.
fn is_header(record: &Record) -> bool {
    match record.cells.as_slice() {
        [from, to] => {
            ["from", "source", "src"].iter().any(|word| from.eq_ignore_ascii_case(word))
                && text::value(to).is_none()
        }
        [_, _, weight, ..] => text::value(weight).is_none() && !weight.is_empty(),
        _ => false,
    }
}

fn vertex(
    cell: &str,
    line: usize,
    column: usize,
    options: &EdgeOptions,
    labels: &mut Labels,
) -> Result<usize, Fault> {
    if cell.is_empty() {
        return Err(bad!("line {line}, column {column}: the cell is empty").hint("it names a vertex"));
    }
    let Some(vertices) = options.vertices else { return Ok(labels.number(cell)) };
    match whole(cell).map(usize::try_from) {
        Some(Ok(number)) if number < vertices => Ok(number),
        _ => Err(bad!("line {line}, column {column}: '{}' is no number below {vertices}", excerpt(cell))
            .hint("without a number of vertices, names may be any text")),
    }
}

fn weight(cell: &str, line: usize) -> Result<Value, Fault> {
    if cell.is_empty() {
        return Err(bad!("line {line}, column 3: the cell is empty").hint("it is the weight of the edge"));
    }
    let overflows = |value: &Value| {
        matches!(value, Value::Float(x) if x.is_infinite()) && cell.bytes().any(|b| b.is_ascii_digit())
    };
    text::value(cell)
        .filter(|value| !overflows(value))
        .ok_or_else(|| bad!("line {line}, column 3: '{}' is not a number", excerpt(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, options: &EdgeOptions) -> Result<EdgeList, String> {
        csv(&mut text.as_bytes(), options).map_err(|fault| match fault {
            Fault::Bad { problem, hint } => format!("{problem} | {}", hint.unwrap_or_default()),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn names_are_vertices_in_the_order_of_edges_or_of_numbers() {
        let list = read("a,b,1\nb,\"c, d\",2.5\na,b,3\n", &EdgeOptions::default()).unwrap();
        assert_eq!(list.labels.unwrap().names(), ["a", "b", "c, d"]);
        assert_eq!(list.edges, [(0, 1, Value::Int(1)), (1, 2, Value::Float(2.5)), (0, 1, Value::Int(3))]);
        let list = read("source,target\n7,10\n10,2\n", &EdgeOptions::default()).unwrap();
        assert_eq!(list.labels.unwrap().names(), ["2", "7", "10"]);
        assert_eq!(list.edges, [(1, 2, Value::Int(1)), (2, 0, Value::Int(1))]);
        let options = EdgeOptions { vertices: Some(5), ..EdgeOptions::default() };
        let list = read("3,1,4\n", &options).unwrap();
        assert_eq!((list.vertices, list.edges, list.labels), (5, vec![(3, 1, Value::Int(4))], None));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expected) in [
            ("", "the file has no edges"),
            ("a,b,1\na,b\n", "line 2 has 2 cells, but line 1 has 3"),
            ("a,b,1\nb,c,x\n", "line 2, column 3: 'x' is not a number"),
            ("a,b,1\nb,,2\n", "line 2, column 2: the cell is empty | it names a vertex"),
            ("a,b,1\nb,c,\n", "line 2, column 3: the cell is empty"),
            ("a,b,1e999\n", "line 1, column 3"),
            ("a,b,1\n\nb,\"c,2\n", "line 3, column 2: a quote is not closed"),
            ("a\n", "line 1: an edge has 1 cells"),
        ] {
            let message = read(text, &EdgeOptions::default()).unwrap_err();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
        let options = EdgeOptions { vertices: Some(5), ..EdgeOptions::default() };
        assert!(
            read("0,5,1\n", &options).unwrap_err().contains("line 1, column 2: '5' is no number below 5")
        );
    }
}
