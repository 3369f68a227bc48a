//! `tilewright bench` on a machine without a GPU, or as if on one.

use crate::support::{self, Desk, Run, keys};

#[test]
fn the_processor_is_measured_and_checked() {
    let desk = Desk::new();
    let report = desk.json("bench --backend cpu --sizes 64,16x40x24 --rounds 2 --threads 1 -q");
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(
        results[1]["m"].as_u64().zip(results[1]["n"].as_u64()).zip(results[1]["k"].as_u64()),
        Some(((16, 40), 24))
    );
    for row in results {
        assert_eq!(
            keys(row),
            [
                "algorithms_tried",
                "backend",
                "bound_fraction",
                "bound_part",
                "bound_seconds",
                "conditions",
                "flop_per_second",
                "k",
                "kernel",
                "m",
                "memory_bytes",
                "n",
                "occupancy",
                "operations_per_byte",
                "order",
                "pair_ops_per_second",
                "peak_fraction",
                "predicted_seconds",
                "problem",
                "registers_per_thread",
                "roofline_fraction",
                "samples",
                "seconds",
                "speed_against_cublas",
                "speed_against_cublaslt",
                "spread",
                "terms",
                "threads",
                "verified",
                "workspace_bytes",
                "workspace_limit_bytes"
            ]
        );
        // The kernel and the threads are apart.
        assert!(!row["kernel"].as_str().unwrap().contains("thread"), "{row}");
        assert_eq!(row["threads"], 1);
        assert_eq!(
            (&row["backend"], &row["verified"], &row["samples"]),
            (&"cpu".into(), &true.into(), &2.into())
        );
        let (seconds, rate) =
            (row["seconds"].as_f64().unwrap(), row["pair_ops_per_second"].as_f64().unwrap());
        let terms = ["m", "n", "k"].map(|side| row[side].as_f64().unwrap()).iter().product::<f64>();
        assert!((rate * seconds / terms - 1.0).abs() < 1e-9);
        assert!((row["flop_per_second"].as_f64().unwrap() / rate - 2.0).abs() < 1e-9);
    }
}

#[test]
fn data_are_named_and_those_outside_of_a_semiring_refused() {
    let desk = Desk::new();
    let line = "bench --backend cpu --semiring min-plus --sizes 8 --rounds 1 -q";
    assert_eq!(desk.json(line)["data"], "signed");
    assert_eq!(desk.json(&format!("{line} --data non-negative"))["data"], "non-negative");
    let run = desk.run("bench --backend cpu --semiring max-times --data signed --sizes 8");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("--data signed with max-times"), "{}", run.err);
}

#[test]
fn the_ladder_of_the_processor_has_every_instruction_set() {
    let desk = Desk::new();
    let text =
        desk.ok("bench --backend cpu --ladder --sizes 48 --rounds 1 --threads 1 --semiring min-plus -q");
    assert!(text.contains("min-plus on f32") && text.contains("48 x 48 x 48"), "{text}");
    assert!(text.contains("portable, 1 thread") && text.contains("Gpair-op/s"), "{text}");
    assert!(
        desk.ok("bench --backend cpu --semiring or-and --sizes 8 --rounds 1 -q").contains("or-and on bool")
    );
    let named = desk.ok("bench --kernel portable --sizes 8..16:8 --rounds 1 --threads 1 -q");
    assert_eq!(named.matches("portable, 1 thread").count(), 2, "{named}");
}

#[test]
fn every_order_is_measured_and_named() {
    let desk = Desk::new();
    let line = "bench --backend cpu --sizes 24x16x40 --orders nn,nt,tn,tt --rounds 1 --threads 1 -q";
    let text = desk.ok(line);
    for heading in ["24 x 16 x 40\n", "24 x 16 x 40, nt\n", "24 x 16 x 40, tn\n", "24 x 16 x 40, tt\n"] {
        assert!(text.contains(heading), "{heading}{text}");
    }
    let report = desk.json(line);
    let rows = report["results"].as_array().unwrap();
    let orders: Vec<&str> = rows.iter().map(|row| row["order"].as_str().unwrap()).collect();
    assert_eq!(orders, ["nn", "nt", "tn", "tt"]);
    assert!(rows.iter().all(|row| row["verified"] == true));
}

