//! `tilewright occupancy` from numbers: formats, sweeps, charts, and what is refused.

use crate::support::{Desk, keys};
use serde_json::{Value, json};

/// The course's kernel on the course's GPU.
const A6000: &str = "occupancy --gpu a6000 --threads 1024 --regs 37 --smem 8192";

#[test]
fn json_has_the_documented_keys_and_the_known_numbers() {
    let report = Desk::new().json(A6000);
    assert_eq!(
        report,
        json!({
            "schema": 1,
            "gpu": "RTX A6000",
            "compute_capability": "8.6",
            "threads_per_block": 1024,
            "registers_per_thread": 37,
            "static_shared_memory_bytes": 8192,
            "dynamic_shared_memory_bytes": 0,
            "barriers": 1,
            "cluster_size": 1,
            "blocks_per_sm": 1,
            "warps_per_sm": 32,
            "max_warps_per_sm": 48,
            "occupancy": 32.0 / 48.0,
            "limits": {"warps": 1, "blocks": 16, "registers": 1, "shared_memory": 11, "barriers": null},
            "limited_by": ["warps", "registers"],
            "allocated": {"registers_per_block": 40960, "shared_memory_per_block_bytes": 9216},
            "changes": [{
                "quantity": "threads_per_block", "from": 1024, "to": 768,
                "blocks_per_sm": 2, "warps_per_sm": 48, "occupancy": 1.0
            }],
        })
    );
}

#[test]
fn best_adds_the_block_size_and_takes_the_place_of_threads() {
    let desk = Desk::new();
    let report = desk.json("occupancy --gpu a6000 --regs 37 --dynamic-smem-per-thread 8 --best");
    assert_eq!(
        keys(&report),
        [
            "allocated",
            "barriers",
            "block_size",
            "blocks_per_sm",
            "changes",
            "cluster_size",
            "compute_capability",
            "dynamic_shared_memory_bytes",
            "gpu",
            "limited_by",
            "limits",
            "max_warps_per_sm",
            "min_grid_size",
            "occupancy",
            "registers_per_thread",
            "schema",
            "square_side",
            "static_shared_memory_bytes",
            "threads_per_block",
            "warps_per_sm"
        ]
    );
    let part = |key: &str| report[key].clone();
    assert_eq!(
        [part("block_size"), part("min_grid_size"), part("square_side"), part("threads_per_block")],
        [json!(768), json!(168), json!(16), json!(768)]
    );
    // A GPU without a name has no number of SMs; given threads stay.
    let report = desk.json("occupancy --cc sm_86 --regs 37 --threads 128 --best");
    assert_eq!((&report["min_grid_size"], &report["threads_per_block"]), (&Value::Null, &json!(128)));
    // Nothing launches with 300 registers.
    let run = desk.run("occupancy --cc 8.6 --regs 300 --best --format json");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &report["block_size"]), (Some(1), &Value::Null), "{}", run.err);
    assert!(desk.run("occupancy --cc 8.6 --regs 300 --best").out.contains("best block     none can launch"));
}

#[test]
fn every_option_counts() {
    let desk = Desk::new();
    let blocks = |rest: &str| desk.json(&format!("occupancy --cc 9.0 {rest}"))["blocks_per_sm"].as_u64();
    for (rest, expected) in [
        ("--threads 128 --regs 32", 16),
        ("--threads 32 --regs 32", 32),
        ("--threads 32 --regs 32 --barriers 4", 16),
        ("--threads 64 --regs 32 --smem 40000", 5),
        ("--threads 64 --regs 32 --smem 39K --dynamic-smem 64", 5),
        ("--threads 64 --regs 32 --dynamic-smem-per-thread 625", 5),
        ("--threads 64 --regs 32 --smem 40000 --carveout 50", 3),
        ("--threads 64 --regs 32 --cluster 16", 32),
    ] {
        assert_eq!(blocks(rest), Some(expected), "{rest}");
    }
}

