//! `tilewright mul --plan`.

use crate::support::{Desk, keys};

#[test]
fn the_processor_plans_what_it_then_does() {
    let desk = Desk::new();
    let line = "mul roads.csv roads.csv --semiring min-plus --dtype f32 --threads 1 --backend cpu";
    let plan = desk.json(&format!("{line} --plan"));
    let done = desk.json(line);
    assert_eq!(plan["kernel"], done["kernel"]);
    assert_eq!(plan["cpu"]["threads"], done["threads"]);
    assert_eq!(
        (&plan["pair_ops"], &plan["bytes"], &plan["flops"]),
        (&27.0.into(), &108.0.into(), &().into())
    );
    assert_eq!(
        keys(&plan["cpu"]),
        [
            "block_columns",
            "block_terms",
            "isa",
            "narrows",
            "packs_a",
            "packs_b",
            "parts_of_terms",
            "prunes",
            "regions",
            "sums_in_c",
            "threads",
            "tile"
        ]
    );
    let text = desk.ok(&format!("{line} --plan"));
    for part in ["backend  cpu", "kernel   min-plus f32", "in registers", "1x1 regions", "blocks"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Whichever kernel it is, and wherever it happens.
#[test]
fn recipes_say_where_the_epilogue_is() {
    let desk = Desk::new();
    desk.put("bias.csv", "1,2\n");
    let plan = |dtype: &str, kernel: &str| {
        let line = "mul whole.csv whole.csv --bias bias.csv --activation relu --plan --gpu h200 -q";
        desk.json(&format!("{line} --dtype {dtype} --kernel {kernel}"))["gpu"]["details"]["epilogue"].clone()
    };
    for (dtype, kernel) in [("bf16", "wgmma"), ("f16", "mma"), ("f64", "dmma")] {
        assert_eq!(plan(dtype, kernel), "bias and relu, before C is written", "{kernel}");
    }
    assert_eq!(plan("f32", "simt"), "bias and relu, by a launch of its own that reads the sums");
}

#[test]
fn nothing_is_written() {
    let desk = Desk::new();
    desk.ok("mul roads.csv roads.csv -o out.npy --semiring min-plus --arg-out arg.npy --plan");
    assert!(!desk.list().iter().any(|name| name.ends_with(".npy")), "{:?}", desk.list());
}

#[test]
fn a_gpu_that_is_not_here_is_planned_for() {
    let desk = Desk::new();
    let plan = desk.json("mul roads.csv roads.csv --semiring min-plus --dtype f32 --plan --gpu a6000 -q");
    assert_eq!((&plan["backend"], &plan["gpu"]["name"]), (&"cuda".into(), &"RTX A6000".into()));
    assert_eq!(plan["gpu"]["compute_capability"], "8.6");
    let floor = &plan["gpu"]["floor"];
    assert_eq!(floor["bound"], "memory");
    assert!((floor["seconds"].as_f64().unwrap() * 768e9 / 108.0 - 1.0).abs() < 1e-9, "{floor}");
    assert!(plan["gpu"]["estimated_seconds"].as_f64() > floor["seconds"].as_f64(), "{plan}");
    let rejected = plan["rejected"].as_array().unwrap();
    let reason = |name: &str| {
        let found = rejected.iter().find(|r| r["candidate"] == name);
        found.and_then(|r| r["reason"].as_str()).unwrap_or_else(|| panic!("{name}: {plan}")).to_owned()
    };
    assert_eq!(reason("shared-tile"), "needs M to be a multiple of 32; M is 3");
    assert!(reason("naive").contains("is slower than"), "{}", reason("naive"));
    let launch = &plan["gpu"]["launches"][0];
    assert!(launch["grid"].is_array() && launch["block"].is_array(), "{launch}");
    // With a compiler the registers and the occupancy are known.
    assert_eq!(launch["registers_per_thread"].is_null(), launch["occupancy"].is_null());

    // A reason is said once, with all that it keeps out.
    let text = desk.ok("mul roads.csv roads.csv --semiring min-plus --dtype f32 --plan --gpu a6000 -q");
    assert_eq!(text.matches("is slower than").count(), 1, "{text}");
    assert!(text.contains("rejected           naive, coalesced, "), "{text}");

    let text = desk.ok("mul roads.csv roads.csv --dtype f32 --plan --gpu h200 --kernel naive -q");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["gpu H200 SXM, compute capability 9.0, 132 SMs", "kernel naive: ", "grid 1x1x1 (1 block)", "floor"]
    {
        assert!(words.contains(part), "{part}\n{text}");
    }
    // No model describes the first steps of the ladder: the rate that was measured is said, and the estimate follows from it.
    assert!(!text.contains("rejected") && !text.contains("model") && words.contains("estimate "), "{text}");
    assert!(words.contains("measured 0.7 % of the peak on an H200 SXM"), "{text}");
    assert!(words.contains("floor less than the start of a kernel takes"), "{text}");
    assert!(!desk.ok("mul real.csv real.csv --dtype f32 --plan --gpu h200 -q").contains("model"));
}

#[test]
fn what_bounds_a_kernel_is_said_where_a_block_tells() {
    let desk = Desk::new();
    let row = |n: usize| vec!["1"; n].join(",") + "\n";
    desk.put("a.csv", &row(1024).repeat(256));
    desk.put("b.csv", &row(256).repeat(1024));
    let line = "mul a.csv b.csv --dtype f32 --plan --gpu h200 --kernel naive -q";
    let plan = desk.json(line);
    let (bound, floor) = (&plan["gpu"]["bound"], &plan["gpu"]["floor"]);
    assert_eq!((&bound["part"], &bound["program"]), (&"l1_data".into(), &"naive.plus-times.f32".into()));
    // 33 passes of the data path for each multiply-add of a warp, in 64 blocks of 32 warps on as many of 132 multiprocessors.
    let seconds = bound["seconds"].as_f64().unwrap();
    assert!((seconds / (33.0 * 32.0 * 1024.0 / 1.98e9) - 1.0).abs() < 0.02, "{bound}");
    assert!(seconds > floor["seconds"].as_f64().unwrap() && bound["likely_seconds"].as_f64() > Some(seconds));
    assert!(bound["next"]["share"].as_f64() < Some(1.0), "{bound}");
    let words = desk.ok(line).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("at least by the counts of a block: data path of L1"), "{words}");
    // Nothing is guessed where edges differ from other blocks.
    assert!(
        desk.json("mul roads.csv roads.csv --dtype f32 --plan --gpu h200 --kernel naive -q")["gpu"]["bound"]
            .is_null()
    );
}

#[test]
fn what_bounds_a_production_kernel_follows_from_its_recipe() {
    let desk = Desk::new();
    let row = |n: usize| vec!["1"; n].join(",") + "\n";
    desk.put("a.csv", &row(1024).repeat(256));
    desk.put("b.csv", &row(256).repeat(1024));
    for kernel in [
        "wgmma --dtype bf16",
        "wgmma --dtype f32 --math tf32",
        "mma --dtype f16",
        "dmma --dtype f64",
        "log-plus --dtype f32 --semiring log-plus",
    ] {
        let line = format!("mul a.csv b.csv --plan --gpu h200 -q --kernel {kernel}");
        let gpu = &desk.json(&line)["gpu"];
        let bound = &gpu["bound"];
        assert_eq!((&bound["counts_of"], bound["program"].is_null()), (&"recipe".into(), true), "{bound}");
        let [least, likely] = [&bound["seconds"], &bound["likely_seconds"]].map(|x| x.as_f64().unwrap());
        // More than the start of a launch, and no more than what is expected.
        assert!(least >= 1.19e-6 && likely >= least && gpu["estimated_seconds"].as_f64() <= Some(likely));
        assert!(bound["part"].is_string() && bound["next"]["share"].as_f64() <= Some(1.0), "{bound}");
        let words = desk.ok(&line).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("at least by the counts of the recipe: "), "{words}");
        assert!(words.contains(", as estimated"), "{words}");
    }
    // Edges of `simt`, too.
    let simt = desk.json("mul roads.csv roads.csv --dtype f32 --plan --gpu h200 --kernel simt -q");
    assert_eq!(simt["gpu"]["bound"]["counts_of"], "recipe", "{simt}");
}

