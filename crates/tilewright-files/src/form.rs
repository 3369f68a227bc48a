//! What a file of a graph looks like: a matrix, a table with names, or a list of edges.

use super::{
    Dialect, Format, Spec,
    edges::is_from,
    fault::Fault,
    labels::whole,
    named,
    records::{Record, Records},
    sparse_mtx, sparse_npz,
};
use std::{
    fs::File,
    io::{BufRead, BufReader},
};
use tilewright_core::Error;

/// What a file of a graph looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphForm {
    /// A matrix of weights.
    Matrix,
    /// A matrix whose vertices have names, for [`read_table`](super::read_table).
    Table,
    /// A list of edges, for [`read_edges`](super::read_edges).
    Edges,
    /// As many lines as columns, two or three, and the first two columns could number vertices: a matrix, or a list of edges.
    Unclear {
        /// Lines, and columns.
        rows: usize,
        /// Whether a line names columns.
        has_header: bool,
        /// Whether its diagonal is zero, as that of a matrix of distances is.
        has_zero_diagonal: bool,
    },
}

/// What a file looks like. A Matrix Market file of coordinates and an `.npz` of `scipy.sparse` are lists of edges. A `.csv` file is
///
/// * a table, where its first line and its first column are names: the first cell is empty, or the others of its line are the names of the lines;
///   or where its first line has as many names as there are lines of numbers;
/// * a list of edges, where the first two columns are names, or numbers of vertices in another number of lines than of columns;
/// * a matrix otherwise.
///
/// ```
/// use tilewright_files::{Dialect, GraphForm, Spec, graph_form};
/// # let directory = tempfile::tempdir().unwrap();
/// let spec = Spec::parse(directory.path().join("g.csv"))?;
/// for (text, form) in [
///     ("0,3,inf\n3,0,4\ninf,4,0\n", GraphForm::Matrix),
///     (",A,B\nA,0,3\nB,3,0\n", GraphForm::Table),
///     ("from,to,km\nA,B,3\n", GraphForm::Edges),
/// ] {
///     std::fs::write(spec.path(), text).unwrap();
///     assert_eq!(graph_form(&spec, &Dialect::default())?, form);
/// }
/// # Ok::<(), tilewright_core::Error>(())
/// ```
///
/// # Errors
/// `io`; `bad-file`, naming the line, for one that cannot be split into cells.
pub fn graph_form(spec: &Spec, text: &Dialect) -> Result<GraphForm, Error> {
    let of = |is_list| if is_list { GraphForm::Edges } else { GraphForm::Matrix };
    let look = || -> Result<GraphForm, Fault> {
        let mut input = BufReader::new(File::open(spec.path())?);
        match spec.format() {
            Format::Npz => Ok(of(sparse_npz::is_sparse(input))),
            Format::Mtx => sparse_mtx::is_coordinate(&mut input).map(of),
            Format::Csv => csv(&mut input, text),
            Format::Npy | Format::Safetensors => Ok(GraphForm::Matrix),
        }
    };
    look().map_err(|fault| fault.at(spec.path()))
}

/// The most lines that are looked at: no more than columns, but for what is certain anyway.
const MOST: usize = 1 << 16;

