//! Lists of edges: `.csv` with a line for each edge, Matrix Market coordinates, `.npz` of `scipy.sparse`.

pub use super::columns::Columns;
use super::{
    Dialect, Format, Labels, Spec,
    columns::Places,
    dialect::between_cells,
    fault::{Fault, bad, excerpt},
    labels::whole,
    records::{Cell, Record, Records},
    sparse_mtx, sparse_npz, text,
};
use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};
use tilewright_core::{Error, Hint, Setting, Value};

/// The edges of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeList {
    /// Vertices: their numbers are smaller.
    pub vertices: usize,
    /// From, to, weight, in the order of the file.
    pub edges: Vec<(usize, usize, Value)>,
    /// Names, where the file has them: those of `.csv`.
    pub labels: Option<Labels>,
    /// Lines whose weight was an empty cell, and which are no edges; see [`EdgeOptions::empty_is_absent`].
    pub empty: usize,
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
    /// Which columns of a `.csv` file are read; without them it has two or three.
    pub columns: Option<Columns>,
    /// Whether a line of a `.csv` file with an empty weight is no edge; otherwise it is refused. Its vertices are there.
    pub empty_is_absent: bool,
    /// How a `.csv` file is written.
    pub text: Dialect,
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
        Self {
            directions: Directions::One,
            unit: Value::Int(1),
            vertices: None,
            columns: None,
            empty_is_absent: false,
            text: Dialect::default(),
        }
    }
}

/// Reads a list of edges.
///
/// A `.csv` file has a line `from,to,weight` for each edge; the weight may be left out of all lines. A first line whose weight begins as no number does is a
/// header, and without weights one that begins with `from`, `source` or `src`.
/// Vertices are names, and names that differ in blanks around them alone are refused. Where all of them are whole numbers they are in the order of numbers, otherwise in the order of their first edge. Parallel edges
/// are kept.
///
/// ```
/// use tilewright_files::{EdgeOptions, Spec, read_edges};
/// # let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("roads.csv");
/// std::fs::write(&path, "from,to,km\nBergen,Voss,100\nVoss,Oslo,360.5\n").unwrap();
/// let roads = read_edges(&Spec::parse(&path)?, &EdgeOptions::default())?;
/// assert_eq!((roads.vertices, roads.edges.len()), (3, 2));
/// assert_eq!(roads.labels.unwrap().find("Oslo"), Some(2));
/// # Ok::<(), tilewright_core::Error>(())
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

