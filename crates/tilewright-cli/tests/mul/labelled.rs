//! Tables with names, and single elements by their names.

use crate::support::Desk;

/// Two flights and a table of both, with names.
const OUT: &str = ",MSP,SLC\nHNL,6385,4817\nOGG,inf,4905\n";
const HOME: &str = ",BOS\nMSP,1804\nSLC,3377\n";

#[test]
fn tables_with_names_give_tables_with_names() {
    let desk = Desk::new();
    desk.put("out.csv", OUT);
    desk.put("home.csv", HOME);
    desk.ok("mul out.csv home.csv -s min-plus -o km.csv --arg-out via.csv");
    assert_eq!(desk.get("km.csv"), ",BOS\nHNL,8189.0\nOGG,8282.0\n");
    assert_eq!(desk.get("via.csv"), ",BOS\nHNL,MSP\nOGG,SLC\n");
    assert_eq!(desk.ok("mul out.csv home.csv -s min-plus -o - -q"), desk.get("km.csv"));
    // The corner on the terminal has them, too.
    assert!(desk.ok("mul out.csv home.csv -s min-plus").ends_with("       BOS\n  HNL  8189\n  OGG  8282\n"));
    // Columns of Bᵀ are the rows that stand in its file.
    desk.ok("mul out.csv out.csv --transpose-b -s min-plus --dtype f32 -o square.csv");
    assert_eq!(desk.get("square.csv"), ",HNL,OGG\nHNL,9634.0,9722.0\nOGG,9722.0,9810.0\n");
    // Where one has no names, C has none; other formats have no place for them.
    desk.put("plain.csv", "1804\n3377\n");
    desk.ok("mul out.csv plain.csv -s min-plus -o c.csv --arg-out k.csv");
    assert_eq!((desk.get("c.csv"), desk.get("k.csv")), ("8189.0\n8282.0\n".into(), "0\n1\n".into()));
    desk.ok("mul out.csv home.csv -s min-plus -o c.npy");
}

#[test]
fn names_that_do_not_meet_are_refused() {
    let desk = Desk::new();
    desk.put("out.csv", OUT);
    desk.put("home.csv", HOME);
    desk.put("other.csv", ",BOS\nMSP,1804\nSEA,4017\n");
    desk.put("long.csv", ",BOS\nMSP,1804\nSLC,3377\nSEA,1\n");
    desk.put("c0.csv", ",BOS\nHNL,1\nLIH,2\n");
    for (line, expected) in [
        ("mul out.csv other.csv", "column 2 of A is 'SLC', but row 2 of B is 'SEA'"),
        ("mul out.csv other.csv --transpose-a", "row 1 of A is 'HNL', but row 1 of B is 'MSP'"),
        (
            "mul out.csv home.csv --accumulate c0.csv --dtype f64",
            "row 2 of A x B is 'OGG', but row 2 of C0 is 'LIH'",
        ),
        ("mul out.csv home.csv --from hnl --to BOS", "--from: C has no row 'hnl'"),
        ("mul out.csv home.csv --from HNL --to 0", "--to: C has no column '0'"),
        ("mul whole.csv whole.csv --from 2 --to 0", "--from: C has no row '2'"),
        ("mul whole.csv whole.csv --from 0 --to 0 -o -", "both write to stdout"),
        ("mul whole.csv whole.csv --from 0", "--to"),
        ("mul out.csv home.csv --labels names.txt", "names.txt"),
    ] {
        let run = desk.run(line);
        assert!(matches!(run.code, Some(2 | 3)) && run.err.contains(expected), "{line}: {}", run.err);
    }
    assert!(desk.run("mul out.csv home.csv --from hnl --to BOS").err.contains("is it HNL?"));
    assert_eq!(desk.run("mul out.csv long.csv").code, Some(2), "the sizes differ");
    // Without names, what is no number is refused as before.
    desk.put("head.csv", "a,b\n1,2\n");
    assert!(desk.run("mul head.csv whole.csv").err.contains("--skip-rows 1"));
}

#[test]
fn one_element_is_said_with_its_term() {
    let desk = Desk::new();
    let data =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/flights").canonicalize().unwrap();
    let flights = format!(
        "{0}/nonstop_km.csv {0}/nonstop_km.csv --labels {0}/airports.csv:iata -s min-plus",
        data.display()
    );
    for (pair, expected) in [
        ("--from HNL --to BOS", "HNL to BOS: 8189 by MSP\n"),
        ("--from BUF --to SAN", "BUF to SAN: 3528 by MDW\n"),
        // Two changes are needed.
        ("--from DAL --to BUR", "DAL to BUR: inf\n"),
    ] {
        assert_eq!(desk.ok(&format!("mul {flights} {pair}")), expected);
    }
    assert_eq!(desk.ok("mul whole.csv whole.csv --from 1 --to 0"), "1 to 0: 15\n");
    let entry = desk.json("mul roads.csv roads.csv -s min-plus --from 0 --to 2")["entry"].clone();
    assert_eq!(entry, serde_json::json!({ "from": "0", "to": "2", "value": 7.0, "by": "1" }));
    // What was there already has no term.
    desk.put("old.csv", "1,1,1\n1,1,1\n1,1,1\n");
    let line = "mul roads.csv roads.csv -s min-plus --accumulate old.csv --from 0 --to 2 --dtype f64";
    assert_eq!(desk.ok(line), "0 to 2: 1\n");
    assert_eq!(desk.run("mul whole.csv whole.csv --labels none.txt").code, Some(3));
    desk.put("three.txt", "a\nb\nc\n");
    assert!(
        desk.run("mul whole.csv whole.csv --labels three.txt")
            .err
            .contains("--labels has 3 names, but there are 2 rows of A")
    );
}
