//! What semirings make of absent elements, and semirings of one's own.

use crate::support::{DISTANCES, Desk};

#[test]
fn infinite_weights_are_absent_in_integers() {
    let desk = Desk::new();
    desk.put("split.csv", "0,inf\ninf,0\n");
    for dtype in ["i16", "i32", "i64"] {
        let line = format!("mul split.csv split.csv -s min-plus --dtype {dtype}");
        assert_eq!(desk.ok(&format!("{line} -o - -q --verify")), "0,inf\ninf,0\n");
        assert!(desk.ok(&line).contains("\n    0  inf\n  inf    0\n"));
    }
    assert_eq!(desk.run("mul split.csv split.csv --dtype i32").code, Some(3));
}

#[test]
fn entries_that_a_sparse_file_leaves_out_are_the_zero() {
    let desk = Desk::new();
    let header = "%%MatrixMarket matrix coordinate";
    desk.put("edges.mtx", &format!("{header} integer general\n3 3 2\n1 2 5\n2 3 6\n"));
    let line = "mul edges.mtx edges.mtx -o - -q -s";
    assert_eq!(desk.ok(&format!("{line} min-plus")), "inf,inf,11\ninf,inf,inf\ninf,inf,inf\n");
    assert_eq!(
        desk.ok(&format!("{line} max-plus --dtype f32")),
        "-inf,-inf,11.0\n-inf,-inf,-inf\n-inf,-inf,-inf\n"
    );
    assert_eq!(desk.ok(&format!("{line} plus-times")), "0,0,30\n0,0,0\n0,0,0\n");
    assert_eq!(desk.ok(&format!("{line} max-times")), "0.0,0.0,30.0\n0.0,0.0,0.0\n0.0,0.0,0.0\n");
    desk.put("graph.mtx", &format!("{header} pattern general\n3 3 2\n1 2\n2 3\n"));
    let hops = desk.ok("mul graph.mtx graph.mtx -s min-plus -o - -q");
    assert_eq!(hops, "inf,inf,2\ninf,inf,inf\ninf,inf,inf\n");
    let json = desk.json("mul graph.mtx graph.mtx -s or-and --verify");
    assert_eq!((&json["dtype"], &json["verified"]["passed"]), (&"bool".into(), &true.into()));
    assert_eq!(desk.json("mul edges.mtx edges.mtx -s max-min --dtype i32")["dtype"], "i32");
}

#[test]
fn sums_of_exponentials_in_logarithms() {
    let desk = Desk::new();
    let json = desk.json("mul whole.csv whole.csv -s log-plus --accumulate whole.csv --verify");
    assert_eq!((json["semiring"].as_str(), json["dtype"].as_str()), (Some("log-plus"), Some("f64")));
    assert_eq!(json["verified"]["passed"].as_bool(), Some(true));
    let run = desk.run("mul whole.csv whole.csv -s log-plus --arg-out k.npy");
    assert!(run.code == Some(2) && run.err.contains("no single k wins a sum"), "{}", run.err);
    let json =
        desk.json("mul whole.csv whole.csv -s log-plus --accumulate whole.csv --verify --backend emulator");
    assert_eq!(
        (json["kernel"].as_str(), json["verified"]["passed"].as_bool()),
        (Some("log-plus"), Some(true))
    );
    let run = desk.run("mul whole.csv whole.csv -s log-plus --plan --gpu h200");
    assert!(run.code == Some(0) && run.out.contains("log-plus-exponentials"), "{}{}", run.out, run.err);
    let run = desk.run("tune 64 -s log-plus");
    assert!(run.code == Some(2) && run.err.contains("no ways of its own"), "{}", run.err);
}

#[test]
fn a_semiring_of_ones_own() {
    let desk = Desk::new();
    let product = "mul roads.csv roads.csv -s add=fminf(x,y);mul=x+y;zero=inf;one=0";
    assert_eq!(desk.ok(&format!("{product} -o - -q --verify")), DISTANCES);
    let json = desk.json(&format!("{product} --verify"));
    assert_eq!(json["semiring"].as_str(), Some("add=fminf(x,y);mul=x+y;zero=inf;one=0"));
    assert_eq!(json["verified"]["max_error"].as_f64(), Some(0.0));
    let whole = "mul whole.csv whole.csv -o - -q -s add=x+y;mul=x*y;zero=0";
    assert_eq!(desk.ok(&format!("{whole} --verify")), "7,10\n15,22\n");
    assert_eq!(desk.ok(&format!("{whole} --accumulate whole.csv --verify")), "8,12\n18,26\n");
    let plan = desk.json(&format!("{product} --plan --backend cuda --gpu a100"));
    let launch = &plan["gpu"]["launches"][0];
    assert!(launch["program"].as_str().is_some_and(|name| name.contains(".expressions.f64")), "{plan}");
    assert_eq!(
        (plan["semiring"].as_str(), plan["kernel"].as_str()),
        (json["semiring"].as_str(), Some("simt"))
    );
    let plan = desk.ok(&format!("{product} --plan"));
    assert!(plan.contains("expressions on f64") && plan.contains("expressions f64 "), "{plan}");
    let emulated = desk.run(&format!("{product} -o - -q --verify --backend emulator"));
    match emulated.code {
        Some(0) => assert_eq!(emulated.out, DISTANCES),
        // Without NVRTC.
        code => assert!(code == Some(4) && emulated.err.contains("hint: "), "{}", emulated.err),
    }
    for (text, expected) in [
        ("add=fminf(x,z);mul=x+y;zero=inf", "`z` is none of x, y, inf"),
        ("add=x+y;mul=fminf(x,y);zero=0", "breaks the law that"),
        ("add=x+y;mul=x*y;zero=0;where=x<4", "element"),
        ("add=x+y;mul=x*y;zero=0 --backend emulator --kernel naive", "expressions.i64 is asked for"),
        ("add=x+y;mul=x*y;zero=0 --arg-out k.npy", "--arg-out is not defined"),
        ("add=x+y;mul=x*y;zero=0 --alpha 2", "--alpha is not defined"),
    ] {
        let run = desk.run(&format!("mul whole.csv whole.csv -s {text}"));
        assert!(run.code.is_some_and(|code| code > 1) && run.err.contains(expected), "{text}: {}", run.err);
    }
}
