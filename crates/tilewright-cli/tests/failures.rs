//! Requests that fail: what is said, and with which code.

use crate::support::Desk;

/// Runs; checks the code, the two parts of the message, and that nothing was written.
fn refused(desk: &Desk, line: &str, code: i32, error: &str, hint: &str) {
    let before = desk.list().len();
    let run = desk.run(line);
    assert_eq!(run.code, Some(code), "{line}: {}", run.err);
    assert!(run.err.starts_with("error: ") && run.err.contains(error), "{line}: {}", run.err);
    assert!(hint.is_empty() || run.err.contains(&format!("hint: {hint}")), "{line}: {}", run.err);
    assert_eq!(run.out, "", "{line}");
    assert_eq!(desk.list().len(), before, "{line}: {:?}", desk.list());
}

#[test]
fn usage_is_2() {
    let desk = Desk::new();
    desk.run("mul whole.csv whole.csv --dtype f32 -o f32.npy");
    desk.run("mul whole.csv whole.csv --dtype f64 -o f64.npy");
    desk.run("mul whole.csv whole.csv --dtype i64 -o i64.npy");
    let w = "mul whole.csv whole.csv";
    for (line, error, hint) in [
        ("".into(), "", ""),
        ("mul whole.csv".into(), "required", ""),
        ("multiply".into(), "multiply", ""),
        (format!("{w} --semiring plus"), "possible values: plus-times, min-plus", ""),
        (format!("{w} --dtype f33"), "possible values: f16", ""),
        (format!("{w} --backend gpu"), "possible values: auto", ""),
        (format!("{w} --kernel sse"), "possible values: avx512", ""),
        (format!("{w} --threads -1"), "", ""),
        (format!("{w} --alpha two"), "two", ""),
        (format!("{w} --dtype f64 --alpha nan"), "NaN would make every element NaN", ""),
        (format!("{w} --dtype f64 --alpha 1e999"), "beyond the range of f64", ""),
        (format!("{w} --alpha -inf"), "alpha = -inf", "choose an element type"),
        (format!("{w} --beta 2"), "--accumulate", ""),
        (format!("{w} -q -v"), "cannot be used with", ""),
        ("mul whole.csv wide.csv --transpose-b".into(), "A is 2x2 but B is 3x2", "the columns of A"),
        ("mul i64.npy i64.npy -s max-times".into(), "not defined on i64", "convert with --dtype f64"),
        (format!("{w} -s max-min --dtype i16"), "max-min is not defined on i16", "convert with --dtype i32"),
        (format!("{w} -s min-plus --dtype u8"), "min-plus is not defined on u8", "convert with --dtype i16"),
        (format!("{w} -s min-plus --alpha 2"), "--alpha is not defined for min-plus", "only plus-times"),
        (format!("{w} -s min-plus --beta 2 --accumulate whole.csv"), "--beta is not defined", ""),
        (format!("{w} --alpha 0.5"), "alpha = 0.5", "choose an element type"),
        (format!("{w} --arg-out k.npy"), "--arg-out is not defined for plus-times", "choose a selective"),
        (format!("{w} --accumulate wide.csv"), "C0 is 2x3 but the product is 2x2", "give C0"),
        (
            "mul f32.npy f32.npy --accumulate f64.npy".into(),
            "C0 holds f64, but the product is f32",
            "convert",
        ),
        (format!("{w} --activation swish"), "possible values: none, relu, gelu", ""),
        (
            format!("{w} --activation relu"),
            "--activation is not defined for elements of type i64",
            "multiply floats",
        ),
        (
            format!("{w} -s min-plus --activation relu"),
            "--activation is not defined for min-plus",
            "only plus-times",
        ),
        (format!("{w} -s max-plus --bias real.csv"), "--bias is not defined for max-plus", "only plus-times"),
        (
            format!("{w} --dtype f32 --bias whole.csv"),
            "the bias is 2x2 but the product is 2x2",
            "a bias is one row",
        ),
        (
            format!("{w} --dtype e4m3 --scale-a whole.csv"),
            "the scales of A are 2x2, but those of this product are 1x1 or 2x1",
            "a scale of A is for all of it",
        ),
        (
            format!("{w} --dtype f32 --scale-b whole.csv"),
            "--scale-b is not defined for elements of type f32",
            "only plus-times on e4m3",
        ),
        (
            "mul f32.npy f32.npy --bias f64.npy".into(),
            "the bias holds f64, but the product is f32",
            "convert",
        ),
        (
            "mul - whole.csv --bias - --format-in csv --dtype f32".into(),
            "A and the bias would both be read",
            "it can be read once",
        ),
        (format!("{w} --backend reference --kernel portable"), "--kernel portable", "leave out --kernel"),
        (format!("{w} -s min-plus -o c.npy --arg-out c.npy"), "both write to c.npy", "choose two files"),
    ] {
        let run = desk.run(&line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        if !line.is_empty() {
            refused(&desk, &line, 2, error, hint);
        }
    }
    let run = desk.command(w).env("TILEWRIGHT_FORCE_ISA", "sse").output().unwrap();
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn bad_files_are_3() {
    let desk = Desk::new();
    desk.put("ragged.csv", "1,2\n3\n");
    desk.put("word.csv", "1,two\n");
    desk.put("short.npy", "\u{1}NUMPY");
    desk.put("negative.csv", "-1\n");
    desk.put("huge.csv", "300000000\n");
    desk.put("text.txt", "1\n");
    for (line, error, hint) in [
        ("mul none.csv whole.csv", "none.csv: ", ""),
        ("mul ragged.csv whole.csv", "ragged.csv: line 2", ""),
        ("mul word.csv whole.csv", "word.csv: line 1, column 2", ""),
        ("mul short.npy whole.csv", "short.npy: ", ""),
        ("mul text.txt whole.csv", "unknown file type '.txt'", "known are .npy"),
        ("mul whole.csv whole.csv --accumulate none.npy", "none.npy", ""),
        ("mul real.csv real.csv --dtype i32", "real.csv: line 1, column 1: 0.5", "choose a floating-point"),
        ("mul negative.csv negative.csv -s max-times", "A[0, 0] = -1 is outside what max-times", ""),
        ("mul huge.csv huge.csv -s min-plus --dtype i32", "A[0, 0] = 300000000 is outside", ""),
        ("mul whole.csv whole.csv -o none/c.npy", "none/c.npy", ""),
        ("mul whole.csv whole.csv --dtype bf16 -o c.npz", "c.npz", "write .safetensors"),
        ("mul real.csv real.csv --dtype bf16 -o c.npy", "c.npy", ""),
        ("mul whole.csv whole.csv -s min-plus --arg-out none/k.npy -o c.npy", "none/k.npy", ""),
    ] {
        refused(&desk, line, 3, error, hint);
    }
}

#[test]
fn numbers_that_a_type_cannot_hold_are_refused_in_every_format() {
    let desk = Desk::new();
    desk.put("one.csv", "1,0\n0,1\n");
    desk.put("large.csv", "1,1e39\n2,3\n");
    desk.put("half.csv", "1,70000\n2,3\n");
    for file in ["large", "half"] {
        for format in ["npy", "mtx", "safetensors"] {
            desk.ok(&format!("mul {file}.csv one.csv --dtype f64 -o {file}.{format} -q"));
        }
    }
    for format in ["csv", "npy", "mtx", "safetensors"] {
        for (file, dtype, value) in
            [("large", "f32", "1e39"), ("large", "bf16", "1e39"), ("half", "f16", "70000")]
        {
            let line = format!("mul {file}.{format} one.csv --dtype {dtype}");
            let run = desk.run(&line);
            let place = match format {
                "csv" => "line 1, column 2",
                "mtx" => "line 5",
                _ => "element [0, 1]",
            };
            assert_eq!(run.code, Some(3), "{line}: {}", run.err);
            for part in [place, value, &format!("cannot be represented as {dtype}"), "hint: choose a wider"] {
                assert!(run.err.contains(part), "{line}, {part}: {}", run.err);
            }
        }
    }
}

#[test]
fn no_path_stays_no_path_in_every_type() {
    let desk = Desk::new();
    desk.put("split.csv", "0,inf\ninf,0\n");
    desk.ok("mul split.csv split.csv -s min-plus --dtype i16 -o i16.npy -q");
    let product = |dtype: &str| desk.ok(&format!("mul i16.npy i16.npy -s min-plus --dtype {dtype} -o - -q"));
    assert_eq!([product("i32"), product("i64")], ["0,inf\ninf,0\n", "0,inf\ninf,0\n"]);
    assert_eq!(product("f32"), "0.0,inf\ninf,0.0\n");
    // And no number becomes it.
    desk.put("far.csv", "0,2147483647\n1,0\n");
    desk.put("one.csv", "0,inf\ninf,0\n");
    desk.ok("mul far.csv one.csv -s min-plus --dtype f64 -o far.npy -q");
    let run = desk.run("mul far.npy far.npy -s min-plus --dtype i32");
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("element [0, 1] = 2147483647.0 cannot be represented as i32"), "{}", run.err);
}

#[test]
fn missing_backends_are_4() {
    let desk = Desk::new();
    // Found before any file is read.
    let refuse = |backend: &str, hint: &str| {
        let line = format!("mul none.csv none.csv --backend {backend}");
        refused(&desk, &line, 4, &format!("the {backend} backend is not available"), hint);
    };
    if tilewright::cuda::Driver::find().is_err() {
        refuse("cuda", "");
    }
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let line = format!("mul whole.csv whole.csv --kernel {foreign}");
    refused(&desk, &line, 4, &format!("{foreign} is not available: this processor lacks it"), "");
    let run = desk.command("mul whole.csv whole.csv").env("TILEWRIGHT_FORCE_ISA", foreign).output().unwrap();
    assert_eq!(run.status.code(), Some(4));
}

#[test]
fn errors_are_json_where_results_are() {
    let desk = Desk::new();
    for (line, code, exit_code) in [
        ("mul none.csv whole.csv", "io", 3),
        ("mul whole.csv wide.csv --transpose-b", "inner-mismatch", 2),
        ("mul whole.csv whole.csv --dtype f33", "usage", 2),
        ("mul", "usage", 2),
        ("mul whole.csv whole.csv -o -", "usage", 2),
    ] {
        let run = desk.run(&format!("{line} --format json"));
        assert_eq!((run.code, run.out.as_str()), (Some(exit_code), ""), "{line}: {}", run.err);
        let said: serde_json::Value = serde_json::from_str(&run.err).unwrap();
        assert_eq!((&said["schema"], &said["error"]["code"]), (&1.into(), &code.into()), "{line}: {said}");
        assert_eq!(said["error"]["exit_code"], exit_code, "{line}");
        assert!(!said["error"]["message"].as_str().unwrap().is_empty(), "{line}");
    }
}

#[test]
fn a_wrong_variable_is_blamed_and_not_its_option() {
    let desk = Desk::new();
    for (name, value, hint) in
        [("TILEWRIGHT_BACKEND", "nope", "one of auto"), ("TILEWRIGHT_THREADS", "x", "number")]
    {
        let output = desk.command("mul whole.csv whole.csv").env(name, value).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(&format!("{name}={value} is not valid")) && err.contains(hint), "{err}");
        assert!(
            !err.contains("--") && err.contains(&format!("hint: set {name} to that, or unset it")),
            "{err}"
        );
    }
    // The option itself is blamed for its own mistakes.
    let mut command = desk.command("mul whole.csv whole.csv --backend nope");
    let err = String::from_utf8(command.env("TILEWRIGHT_BACKEND", "cpu").output().unwrap().stderr).unwrap();
    assert!(err.contains("--backend"), "{err}");
}

#[test]
fn hints_do_not_mislead() {
    let desk = Desk::new();
    desk.put("huge.csv", "1e400\n");
    desk.put("negative.csv", "-1\n");
    for (line, hint, wrong) in [
        ("mul huge.csv huge.csv", "no element type holds it", "wider"),
        ("mul negative.csv negative.csv -s max-times", "max-times takes 0 and numbers above it", "wider"),
        ("explain naive --block 32", "leave them out", "such"),
    ] {
        let run = desk.run(line);
        assert!(run.err.contains(hint) && !run.err.contains(wrong), "{line}: {}", run.err);
    }
    // A semiring that no kernel computes is not blamed on layouts.
    let run = desk.run("mul whole.csv whole.csv -s max-times --dtype f32 --backend emulator");
    assert!(!run.err.contains("layouts"), "{}", run.err);
}