fn csv(input: &mut dyn BufRead, text: &Dialect) -> Result<GraphForm, Fault> {
    let mut records = Records::new(input, text);
    let Some(first) = records.next()? else { return Ok(GraphForm::Matrix) };
    let is_number =
        |record: &Record, at: usize| record.cells.get(at).is_some_and(|cell| text.is_number(&cell.text));
    let is_word = |cell: &super::records::Cell| !text.is_number(&cell.text) && !cell.is_empty();
    let (columns, is_named) = (first.cells.len(), first.cells.iter().all(is_word));
    let mut body = Vec::new();
    if !is_named {
        body.push(first.cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>());
    }
    let header: Vec<String> = first.cells.iter().map(|cell| cell.text.clone()).collect();
    let is_list = is_from(&first.cells[0]) && first.cells.len() > 1;
    if first.cells[0].is_empty() && columns > 1 {
        let is_table = records.next()?.is_some_and(|second| named::is_table(&first, &second, text));
        return Ok(if is_table { GraphForm::Table } else { GraphForm::Matrix });
    }
    // Names in the first two columns tell a list; names in the first alone a table.
    let names = |record: &Record| {
        let is_name = |at: usize| record.cells.get(at).is_some_and(is_word) && record.cells.len() > 1;
        (usize::from(is_name(0) && is_number(record, 1)), usize::from(is_name(0) && is_name(1)))
    };
    let (mut named_rows, mut named_pairs) = if is_named { (0, 0) } else { names(&first) };
    while let Some(record) = records.next()? {
        if body.len() > columns.min(MOST) {
            break;
        }
        let (row, pair) = names(&record);
        (named_rows, named_pairs) = (named_rows + row, named_pairs + pair);
        body.push(record.cells.into_iter().map(|cell| cell.text).collect());
    }
    let rows = body.len();
    let firsts = || body.iter().map(|row| row[0].as_str());
    let are_names_of_rows =
        |names: &[String]| rows == names.len() && firsts().eq(names.iter().map(String::as_str));
    if is_named && named_rows > 0 && (are_names_of_rows(&header[1..]) || are_names_of_rows(&header)) {
        return Ok(GraphForm::Table);
    }
    let is_whole = |cell: &String| whole(cell.trim()).is_some();
    let numbers_vertices = body.iter().all(|row| row.iter().take(2).all(is_whole));
    let has_weights = (2..=3).contains(&columns);
    if named_pairs > 0 || is_list || rows == 0 || (has_weights && named_rows > 0) {
        return Ok(GraphForm::Edges);
    }
    let is_square = rows == columns && body.iter().all(|row| row.len() == columns);
    if !has_weights || !numbers_vertices {
        // More names than a header of edges has, over a square of numbers.
        return Ok(if is_named && is_square { GraphForm::Table } else { GraphForm::Matrix });
    }
    if !is_square {
        return Ok(GraphForm::Edges);
    }
    let is_zero =
        |(i, row): (usize, &Vec<String>)| text.number(&row[i]).is_some_and(|cell| cell.parse() == Ok(0.0));
    let has_zero_diagonal = body.iter().enumerate().all(is_zero);
    Ok(GraphForm::Unclear { rows, has_header: is_named, has_zero_diagonal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_look_like() {
        use GraphForm::{Edges, Matrix, Table};
        let unclear =
            |rows, has_header, has_zero_diagonal| GraphForm::Unclear { rows, has_header, has_zero_diagonal };
        for (text, expected) in [
            ("from,to,weight\na,b,1\n", Edges),
            ("a,b,1\n", Edges),
            ("a,b\n", Edges),
            ("a,1,5\n", Edges),
            ("src,dst,w,comment\na,b,1,x\n", Edges),
            ("a,b,1,2,3\nb,c,1,2,3\n", Edges),
            ("0,1,5\n1,2,6\n", Edges),
            ("x,y,z\n0,1,5\n1,2,6\n", Edges),
            ("0,1,5\n1,2,6\n2,0,1\n0,2,9\n", Edges),
            ("from,to,km\n0,1,5\n1,2,6\n2,0,1\n", Edges),
            ("0,1,0.5\n1,2,0.9\n0,2,0.4\n", unclear(3, false, false)),
            ("0,5,20\n5,0,7\n20,7,0\n", unclear(3, false, true)),
            ("A,B,C\n0,5,20\n5,0,7\n20,7,0\n", unclear(3, true, true)),
            ("0,1\n1,0\n", unclear(2, false, true)),
            ("A,B,C,D\n0,5,2,1\n5,0,7,1\n2,7,0,1\n1,1,1,0\n", Table),
            ("A,B,C\n0,5.5,20\n5.5,0,7\n20,7,0\n", Table),
            (",A,B\nA,0,3\nB,3,0\n", Table),
            ("city,A,B\nA,0,3\nB,3,0\n", Table),
            ("A,B\nA,0,3\nB,3,0\n", Table),
            (",a\na,0\n", Table),
            (",\"1e5\"\n\"1e5\",0\n", Table),
            (",0,1\n0,0,5\n1,5,0\n", Table),
            (",5\n7,\n", Matrix),
            ("0,5,\n,0,2\n,,0\n", Matrix),
            ("0,5,3\n,0,2\n,,0\n", Matrix),
            ("0,inf\ninf,0\n", Matrix),
            ("0.0,5\n5,0.0\n", Matrix),
            ("1,2,3,4\n", Matrix),
            ("5\n", Matrix),
            ("", Matrix),
        ] {
            assert_eq!(csv(&mut text.as_bytes(), &Dialect::default()).unwrap(), expected, "{text:?}");
        }
    }
}
