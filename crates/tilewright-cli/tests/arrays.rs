//! Arrays as people have them: vectors, stacks, types that differ, other delimiters, streams, archives.

use crate::support::{Desk, Run};
use std::{io::Write, process::Stdio};

/// A `.npy` file of this type and shape.
fn npy(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(elements);
    bytes
}

fn put(desk: &Desk, name: &str, descr: &str, shape: &str, elements: &[u8]) {
    std::fs::write(desk.file(name), npy(descr, shape, elements)).unwrap();
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The header of a `.npy` file.
fn header(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[10..128]).trim().to_owned()
}

/// A desk with a vector, a matrix, and two stacks.
fn desk() -> Desk {
    let desk = Desk::new();
    put(&desk, "v.npy", "'<f8'", "(3,)", &doubles(&[1.0, 2.0, 3.0]));
    put(&desk, "m.npy", "'<f8'", "(3, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    put(&desk, "s.npy", "'<f8'", "(2, 1, 3)", &doubles(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
    desk
}

#[test]
fn vectors_are_rows_on_the_left_and_columns_on_the_right() {
    let desk = desk();
    assert_eq!(desk.ok("mul v.npy m.npy -o - -q --verify"), "22.0,28.0\n");
    assert_eq!(desk.ok("mul m.npy v.npy --transpose-a -o - -q"), "22.0\n28.0\n");
    assert_eq!(desk.ok("mul v.npy v.npy -o - -q"), "14.0\n");
    let json = desk.json("mul v.npy m.npy -o c.npy");
    assert_eq!(
        (&json["m"], &json["n"], &json["k"], &json["batch"]),
        (&1.into(), &2.into(), &3.into(), &serde_json::json!([]))
    );
    // The result has NumPy's shape.
    assert!(header(&std::fs::read(desk.file("c.npy")).unwrap()).contains("'shape': (2,)"));
    desk.ok("mul v.npy v.npy -o dot.npy -q");
    assert!(header(&std::fs::read(desk.file("dot.npy")).unwrap()).contains("'shape': ()"));
    // And is joined with a vector.
    assert_eq!(desk.ok("mul v.npy m.npy --accumulate c.npy -o - -q --verify"), "44.0,56.0\n");
    desk.ok("mul m.npy v.npy --transpose-a -o column.npy -q");
    assert_eq!(desk.ok("mul m.npy v.npy --transpose-a --accumulate column.npy -o - -q"), "44.0\n56.0\n");
}

#[test]
fn stacks_are_broadcast() {
    let desk = desk();
    let json = desk.json("mul s.npy m.npy -o c.npy --verify");
    assert_eq!((&json["batch"], &json["verified"]["passed"]), (&serde_json::json!([2]), &true.into()));
    assert_eq!(json["verified"]["rows_checked"], 2);
    let bytes = std::fs::read(desk.file("c.npy")).unwrap();
    assert!(header(&bytes).contains("'shape': (2, 1, 2)"), "{}", header(&bytes));
    assert_eq!(bytes[128..], doubles(&[1.0, 2.0, 5.0, 6.0]));
    // In every backend, with winners.
    for backend in ["cpu", "reference"] {
        let line =
            format!("mul s.npy m.npy -s max-plus --backend {backend} --arg-out k.npy -o x.npy --verify");
        assert_eq!(desk.json(&line)["verified"]["passed"], true, "{backend}");
        let winners = std::fs::read(desk.file("k.npy")).unwrap();
        assert!(header(&winners).contains("'<i8'") && header(&winners).contains("(2, 1, 2)"));
        assert_eq!(winners[128..136], 2i64.to_le_bytes());
    }
    assert!(desk.ok("mul s.npy m.npy").contains("2 times"));
    assert!(desk.ok("mul s.npy m.npy --plan --backend cpu").contains("2 matrices of A as one"));
    let pairs = desk.ok("mul s.npy s.npy --transpose-b --plan --backend cpu");
    assert!(pairs.contains("2 products of this shape"), "{pairs}");
    assert_eq!(desk.json("mul s.npy s.npy --transpose-b --verify")["verified"]["rows_checked"], 2);
    // C0 has the shape of the whole, or is broadcast.
    for (c0, first) in [("c.npy", 2.0), ("row.npy", 11.0)] {
        put(&desk, "row.npy", "'<f8'", "(1, 2)", &doubles(&[10.0, 20.0]));
        desk.ok(&format!("mul s.npy m.npy --accumulate {c0} -o joined.npy -q --verify"));
        assert_eq!(std::fs::read(desk.file("joined.npy")).unwrap()[128..136], doubles(&[first]), "{c0}");
    }
    let run = desk.run("mul s.npy m.npy -o c.csv");
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(
        run.err.contains("a .csv file holds one matrix") && run.err.contains("hint: write .npy"),
        "{}",
        run.err
    );
    put(&desk, "three.npy", "'<f8'", "(3, 3, 1)", &doubles(&[0.0; 9]));
    let run = desk.run("mul s.npy three.npy");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("A (2x1x3) and B (3x3x1) are stacks that do not match"), "{}", run.err);
    // A stack of nothing is a result like any other.
    put(&desk, "none.npy", "'<f8'", "(0, 1, 3)", &[]);
    desk.ok("mul none.npy m.npy -o e.npy -q --verify");
    assert!(header(&std::fs::read(desk.file("e.npy")).unwrap()).contains("(0, 1, 2)"));
}

