//! Graphs as people write them: names of any kind, comments, delimiters, fractions, empty cells, and what could be read in two ways.

use crate::support::{Desk, Run};

/// Names that text would take for something else, or that a terminal would obey.
const NAMES: [&str; 20] = [
    "nan",
    "inf",
    "-inf",
    "1e5",
    "007",
    "true",
    " a",
    "a",
    "#1",
    "# x",
    "x,y",
    "x;y",
    "x\ty",
    "x\ny",
    "x\r\ny",
    "\"q\"",
    "\u{feff}z",
    "from",
    "B\u{9b}31m\rSPOOF\u{202e}x",
    "\u{1b}[31mred",
];

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn with(desk: &Desk, line: &str, more: &[&str]) -> Run {
    Run::of(desk.command(line).args(more).output().unwrap())
}

#[test]
fn what_paths_writes_paths_and_mul_read_for_every_name() {
    let desk = Desk::new();
    let mut list = String::from("from,to,weight\n");
    for pair in NAMES.windows(2).filter(|pair| pair != &[" a", "a"]) {
        list += &format!("{},{},2\n", quoted(pair[0]), quoted(pair[1]));
    }
    // The same without the name that differs from another in blanks alone.
    desk.put("list.csv", &list.replace("\" a\"", "\" b\""));
    desk.ok("paths list.csv --dtype f64 -o all.csv --predecessors p.csv -q");
    let table = desk.get("all.csv");
    desk.ok("paths all.csv -o again.csv -q");
    assert_eq!(desk.get("again.csv"), table);
    desk.ok("mul all.csv all.csv -s min-plus -o product.csv -q");
    assert_eq!(desk.get("product.csv"), table);
    for (name, next) in [("nan", "inf"), ("x\ny", "x\r\ny"), ("\"q\"", "\u{feff}z"), ("#1", "# x")] {
        for file in ["list.csv", "all.csv"] {
            let run = with(
                &desk,
                &format!("paths {file} --dtype f64 --format json"),
                &["--from", name, "--to", next],
            );
            let json: serde_json::Value =
                serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
            assert_eq!(
                (&json["routes"][0]["weight"], &json["routes"][0]["to"]),
                (&serde_json::json!(2.0), &next.into())
            );
        }
    }
    // One vertex alone, whatever its name.
    for name in NAMES.iter().chain(&["0", "5", "-0"]) {
        desk.put("one.csv", &format!("{},{},0\n", quoted(name), quoted(name)));
        desk.ok("paths one.csv --input edges --dtype f64 -o single.csv -q");
        let table = desk.get("single.csv");
        for line in
            ["paths single.csv -o again.csv -q", "mul single.csv single.csv -s min-plus -o again.csv -q"]
        {
            desk.ok(line);
            assert_eq!(desk.get("again.csv"), table, "{line} {name:?}");
        }
    }
}

#[test]
fn an_edge_is_never_lost_as_a_comment() {
    let desk = Desk::new();
    desk.put("g.csv", "from,to,weight\na,#c,1\n#c,c,2\na,c,9\n");
    let run = desk.run("paths g.csv --from a --to c");
    assert!(run.code == Some(3) && run.err.contains("line 3 begins with #"), "{}", run.err);
    assert!(run.err.contains("--comments"), "{}", run.err);
    assert!(desk.ok("paths g.csv --from a --to c --comments none").starts_with("a to c: 3, 2 edges\n"));
    assert!(desk.ok("paths g.csv --from a --to c --comments #").starts_with("a to c: 9, 1 edge\n"));
    desk.put("g.csv", "# by hand\nfrom,to,weight\na,\"#c\",1\n# a note\n\"#c\",c,2\na,c,9\n");
    assert!(desk.ok("paths g.csv --from a --to c").starts_with("a to c: 3, 2 edges\n"));
}

