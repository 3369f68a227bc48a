//! `explain`: kernels without a GPU. The kernel is PTX, which needs no compiler.

use crate::support::{Desk, keys};

const KERNEL: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");
const LAUNCH: &str = "--block 256 --arg input=f32[256]:range --arg output=f32[256] --arg factor=0.5";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("reverse.ptx", KERNEL);
    desk
}

#[test]
fn numbers_as_json() {
    let report = desk().json(&format!("explain reverse.ptx {LAUNCH} --gpu a6000"));
    for key in ["schema", "kernel", "gpu", "grid", "block", "totals", "lines", "findings"] {
        assert!(keys(&report).contains(&key), "{key}");
    }
    assert_eq!((&report["schema"], &report["gpu"]), (&1.into(), &"RTX A6000".into()));
    let totals = &report["totals"];
    assert_eq!(totals["global_load"]["sectors_per_request"], 8.0);
    assert_eq!(totals["global_load"]["efficiency"], 0.5);
    assert_eq!(totals["shared_load"]["conflicts"], 8);
    assert_eq!(totals["instruction_mix"]["bar.sync"], 8);
    assert_eq!(totals["occupancy"]["threads_per_block"], 256);
}

#[test]
fn a_report_for_people_and_a_page() {
    let desk = desk();
    let run = desk.run(&format!("explain reverse.ptx {LAUNCH} --report page.html"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    for words in ["occupancy", "reverse.ptx:21", "8 sectors", "bank-conflict", "Counts are of PTX"] {
        assert!(run.out.contains(words), "{words} is missing in\n{}", run.out);
    }
    assert!(run.err.contains("wrote page.html"));
    let page = desk.get("page.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("ld.shared.f32"));
}

#[test]
fn reports_fit_the_terminal() {
    let desk = desk();
    let widest = |command: &mut std::process::Command| {
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    for line in [
        format!("explain reverse.ptx {LAUNCH}"),
        "explain block-tile-2d --compare shared-tile --arg M=128 --arg N=128 --arg K=32".into(),
    ] {
        assert!(widest(desk.command(&line).env_remove("COLUMNS")) <= 80, "{line}");
        let wide = widest(desk.command(&line).env("COLUMNS", "120"));
        assert!(80 < wide && wide <= 120, "{line}: {wide}");
    }
}

#[test]
fn copies_of_an_unrolled_loop_are_one_finding() {
    let report = desk().json("explain block-tile-2d --arg M=128 --arg N=128 --arg K=32");
    let findings = report["findings"].as_array().unwrap();
    // There were 81, with four texts.
    assert!(findings.len() <= 6, "{}", findings.len());
    assert!(findings[0]["copies"].as_u64().unwrap() > 1);
    let costs: Vec<_> = findings.iter().map(|finding| finding["cost"].as_u64()).collect();
    assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
    assert!(report["verdict"]["headline"].as_str().unwrap().contains("unrolled copies"));
}

#[test]
fn atomics_that_wait_for_each_other_are_a_finding() {
    for kernel in ["atomics-shared", "atomics-global"] {
        let report = desk().json(&format!("explain {kernel}"));
        assert_eq!(report["findings"][0]["kind"], "atomic-contention", "{kernel}");
    }
    assert!(desk().ok("explain atomics-shared").contains("12.5 rounds"));
}

#[test]
fn different_addresses_of_constant_memory_are_a_finding() {
    let report = desk().json("explain constant-divergent");
    assert_eq!(
        (&report["findings"][0]["kind"], &report["findings"][0]["cost"]),
        (&"constant-divergence".into(), &3968.into())
    );
    assert!(desk().ok("explain constant-divergent").contains("a request takes 32 passes where 1 would do."));
    assert_eq!(desk().json("explain constant-uniform")["findings"], serde_json::json!([]));
}

#[test]
fn a_line_of_a_header_is_said_with_its_file() {
    let verdict = |line: &str| desk().json(line)["verdict"].to_string();
    assert!(verdict("explain vectorized").contains("Line 13 of vector.cuh, load of **Bs**"));
    assert!(verdict("explain warp-tile").contains("those of line 13 of vector.cuh"));
    assert!(verdict("explain transpose-naive").contains("Line 10, store to **output**"));
}

#[test]
fn a_picture_of_the_lanes_of_a_line() {
    let desk = desk();
    desk.ok("explain naive --arg M=64 --arg N=64 --arg K=64 --picture 15 lanes.svg");
    let svg = desk.get("lanes.svg");
    assert!(svg.contains("load of A: 32 sectors, 1024 bytes for 128"), "{svg}");
    assert!(svg.contains("load of B: 1 sector, 32 bytes for 4") && svg.contains("×32"), "{svg}");
    // One request each, though the loop is unrolled; 32 lanes of A in cells of their own.
    assert_eq!(svg.matches("class=\"heading\"").count(), 2);
    assert_eq!(svg.matches("class=\"sector\"").count(), 32 + 1 + 1);
    assert!(svg.contains("prefers-color-scheme: dark"));
    desk.ok("explain transpose-tiled --picture 13 banks.svg");
    assert!(desk.get("banks.svg").contains("load of tile: 32 passes over the banks"));
    desk.ok("explain naive --arg M=64 --arg N=64 --arg K=64 --picture semiring.cuh:8 store.svg");
    assert!(desk.get("store.svg").contains("store to C: 32 sectors"));
    // One array of a line, the dearest request of many, and memories that are neither sectors nor banks.
    desk.ok("explain naive --arg M=64 --arg N=64 --arg K=64 --picture 15:B b.svg");
    let svg = desk.get("b.svg");
    assert!(svg.contains("load of B: 1 sector") && !svg.contains("load of A:"), "{svg}");
    desk.ok("explain pitched-rows --picture 12:output rows.svg");
    assert!(desk.get("rows.svg").contains("store to output: 5 sectors, 160 bytes for 128"));
    desk.ok("explain constant-divergent --picture 11 constant.svg");
    assert!(desk.get("constant.svg").contains("load from constant memory: 32 passes, one for each address"));
    desk.ok("explain local-array --picture 12 local.svg");
    let svg = desk.get("local.svg");
    assert!(svg.contains("load from local memory: 32 sectors, 1024 bytes for 128"), "{svg}");
    assert!(svg.contains(">byte 0<") && svg.contains(">byte 1920<"), "{svg}");
    for (value, words) in [
        ("1 lanes.svg", "these do: 15 (A, B), semiring.cuh:8 (C)"),
        ("15:C lanes.svg", "line 15 does not access C"),
        ("x lanes.svg", "'x' is no line"),
        ("15 lanes.png", "pictures are .svg"),
    ] {
        let run = desk.run(&format!("explain naive --arg M=64 --arg N=64 --arg K=64 --picture {value}"));
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains(words), "{}", run.err);
    }
}

#[test]
fn matrices_come_from_files() {
    let desk = desk();
    let numbers: Vec<String> = (0..256).map(|i| format!("{i}.5")).collect();
    desk.put("input.csv", &(numbers.join(",") + "\n"));
    desk.ok("mul input.csv input.csv --transpose-b --dtype f32 -o product.npy");
    let launch = LAUNCH.replace("f32[256]:range", "input.csv");
    // f64 numbers are twice as wide: the kernel reads within them, and only the halves that it knows.
    let report = desk.json(&format!("explain reverse.ptx {launch}"));
    assert_eq!(report["totals"]["global_load"]["requests"], 8);
    let run = desk.run(&format!("explain reverse.ptx {}", LAUNCH.replace("f32[256]:range", "product.npy")));
    assert_eq!(run.code, Some(1), "one element is not enough: {}", run.out);
}

#[test]
fn errors_in_the_kernel_give_code_1() {
    let run = desk().run(&format!(
        "explain reverse.ptx {} --format json",
        LAUNCH.replace("output=f32[256]", "output=f32[255]")
    ));
    assert_eq!(run.code, Some(1));
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(report["findings"][0]["kind"], "out-of-bounds");
    assert_eq!(report["findings"][0]["severity"], "error");
    assert!(run.err.contains("errors were found in reverse.ptx"), "{}", run.err);
}

#[test]
fn arrays_go_to_files_and_are_compared() {
    let desk = desk();
    desk.ok(&format!("explain reverse.ptx {LAUNCH} --out output=y.npy --out input=all.npz:x --out output=all.npz:y --out output=y.csv"));
    // The array is a vector of 256; the archive has both.
    let run = desk.ok(&format!(
        "explain reverse.ptx {LAUNCH} --expect output=y.npy --expect output=all.npz:y --expect output=y.csv --expect input=all.npz:x"
    ));
    assert_eq!(run.matches("ok output is as expected, 256 elements").count(), 3, "{run}");
    assert!(run.contains("ok input is as expected"), "{run}");
    // 0.5 (32 (i % 8)), backwards.
    assert!(desk.get("y.csv").starts_with("112.0,96.0,80.0"), "{}", desk.get("y.csv"));

    let numbers = desk.get("y.csv").replacen("112.0", "112.5", 1).replacen("96.0", "nan", 1);
    desk.put("other.csv", &numbers);
    let line = format!("explain reverse.ptx {LAUNCH} --expect output=other.csv");
    let run = desk.run(&line);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let words = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "output differs in 2 of 256 elements, most of all output[1] is 96.0, expected NaN; \
             the first: output[0] is 112.0, expected 112.5, output[1] is 96.0, expected NaN"
        ),
        "{words}"
    );
    assert!(run.err.contains("not as expected: output"), "{}", run.err);
    desk.put("near.csv", &desk.get("y.csv").replacen("112.0", "112.5", 1));
    let line = line.replace("other.csv", "near.csv");
    assert_eq!(desk.run(&format!("{line} --tolerance 1e-3")).code, Some(1));
    desk.ok(&format!("{line} --tolerance 0.01"));
}

#[test]
fn results_in_json_are_those_asked_for() {
    let desk = desk();
    let report = desk.json(&format!("explain reverse.ptx {LAUNCH}"));
    assert!(!keys(&report).contains(&"arrays") && !keys(&report).contains(&"expected"));
    let run = desk.run(&format!(
        "explain reverse.ptx --compare reverse.ptx {LAUNCH} --values output --expect input=f32[256]:range --expect output=f32[256]:48 --format json"
    ));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for report in [&report, &report["compared_with"]] {
        let array = &report["arrays"][0];
        assert_eq!(
            (&array["name"], &array["type"], &array["shape"][0]),
            (&"output".into(), &"f32".into(), &256.into())
        );
        assert_eq!(array["values"].as_array().unwrap()[..3], [112.0, 96.0, 80.0]);
        let [input, output] = [&report["expected"][0], &report["expected"][1]];
        assert_eq!((&input["different"], &input["largest_error"]), (&0.into(), &0.0.into()));
        assert_eq!((&output["different"], &output["elements"]), (&224.into(), &256.into()));
        assert_eq!(output["first"][0], serde_json::json!({"index": [0], "found": 112.0, "expected": 48.0}));
    }
}

#[test]
fn results_that_cannot_be_had_are_refused_before_the_launch() {
    let desk = desk();
    for (options, code, words) in [
        ("--expect y=f32[256]", 2, "the launch has none of this name"),
        ("--expect output=f32[255]", 2, "f32[256], and f32[255] is expected"),
        ("--expect output=absent.npy", 3, "absent.npy"),
        ("--values y", 2, "it has input, output"),
        ("--out y=y.npy", 2, "none of this name"),
        ("--out output=y.txt", 3, "unknown file type"),
        ("--out output=no/y.npy", 3, "no/y.npy"),
        ("--out output=y.npy --out input=y.npy", 2, "both write to"),
        ("--tolerance 1", 2, "--expect"),
        ("--expect output=f32[256] --tolerance -1", 2, "no finite number"),
    ] {
        let run = desk.run(&format!("explain reverse.ptx {LAUNCH} {options}"));
        assert_eq!(run.code, Some(code), "{options}: {}", run.err);
        assert!(run.err.contains(words), "{options}: {}", run.err);
        assert!(run.out.is_empty(), "{options}");
    }
    // A launch that fails gives no results, and leaves files alone.
    let launch = LAUNCH.replace("output=f32[256]", "output=f32[255]");
    let run = desk.run(&format!("explain reverse.ptx {launch} --out output=y.npy --values output"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("y.npy not written: the launch had errors"), "{}", run.err);
    assert!(!desk.file("y.npy").exists() && !run.out.contains("results"));
}

#[test]
fn two_kernels_side_by_side() {
    let desk = desk();
    desk.put("straight.ptx", &KERNEL.replace("shl.b32 %r4, %r1, 3", "shl.b32 %r4, %r1, 2"));
    let report = desk.json(&format!("explain reverse.ptx --compare straight.ptx {LAUNCH}"));
    let conflicts = |report: &serde_json::Value| report["totals"]["shared_load"]["conflicts"].clone();
    assert_eq!((conflicts(&report), conflicts(&report["compared_with"])), (8.into(), 0.into()));
    let table = desk.ok(&format!("explain reverse.ptx --compare straight.ptx {LAUNCH} --report both.html"));
    assert!(table.contains("bank conflicts") && table.contains("straight.ptx"), "{table}");
    assert!(desk.get("both.html").contains("straight.ptx"));
}

/// What is missing is guessed, in a line to paste.
#[test]
fn a_line_to_paste_runs() {
    let desk = desk();
    let run = desk.run("explain reverse.ptx --arg 2=64");
    assert_eq!(run.code, Some(2), "{}", run.err);
    let line = run.err.split("to begin with: tilewright ").nth(1).unwrap_or_else(|| panic!("{}", run.err));
    assert!(line.contains("--block 256") && line.contains("f32["), "{line}");
    let pasted: String = line.lines().next().unwrap().replace('\'', "");
    let run = desk.run(&pasted);
    assert!(matches!(run.code, Some(0 | 1)), "{pasted}: {}", run.err);
}

/// Each takes what it knows of the launch and of the arguments.
#[test]
fn an_own_kernel_beside_one_of_the_catalogue() {
    let desk = desk();
    let report =
        desk.json(&format!("explain reverse.ptx --compare naive {LAUNCH} --arg M=32 --arg N=32 --arg K=32"));
    assert_eq!(report["compared_with"]["kernel"], "naive");
    assert!(
        report["notes"].to_string().contains("the argument M is for the other kernel"),
        "{}",
        report["notes"]
    );
    let run = desk.run(&format!("explain reverse.ptx --compare naive {LAUNCH}"));
    assert!(run.code == Some(2) && run.err.contains("--arg M=64 --arg N=64 --arg K=64"), "{}", run.err);
    // Two kernels of one file.
    let two =
        format!("{KERNEL}\n{}", KERNEL[KERNEL.find(".visible").unwrap()..].replacen("reverse", "again", 1));
    desk.put("two.ptx", &two);
    let report = desk.json(&format!("explain two.ptx:reverse --compare two.ptx:again {LAUNCH}"));
    assert_eq!((&report["entry"], &report["compared_with"]["entry"]), (&"reverse".into(), &"again".into()));
    assert_eq!(
        (&report["kernel"], &report["compared_with"]["kernel"]),
        (&"two.ptx:reverse".into(), &"two.ptx:again".into())
    );
}

#[test]
fn mistakes() {
    let desk = desk();
    desk.put("broken.ptx", ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { ld.");
    desk.put("empty.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (line, code, words) in [
        ("explain reverse.ptx --arg 0=f32[1] --arg 1=f32[1] --arg 2=1", 2, "threads of a block"),
        ("explain reverse.ptx --block 256", 2, "are missing"),
        ("explain reverse.ptx --block 256 --arg 0=absent.npy --arg 1=f32[1] --arg 2=1", 3, "absent.npy"),
        ("explain reverse.ptx --block 256 --arg what=1", 2, "no such parameter"),
        ("explain reverse.ptx --block 0", 2, "no extent"),
        ("explain absent.ptx --block 32", 3, "absent.ptx"),
        ("explain broken.ptx --block 32", 3, "broken.ptx"),
        ("explain empty.ptx --block 32", 3, "no kernel"),
        ("explain nothing", 2, "nothing"),
        ("explain naive --block 32", 2, "recipe"),
        ("explain naive --gpu voodoo2", 2, "voodoo2"),
        ("explain naive -D WIDTH=4", 2, "options of the compiler"),
        ("explain reverse.ptx --std c++99", 2, "c++17"),
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
    // A launch that no GPU takes is a finding, as the kernel's other faults are.
    let run = desk.run("explain reverse.ptx --block 2048 --arg 0=f32[1] --arg 1=f32[1] --arg 2=1");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("cannot launch") && run.out.contains("1024 threads per block"), "{}", run.out);
}

#[test]
fn options_reach_the_compiler() {
    let desk = Desk::new();
    std::fs::create_dir(desk.file("headers")).unwrap();
    desk.put("headers/factor.h", "#define FACTOR 3\n");
    desk.put(
        "program.cu",
        "#include <cstdio>\n#include \"factor.h\"\ntemplate <class T> __global__ void scale(T* x) { x[threadIdx.x] *= FACTOR * WIDTH; }\n\
         int main() { std::printf(\"hello\"); }\n",
    );
    let line = "explain program.cu --entry scale<float> -I headers -D WIDTH=2 --std c++20 --use_fast_math --ptxas-options=-O1 --block 4 --arg x=x.csv --expect x=f32[4]:12";
    desk.put("x.csv", "2,2,2,2\n");
    let run = desk.run(line);
    if run.code == Some(4) {
        return eprintln!("skipped: {}", run.err);
    }
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.out.contains("program.cu (entry scale<float>)") && run.out.contains("ok x is as expected"),
        "{}",
        run.out
    );
}

#[test]
fn an_argument_is_given_once() {
    let desk = desk();
    for (again, thing) in
        [("factor=2", "factor"), ("2=2", "factor"), ("input=f32[256]", "input"), ("factor=0.5", "factor")]
    {
        let run = desk.run(&format!("explain reverse.ptx {LAUNCH} --arg {again}"));
        assert_eq!(run.code, Some(2), "{again}: {}", run.err);
        assert!(run.err.contains(&format!("{thing} is given already")), "{}", run.err);
        assert!(run.err.contains("hint: leave out one of them"), "{}", run.err);
    }
    let run = desk.run("explain naive --arg M=16 --arg M=32");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("M is given already, as M=16"), "{}", run.err);
}

/// A kernel of one warp: an instruction on zeros, and a store.
fn kernel_of(instruction: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %a<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %rd<3>; .reg .b32 %z<2>;\n\
         ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n\
         mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;\n\
         mov.b32 %a4, 0; mov.b32 %a5, 0; mov.b32 %a6, 0; mov.b32 %a7, 0;\n\
         mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
         mov.f64 %d0, 0d0000000000000000; mov.f64 %d1, %d0;\n\
         {instruction}\nmov.b32 %z1, 0;\nst.global.u32 [%rd2], %z1;\nret;\n}}\n"
    )
}