#[test]
fn the_table_says_what_binds_and_what_to_change() {
    let desk = Desk::new();
    let text = desk.ok(A6000);
    for part in [
        "RTX A6000, compute capability 8.6, 84 SMs",
        "1024 threads (32 warps) per block, 37 registers per thread, 8192 B of shared memory",
        "1 block per SM, 32 of 48 warps (66.7 %)",
        "768 threads per block instead of 1024: 2 blocks per SM, 48 of 48 warps (100.0 %)",
        "32 registers per thread instead of 37: not enough, limited by warps as well",
        "simple formula 1 x 1024 / 1536 = 66.7 %, the same",
        "for the whole GPU 84 x 1024 / (1536 x 84), which is equal",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("no occupancy"), "{text}");
    let marked = |name: &str| text.lines().any(|l| l.starts_with(name) && l.contains("<- limit"));
    let names = ["warps", "registers", "shared memory", "blocks", "barriers"];
    assert_eq!(names.map(marked), [true, true, false, false, false], "{text}");
    // Part of a warp.
    let text = desk.ok("occupancy --cc 8.6 --threads 33 --regs 32");
    assert!(text.contains("34.4 %, not 66.7 %: it counts threads, the SM holds whole warps"), "{text}");
    // Registers alone bind: 32 instead of 37.
    let text = desk.ok("occupancy --cc 8.0 --threads 1024 --regs 37");
    assert!(
        text.contains("32 registers per thread instead of 37: 2 blocks per SM, 64 of 64 warps (100.0 %)"),
        "{text}"
    );
    // At 100 % there is nothing to gain.
    let line = "occupancy --cc 8.6 --threads 128 --regs 16";
    assert!(!desk.ok(line).contains("for one more"), "{}", desk.ok(line));
    assert_eq!(desk.json(line)["changes"], json!([]));
    // Small blocks cannot fill an SM.
    let text = desk.ok("occupancy --cc 8.6 --threads 32 --regs 32");
    assert!(
        text.contains("96 threads per block instead of 32: 16 blocks per SM, 48 of 48 warps (100.0 %)"),
        "{text}"
    );
    let text = desk.ok("occupancy --gpu a6000 --regs 37 --dynamic-smem-per-thread 8 --best");
    for part in ["768 threads: 2 blocks per SM", "a grid of 168 blocks fills the GPU", "16 x 16 = 256"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn clusters_have_a_bound_on_a_named_gpu() {
    let desk = Desk::new();
    // One block per SM: 132 SMs hold no more than 66 pairs.
    let line = "occupancy --gpu h200 --threads 1024 --regs 64 --cluster";
    assert!(desk.ok(&format!("{line} 2")).contains("clusters       at most 66 at once"));
    assert!(!desk.ok(&format!("{line} 1")).contains("clusters"));
}

#[test]
fn no_numbers_are_too_large() {
    let desk = Desk::new();
    let most = u32::MAX;
    for line in [
        format!(
            "--threads {most} --regs {most} --smem {most} --dynamic-smem {most} --barriers {most} --cluster {most}"
        ),
        format!("--threads 1 --regs 1 --dynamic-smem-per-thread {most} --dynamic-smem {most}"),
        format!("--threads 1024 --regs 1 --dynamic-smem-per-thread {most} --best"),
    ] {
        let run = desk.run(&format!("occupancy --gpu h200 {line} --chart f.svg"));
        assert_eq!(run.code, Some(1), "{line}: {}", run.err);
        assert!(run.err.contains("error: this configuration cannot launch"), "{line}: {}", run.err);
    }
}

#[test]
fn colour_is_for_those_who_want_it() {
    let desk = Desk::new();
    assert!(!desk.ok(A6000).contains('\u{1b}'));
    assert!(desk.ok(&format!("{A6000} --color always")).contains("\u{1b}["));
}

#[test]
fn what_cannot_launch_is_reported_with_code_1() {
    let desk = Desk::new();
    for (line, error, hint) in [
        (
            "--cc 8.6 --threads 1024 --regs 72",
            "with 72 registers each takes 73728, 8192 more than the limit of 65536",
            "64 registers per thread, or at most 896 threads",
        ),
        (
            "--cc 8.6 --threads 2048 --regs 32",
            "2048 threads per block exceed the limit of 1024 by 1024",
            "at most 1024",
        ),
        (
            "--cc 8.6 --threads 256 --regs 32 --dynamic-smem 100K",
            "more than the limit of 101376",
            "at most 101376 bytes",
        ),
        ("--cc 9.0 --threads 256 --regs 300", "300 registers per thread", "at most 255 registers"),
        ("--cc 9.0 --threads 256 --regs 32 --max-threads 128", "launch bounds of 128", "at most 128 threads"),
        ("--cc 9.0 --threads 256 --regs 32 --cluster 17", "cluster of 17", "at most 16 blocks"),
        ("--cc 8.0 --threads 256 --regs 32 --cluster 2", "9.0 or later", "leave out --cluster"),
        ("--cc 9.0 --threads 256 --regs 32 --barriers 17", "17 barriers", "at most 16"),
    ] {
        let run = desk.run(&format!("occupancy {line} --format json"));
        assert_eq!(run.code, Some(1), "{line}: {}", run.err);
        let said: Value = serde_json::from_str(run.err.lines().last().unwrap()).unwrap();
        let part = |key: &str| said["error"][key].as_str().unwrap().to_owned();
        assert!(part("message").contains(error) && part("hint").contains(hint), "{line}: {}", run.err);
        assert_eq!((part("code").as_str(), &said["error"]["exit_code"]), ("check-failed", &json!(1)));
        let report: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!((&report["blocks_per_sm"], &report["occupancy"]), (&json!(0), &json!(0.0)), "{line}");
        assert!(report["error"].as_str().unwrap().contains(error), "{line}: {report}");
        assert_eq!(desk.run(&format!("occupancy {line}")).code, Some(1), "{line}");
    }
}

#[test]
fn static_shared_memory_that_no_kernel_can_declare_is_counted_as_the_toolkit_does_and_said() {
    let run = Desk::new().run("occupancy --cc 9.0 --threads 256 --regs 32 --smem 60000");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("3 blocks per SM"), "{}", run.out);
    assert!(run.err.contains("60000 bytes of static shared memory exceed the 49152"), "{}", run.err);
    assert!(run.err.contains("--dynamic-smem"), "{}", run.err);
}

#[test]
fn a_256th_register_has_the_toolkits_answer_and_an_error() {
    let run = Desk::new().run("occupancy --cc 9.0 --threads 64 --regs 256 --format json");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &report["blocks_per_sm"]), (Some(1), &json!(4)), "{}", run.err);
    assert!(run.err.contains("256 registers per thread exceed the limit of 255"), "{}", run.err);
}

