//! Products that work: every option, every way in and out.

mod labelled;
mod semirings;

use crate::support::{DISTANCES, Desk, keys};

#[test]
fn without_output_a_summary_and_a_corner_are_printed() {
    let run = Desk::new().run("mul roads.csv roads.csv -s min-plus");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for part in ["C 3x3 = A x B, k = 3, min-plus on f64", "backend", "time", "pair-ops/s", "  0  3  7\n"] {
        assert!(run.out.contains(part), "{}", run.out);
    }
    assert!(!run.out.contains("FLOP"));
    let numbers = Desk::new().ok("mul whole.csv whole.csv");
    assert!(numbers.contains("FLOP/s") && !numbers.contains(" 0.000 "), "{numbers}");
}

#[test]
fn results_go_to_files_of_every_format_and_come_back() {
    let desk = Desk::new();
    for file in ["c.npy", "c.csv", "c.mtx", "c.safetensors"] {
        let run = desk.run(&format!("mul roads.csv roads.csv --semiring min-plus -o {file}"));
        assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
        assert!(run.err.contains(&format!("wrote {file}")), "{}", run.err);
        // The distances between towns in a line are their own square.
        assert_eq!(desk.ok(&format!("mul {file} {file} -s min-plus -o -")), DISTANCES);
    }
    assert!(desk.list().iter().all(|name| !name.starts_with('.')), "{:?}", desk.list());
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let desk = Desk::new();
    let run = desk.run("mul whole.csv whole.csv -o c.npy -q");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""));
    let run = desk.run("mul whole.csv c.npy -v");
    assert!(run.err.contains("A: 2x2, text read as i64, multiplied as i64"), "{}", run.err);
    assert!(run.err.contains("B: 2x2, stored as i64"), "{}", run.err);
}

#[test]
fn transposed_operands() {
    let desk = Desk::new();
    assert_eq!(desk.ok("mul wide.csv wide.csv --transpose-b -o - -q"), "14,32\n32,77\n");
    assert_eq!(desk.ok("mul wide.csv wide.csv --transpose-a -o - -q"), "17,22,27\n22,29,36\n27,36,45\n");
}

#[test]
fn sums_are_given_as_they_are_where_that_is_asked_for() {
    let desk = Desk::new();
    desk.put("row.csv", "2048,1\n");
    desk.put("ones.csv", "1\n1\n");
    let product = "mul row.csv ones.csv --dtype f16 --verify";
    assert_eq!(desk.ok(&format!("{product} -o - -q")), "2048.0\n");
    assert_eq!(desk.ok(&format!("{product} -o - -q --result-type f32")), "2049.0\n");
    assert_eq!(desk.ok(&format!("{product} -o - -q --result-type f16 --backend reference")), "2048.0\n");
    // C0 is one of f32.
    desk.put("half.csv", "0.25\n");
    let joined = format!("{product} -o - -q --result-type f32 --accumulate half.csv");
    assert_eq!(desk.ok(&joined), "2049.25\n");
    desk.ok(&format!("{product} -o sum.npy --result-type f32"));
    assert!(desk.run("mul sum.npy sum.npy -v").err.contains("A: 1x1, stored as f32"));
    let plan = desk.ok(&format!("{product} --result-type f32 --plan --gpu h200 --kernel simt"));
    assert!(plan.contains("plus-times.f16-f32"), "{plan}");
    for (line, hint) in [
        ("mul row.csv ones.csv --dtype f16 --result-type f64", "they are f16 or f32"),
        ("mul row.csv ones.csv --dtype f32 --result-type f16", "they are f32"),
        ("mul row.csv ones.csv --dtype f16 -s min-plus --result-type f32", "they are f16"),
    ] {
        let run = desk.run(line);
        assert!(run.code != Some(0) && run.err.contains(hint), "{}", run.err);
    }
}