#[test]
fn types_that_differ_are_promoted_and_that_is_said() {
    let desk = desk();
    let floats: Vec<u8> = [1f32, 0.0, 0.0, 1.0, 1.0, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    put(&desk, "f32.npy", "'<f4'", "(2, 3)", &floats);
    let run = desk.run("mul f32.npy m.npy -o - --verify");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "1.0,2.0\n9.0,12.0\n"), "{}", run.err);
    assert!(
        run.err.contains("types: A holds f32 and B holds f64: multiplied as f64, as NumPy promotes them")
    );
    assert_eq!(desk.run("mul f32.npy m.npy -o - -q").err, "");
    put(&desk, "i8.npy", "'|i1'", "(1, 3)", &[1, 2, 255]);
    let ints: Vec<u8> = [10i32, 20, 30].iter().flat_map(|x| x.to_le_bytes()).collect();
    put(&desk, "i32.npy", "'<i4'", "(3, 1)", &ints);
    assert_eq!(desk.ok("mul i8.npy i32.npy -o - -q"), "20\n");
    // A narrower C0 is joined, a wider one is not.
    put(&desk, "c0.npy", "'<f4'", "(2, 2)", &floats[..16]);
    assert_eq!(desk.ok("mul f32.npy m.npy --accumulate c0.npy -o - -q"), "2.0,2.0\n9.0,13.0\n");
}

#[test]
fn unsigned_integers_are_multiplied_in_a_type_that_holds_them() {
    let desk = desk();
    put(&desk, "u8.npy", "'|u1'", "(1, 2)", &[200, 100]);
    let run = desk.run("mul u8.npy u8.npy --transpose-b -o -");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "50000\n"), "{}", run.err);
    assert!(!run.err.contains("types:"), "{}", run.err);
    let run = desk.run("mul u8.npy u8.npy --transpose-b -s min-plus -o -");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "200\n"), "{}", run.err);
    assert!(run.err.contains("A holds u8 and B holds u8: multiplied as i16"), "{}", run.err);
    let run = desk.run("mul u8.npy u8.npy --transpose-b -s add=x+y;mul=x*y;zero=0 -o -");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "50000\n"), "{}", run.err);
    assert!(run.err.contains("A holds u8 and B holds u8: multiplied as i32"), "{}", run.err);
    for (descr, bytes) in [("'<u2'", 2), ("'<u4'", 4), ("'<u8'", 8)] {
        let mut element = vec![0; bytes];
        element[0] = 7;
        put(&desk, "u.npy", descr, "(1, 1)", &element);
        assert_eq!(desk.ok("mul u.npy u.npy -o - -q"), "49\n", "{descr}");
    }
}