#[test]
fn what_makes_no_sense_is_refused_with_code_2() {
    let desk = Desk::new();
    let given = "occupancy --cc 8.6 --threads 256 --regs 32";
    for (line, error) in [
        ("occupancy --cc 8.6 --threads 256", "error: no registers are given"),
        ("occupancy --cc 8.6 --regs 32", "error: no threads are given"),
        ("occupancy --cc 8.6 --gpu h200 --threads 256 --regs 32", "cannot be used with"),
        ("occupancy --cc 3.5 --threads 256 --regs 32", "compute capability 3.5"),
        ("occupancy --cc volta --threads 256 --regs 32", "is not a compute capability"),
        ("occupancy --gpu a600 --threads 256 --regs 32", "A6000"),
        ("occupancy --gpu voodoo --threads 256 --regs 32", "voodoo"),
        (&format!("{given} --smem -1"), ""),
        (&format!("{given} --smem 1.5K"), "expected bytes, or KiB"),
        (&format!("{given} --carveout 101"), "0..=100"),
        ("occupancy --cc 8.6 --threads 0 --regs 32", "--threads"),
        (&format!("{given} --entry main"), "--kernel"),
        (&format!("{given} --kernel naive --entry main"), "--entry chooses among the kernels of a file"),
        (&format!("{given} --format csv"), "--format csv is for tables of many rows"),
        ("doctor --format csv", "--format csv is for sweeps"),
        (&format!("{given} --chart f.pdf"), "f.pdf: no kind of chart"),
        (&format!("{given} --chart f.svg --sweep cc=8.6"), "takes the place of --gpu and --cc"),
        (&format!("{given} --sweep warps=1..4"), "unknown parameter 'warps'"),
        (&format!("{given} --sweep threads=64..32"), "has no values"),
        (&format!("{given} --sweep threads=32 --sweep threads=64"), "is given twice"),
        (&format!("{given} --sweep cc=all"), "takes the place of --gpu and --cc"),
        (&format!("{given} --sweep regs=1..2000 --sweep smem=1..2000"), "more than 1000000 combinations"),
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{line}: {}{}", run.err, run.out);
        assert!(run.err.contains(error), "{line}: {}", run.err);
    }
}

