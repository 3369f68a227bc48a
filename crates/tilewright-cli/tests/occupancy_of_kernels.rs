//! `tilewright occupancy --kernel`: compiled files, CUDA sources, the catalogue, and what is missing or refused.

use crate::support::{Desk, Run};
use serde_json::{Value, json};

/// A compiled file of another crate's tests, copied to the desk: five kernels for sm_90.
fn cubin(desk: &Desk) {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tilewright-toolchain/tests/data/resources.sm_90.cuda13.cubin"
    );
    std::fs::copy(file, desk.file("resources.cubin")).unwrap();
}

#[test]
fn a_cubin_needs_no_toolchain() {
    let desk = Desk::new();
    cubin(&desk);
    let line = "occupancy --cc 9.0 --kernel resources.cubin";
    let report = desk.json(&format!("{line} --entry tile --threads 256"));
    // 33 x 32 floats and the reserved KiB, in units of 128 bytes.
    assert_eq!(report["allocated"]["shared_memory_per_block_bytes"], 4224 + 1024);
    assert_eq!(report["blocks_per_sm"], 8);
    let text = desk.ok(&format!("{line} --entry tile --threads 256"));
    assert!(text.contains("tile in resources.cubin") && text.contains("4224 B of shared memory"), "{text}");
    // Options replace what the file says.
    let report = desk.json(&format!("{line} --entry tile --threads 256 --smem 0 --regs 255"));
    assert_eq!(report["limited_by"], json!(["registers"]));
    assert_eq!(report["blocks_per_sm"], 1);
    // The launch bounds bound the best block size, and are kept.
    assert_eq!(desk.json(&format!("{line} --entry tile --best"))["block_size"], 256);
    let run = desk.run(&format!("{line} --entry tile --threads 512"));
    assert_eq!((run.code, run.err.contains("launch bounds of 256")), (Some(1), true), "{}", run.err);
    // Barriers are those in use.
    let report = desk.json(&format!("{line} --entry barriers --threads 64"));
    assert_eq!(report["limits"]["barriers"], 64 / 6);
    // A part of a name is enough.
    desk.ok(&format!("{line} --entry local --threads 64"));
}

#[test]
fn files_that_hold_no_such_kernel_are_refused() {
    let desk = Desk::new();
    cubin(&desk);
    desk.put("text.cubin", "no cubin");
    desk.put("k.txt", "");
    let line = "occupancy --cc 9.0 --threads 64 --kernel";
    for (rest, code, error, hint) in [
        (
            "resources.cubin",
            2,
            "resources.cubin has 5 kernels",
            "hint: choose one with --entry: barriers, dynamic",
        ),
        ("resources.cubin --entry none", 2, "has no kernel 'none'", "hint: it has barriers"),
        ("resources.cubin --entry i", 2, "more than one kernel with 'i'", "hint: choose one"),
        ("none.cubin", 3, "none.cubin: ", ""),
        ("text.cubin", 3, "text.cubin: ", ""),
        ("k.txt", 2, "k.txt", ""),
    ] {
        let run = desk.run(&format!("{line} {rest}"));
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{rest}: {}", run.err);
        assert!(run.err.contains(error) && run.err.contains(hint), "{rest}: {}", run.err);
    }
    let run = desk.run("occupancy --cc 8.6 --threads 64 --kernel resources.cubin --entry tile");
    assert!(run.code != Some(0) && run.err.contains("sm_90"), "{}", run.err);
}

/// Whether the command says that NVRTC is missing, or that a variable names none. What needs it is left out then, unless it must be
/// there.
fn nvrtc_is_missing(run: &Run) -> bool {
    let says_so = match run.code {
        Some(4) => run.err.contains("NVRTC is not available") && run.err.contains("pip install"),
        Some(2) => run.err.contains("TILEWRIGHT_NVRTC_PATH=") && run.err.contains("is not valid"),
        _ => return false,
    };
    assert!(says_so && std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{}", run.err);
    eprintln!("skipped: {}", run.err);
    true
}

#[test]
fn cuda_sources_are_compiled_for_every_architecture_or_say_what_is_missing() {
    let desk = Desk::new();
    let source = include_str!("../../tilewright-toolchain/tests/data/resources.cu");
    desk.put("resources.cu", source);
    desk.put("wrong.cu", "__global__ void k() { undeclared = 1; }");
    let run =
        desk.run("occupancy --kernel resources.cu --entry tile --threads 256 --sweep cc=all --format json");
    if nvrtc_is_missing(&run) {
        return;
    }
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let rows = report["rows"].as_array().unwrap();
    // What this compiler knows; the rest is named on stderr.
    let left_out = run.err.lines().find_map(|line| line.strip_prefix("left out: "));
    let left_out = left_out.map_or(0, |text| text.split(", ").count());
    assert!(rows.len() >= 10 && rows.len() + left_out == 22, "{} rows; {}", rows.len(), run.err);
    assert!(rows.iter().all(|row| row["static_shared_memory_bytes"] == 4224 && row["blocks_per_sm"] != 0));
    let run = desk.run("occupancy --kernel wrong.cu --cc 9.0 --threads 64");
    assert_eq!((run.code, run.err.contains("undeclared")), (Some(3), true), "{}", run.err);
}

#[test]
fn kernels_of_the_catalogue_know_their_launch() {
    let desk = Desk::new();
    let run = desk.run("occupancy --gpu a6000 --kernel shared-tile --format json");
    if !nvrtc_is_missing(&run) {
        assert_eq!(run.code, Some(0), "{}", run.err);
        let report: Value = serde_json::from_str(&run.out).unwrap();
        // Two tiles of 32 x 32 floats and the reserved KiB.
        assert_eq!(report["threads_per_block"], 1024);
        assert_eq!(report["allocated"]["shared_memory_per_block_bytes"], 2 * 4096 + 1024);
        let text = desk.ok("occupancy --gpu a6000 --kernel shared-tile-dynamic");
        assert!(
            text.contains("shared-tile-dynamic: ") && text.contains("B of dynamic shared memory"),
            "{text}"
        );
    }
    let run = desk.run("occupancy --gpu a6000 --kernel shared-tyle");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(
        run.err.contains("kernel 'shared-tyle'") && run.err.contains("did you mean shared-tile"),
        "{}",
        run.err
    );
}

#[test]
fn a_missing_compiler_is_code_4_with_a_hint() {
    let desk = Desk::new();
    desk.put("k.cu", "__global__ void k() {}");
    desk.put("no-library", "");
    let mut command = desk.command("occupancy --cc 9.0 --threads 64 --kernel k.cu");
    let run = Run::of(command.env("TILEWRIGHT_NVRTC_PATH", desk.file("no-library")).output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{}", run.err);
    assert!(run.err.contains("error: NVRTC is not available") && run.err.contains("hint: "), "{}", run.err);
}