#[test]
fn every_number_but_zero_is_true() {
    let desk = desk();
    put(&desk, "w.npy", "'<f8'", "(2, 2)", &doubles(&[0.0, 2.0, 1.0, 0.0]));
    let run = desk.run("mul w.npy w.npy -s or-and -o -");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "true,false\nfalse,true\n"), "{}", run.err);
    assert!(run.err.contains("every number but 0 is true"), "{}", run.err);
    desk.put("w.csv", "0 2.0\n1e0 0.0\n");
    assert_eq!(desk.ok("mul w.csv w.csv -s or-and -o - -q"), "true,false\nfalse,true\n");
}

#[test]
fn text_has_any_delimiter_and_may_have_a_header() {
    let desk = Desk::new();
    for (text, options) in [
        ("1;2\n3;4\n", ""),
        ("1\t2\n3\t4\n", ""),
        ("1 2\n3 4\n", ""),
        ("a,b\n1,2\n3,4\n", "--skip-rows 1"),
        ("# by hand\nx;y\n1;2\n3;4\n", "--skip-rows 2 --delimiter semicolon"),
        ("1|2\n3|4\n", "--delimiter |"),
        ("1,2\n3,4\n", "--delimiter comma"),
    ] {
        desk.put("t.csv", text);
        assert_eq!(desk.ok(&format!("mul t.csv t.csv -o - -q {options}")), "7,10\n15,22\n", "{text:?}");
    }
    desk.put("t.csv", "from,to\n1,2\n");
    let run = desk.run("mul t.csv t.csv");
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("--skip-rows 1") && !run.err.contains("skip_rows"), "{}", run.err);
    let run = desk.run("mul t.csv t.csv --delimiter xy");
    assert!(run.code == Some(2) && run.err.contains("comma, semicolon, tab or blanks"), "{}", run.err);
    // An empty cell of a product of numbers is no infinity.
    desk.put("t.csv", "1,\n3,4\n");
    assert!(desk.run("mul t.csv t.csv").err.contains("hint: write 0 for an absent entry"));
    let run = desk.run("mul t.csv t.csv -s min-plus -o -");
    assert!(
        run.out == "2.0,inf\n4.0,8.0\n" && run.err.contains("1 empty cell of A is absent, inf"),
        "{}",
        run.err
    );
}

/// Runs with these bytes on standard input.
fn with_input(desk: &Desk, line: &str, input: &[u8]) -> std::process::Output {
    let mut command = desk.command(line);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let desk = desk();
    let run = Run::of(with_input(&desk, "mul - whole.csv --format-in csv -o - -q", b"1,0\n0,1\n"));
    assert_eq!((run.code, run.out.as_str()), (Some(0), "1,2\n3,4\n"), "{}", run.err);
    // Binary, both ways.
    let matrix = std::fs::read(desk.file("m.npy")).unwrap();
    let output = with_input(&desk, "mul v.npy - --format-in npy -o - --format-out npy", &matrix);
    assert!(output.status.success());
    assert!(header(&output.stdout).contains("(2,)"));
    assert_eq!(output.stdout[128..], doubles(&[22.0, 28.0]));
    for (line, part) in [
        ("mul - whole.csv", "--format-in is missing"),
        ("mul - - --format-in csv", "A and B would both be read from standard input"),
        ("mul none whole.csv", "hint: known are .npy, .npz, .csv, .mtx, .safetensors; --format-in says it"),
        ("mul whole.csv whole.csv -o none", "; --format-out says it"),
    ] {
        let run = desk.run(line);
        assert!(run.code != Some(0) && run.err.contains(part), "{line}: {}", run.err);
    }
    assert_eq!(desk.run("mul whole.csv whole.csv --format-out png").code, Some(2));
}