#[test]
fn sweeps_are_products_in_every_format() {
    let desk = Desk::new();
    let line = "occupancy --cc 8.6 --smem 8K --sweep threads=512..1024:256 --sweep regs=32,64";
    let report = desk.json(line);
    assert_eq!(report["sweep"], json!(["threads", "regs"]));
    let rows = report["rows"].as_array().unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|r| {
            ["threads_per_block", "registers_per_thread", "blocks_per_sm"].map(|key| r[key].as_u64().unwrap())
        })
        .collect();
    let expected = [[512, 32, 3], [512, 64, 2], [768, 32, 2], [768, 64, 1], [1024, 32, 1], [1024, 64, 1]];
    assert_eq!(found, expected);
    assert_eq!(rows[0]["static_shared_memory_bytes"], 8192);

    let csv = desk.ok(&format!("{line} --format csv"));
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.iter().all(|cells| cells.len() == lines[0].len()), "{csv}");
    let column = |name: &str| lines[0].iter().position(|cell| *cell == name).unwrap();
    for (cells, row) in lines[1..].iter().zip(rows) {
        for name in ["blocks_per_sm", "warps_per_sm", "occupancy", "dynamic_shared_memory_bytes"] {
            assert_eq!(cells[column(name)].parse::<f64>().unwrap(), row[name].as_f64().unwrap(), "{name}");
        }
        assert_eq!(cells[column("compute_capability")], "8.6");
        assert_eq!(cells[column("limit_barriers")], "");
    }

    let table = desk.ok(line);
    assert_eq!(table.lines().count(), 7, "{table}");
    assert!(table.lines().next().unwrap().contains("threads"), "{table}");
}

#[test]
fn a_sweep_goes_on_where_a_configuration_cannot_launch() {
    let desk = Desk::new();
    let line = "occupancy --sweep cc=all --sweep regs=64,65 --threads 1024";
    let report = desk.json(line);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len() % 2, 0);
    assert!(rows.len() >= 44 && rows[0]["compute_capability"] == "5.0");
    assert!(rows[1]["error"].as_str().unwrap().contains("registers"));
    let csv = desk.ok(&format!("{line} --format csv"));
    assert!(csv.lines().nth(2).unwrap().ends_with('"'), "{csv}");
    let table = desk.ok(line);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("more than the limit of 65536"), "{table}");
}

#[test]
fn an_h200_is_meant_unless_another_gpu_is_named() {
    let desk = Desk::new();
    assert_eq!(desk.json("occupancy --threads 256 --regs 32")["gpu"], "H200 SXM");
    assert_eq!(desk.json("occupancy --cc 9.0 --threads 256 --regs 32")["gpu"], Value::Null);
    assert!(desk.ok("occupancy --threads 256 --regs 32").starts_with("H200 SXM, compute capability 9.0"));
}

