//! `tilewright gpus`.

use crate::support::{Desk, keys};

#[test]
fn the_list_has_forty_gpus_in_every_format() {
    let desk = Desk::new();
    let report = desk.json("gpus");
    let gpus = report["gpus"].as_array().unwrap();
    assert!(gpus.len() >= 40);
    for gpu in gpus {
        let name = gpu["name"].as_str().unwrap();
        assert_eq!(
            keys(gpu),
            [
                "boost_clock_hz",
                "chip",
                "class",
                "compute_capability",
                "l2_bytes",
                "memory_bytes_per_second",
                "memory_gb",
                "name",
                "peak_flop_per_second",
                "ridge_flop_per_byte",
                "sms",
                "source"
            ],
            "{name}"
        );
        assert!(gpu["peak_flop_per_second"]["f32"].as_f64().unwrap() > 1e11, "{name}");
    }
    assert_eq!(desk.ok("gpus").lines().count(), gpus.len() + 1);
    let csv = desk.ok("gpus --format csv");
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())), "{csv}");
    assert_eq!(csv.lines().count(), gpus.len() + 1);
}

#[test]
fn a_compute_capability_selects() {
    let desk = Desk::new();
    let report = desk.json("gpus --cc 8.6");
    let gpus = report["gpus"].as_array().unwrap();
    assert!(gpus.iter().any(|gpu| gpu["name"] == "RTX A6000"));
    assert!(gpus.iter().all(|gpu| gpu["compute_capability"] == "8.6"));
}

#[test]
fn one_gpu_is_described() {
    let desk = Desk::new();
    let text = desk.ok("gpus a6000");
    for part in ["RTX A6000, GA102", "capability 8.6, 84 SMs", "65536", "99 KiB", "38.7", "source"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let report = desk.json("gpus a6000");
    assert_eq!((&report["schema"], &report["sms"]), (&1.into(), &84.into()));
    assert_eq!(report["limits"]["shared_memory_per_block_optin_bytes"], 101_376);
    assert_eq!(report["limits"]["warps_per_sm"], 48);
}

#[test]
fn the_roofline_of_one_gpu_is_drawn() {
    let desk = Desk::new();
    let run = desk.run("gpus h200 --chart roof.svg");
    assert_eq!((run.code, run.err.lines().last()), (Some(0), Some("chart: wrote roof.svg")));
    let svg = desk.get("roof.svg");
    assert!(
        svg.contains("Roofline of H200")
            && svg.contains(">tensor f16, f16 accumulate f16, bf16: 989 TFLOP/s<"),
        "{svg}"
    );
    // Each peak in the unit of its own operations.
    assert!(svg.contains(">tensor b1: 15831 TOP/s<") && svg.contains(">f64: 33.5 TFLOP/s<"), "{svg}");
    assert!(svg.contains(">TFLOP/s or TOP/s<") && svg.contains("FLOP or OP per byte"), "{svg}");
    // One of integers alone has floats as well; the oldest GPUs have no integers in tensor cores.
    desk.ok("gpus p100 --chart old.svg");
    assert!(desk.get("old.svg").contains(">TFLOP/s<"));
}

#[test]
fn integer_peaks_are_not_in_flop() {
    let text = Desk::new().ok("gpus h200");
    let rows = text.split("TOP/s").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(rows.contains("tensor i8") && rows.contains("1979") && rows.contains("tensor b1"), "{text}");
    let floats = text.split("TFLOP/s").nth(1).unwrap().split("TOP/s").next().unwrap();
    assert!(floats.contains("tensor f8") && !floats.contains("tensor i8"), "{text}");
}

#[test]
fn what_is_not_known_is_refused() {
    let desk = Desk::new();
    for (line, part) in [
        ("gpus a600", "A6000"),
        ("gpus --cc 3.5", "compute capability 3.5"),
        ("gpus h200 --cc 9.0", "cannot be used with"),
        ("gpus --chart roof.svg", "<NAME>"),
        ("gpus h200 --chart roof.txt", "roof.txt: no kind of chart"),
        ("gpus --cc 8.6 --chart roof.svg", "--chart draws the roofline of one GPU"),
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains(part), "{line}: {}", run.err);
        assert!(!desk.list().iter().any(|name| name.starts_with("roof")), "{line}");
    }
}
