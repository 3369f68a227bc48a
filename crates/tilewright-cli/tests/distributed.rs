//! `--distributed`, by one rank without MPI, and by several where there is one.

use crate::{
    launchers::{launchers, without_launcher},
    support::{Desk, Run, keys},
};
use std::{collections::BTreeSet, env, path::Path, process::Command};

fn run(desk: &Desk, line: &str) -> Run {
    let mut command = desk.command(line);
    without_launcher(&mut command);
    Run::of(command.output().unwrap())
}

/// Runs, which must succeed; gives stdout.
fn ok(desk: &Desk, line: &str) -> String {
    let run = run(desk, line);
    assert_eq!(run.code, Some(0), "{line}: {}", run.err);
    run.out
}

fn json(desk: &Desk, line: &str) -> serde_json::Value {
    serde_json::from_str(&ok(desk, &format!("{line} --format json"))).unwrap()
}

fn by(launcher: &Path, ranks: usize, desk: &Desk, line: &str) -> Run {
    Run::of(launch(launcher, ranks, desk, line).output().unwrap())
}

fn launch(launcher: &Path, ranks: usize, desk: &Desk, line: &str) -> Command {
    let mut command = Command::new(launcher);
    without_launcher(&mut command);
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_tilewright")]).args(line.split_whitespace());
    command.current_dir(desk.path()).env("COLUMNS", "120").env("MPIR_CVAR_POLLS_BEFORE_YIELD", "1");
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.stdin(std::process::Stdio::null());
    command
}

/// A graph in a file, its distances, and products.
fn prepared() -> Desk {
    let desk = Desk::new();
    ok(&desk, "paths random:150 --dtype i32 -o d.npy -q");
    ok(&desk, "mul d.npy d.npy --semiring max-plus -o c.npy -q");
    ok(&desk, "paths random:150 --dtype i32 --plan");
    desk
}

fn bytes(desk: &Desk, name: &str) -> Vec<u8> {
    std::fs::read(desk.file(name)).unwrap()
}

#[test]
fn one_rank_needs_no_mpi() {
    let desk = prepared();
    let summary = json(&desk, "paths random:150 --dtype i32 --distributed 1x1 --block 32 -o one.npy");
    assert_eq!(bytes(&desk, "one.npy"), bytes(&desk, "d.npy"));
    assert_eq!((summary["vertices"].as_u64(), summary["received_bytes"].as_u64()), (Some(150), Some(0)));
    assert_eq!(
        keys(&summary),
        [
            "arithmetic_seconds",
            "block",
            "dtype",
            "grid",
            "memory_bytes_per_rank",
            "on",
            "output",
            "predecessors_output",
            "ranks",
            "read_seconds",
            "received_bytes",
            "resumed_after",
            "schema",
            "seconds",
            "semiring",
            "split",
            "transport",
            "vertices",
            "write_seconds"
        ]
    );
    ok(&desk, "paths random:150 --dtype i32 --predecessors before.npy -q");
    ok(&desk, "paths random:150 --dtype i32 --distributed 1x1 --predecessors p.npy -o one.npy");
    assert_eq!(bytes(&desk, "p.npy"), bytes(&desk, "before.npy"));
    assert_eq!(bytes(&desk, "one.npy"), bytes(&desk, "d.npy"));
    // Through a folder of blocks, and back.
    ok(&desk, "paths d.npy --distributed 1x1 --block 64 -o blocks");
    ok(&desk, "paths blocks --distributed 1x1 -o again.npy");
    assert_eq!(bytes(&desk, "again.npy"), bytes(&desk, "d.npy"));
    let text = ok(&desk, "mul d.npy blocks --semiring max-plus --distributed 1x1 -o product.npy");
    assert!(text.contains("a product 150 x 150 by 150 x 150, max-plus on i32"), "{text}");
    assert_eq!(bytes(&desk, "product.npy"), bytes(&desk, "c.npy"));
    assert!(desk.list().iter().all(|name| !name.starts_with('.')));
}

