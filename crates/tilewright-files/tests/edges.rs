//! Lists of edges and tables with names, from files.

use std::path::PathBuf;
use tilewright_core::{DynMatrix, Matrix, Value};
use tilewright_files::{
    Dialect, Directions, EdgeOptions, GraphForm, Labels, NamedTable, ReadOptions, Spec, WriteOptions,
    graph_form, read_edges, read_labels, read_table, write_table,
};

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn put(&self, name: &str, text: &str) -> Spec {
        std::fs::write(self.path(name), text).unwrap();
        Spec::parse(self.path(name)).unwrap()
    }
}

fn data(name: &str) -> Spec {
    Spec::parse(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

#[test]
fn sparse_matrices_of_scipy_are_read() {
    // Made by scipy.sparse.save_npz of [[0, 1.5, 0], [0, 0, -2], [3, 0, 4]] in three formats, the last one not compressed.
    let mut found = Vec::new();
    for name in ["sparse_csr.npz", "sparse_coo.npz", "sparse_csc.npz"] {
        assert_eq!(graph_form(&data(name), &Dialect::default()).unwrap(), GraphForm::Edges);
        let mut list = read_edges(&data(name), &EdgeOptions::default()).unwrap();
        list.edges.sort_by_key(|&(from, to, _)| (from, to));
        found.push(list);
    }
    let float = Value::Float;
    assert_eq!(
        found[0].edges,
        [(0, 1, float(1.5)), (1, 2, float(-2.0)), (2, 0, float(3.0)), (2, 2, float(4.0))]
    );
    assert_eq!((found[0].vertices, &found[1].edges, &found[2].edges), (3, &found[0].edges, &found[0].edges));
}

#[test]
fn edges_lead_both_ways_where_that_is_asked_for() {
    let desk = Desk::new();
    let spec = desk.put("x.csv", "a,b,2\nb,b,1\n");
    let options = EdgeOptions { directions: Directions::Both, ..EdgeOptions::default() };
    let list = read_edges(&spec, &options).unwrap();
    assert_eq!(list.edges, [(0, 1, Value::Int(2)), (1, 1, Value::Int(1)), (1, 0, Value::Int(2))]);
    let error = read_edges(&desk.put("y.csv", "a,b,2\nb,b,z\n"), &options).unwrap_err();
    assert!(error.to_string().ends_with("y.csv: line 2, column 3: 'z' is not a number"), "{error}");
}

#[test]
fn tables_with_names_come_back() {
    let desk = Desk::new();
    let names = Labels::new(["HNL", "Boston, MA"]).unwrap();
    let matrix: DynMatrix = Matrix::from([[0, 5], [i32::MAX, 0]]).into();
    let options = WriteOptions { extremes: tilewright_core::Extremes::Absent };
    write_table(&desk.path("t.csv"), matrix.as_ref(), &names, &options).unwrap();
    let text = std::fs::read_to_string(desk.path("t.csv")).unwrap();
    assert_eq!(text, ",HNL,\"Boston, MA\"\nHNL,0,5\n\"Boston, MA\",inf,0\n");
    let spec = Spec::parse(desk.path("t.csv")).unwrap();
    let (back, labels) = read_table(&spec, &ReadOptions::default()).unwrap().unwrap();
    assert_eq!((back.as_ref().get(0, 1), labels), (Some(Value::Float(5.0)), names));
    assert!(read_table(&desk.put("m.csv", "1,2\n3,4\n"), &ReadOptions::default()).unwrap().is_none());
    for (text, expected) in [
        (",a,a\na,1,2\na,1,2\n", "line 1, column 3: 'a' is a name already"),
        (",a,b\na,1,2\nc,1,2\n", "the row 'c' stands where the column is 'b'"),
        (",a,b\na,1,x\nb,1,2\n", "line 2, column 3: 'x' is not a number"),
        (",a,b\na,1,2\n", "the table has 1 rows, but 2 columns"),
        (",a,b\na,1\n", "line 2 has 2 cells"),
        ("a,b,c\n1,2,3\n", "the table has 1 rows, but 3 columns"),
    ] {
        let error = read_table(&desk.put("bad.csv", text), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = read_labels(desk.put("l.csv", "a\nb\na\n").path(), None).unwrap_err();
    assert!(error.to_string().contains("line 3, column 1: 'a' is the name of line 1 already"), "{error}");
}

/// Names that text would take for something else.
const NAMES: [&str; 24] = [
    "a",
    "nan",
    "inf",
    "-inf",
    "1e5",
    "007",
    "-0",
    "true",
    " a",
    "a ",
    "b  c",
    "#1",
    "# x",
    "x,y",
    "x;y",
    "x\ty",
    "x\ny",
    "x\r\ny",
    "\"",
    "\"q\"",
    "\u{feff}",
    "\u{85}",
    "from",
    "\u{1b}[31m",
];

#[test]
fn every_name_comes_back_from_tables_and_lists() {
    let desk = Desk::new();
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    // One vertex alone, two, and all.
    let sets = NAMES.iter().map(|name| vec![*name]).chain(NAMES.windows(2).map(<[_]>::to_vec));
    for names in sets.chain([NAMES.to_vec(), vec!["10", "20", "5"], vec!["0"], vec!["1", "0"]]) {
        let labels = Labels::new(names.iter().copied()).unwrap();
        let n = names.len();
        let matrix: DynMatrix = Matrix::from_fn(n, n, |i, j| (100 * i + j) as i64).unwrap().into();
        write_table(&desk.path("t.csv"), matrix.as_ref(), &labels, &WriteOptions::default()).unwrap();
        let (spec, options) = (Spec::parse(desk.path("t.csv")).unwrap(), ReadOptions::default());
        assert_eq!(graph_form(&spec, &Dialect::default()).unwrap(), GraphForm::Table, "{names:?}");
        let (back, found) = read_table(&spec, &options).unwrap().unwrap();
        assert_eq!((back.as_ref().get(n - 1, 0), &found), (matrix.as_ref().get(n - 1, 0), &labels));
        let table = NamedTable::open(&spec, &options).unwrap().unwrap();
        assert_eq!((&table.names().rows, &table.names().columns), (&labels, &labels));
        // A list with all names in quotes.
        let edges: String =
            names.iter().map(|name| format!("{},{},1\n", quoted(name), quoted(names[0]))).collect();
        let list = read_edges(&desk.put("l.csv", &edges), &EdgeOptions::default());
        let spaced = names.contains(&"a") && names.iter().any(|name| *name != "a" && name.trim() == "a");
        match list {
            Ok(list) => {
                let mut found = list.labels.unwrap().names().to_vec();
                let mut expected: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
                // Whole numbers are put in order.
                found.sort();
                expected.sort();
                assert_eq!(found, expected);
            }
            Err(error) => assert!(spaced || names.contains(&" a"), "{names:?}: {error}"),
        }
    }
}

/// Whatever a file holds, it is read or refused.
#[test]
fn damaged_files_are_read_or_refused() {
    let desk = Desk::new();
    let mtx = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 4\n".to_vec();
    let list = b"from,to,km\n\"a, b\",c,1.5\nc,d,2\n".to_vec();
    let table = b",a,b\na,0,1\nb,2,0\n".to_vec();
    let files = ["sparse_csr.npz", "sparse_coo.npz", "sparse_csc.npz"]
        .map(|name| std::fs::read(data(name).path()).unwrap());
    let [csr, coo, csc] = files;
    let mut read = 0;
    for (name, bytes) in
        [("a.mtx", mtx), ("a.csv", list), ("t.csv", table), ("r.npz", csr), ("o.npz", coo), ("c.npz", csc)]
    {
        let step = (bytes.len() / 150).max(1);
        for at in (0..bytes.len()).step_by(step) {
            let mut cut = bytes.clone();
            cut.truncate(at);
            let flips = [0x01, 0x20, 0x80, 0xff].map(|flip| {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                damaged
            });
            for damaged in flips.into_iter().chain([cut]) {
                std::fs::write(desk.path(name), damaged).unwrap();
                let spec = Spec::parse(desk.path(name)).unwrap();
                let _ = graph_form(&spec, &Dialect::default());
                read += usize::from(read_edges(&spec, &EdgeOptions::default()).is_ok());
                let _ = read_table(&spec, &ReadOptions::default());
                let _ = read_labels(spec.path(), Some("to"));
            }
        }
    }
    assert!(read > 0);
}