#[test]
fn gpus_of_every_kind_have_plans_and_rates_of_their_own() {
    let desk = Desk::new();
    let of = |gpu: &str, dtype: &str| {
        let plan = desk.json(&format!("mul real.csv real.csv --dtype {dtype} --plan --gpu {gpu} -q"));
        assert!(plan["gpu"]["launches"][0]["blocks_per_sm"].as_u64() != Some(0), "{plan}");
        let floor = plan["gpu"]["floor"]["pair_ops_per_second"].as_f64().unwrap();
        (plan["gpu"]["multiprocessors"].as_u64().unwrap(), floor)
    };
    for (gpu, multiprocessors, halves) in [
        ("a100", 108, true),
        ("l4", 58, false),
        ("rtx4090", 128, false),
        ("t4", 40, false),
        ("b200", 148, true),
    ] {
        let (found, f64) = of(gpu, "f64");
        let (_, f32) = of(gpu, "f32");
        assert_eq!((found, 3.0 * f64 > f32), (multiprocessors, halves), "{gpu}: {f64:e} of {f32:e}");
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let desk = Desk::new();
    desk.put("f64.csv", "1.5\n");
    for (line, code, part) in [
        ("--plan --gpu a600", 2, "RTX A6000"),
        ("--plan --gpu h200 --backend cpu", 2, "--gpu h200 with --backend cpu"),
        ("--plan --gpu h200 --kernel avx2", 2, "--kernel avx2 is an instruction set"),
        ("--plan --kernel naive --backend cpu", 2, "--kernel naive is a GPU kernel"),
        ("--plan --gpu h200 --dtype f32 --kernel shared-tile", 2, "M to be a multiple of 32; M is 2"),
        ("--kernel naive --backend cpu", 2, "--kernel naive is a GPU kernel"),
        ("--kernel avx2 --backend emulator", 2, "--kernel avx2 is an instruction set"),
        ("--gpu h200 --backend cpu", 2, "--gpu h200 neither with --plan nor with --backend emulator"),
        ("--gpu a600 --backend emulator --dtype f32", 2, "RTX A6000"),
        ("--kernel nosuch", 2, "possible values: "),
        ("--gpu h200", 2, "--plan"),
        ("--dtype f32 --plan --gpu v100", 2, "it has compute capability 7.0, and the kernels need 7.5"),
    ] {
        let run = desk.run(&format!("mul whole.csv whole.csv {line}"));
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(part), "{line}: {}", run.err);
    }
}