/// On the processor, and on a GPU that the emulator imitates, where there is NVRTC.
#[test]
fn a_semiring_of_ones_own_is_measured() {
    let desk = Desk::new();
    let text = "add=fmaxf(x,y);mul=x*y;zero=0;where=x>=0";
    let words = format!("bench -s {text} --sizes 33 --rounds 1 --threads 1 -q");
    let report = desk.json(&format!("{words} --backend cpu --dtype f64"));
    assert_eq!((report["semiring"].as_str(), report["dtype"].as_str()), (Some(text), Some("f64")));
    assert_eq!(report["results"][0]["verified"].as_bool(), Some(true));
    let csv = desk.ok(&format!("{words} --backend cpu --format csv"));
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with(&format!("\"{text}\",f32,33,"))), "{csv}");
    let mut command = desk.command(&format!("{words} --backend cuda --format json"));
    let emulated = Run::of(command.env("TILEWRIGHT_CUDA_PATH", "emulator").output().unwrap());
    if emulated.code == Some(0) {
        let report: serde_json::Value = serde_json::from_str(&emulated.out).unwrap();
        let row = &report["results"][0];
        assert_eq!((row["kernel"].as_str(), row["verified"].as_bool()), (Some("simt"), Some(true)), "{row}");
    } else {
        assert!(emulated.err.contains("NVRTC"), "{}", emulated.err);
    }
    let unknown = desk.run("bench -s add=x+y;mul=fminf(x,y);zero=0");
    assert!(unknown.code == Some(2) && unknown.err.contains("breaks the law that"), "{}", unknown.err);
}

/// A rate of pruned products counts terms that were left out, so the rate with nothing to leave out stands beside it.
#[test]
fn pruned_rates_stand_beside_those_with_nothing_to_prune() {
    let desk = Desk::new();
    let line = "bench --backend cpu --semiring min-plus --sizes 512 --rounds 1 --threads 1 -q";
    let report = desk.json(line);
    let terms: Vec<&str> =
        report["results"].as_array().unwrap().iter().map(|row| row["terms"].as_str().unwrap()).collect();
    assert_eq!(terms, ["pruned", "nothing-to-prune"]);
    let table = desk.ok(line);
    assert!(
        table.contains(" pruned, 1 thread ") && table.contains(" on equal elements, 1 thread "),
        "{table}"
    );
    let equal = desk.json(&format!("{line} --data equal"));
    assert_eq!((&equal["data"], &equal["results"][0]["terms"]), (&"equal".into(), &"all".into()));
}