#[test]
fn the_roofline_is_that_of_the_arithmetic() {
    let desk = Desk::new();
    let (d, a) = ("{%f0,%f1,%f2,%f3}", "{%a0,%a1,%a2,%a3}");
    for (instruction, rate, tera) in [
        (
            format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d},{a},{{%a4,%a5}},{d};"),
            "tensor_f16",
            989.0,
        ),
        (
            format!("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {d},{a},{{%a4,%a5}},{d};"),
            "tensor_tf32",
            495.0,
        ),
        (
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0,%d1},{%d0},{%d1},{%d0,%d1};".into(),
            "tensor_f64",
            67.0,
        ),
        (
            format!("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {a},{a},{{%a4,%a5}},{a};"),
            "tensor_i8",
            1979.0,
        ),
        ("fma.rn.f16x2 %a0, %a1, %a2, %a3;".into(), "f16", 134.0),
        ("fma.rn.f32 %f0, %f1, %f2, %f3;".into(), "f32", 67.0),
    ] {
        desk.put("k.ptx", &kernel_of(&instruction));
        let line = "explain k.ptx --block 32 --arg out=i32[1] --gpu h200";
        let run = desk.run(&format!("{line} --format json"));
        // Every lane stores to one place, which is a race, and no matter here.
        let report: serde_json::Value =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{instruction}: {}", run.err));
        let roofline = &report["totals"]["roofline"];
        assert_eq!(roofline["rate"], rate, "{instruction}: {}", report["findings"]);
        let peak = roofline["peak_operations_per_second"].as_f64().unwrap() / 1e12;
        assert!((peak / tera - 1.0).abs() < 0.02, "{instruction}: {peak}");
        let operation = if rate == "tensor_i8" { "OP" } else { "FLOP" };
        let text = desk.run(line).out;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!(" T{operation}/s without a cache")), "{text}");
    }
}

#[test]
fn the_production_kernel_is_explained_and_printed_without_a_compiler() {
    let desk = Desk::new();
    let without = |line: &str| {
        let output = desk.command(line).env("TILEWRIGHT_NVRTC_PATH", "none").output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for dtype in ["f32", "f64", "i32"] {
        let text = without(&format!("explain simt --arg M=35 --arg N=33 --arg K=17 --arg dtype={dtype}"));
        assert!(text.contains("program: plain, for all layouts"), "{text}");
    }
    assert!(without("kernels simt --ptx").contains(".visible .entry simt("));
}