#[test]
fn a_name_that_fits_several_gpus_says_which_is_taken() {
    let desk = Desk::new();
    for line in [
        "occupancy --gpu a100 --threads 256 --regs 32",
        "gpus a100",
        "explain copy-offset --gpu a100",
        "mul real.csv real.csv --dtype f32 --plan --gpu a100",
    ] {
        let run = desk.run(line);
        assert!(run.err.contains("gpu: a100 is taken for A100 "), "{line}: {}", run.err);
        assert!(run.err.contains("it fits A100 "), "{line}: {}", run.err);
        assert_eq!(desk.run(&format!("{line} -q")).err.matches("is taken").count(), 0, "{line}");
    }
    assert_eq!(desk.run("occupancy --gpu a6000 --threads 256 --regs 32").err, "");
}

#[test]
fn charts_are_written_as_their_names_say() {
    let desk = Desk::new();
    let run = desk.run(&format!("{A6000} --chart f.svg"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), "chart: wrote f.svg\n"));
    let svg = desk.get("f.svg");
    for part in [
        "<svg ",
        "prefers-color-scheme: dark",
        "32 warps at 1024",
        "32 warps at 37",
        "32 warps at 8",
        "RTX A6000",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(svg.matches("stroke-dasharray").count(), 6, "two guides for each of three marks");
    desk.ok(&format!("{A6000} -q --chart f.png"));
    let png = std::fs::read(desk.file("f.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n") && png.len() > 10_000);

    // An old file is replaced, and nothing else is left behind.
    desk.ok(&format!("{A6000} -q --chart f.svg"));
    assert_eq!(desk.list().iter().filter(|name| name.contains("tmp")).count(), 0);
    let run = desk.run(&format!("{A6000} --chart none/f.svg"));
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{}", run.err);
}

#[test]
fn the_curves_of_a_chart_are_the_sweeps() {
    let desk = Desk::new();
    let line = "occupancy --cc 9.0 --regs 40 --smem 4K";
    desk.ok(&format!("{line} --threads 256 -q --chart f.svg"));
    let svg = desk.get("f.svg");
    let curve = svg.lines().find(|line| line.starts_with("<path class=\"s-blue\"")).unwrap();
    let heights: Vec<f64> =
        curve.split(['M', 'L', '"']).filter_map(|corner| corner.split_once(' ')?.1.parse().ok()).collect();
    let report = desk.json(&format!("{line} --sweep threads=32..1024:32"));
    let warps: Vec<f64> =
        report["rows"].as_array().unwrap().iter().map(|r| r["warps_per_sm"].as_f64().unwrap()).collect();
    // A staircase: its levels, in order, are those of the sweep without repetitions.
    let mut levels = heights.clone();
    levels.dedup();
    let mut expected = warps.clone();
    expected.dedup();
    assert_eq!(levels.len(), expected.len(), "{levels:?} {expected:?}");
    for (pair, warps) in levels.windows(2).zip(expected.windows(2)) {
        assert_eq!(pair[0] > pair[1], warps[0] < warps[1], "{levels:?} {expected:?}");
    }
}

#[test]
fn sweeps_have_charts() {
    let desk = Desk::new();
    let line = "occupancy --cc 8.6 --sweep regs=32,64 --sweep threads=64..1024:64";
    let run = desk.run(&format!("{line} --chart f.svg"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), "chart: wrote f.svg\n"));
    let svg = desk.get("f.svg");
    for part in ["threads per block", "regs 32", "regs 64", "warps per SM"] {
        assert!(svg.contains(part), "{part}");
    }
    // A dot for each row, and one for each curve in the legend.
    assert_eq!(svg.matches("<circle").count(), 2 * 16 + 2, "{svg}");
    for (line, part) in [
        ("--sweep cc=all --threads 128 --regs 32", "no axis for compute capabilities"),
        ("--cc 8.6 --sweep regs=1..50 --sweep threads=32,64", "50 curves"),
    ] {
        let run = desk.run(&format!("occupancy {line} --chart g.svg"));
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains(part), "{line}: {}", run.err);
    }
}