#[test]
fn lists_have_any_delimiter_columns_and_lines_in_front() {
    let desk = Desk::new();
    let route = "A to C: 12.5, 2 edges\n  A -> B   2.5\n  B -> C  10.0\n".replace("10.0", "10");
    for (text, options) in [
        ("A,B,2.5\nB,C,10\n", ""),
        ("A;B;2.5\nB;C;10\n", ""),
        ("A\tB\t2.5\nB\tC\t10\n", ""),
        ("A B 2.5\nB  C 10\n", ""),
        ("A|B|2.5\nB|C|10\n", "--delimiter |"),
        ("made by hand\nvon;nach;km\nA;B;2,5\nB;C;10\n", "--skip-rows 1 --decimal-comma"),
        ("von,nach,km\nA,B,\"2,5\"\nB,C,10\n", "--decimal-comma"),
        ("src,dst,note,km\nA,B,x,2.5\nB,C,\"y, z\",10\n", "--columns src,dst,km"),
        ("id,src,dst,km\n1,A,B,2.5\n2,B,C,10\n", "--columns 2,3,4"),
        (" A , B , 2.5\nB, C , 10\n", "--trim"),
    ] {
        desk.put("l.csv", text);
        let shown = desk.ok(&format!("paths l.csv {options} --from A --to C"));
        assert_eq!(shown.replace(' ', ""), route.replace(' ', ""), "{text}");
        for name in ["l.tsv", "l.txt", "l.edgelist", "l"] {
            desk.put(name, text);
            let run = desk.run(&format!("paths {name} {options} --from A --to C"));
            assert!(run.code == Some(3) && run.err.contains("--format-in csv"), "{}", run.err);
            assert_eq!(desk.ok(&format!("paths {name} --format-in csv {options} --from A --to C")), shown);
        }
    }
}

#[test]
fn what_cannot_be_meant_is_refused_and_told_what_to_say() {
    let desk = Desk::new();
    for (text, options, code, expected) in [
        ("src,dst,w,comment\na,b,1,x\n", "", 3, "--columns from,to,weight"),
        ("0,5;20,1;3\n", "", 3, "--decimal-comma"),
        ("A;B;12,5\nB;C;1,5\n", "", 3, "--decimal-comma"),
        ("A,B,\"12,5\"\n", "", 3, "--decimal-comma"),
        ("A;B;1.234,5\n", "--decimal-comma", 3, "not even between thousands"),
        ("from,to,weight\n", "", 3, "the file has no edges"),
        ("a;b,c,5\n", "", 3, "--delimiter"),
        ("a,b,1\n,c,2\n", "", 3, "line 2, column 1: the cell is empty"),
        ("a,b,1\n\"\",c,2\n", "", 3, "line 2, column 1: the cell is empty"),
        ("A, B, 1\nB, C, 2\n", "", 3, "--trim"),
        ("0,1,0.5\n1,2,0.9\n0,2,0.4\n", "", 2, "--input matrix or --input edges"),
        ("A,B,C\n1,5,20\n5,1,7\n20,7,1\n", "", 2, "--input matrix or --input edges"),
        ("a,b,1\n", "--input matrix --columns 1,2,3", 2, "--columns with a matrix"),
        ("a,b,1\n", "--columns 1,2,4", 3, "there is no column 4"),
        ("a,b,w\nx,y,1\n", "--columns a,z,w", 3, "there is no column 'z' | its columns are a, b, w"),
    ] {
        desk.put("g.csv", text);
        let run = desk.run(&format!("paths g.csv {options} -o d.csv"));
        let said = run.err.replace("\nhint: ", " | ");
        assert!(run.code == Some(code) && said.contains(expected), "{text:?}: {:?} {said}", run.code);
        assert!(!desk.list().contains(&"d.csv".to_owned()), "{text:?}");
    }
}