#[test]
fn states_are_kept_and_gone_on_from() {
    let desk = prepared();
    ok(&desk, "paths random:150 --dtype i32 --distributed 1x1 --block 32 --checkpoint states -o one.npy");
    let mut kept: Vec<_> =
        std::fs::read_dir(desk.file("states")).unwrap().map(|e| e.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, ["step-00000003", "step-00000004"]);
    let line =
        "paths random:150 --dtype i32 --distributed 1x1 --block 32 --checkpoint states --resume -o two.npy";
    assert_eq!(json(&desk, line)["resumed_after"].as_u64(), Some(4));
    assert_eq!(bytes(&desk, "two.npy"), bytes(&desk, "d.npy"));
    // A damaged state gives way to the one before it, and is named.
    std::fs::write(desk.file("states/step-00000004/00001-00001.npy"), "short").unwrap();
    let again = run(&desk, line);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(again.out.contains("after step 3"), "{}", again.out);
    assert!(again.err.contains("note: a damaged state was left out: states/step-00000004/"), "{}", again.err);
    assert_eq!(bytes(&desk, "two.npy"), bytes(&desk, "d.npy"));
    // Old states are neither mixed with new ones nor taken for those of another graph.
    for (line, code, text) in [
        ("paths random:150 --dtype i32 --distributed 1x1 --block 32 --checkpoint states", 2, "--resume"),
        (
            "paths d.npy --distributed 1x1 --block 32 --checkpoint states --resume",
            3,
            "a state of other weights",
        ),
    ] {
        let run = run(&desk, line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains("states") && run.err.contains(text), "{line}: {}", run.err);
    }
}