#[test]
fn factors_and_accumulation() {
    let desk = Desk::new();
    let product = "mul whole.csv whole.csv -o - -q --verify";
    assert_eq!(desk.ok(product), "7,10\n15,22\n");
    assert_eq!(desk.ok(&format!("{product} --alpha -2")), "-14,-20\n-30,-44\n");
    assert_eq!(desk.ok(&format!("{product} --accumulate whole.csv")), "8,12\n18,26\n");
    assert_eq!(desk.ok(&format!("{product} --accumulate whole.csv --beta -1")), "6,8\n12,18\n");
    assert_eq!(desk.ok(&format!("{product} --accumulate whole.csv --beta 0 --alpha 2")), "14,20\n30,44\n");
    desk.put("near.csv", "9,1,9\n9,9,9\n9,9,9\n");
    let line = "mul roads.csv roads.csv -s min-plus --accumulate near.csv --verify -o - -q";
    assert_eq!(desk.ok(line), "0.0,1.0,7.0\n3.0,0.0,4.0\n7.0,4.0,0.0\n");
}

#[test]
fn bias_and_activation() {
    let desk = Desk::new();
    desk.put("row.csv", "-8,1\n");
    desk.put("column.csv", "-8\n1\n");
    for bias in ["row.csv", "column.csv"] {
        let line = format!("mul whole.csv whole.csv --dtype f32 --bias {bias} -o - -q --verify");
        assert_eq!(desk.ok(&line), "-1.0,11.0\n7.0,23.0\n");
        assert_eq!(desk.ok(&format!("{line} --activation relu")), "0.0,11.0\n7.0,23.0\n");
        assert_eq!(
            desk.ok(&format!("{line} --activation relu --alpha 0 --accumulate whole.csv")),
            "0.0,3.0\n0.0,5.0\n"
        );
    }
    let table = desk.ok("mul whole.csv whole.csv --dtype f64 --bias row.csv --activation gelu --verify");
    assert!(table.contains("C 2x2 = gelu(A x B + bias)"), "{table}");
    let plan =
        desk.ok("mul whole.csv whole.csv --dtype f64 --bias row.csv --activation gelu --plan --backend cpu");
    assert!(plan.contains("then bias and gelu") && plan.contains("sums in a buffer"), "{plan}");
}

#[test]
fn scales_of_8_bit_floats() {
    let desk = Desk::new();
    desk.put("one.csv", "2\n");
    desk.put("rows.csv", "1\n0.5\n");
    let line = "mul whole.csv whole.csv --dtype e4m3 --scale-a rows.csv --scale-b one.csv -q";
    let scaled = desk.ok(&format!("{line} -o - --verify"));
    let plain = desk.ok("mul whole.csv whole.csv --dtype e4m3 -o - -q");
    let numbers =
        |text: &str| text.trim().split([',', '\n']).map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let [[a, b], [c, d]] = [[0, 1], [2, 3]].map(|row| row.map(|i: usize| numbers(&plain)[i]));
    assert_eq!(numbers(&scaled), [2.0 * a, 2.0 * b, c, d]);
    let table = desk.ok("mul whole.csv whole.csv --dtype e4m3 --scale-b one.csv --verify");
    assert!(table.contains("C 2x2 = A x B with scales of B"), "{table}");
    let plan = desk.ok(&format!("{line} --plan --gpu h100 --backend cuda"));
    assert!(plan.contains("with scales of A and B") && plan.contains("a row of A and 1x1 of B"), "{plan}");
}

#[test]
fn types_of_text_files_are_found() {
    let desk = Desk::new();
    let dtype = |line: &str| desk.json(line)["dtype"].as_str().unwrap().to_owned();
    assert_eq!(dtype("mul whole.csv whole.csv"), "i64");
    assert_eq!(dtype("mul whole.csv real.csv"), "f64");
    assert_eq!(dtype("mul whole.csv whole.csv -s max-times"), "f64");
    desk.put("reach.csv", "0,1\n1,0\n");
    assert_eq!(dtype("mul reach.csv reach.csv -s or-and"), "bool");
    desk.ok("mul whole.csv whole.csv --dtype f32 -o c.npy");
    assert_eq!(dtype("mul whole.csv c.npy"), "f32");
    assert_eq!(dtype("mul c.npy whole.csv --dtype bf16"), "bf16");
}