#[test]
fn factors_and_accumulation_are_part_of_the_plan() {
    let desk = Desk::new();
    let line =
        "mul real.csv real.csv --dtype f32 --alpha 0.5 --beta 2 --accumulate real.csv --plan --gpu h200 -q";
    assert!(desk.ok(line).contains("C 2x2 = 0.5 A x B + 2 C, k = 2, plus-times on f32"));
    let plan = desk.json(line);
    assert_eq!((&plan["reads_c"], &plan["alpha"], &plan["bytes"]), (&true.into(), &0.5.into(), &64.0.into()));
}

#[test]
fn without_a_compiler_the_plain_program_is_planned_and_the_reason_given() {
    let desk = Desk::new();
    for dtype in ["f32", "f64", "i32"] {
        let line = format!("mul whole.csv whole.csv --dtype {dtype} --plan --backend emulator --format json");
        let output = desk.command(&line).env("TILEWRIGHT_NVRTC_PATH", "none").output().unwrap();
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let program = format!("simt.plus-times.{dtype}.plain");
        assert_eq!(plan["gpu"]["launches"][0]["program"], program.as_str(), "{plan}");
        let passed_over = &plan["rejected"][0];
        let reason = "NVRTC is not available: TILEWRIGHT_NVRTC_PATH=none says so";
        assert_eq!(passed_over["reason"], reason, "{plan}");
        let candidate = passed_over["candidate"].as_str().unwrap();
        let families = ["simt", "thin", "dmma"].map(|family| format!("{family}.plus-times.{dtype}."));
        assert!(families.iter().any(|family| candidate.starts_with(family)), "{plan}");
    }
}