#[test]
fn rows_are_printed_as_csv() {
    let desk = Desk::new();
    let csv =
        desk.ok("bench --backend cpu --sizes 16,24 --orders nn,tt --rounds 1 --threads 1 -q --format csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(lines[0].starts_with("semiring,dtype,m,n,k,order,"), "{csv}");
    assert!(lines[2].starts_with("plus-times,f32,16,16,16,tt,cpu,"), "{csv}");
    assert!(lines.iter().all(|line| !line.is_empty()), "{csv}");
}

#[test]
fn rates_are_drawn() {
    let desk = Desk::new();
    let line = "bench --backend cpu --sizes 32 --rounds 1 --threads 1 --plot rates.svg";
    let run = desk.run(line);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(
        run.err.contains("bench: 32 x 32 x 32") && run.err.contains("plot: wrote rates.svg"),
        "{}",
        run.err
    );
    let svg = desk.get("rates.svg");
    assert!(svg.contains("32 x 32 x 32") && svg.contains("GFLOP/s") && svg.contains("1 thread"), "{svg}");
}

#[test]
fn without_a_gpu_the_processor_is_measured_and_that_is_said() {
    let desk = Desk::new();
    // No device is visible to the driver, if there is a driver.
    let run =
        |line: &str| support::Run::of(desk.command(line).env("CUDA_VISIBLE_DEVICES", "").output().unwrap());
    let auto = run("bench --sizes 16 --rounds 1 --threads 1");
    assert_eq!(auto.code, Some(0), "{}", auto.err);
    assert!(auto.err.contains("no GPU, the processor alone is measured"), "{}", auto.err);
    for line in [
        "bench --backend cuda --sizes 16",
        "bench --kernel naive --sizes 16",
        "bench --calls --sizes 16 --rounds 1",
        "bench --against cublas --sizes 16 --rounds 1",
        "bench --against cublaslt --sizes 16 --rounds 1",
    ] {
        let asked = run(line);
        assert_eq!(asked.code, Some(4), "{line}: {}", asked.err);
        assert!(asked.err.contains("not available") && asked.err.contains("hint: "), "{}", asked.err);
    }
}

#[test]
fn nonsense_is_refused() {
    let desk = Desk::new();
    for (line, part) in [
        ("bench --sizes 0", "'0' is no size"),
        ("bench --sizes 16x16", "neither one side nor MxNxK"),
        ("bench --sizes 9..1", "must ascend"),
        ("bench --semiring max-times --dtype i32", "max-times"),
        ("bench --semiring min-plus --against cublas", "--against cublas with min-plus on f32"),
        ("bench --kernel naive --backend cpu", "--kernel naive runs on a GPU"),
        ("bench --kernel avx2 --backend cuda", "--kernel avx2 is an instruction set"),
        ("bench --against cublas --backend cpu", "needs a GPU"),
        ("bench --kernel naive --ladder", "cannot be used with"),
        ("bench --cublas-math pedantic", "--against"),
        ("bench --against cublas --cublas-math fast", "[possible values: default, tf32, pedantic]"),
        ("bench --dtype f64 --math tf32", "--math tf32 with plus-times on f64"),
        ("bench --semiring min-plus --against cublaslt", "--against cublaslt with min-plus on f32"),
        ("bench --dtype i32 --against cublaslt,cublas", "--against cublaslt with plus-times on i32"),
        ("bench --against blas", "[possible values: cublas, cublaslt]"),
        ("bench --calls --backend cpu", "--calls needs a GPU"),
        ("bench --calls --against cublaslt", "compare with --against cublas"),
        ("bench --calls --ladder", "cannot be used with"),
        ("bench --calls --batch 0", "0 is not in 1..=1000000"),
        ("bench --batch 4", "--calls"),
        ("bench --orders nn,xy", "[possible values: nn, nt, tn, tt]"),
        ("bench --rounds 0", "0 is not in 1..=10000"),
        ("bench --kernel copy-offset", "possible values: "),
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains(part), "{line}: {}", run.err);
    }
    let run = desk.run("bench --backend cpu --sizes 8 --rounds 1 --plot rates.gif");
    assert_eq!((run.code, run.err.contains("no kind of chart")), (Some(2), true), "{}", run.err);
}

#[test]
fn tuning_needs_a_gpu_whose_times_mean_something() {
    let desk = Desk::new();
    let run = |line: &str, driver: &str| {
        let mut command = desk.command(line);
        command.env("TILEWRIGHT_CACHE_DIR", desk.path()).env("TILEWRIGHT_CUDA_PATH", driver);
        Run::of(command.output().unwrap())
    };
    let missing = run("tune 64", "none");
    assert_eq!(missing.code, Some(4), "{}", missing.err);
    let emulated = run("tune 64 --semiring min-plus", "emulator");
    assert_eq!(emulated.code, Some(2), "{}", emulated.err);
    assert!(emulated.err.contains("the emulator's times say nothing"), "{}", emulated.err);
    for (line, part) in [
        ("tune", "SHAPE"),
        ("tune 64 --list", "cannot be used with"),
        ("tune 64 --semiring or-and --dtype f32", "or-and"),
        ("tune 4x4", "neither one side nor MxNxK"),
    ] {
        let refused = run(line, "none");
        assert_eq!(refused.code, Some(2), "{line}: {}", refused.err);
        assert!(refused.err.contains(part), "{line}: {}", refused.err);
    }
    // What is kept can be seen and removed anywhere.
    for line in ["tune --list", "tune --clear"] {
        let none = run(&format!("{line} --format json"), "none");
        let kept: serde_json::Value = serde_json::from_str(&none.out).unwrap();
        assert_eq!(keys(&kept), ["directory", "removed", "schema", "tunings"]);
        assert_eq!((&kept["tunings"], &kept["removed"]), (&serde_json::json!([]), &0.into()));
        assert!(run(line, "none").out.contains("tunings    0"), "{}", run(line, "none").out);
    }
}