#[cfg(unix)]
#[test]
fn results_may_go_nowhere() {
    let desk = desk();
    for dtype in ["f64", "bf16"] {
        desk.ok(&format!("mul whole.csv whole.csv --dtype {dtype} -o /dev/null -q"));
    }
    let run = desk.run("mul whole.csv whole.csv -o /dev/stdout --format-out csv -q");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "7,10\n15,22\n"), "{}", run.err);
}

#[test]
fn archives_are_written_and_keep_their_other_members() {
    let desk = desk();
    desk.ok("mul whole.csv whole.csv -o runs.npz:first -q");
    desk.ok("mul s.npy m.npy -o runs.npz:stack -q");
    desk.ok("mul wide.csv wide.csv --transpose-b --dtype f32 -o runs.npz:first -q");
    assert_eq!(desk.ok("mul runs.npz:first whole.csv --dtype f64 -o - -q").lines().count(), 2);
    assert_eq!(desk.json("mul runs.npz:stack runs.npz:first --dtype f64")["batch"], serde_json::json!([2]));
    // Without a name all is replaced, and NumPy's own name is taken.
    desk.ok("mul whole.csv whole.csv -o runs.npz -q");
    assert_eq!(desk.ok("mul runs.npz:arr_0 runs.npz -o - -q"), "199,290\n435,634\n");
    let run = desk.run("mul runs.npz:first whole.csv");
    assert!(run.err.contains("no member 'first'") && run.err.contains("arr_0 (2x2 <i8)"), "{}", run.err);
    desk.put("bad.npz", "no archive");
    let run = desk.run("mul whole.csv whole.csv -o bad.npz:c");
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("its other members cannot be kept"), "{}", run.err);
    assert_eq!(desk.get("bad.npz"), "no archive");
    let python = std::process::Command::new("python3").args(["-c", "import numpy"]).output();
    if !python.is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: there is no NumPy to read the archive");
    }
    desk.ok("mul whole.csv whole.csv -o runs.npz:c -q");
    let script = "import numpy; a = numpy.load('runs.npz'); print(sorted(a.files), a['c'].tolist())";
    let read = std::process::Command::new("python3").args(["-c", script]).current_dir(desk.path()).output();
    let text = String::from_utf8(read.unwrap().stdout).unwrap();
    assert_eq!(text.trim(), "['arr_0', 'c'] [[7, 10], [15, 22]]");
}

#[test]
fn records_are_refused_by_the_names_of_their_fields() {
    let desk = Desk::new();
    put(&desk, "r.npy", "[('weight', '<f4'), ('colour', '|u1')]", "(1, 1)", &[0; 5]);
    let run = desk.run("mul r.npy r.npy");
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("records with the fields weight, colour"), "{}", run.err);
    assert!(!run.err.contains("fortran") && !run.err.contains('['), "{}", run.err);
}

/// A file that fits neither the address space nor memory, and takes no room on disk.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_can_neither_be_mapped_nor_read_is_out_of_memory() {
    let desk = Desk::new();
    let rows: u64 = 1 << 19;
    put(&desk, "large.npy", "'<f8'", &format!("({rows}, 1024)"), &[]);
    let file = std::fs::OpenOptions::new().write(true).open(desk.file("large.npy")).unwrap();
    file.set_len(128 + rows * 1024 * 8).unwrap();
    let program = env!("CARGO_BIN_EXE_tilewright");
    // 3 GiB of addresses for a file of 4.
    let script = format!("ulimit -v 3145728; {program} mul large.npy large.npy");
    let Ok(output) =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(desk.path()).output()
    else {
        return eprintln!("skipped: there is no bash");
    };
    let run = Run::of(output);
    assert_eq!(run.code, Some(5), "{}", run.err);
    assert!(run.err.contains("could not be allocated"), "{}", run.err);
}