/// The command behind a line of the shell, such as a limit.
#[cfg(target_os = "linux")]
fn behind(desk: &Desk, shell: &str, line: &str) -> Command {
    let mut command = Command::new("sh");
    without_launcher(&mut command);
    command.current_dir(desk.path()).env("COLUMNS", "120");
    command.args(["-c", &format!("{shell}; exec {} {line}", env!("CARGO_BIN_EXE_tilewright"))]);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_output_whole() {
    let desk = prepared();
    ok(&desk, "paths d.npy --distributed 1x1 --block 64 -o blocks");
    let (file, block) = (bytes(&desk, "d.npy"), bytes(&desk, "blocks/00001-00001.npy"));
    // A write fails as on a full disk where the signal of a limit on the size of files is ignored. Blocks have 16 KiB.
    for output in ["d.npy", "blocks", "new.npy", "new"] {
        let line = format!("paths random:150 --distributed 1x1 --block 64 -o {output}");
        let run = Run::of(behind(&desk, "trap '' XFSZ; ulimit -f 4", &line).output().unwrap());
        assert_eq!(run.code, Some(3), "{output}: {}", run.err);
        assert!(run.err.contains(output), "{}", run.err);
    }
    let line = "paths random:150 --distributed 1x1 --block 64 --checkpoint states";
    let run = Run::of(behind(&desk, "trap '' XFSZ; ulimit -f 4", line).output().unwrap());
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert_eq!(bytes(&desk, "d.npy"), file);
    assert_eq!(bytes(&desk, "blocks/00001-00001.npy"), block);
    let left = desk.list();
    assert!(left.iter().all(|name| !name.starts_with('.') && !name.starts_with("new")), "{left:?}");
    assert_eq!(std::fs::read_dir(desk.file("states")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_with_too_little_memory_is_named_before_work_starts() {
    let desk = Desk::new();
    for launcher in launchers() {
        // 780.8 MB for that rank.
        let limit = "[ \"${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\" != 1 ] || ulimit -v 700000";
        let inner = behind(&desk, limit, "paths random:20000 --distributed 1x2");
        let mut outer = Command::new(&launcher);
        without_launcher(&mut outer);
        outer.args(["-n", "2", "sh"]).args(inner.get_args()).current_dir(desk.path()).env("COLUMNS", "120");
        outer.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        outer.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        let run = Run::of(outer.stdin(std::process::Stdio::null()).output().unwrap());
        assert_eq!(run.code, Some(5), "{}", run.err);
        assert!(run.err.contains("taking memory for the weights on "), "{}", run.err);
        assert!(run.err.contains("rank (1): 780800000 bytes could not be allocated"), "{}", run.err);
    }
}

#[test]
fn a_plan_says_what_is_received_and_needed() {
    let desk = Desk::new();
    let plan = json(&desk, "paths random:131072 --distributed 2x4 --plan");
    let (n, block) = (131_072_u64, 1024);
    assert_eq!(plan["received_bytes"].as_u64(), Some(4 * (n * n + n * block) * 4));
    assert_eq!(
        plan["memory_bytes_per_rank"].as_u64(),
        Some(4 * (n * n / 8 + 2 * block * (n / 2 + n / 4) + block * block))
    );
    let text = ok(&desk, "paths random:131072 --distributed 2x4 --plan");
    assert!(
        text.contains("8 ranks as 2x4, in blocks of 1024") && text.contains("32.2 GiB by a rank"),
        "{text}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let desk = prepared();
    // A file of text becomes one that is read in parts: its edge makes paths better, and no cycle does.
    desk.put("one.csv", "1,0\n0,1\n");
    desk.put("negative.csv", "0,-1.5\n5,0\n");
    ok(&desk, "mul one.csv negative.csv --dtype f32 -o negative.npy -q");
    for (line, code, text) in [
        ("paths random:9 --distributed 2", 2, "the grid '2'"),
        ("paths random:9 --block 4", 2, "--distributed"),
        ("paths random:9 --devices 0,1,0", 2, "--devices names 0 twice"),
        ("paths random:9 --devices 0,1 --distributed 2x2", 2, "--distributed 2x2 with 2 --devices"),
        ("paths random:9 --devices 0,1 --backend cpu", 2, "--devices with --backend cpu"),
        ("mul d.npy d.npy --devices 0,x", 2, "--devices"),
        ("paths random:9 --distributed 1x1 --trace t.json", 2, "--trace without GPUs"),
        ("paths random:9 --devices 0,1 --trace none/t.json", 2, "there is no folder none"),
        ("paths random:9 --trace t.json", 2, "--distributed"),
        ("paths random:9 --distributed 1x1 --resume", 2, "--checkpoint"),
        ("paths random:9 --deadline 5", 2, "--distributed"),
        ("mul d.npy d.npy --distributed 1x1 --deadline 0", 2, "more than 0"),
        ("mul d.npy d.npy --distributed 1x1 --deadline soon", 2, "more than 0"),
        ("paths random:9 --distributed 1x1 --from 1", 2, "--from with --distributed"),
        ("paths random:9 --distributed 1x1 --predecessors p.npy", 2, "predecessors over min-plus on f32"),
        (
            "paths random:9 --distributed 1x1 --predecessors p.npy --checkpoint s",
            2,
            "--checkpoint with --predecessors",
        ),
        ("paths random:9 --distributed 1x1 --predecessors p.npy -o p.npy", 2, "both write to p.npy"),
        ("paths random:9 --distributed 1x1 --checkpoint s -o s/out/", 2, "lie in one another"),
        ("paths random:9 --distributed 1x1 --checkpoint s/t -o s/", 2, "lie in one another"),
        ("paths random:9 --distributed 1x1 --checkpoint s -o s/", 2, "both write to s"),
        ("paths d.npy --distributed 1x1 --delimiter ;", 2, "--delimiter with --distributed"),
        ("paths d.npy --distributed 1x1 --trim", 2, "--trim with --distributed"),
        ("paths negative.npy --distributed 1x1", 2, "use one process"),
        ("paths random:9 --distributed 1x1 -o a.csv", 2, "a folder of blocks"),
        ("paths roads.csv --distributed 1x1", 3, "cannot be read in parts"),
        ("paths d.npy --distributed 1x1 -o d.npy", 2, "would replace what is read"),
        ("mul d.npy d.npy --distributed 1x1 --transpose-a", 2, "--transpose-a with --distributed"),
        ("mul d.npy d.npy --distributed 1x1 --scale-a d.npy", 2, "--scale-a with --distributed"),
        ("mul d.npy d.npy --distributed 1x1 --max-steps 5", 2, "--max-steps with --distributed"),
        ("mul d.npy d.npy --distributed 1x1 --max-time 5", 2, "--max-time with --distributed"),
        ("mul d.npy d.npy --distributed 1x1 --skip-rows 1", 2, "--skip-rows with --distributed"),
        ("mul d.npy d.npy --distributed 1x1 --semiring add=x+y;mul=x*y;zero=0", 2, "by its text"),
    ] {
        let run = run(&desk, line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(text), "{line}: {}", run.err);
    }
    // Without a launcher there are no two ranks: either there is no MPI, or it counts one.
    let run = run(&desk, "paths random:9 --distributed 1x2");
    assert!(matches!(run.code, Some(2 | 4)), "{}", run.err);
    assert!(run.err.contains("MPI is not available") || run.err.contains("1 was started"), "{}", run.err);
}

/// With so many emulated GPUs, whose kernels come with the catalogue.
fn with_gpus(mut command: Command, count: usize) -> Run {
    command.env("TILEWRIGHT_CUDA_PATH", "emulator").env("TILEWRIGHT_NVRTC_PATH", "none");
    command.env("TILEWRIGHT_EMULATED_GPUS", format!("{count}*h200"));
    Run::of(command.output().unwrap())
}

fn on_gpus(desk: &Desk, count: usize, line: &str) -> Run {
    let mut command = desk.command(line);
    without_launcher(&mut command);
    with_gpus(command, count)
}

#[test]
fn processes_take_a_gpu_each() {
    let desk = prepared();
    for launcher in launchers() {
        for (line, file) in [
            ("paths random:150 --dtype i32 --distributed 1x2 --backend cuda --block 32 -o out.npy", "d.npy"),
            ("mul d.npy d.npy --semiring max-plus --distributed 2x1 --backend cuda -o out.npy", "c.npy"),
        ] {
            let run = with_gpus(launch(&launcher, 2, &desk, &format!("{line} --format json")), 2);
            assert_eq!(run.code, Some(0), "{line}: {}", run.err);
            assert_eq!(bytes(&desk, "out.npy"), bytes(&desk, file), "{line}");
            // Emulated GPUs of two processes know nothing of each other.
            let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
            assert_eq!(summary["transport"].as_str(), Some("hosts"), "{line}");
        }
    }
}

#[test]
fn gpus_of_one_process_write_what_one_processor_writes() {
    let desk = prepared();
    for (line, count, file, by) in [
        ("paths random:150 --dtype i32 --devices 1,0 --block 32 -o out.npy", 2, "d.npy", Some("nccl")),
        (
            "paths random:150 --dtype i32 --devices 0,1,2 --distributed 3x1 -o out.npy",
            3,
            "d.npy",
            Some("nccl"),
        ),
        ("paths random:150 --dtype i32 --distributed 1x1 --backend cuda -o out.npy", 1, "d.npy", None),
        ("mul d.npy d.npy --semiring max-plus --devices 0,1 --block 64 -o out.npy", 2, "c.npy", Some("nccl")),
    ] {
        let run = on_gpus(&desk, count, &format!("{line} --format json"));
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
        assert_eq!(bytes(&desk, "out.npy"), bytes(&desk, file), "{line}");
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let told = (summary["on"].as_str(), summary["transport"].as_str());
        assert_eq!(told, (Some("gpus"), by), "{line}");
    }
    let run = on_gpus(&desk, 2, "paths random:100000 --devices 0,1 --plan");
    assert!(
        run.out.contains("2 ranks as 1x2") && run.out.contains("a GPU at most"),
        "{} {}",
        run.out,
        run.err
    );
    let run = on_gpus(&desk, 2, "paths random:150 --devices 0,2");
    assert_eq!(run.code, Some(4), "{}", run.err);
    assert!(run.err.contains("there are 2 devices"), "{}", run.err);
}

#[test]
fn a_trace_says_what_each_gpu_did() {
    let desk = prepared();
    for (line, works) in [
        ("paths random:150 --dtype i32 --devices 0,1 --block 32", "close column row send update"),
        ("mul d.npy d.npy --semiring max-plus --devices 0,1 --block 64", "send update"),
    ] {
        let run = on_gpus(&desk, 2, &format!("{line} --trace trace.json"));
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
        let trace: serde_json::Value = serde_json::from_slice(&bytes(&desk, "trace.json")).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        for rank in 0..2 {
            let of_rank = events.iter().filter(|event| event["pid"] == rank);
            let found: BTreeSet<_> = of_rank.map(|event| event["name"].as_str().unwrap()).collect();
            let found: Vec<_> = found.into_iter().collect();
            assert_eq!(found.join(" "), works, "{line}, rank {rank}");
        }
        let times =
            |event: &serde_json::Value| (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        assert!(events.iter().map(times).all(|(start, duration)| start >= 0.0 && duration >= 0.0), "{line}");
        let streams: BTreeSet<_> = events.iter().map(|event| event["tid"].as_str().unwrap()).collect();
        assert_eq!(streams, BTreeSet::from(["panels", "rest"]), "{line}");
    }
}

#[test]
fn ranks_write_what_one_process_writes() {
    let desk = prepared();
    for launcher in launchers() {
        let run = by(
            &launcher,
            4,
            &desk,
            "paths random:150 --dtype i32 --distributed 2x2 --block 32 --deadline 600 -o many.npy --format json",
        );
        assert_eq!(run.code, Some(0), "{}", run.err);
        // Rank 0 alone speaks.
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(summary["received_bytes"].as_u64(), Some(4 * (150 * 150 + 4 * 32 * 32 + 22 * 22) * 2));
        assert_eq!(bytes(&desk, "many.npy"), bytes(&desk, "d.npy"));
        let run = by(&launcher, 3, &desk, "paths d.npy --distributed 3x1 --block 32 --predecessors p.npy -q");
        assert_eq!(run.code, Some(0), "{}", run.err);
        ok(&desk, "paths d.npy --predecessors before.npy -q");
        assert_eq!(bytes(&desk, "p.npy"), bytes(&desk, "before.npy"));
        let run = by(
            &launcher,
            2,
            &desk,
            "mul many.npy d.npy --semiring max-plus --distributed 1x2 -o product.npy",
        );
        assert_eq!((run.code, run.out.matches("wrote product.npy").count()), (Some(0), 1), "{}", run.err);
        assert_eq!(bytes(&desk, "product.npy"), bytes(&desk, "c.npy"));
        let run = by(&launcher, 2, &desk, "paths random:9 --distributed 2x2");
        assert_eq!((run.code, run.err.matches("2 were started").count()), (Some(2), 1), "{}", run.err);
        std::fs::create_dir_all(desk.file("other")).unwrap();
        desk.put("other/precious", "1");
        let run = by(&launcher, 2, &desk, "paths random:9 --distributed 1x2 -o other");
        assert_eq!((run.code, run.err.matches("no folder of blocks").count()), (Some(3), 1), "{}", run.err);
        assert!(desk.list().iter().all(|name| !name.starts_with('.')));
    }
}

#[test]
fn long_sums_are_dealt_by_their_terms() {
    let desk = Desk::new();
    let row = |count: usize, separator: &str| {
        (0..count).map(|x| (x % 7).to_string()).collect::<Vec<_>>().join(separator)
    };
    desk.put("a.csv", &row(500, ","));
    desk.put("b.csv", &row(500, "\n"));
    // Files of text become files that are read in parts.
    desk.put("one.csv", "1\n");
    ok(&desk, "mul one.csv a.csv -o a.npy -q");
    ok(&desk, "mul b.csv one.csv -o b.npy -q");
    ok(&desk, "mul a.npy b.npy -o c.npy -q");
    for launcher in launchers() {
        let run = by(&launcher, 3, &desk, "mul a.npy b.npy --distributed 3x1 -o thin.npy --format json");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(
            (summary["split"].as_str(), summary["received_bytes"].as_u64()),
            (Some("terms"), Some(16))
        );
        assert_eq!(bytes(&desk, "thin.npy"), bytes(&desk, "c.npy"));
    }
}