/// Reads pairs of names, one a line: `from,to`, with their lines. A first line `from,to` is a header.
///
/// # Errors
/// `io`; `bad-file`, naming the line.
pub fn read_pairs(path: &Path, text: &Dialect) -> Result<Vec<(usize, String, String)>, Error> {
    let read = || -> Result<_, Fault> {
        let mut input = BufReader::new(File::open(path)?);
        let (mut records, mut pairs) = (Records::new(&mut input, text), Vec::new());
        while let Some(Record { line, cells }) = records.next()? {
            match <[Cell; 2]>::try_from(cells) {
                Ok([from, to])
                    if pairs.is_empty() && (from.text.trim(), to.text.trim()) == ("from", "to") => {}
                Ok([from, to]) => pairs.push((line, from.text, to.text)),
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
    let mut records = Records::new(input, &options.text);
    let (mut names, mut edges, mut empty) = (Names::default(), Vec::new(), 0);
    // The line and length of the first row, and where its columns are.
    let mut shape: Option<(usize, usize, Places)> = None;
    let mut rows = 0;
    while let Some(record) = records.next()? {
        let (line, count) = (record.line, record.cells.len());
        if shape.is_none() {
            let places = places(&record, options)?;
            shape = Some((line, count, places));
            if is_header(&record, places, options) {
                continue;
            }
        }
        let Some((first, expected, places)) = shape else { continue };
        if count != expected {
            return Err(bad!("line {line} has {count} cells, but line {first} has {expected}"));
        }
        rows += 1;
        let mut vertex = |at: usize| vertex(&record.cells[at], line, at + 1, options, &mut names);
        let (from, to) = (vertex(places.from)?, vertex(places.to)?);
        let weight = match places.weight {
            None => options.unit,
            Some(at) if options.empty_is_absent && record.cells[at].text.trim().is_empty() => {
                empty += 1;
                continue;
            }
            Some(at) => weight(&record.cells[at].text, line, at + 1, &options.text)?,
        };
        super::elements::push(&mut edges, (from, to, weight))?;
    }
    if rows == 0 {
        return Err(bad!("the file has no edges").hint("an edge reads from,to,weight"));
    }
    if let Some(vertices) = options.vertices {
        return Ok(EdgeList { vertices, edges, labels: None, empty });
    }
    let mut labels = names.checked()?;
    if let Some(order) = labels.sort_numbers() {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        edges.iter_mut().for_each(|edge| (edge.0, edge.1) = (place[edge.0], place[edge.1]));
    }
    Ok(EdgeList { vertices: labels.len(), edges, labels: Some(labels), empty })
}

/// The columns that are read, seen from the first line.
fn places(first: &Record, options: &EdgeOptions) -> Result<Places, Fault> {
    let (line, count) = (first.line, first.cells.len());
    match &options.columns {
        Some(columns) => columns.places(first),
        None if (2..=3).contains(&count) => Ok(Places { from: 0, to: 1, weight: (count == 3).then_some(2) }),
        None if count > 3 => {
            Err(bad!("line {line}: a list of edges has 2 or 3 columns, and this one has {count}").hint(
                Hint::from("say which with ")
                    .set_to(Setting::Columns, "from,to,weight")
                    .also(format!("its columns are {}", first.shown())),
            ))
        }
        None => Err(bad!("line {line}: an edge has {count} cells")
            .hint(Hint::from("an edge reads from,to or from,to,weight").also(between_cells()))),
    }
}

/// What the columns of edges are called.
const FROM: [&str; 3] = ["from", "source", "src"];

/// Whether a cell names a column.
pub(super) fn is_from(cell: &Cell) -> bool {
    FROM.iter().any(|word| cell.text.trim().eq_ignore_ascii_case(word))
}

/// A first line that names columns. A weight that begins as a number is one that is spelled otherwise.
fn is_header(first: &Record, places: Places, options: &EdgeOptions) -> bool {
    if options.columns.as_ref().is_some_and(Columns::are_named) {
        return true;
    }
    let is_word = |cell: &Cell| !options.text.is_number(&cell.text) && !cell.is_empty();
    let begins_as_number = |cell: &Cell| {
        cell.text.trim_start_matches(['+', '-', '.', ' ']).starts_with(|c: char| c.is_ascii_digit())
    };
    match places.weight.map(|at| &first.cells[at]) {
        Some(weight) => is_word(weight) && !begins_as_number(weight),
        None => is_from(&first.cells[places.from]) && is_word(&first.cells[places.to]),
    }
}

/// Names in the order of their first edge.
#[derive(Default)]
struct Names {
    labels: Labels,
    /// The first that has blanks around it.
    padded: bool,
    /// Where each was found first: line and column.
    places: Vec<(usize, usize)>,
}

impl Names {
    fn number(&mut self, cell: &Cell, line: usize, column: usize) -> usize {
        let number = self.labels.number(&cell.text);
        if number == self.places.len() {
            self.places.push((line, column));
            self.padded |= cell.text.trim() != cell.text;
        }
        number
    }

    /// The names, of which no two look the same.
    fn checked(self) -> Result<Labels, Fault> {
        if !self.padded {
            return Ok(self.labels);
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (i, name) in self.labels.names().iter().enumerate() {
            if let Some(&other) = seen.get(name.trim()) {
                let ((line, column), (first, _)) = (self.places[i], self.places[other]);
                return Err(bad!(
                    "line {line}, column {column}: '{}' and '{}' of line {first} differ in blanks alone",
                    excerpt(name),
                    excerpt(&self.labels.names()[other])
                )
                .hint(Hint::from("say ").set(Setting::Trim).say(" if blanks around names do not count")));
            }
            seen.insert(name.trim(), i);
        }
        Ok(self.labels)
    }
}

fn vertex(
    cell: &Cell,
    line: usize,
    column: usize,
    options: &EdgeOptions,
    names: &mut Names,
) -> Result<usize, Fault> {
    if cell.is_empty() {
        return Err(bad!("line {line}, column {column}: the cell is empty").hint("it names a vertex"));
    }
    // The numbers of a matrix, not names: what is meant is said by an option.
    if let Some(hint) =
        options.text.hint(&cell.text).filter(|_| !cell.is_quoted && !options.text.decimal_comma)
    {
        let shown = excerpt(&cell.text);
        return Err(
            bad!("line {line}, column {column}: '{shown}' is a number, and names no vertex").hint(hint)
        );
    }
    let Some(vertices) = options.vertices else { return Ok(names.number(cell, line, column)) };
    match whole(&cell.text).map(usize::try_from) {
        Some(Ok(number)) if number < vertices => Ok(number),
        _ => {
            Err(bad!("line {line}, column {column}: '{}' is no number below {vertices}", excerpt(&cell.text))
                .hint("without a number of vertices, names may be any text"))
        }
    }
}

fn weight(cell: &str, line: usize, column: usize, dialect: &Dialect) -> Result<Value, Fault> {
    if cell.trim().is_empty() {
        return Err(
            bad!("line {line}, column {column}: the cell is empty").hint("it is the weight of the edge")
        );
    }
    let number = dialect.number(cell).unwrap_or_default();
    let overflows = |value: &Value| {
        matches!(value, Value::Float(x) if x.is_infinite()) && cell.bytes().any(|b| b.is_ascii_digit())
    };
    text::value(&number).filter(|value| !overflows(value)).ok_or_else(|| {
        let fault = bad!("line {line}, column {column}: '{}' is not a number", excerpt(cell));
        match dialect.hint(cell) {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    })
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
            ("from,to,km\n", "the file has no edges"),
            ("A;B;12,5\n", "line 1, column 3: '12,5' is not a number | say `decimal_comma`"),
            (
                "0,5;20,1;3\n",
                "line 1, column 1: '0,5' is a number, and names no vertex | say `decimal_comma`",
            ),
            ("a,b,12 km\n", "line 1, column 3: '12 km' is not a number"),
            (
                "a,b,1,x\n",
                "line 1: a list of edges has 2 or 3 columns, and this one has 4 | say which with `columns`",
            ),
            ("A, B, 1\nB, C, 2\n", "line 2, column 1: 'B' and ' B' of line 1 differ in blanks alone"),
            ("\"\",b,1\n", "line 1, column 1: the cell is empty"),
            (" ,b,1\n", "line 1, column 1: the cell is empty"),
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