#[test]
fn bytes_are_summed_in_32_bits() {
    let desk = Desk::new();
    desk.put("big.csv", "100,100\n100,100\n");
    assert_eq!(desk.ok("mul big.csv big.csv --dtype i8 -o - -q"), "20000,20000\n20000,20000\n");
    assert_eq!(
        desk.ok("mul big.csv big.csv --dtype i8 --accumulate big.csv -o - -q"),
        "20100,20100\n20100,20100\n"
    );
    desk.put("light.csv", "255,0\n200,255\n");
    assert_eq!(desk.ok("mul light.csv light.csv --dtype u8 -o - -q"), "65025,0\n102000,65025\n");
    assert_eq!(desk.ok("mul light.csv light.csv --dtype i16 -o - -q"), "65025,0\n102000,65025\n");
    let masks = "mul light.csv light.csv --dtype u8 --semiring max-min";
    assert_eq!(desk.ok(&format!("{masks} -o - -q")), "255,0\n200,255\n");
    desk.ok(&format!("{masks} -o masks.npy --verify"));
    assert!(String::from_utf8_lossy(&std::fs::read(desk.file("masks.npy")).unwrap()).contains("'|u1'"));
    assert_eq!(desk.ok("mul masks.npy masks.npy --semiring max-min -o - -q"), "255,0\n200,255\n");
}

#[test]
fn arg_results_are_signed_numbers() {
    let desk = Desk::new();
    desk.put("split.csv", "0,inf\n1,0\n");
    let json = desk.json("mul split.csv split.csv -s min-plus --arg-out via.csv -o c.npy --verify");
    assert_eq!(desk.get("via.csv"), "0,-1\n0,1\n");
    assert_eq!((&json["output"], &json["arg_output"]), (&"c.npy".into(), &"via.csv".into()));
    assert_eq!(json["verified"]["passed"], true);
    desk.ok("mul split.csv split.csv -s min-plus --arg-out via.npy -q");
    assert_eq!(desk.ok("mul via.npy via.npy -o - -q"), "0,-1\n0,1\n"); // [[0, -1], [0, 1]] squared
}

#[test]
fn json_has_exactly_its_keys() {
    let desk = Desk::new();
    let json = desk.json("mul wide.csv wide.csv --transpose-b --verify");
    let mut expected = [
        "schema",
        "semiring",
        "dtype",
        "m",
        "n",
        "k",
        "backend",
        "kernel",
        "threads",
        "seconds",
        "read_seconds",
        "write_seconds",
        "transfer_seconds",
        "batch",
        "entry",
        "findings",
        "pair_ops_per_second",
        "verified",
        "output",
        "arg_output",
    ];
    expected.sort_unstable();
    assert_eq!(keys(&json), expected);
    assert_eq!(keys(&json["verified"]), ["bound", "max_error", "passed", "rows_checked"]);
    assert_eq!((json["schema"].as_u64(), json["m"].as_u64()), (Some(1), Some(2)));
    assert_eq!((json["n"].as_u64(), json["k"].as_u64()), (Some(2), Some(3)));
    assert!(desk.json("mul wide.csv wide.csv --transpose-a")["verified"].is_null());
}

#[test]
fn backends_kernels_and_threads_can_be_chosen() {
    let desk = Desk::new();
    let json = desk.json("mul roads.csv roads.csv -s max-min --backend reference --verify");
    assert_eq!((&json["backend"], &json["kernel"]), (&"reference".into(), &"reference".into()));
    let json = desk.json("mul roads.csv roads.csv -s max-min --kernel portable --threads 1 --verify");
    assert_eq!((&json["backend"], &json["threads"]), (&"cpu".into(), &1.into()));
    let mut command = desk.command("mul roads.csv roads.csv -s max-min --format json");
    let output =
        command.env("TILEWRIGHT_BACKEND", "reference").env("TILEWRIGHT_THREADS", "1").output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["backend"], "reference");
}

