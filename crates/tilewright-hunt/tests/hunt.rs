//! The hunt finds nothing, and finds what is planted.

#![allow(clippy::unwrap_used)] // In helpers, as in tests.

use std::process::{Command, Output};
use tilewright_cpu::Isa;

fn hunt(options: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_tilewright-hunt")).args(options).output().unwrap();
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

/// A few seconds of problems that are the same every time, on all paths.
#[test]
fn nothing_is_found() {
    let (code, text) = hunt(&["--seed", "1", "--cases", "1000", "--seconds", "600"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("seed 1: 1000 problems") && text.contains("nothing found"), "{text}");
    // Every way to compute has been taken.
    assert!(!text.contains(" 0 "), "{text}");
}

#[test]
fn every_planted_fault_is_found() {
    let (_, plants) = hunt(&["--plants"]);
    assert!(plants.lines().count() >= 25, "{plants}");
    for plant in plants.lines() {
        // Without guard pages, which are a matter of Unix, nobody notices reads.
        if cfg!(not(unix)) && plant.starts_with("read") {
            continue;
        }
        // Without the instructions, nothing can go wrong with them.
        if plant == "begin" && !Isa::ALL.iter().any(|isa| isa.has_vnni()) {
            continue;
        }
        let (code, text) = hunt(&["--seed", "3", "--cases", "3000", "--plant", plant]);
        assert_eq!(code, Some(1), "{plant}: {text}");
        assert!(text.contains("FOUND") && text.contains("--seed 3 --case "), "{plant}: {text}");
    }
}

/// The options of a finding give it again, and in a smaller problem.
#[test]
fn a_finding_can_be_repeated() {
    let (_, text) = hunt(&["--seed", "5", "--plant", "last-term"]);
    let options: Vec<_> = text.lines().filter(|line| line.starts_with("--seed")).collect();
    let [first, smaller] = options[..] else { panic!("{text}") };
    assert!(smaller.contains("--plain"), "{text}");
    for options in [first, smaller] {
        let options: Vec<_> = options.split(' ').chain(["--plant", "last-term"]).collect();
        assert_eq!(hunt(&options).0, Some(1), "{text}");
        assert_eq!(hunt(&options[..options.len() - 2]).0, Some(0), "{text}");
    }
}

#[test]
fn wrong_options_are_told() {
    for options in [&["--sed", "1"][..], &["--seed"], &["--seed", "x"], &["--plant", "x"], &["--size", "3x4"]]
    {
        let (code, text) = hunt(options);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("error: ") && text.contains(options[0]), "{text}");
    }
}