/// The emulator's times say nothing; what is called is the same.
#[test]
fn calls_are_measured_one_by_one() {
    let desk = Desk::new();
    let run = |line: &str| {
        let mut command = desk.command(line);
        Run::of(command.env("TILEWRIGHT_CUDA_PATH", "emulator").output().unwrap())
    };
    let json = run("bench --calls --sizes 3x5x4 --orders nn,tt --rounds 1 --format json -q");
    assert_eq!(json.code, Some(0), "{}", json.err);
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(keys(&report), ["calls", "dtype", "machine", "schema", "semiring", "version"]);
    let rows = report["calls"].as_array().unwrap();
    let orders: Vec<&str> = rows.iter().map(|row| row["order"].as_str().unwrap()).collect();
    assert_eq!(orders, ["nn", "tt"]);
    for row in rows {
        assert_eq!((&row["contender"], &row["batch"]), (&"tilewright".into(), &1.into()));
        let seconds = |name: &str| row[name].as_f64().unwrap();
        assert!(seconds("host_seconds") > 0.0 && seconds("device_seconds") > 0.0, "{row}");
        assert!(seconds("total_seconds") >= seconds("host_seconds") / 100.0, "{row}");
    }
    let batch = "bench --calls --semiring max-plus --sizes 4 --batch 3 --rounds 1 -q";
    let table = run(batch);
    assert!(
        table.out.contains("max-plus on f32") && table.out.contains("3 times 4 x 4 x 4"),
        "{}",
        table.out
    );
    let csv = run(&format!("{batch} --format csv"));
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", csv.out);
    assert!(lines[1].starts_with("4,4,4,nn,3,tilewright,"), "{}", csv.out);
}

#[test]
fn without_a_compiler_the_plain_program_is_measured() {
    let desk = Desk::new();
    for (semiring, dtype) in [("min-plus", "f32"), ("or-and", "bool")] {
        let line =
            format!("bench --backend cuda --sizes 16 --rounds 1 --semiring {semiring} --dtype {dtype} -q");
        let mut command = desk.command(&format!("{line} --format csv"));
        command.env("TILEWRIGHT_CUDA_PATH", "emulator").env("TILEWRIGHT_NVRTC_PATH", "none");
        let run = Run::of(command.output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.err);
        let lines: Vec<_> = run.out.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
        let cell = |name: &str| lines[1][lines[0].iter().position(|column| *column == name).unwrap()];
        assert_eq!((cell("kernel"), cell("verified")), ("\"simt (plain program)\"", "true"), "{}", run.out);
        // The bound is beside what was measured.
        let [peak, rate, part] = ["peak_pair_ops_per_second", "pair_ops_per_second", "peak_fraction"]
            .map(|name| cell(name).parse::<f64>().unwrap());
        assert!(peak > 1e12 && (part * peak / rate - 1.0).abs() < 1e-9, "{}", run.out);
    }
}

#[test]
fn the_bound_by_counts_is_beside_what_was_measured() {
    let desk = Desk::new();
    let of = |format: &str| {
        let line = "bench --backend cuda --kernel shared-tile,simt --sizes 256 --rounds 1 --dtype f32 -q";
        let mut command = desk.command(&format!("{line} --format {format}"));
        command.env("TILEWRIGHT_CUDA_PATH", "emulator").env("TILEWRIGHT_NVRTC_PATH", "none");
        let run = Run::of(command.output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.out
    };
    let report: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    let rows = report["results"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let [bound, fraction, measured, predicted] =
            ["bound_seconds", "bound_fraction", "seconds", "predicted_seconds"]
                .map(|key| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}")));
        assert!((fraction * measured / bound - 1.0).abs() < 1e-9 && predicted >= bound, "{row}");
    }
    assert_eq!((&rows[0]["kernel"], &rows[0]["bound_part"]), (&"shared-tile".into(), &"l1_data".into()));
    let table = of("table");
    assert!(table.contains("of bound") && table.contains("l1_data"), "{table}");
}