#[test]
fn the_kernels_of_gpus_are_emulated() {
    let desk = Desk::new();
    let line = "mul roads.csv roads.csv -s min-plus --dtype f32 --backend emulator";
    assert_eq!(desk.ok(&format!("{line} -o - -q --verify")), DISTANCES);
    for kernel in ["naive", "shared-tile-ragged"] {
        let json = desk.json(&format!("{line} --kernel {kernel} --verify --threads 1"));
        assert_eq!((&json["backend"], &json["kernel"]), (&"emulator".into(), &kernel.into()));
        assert_eq!((&json["verified"]["passed"], &json["threads"]), (&true.into(), &1.into()));
        let plan = desk.json(&format!("{line} --kernel {kernel} --plan"));
        assert_eq!((&plan["backend"], &plan["kernel"]), (&"emulator".into(), &kernel.into()));
    }
    // A plan chooses what is then done.
    assert_eq!(desk.json(&format!("{line} --plan"))["kernel"], desk.json(line)["kernel"]);
    let run = desk.run(&format!("{line} -v --gpu a6000"));
    assert!(run.err.contains("imitates RTX A6000, compute capability 8.6"), "{}", run.err);
    let line = "mul whole.csv whole.csv --dtype f32 --alpha -2 --beta 3 --accumulate whole.csv --transpose-a";
    assert_eq!(desk.ok(&format!("{line} --backend emulator -o - -q --verify")), "-17.0,-22.0\n-19.0,-28.0\n");

    let refused = desk.run("mul whole.csv whole.csv --backend emulator --dtype f32 --kernel shared-tile");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("M to be a multiple of 32; M is 2"), "{}", refused.err);
    // No program with arg results is shipped.
    let run = desk.run("mul roads.csv roads.csv --backend emulator -s min-plus --arg-out via.csv -o - -q");
    match run.code {
        Some(0) => assert_eq!(desk.get("via.csv"), "0,0,1\n0,1,1\n1,1,2\n"),
        _ => assert!(run.code == Some(4) && run.err.contains("NVRTC is not available"), "{}", run.err),
    }
}

#[test]
fn products_that_take_too_long_to_emulate_are_refused() {
    let desk = Desk::new();
    // One row of many columns: a small file, and a large product.
    let mut npy = b"\x93NUMPY\x01\0\x76\0".to_vec();
    let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 300000), }";
    npy.extend(format!("{header:<117}\n").bytes());
    npy.extend([1; 300_000]);
    std::fs::write(desk.file("long.npy"), npy).unwrap();
    let run = desk.run("mul long.npy long.npy --transpose-a --dtype i32 --backend emulator");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("9.0e10 terms are too many for the emulator"), "{}", run.err);
    assert!(run.err.contains("hint: it takes up to 4096 x 4096 x 4096"), "{}", run.err);
}

#[test]
fn an_input_can_be_replaced_by_the_result() {
    let desk = Desk::new();
    desk.ok("mul whole.csv whole.csv -o c.npy");
    desk.ok("mul c.npy c.npy -o c.npy");
    assert_eq!(desk.ok("mul c.npy c.npy -o - -q"), "165751,241570\n362355,528106\n");
}

#[test]
fn matrices_without_elements_are_multiplied() {
    let desk = Desk::new();
    let none = "\u{93}NUMPY\u{1}\0";
    let npy = |name: &str, shape: &str| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        let mut bytes: Vec<u8> = none.chars().map(|c| c as u8).collect();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        std::fs::write(desk.file(name), bytes).unwrap();
    };
    npy("tall.npy", "(2, 0)");
    npy("flat.npy", "(0, 3)");
    let out = desk.ok("mul tall.npy flat.npy -s min-plus --verify -o - -q");
    assert_eq!(out, "inf,inf,inf\ninf,inf,inf\n");
    let json = desk.json("mul flat.npy tall.npy --transpose-a --transpose-b --verify");
    assert_eq!((json["m"].as_u64(), json["k"].as_u64()), (Some(3), Some(0)));
}