#[test]
fn the_summary_says_what_was_read() {
    let desk = Desk::new();
    for (text, options, input, vertices, said) in [
        ("a,b,1\n", "", "edges", 2, ""),
        (",a,b\na,0,1\nb,1,0\n", "", "table", 2, ""),
        ("0,inf\ninf,0\n", "", "matrix", 2, ""),
        // What pandas writes without an index.
        ("A,B,C\n0,5,20\n5,0,7\n20,7,0\n", "", "table", 3, "3 x 3 matrix"),
        ("A,B,C,D\n0,5,2,1\n5,0,7,1\n2,7,0,1\n1,1,1,0\n", "", "table", 4, ""),
        ("0,5,20\n5,0,7\n20,7,0\n", "", "matrix", 3, "--input edges"),
        ("0,5,20\n5,0,7\n20,7,0\n", "--input edges", "edges", 4, ""),
        ("0,1,0.5\n1,2,0.9\n0,2,0.4\n", "--input edges", "edges", 3, ""),
        ("0,1,0.5\n1,2,0.9\n0,2,0.4\n", "--undirected", "edges", 3, ""),
    ] {
        desk.put("g.csv", text);
        let run = desk.run(&format!("paths g.csv {options} --format json"));
        assert_eq!(run.code, Some(0), "{text:?}: {}", run.err);
        let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!((&json["input"], &json["vertices"]), (&input.into(), &vertices.into()), "{text:?}");
        assert!(
            run.err.contains(said) && said.is_empty() != run.err.contains("input"),
            "{text:?}: {}",
            run.err
        );
    }
    desk.put("g.csv", "a,b,1\n");
    let shown = desk.ok("paths g.csv");
    assert!(shown.contains("a list of edges") && shown.contains("a  b\n"), "{shown}");
}

#[test]
fn empty_cells_are_absent_where_there_is_such_a_thing() {
    let desk = Desk::new();
    desk.put("m.csv", "0,5,\n,0,2\n,,0\n");
    let run = desk.run("paths m.csv -o - ");
    assert_eq!(run.out, "0.0,5.0,7.0\ninf,0.0,2.0\ninf,inf,0.0\n");
    assert_eq!(run.err.matches("4 empty cells").count(), 1, "{}", run.err);
    desk.put("t.csv", ",a,b\na,0,\nb,3,0\n");
    assert_eq!(desk.ok("paths t.csv -o - -q"), ",a,b\na,0.0,inf\nb,3.0,0.0\n");
    desk.put("l.csv", "a,b,1\nb,c,\n");
    let run = desk.run("paths l.csv --from a --to c");
    assert!(run.out == "a to c: no path\n" && run.err.contains("1 empty cell"), "{}{}", run.out, run.err);
    assert_eq!(desk.ok("mul m.csv m.csv -s min-plus -o - -q"), "0.0,5.0,7.0\ninf,0.0,2.0\ninf,inf,0.0\n");
    let run = desk.run("mul m.csv m.csv");
    assert!(run.code == Some(3) && run.err.contains("line 1, column 3: the cell is empty"), "{}", run.err);
}

#[test]
fn one_vertex_to_all_and_routes_as_lines() {
    let desk = Desk::new();
    desk.put("g.csv", "a,b,1\nb,\"c, d\",2\ne,a,1\n");
    assert_eq!(
        desk.ok("paths g.csv --from a"),
        "from a\n  b           1\n  c, d        3  by b\n  e     no path\n"
    );
    assert_eq!(desk.json("paths g.csv --from a")["routes"][1]["weight"], 3);
    let csv = desk.ok("paths g.csv --from a --format csv");
    assert_eq!(
        csv,
        "from,to,weight,edges,stops\na,b,1,1,a -> b\na,\"c, d\",3,2,\"a -> b -> c, d\"\na,e,,,\n"
    );
    desk.put("pairs.csv", "from,to\na,b\n");
    assert_eq!(
        desk.ok("paths g.csv --pairs pairs.csv --format csv"),
        "from,to,weight,edges,stops\na,b,1,1,a -> b\n"
    );
    let run = desk.run("paths g.csv --format csv");
    assert!(run.code == Some(2) && run.err.contains("-o -"), "{}", run.err);
}

#[test]
fn what_is_replaced_and_what_stands_for_no_path_is_said() {
    let desk = Desk::new();
    desk.put("g.csv", "a,b,1\n");
    let run = desk.run("paths g.csv -o d.npy");
    assert!(run.err.contains("no path is 9223372036854775807 in d.npy"), "{}", run.err);
    assert!(!desk.run("paths g.csv -o d.csv").err.contains("no path is"));
    let run = desk.run("paths roads.csv -o ./roads.csv");
    assert!(run.err.contains("roads.csv is an input, and is replaced"), "{}", run.err);
    let run = desk.run("mul whole.csv whole.csv -o whole.csv");
    assert!(run.err.contains("whole.csv is an input, and is replaced"), "{}", run.err);
}
