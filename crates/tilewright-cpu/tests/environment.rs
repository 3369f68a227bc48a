//! `TILEWRIGHT_FORCE_ISA`, in processes of their own because the environment is shared by all threads.

use crate::common;
use std::process::Command;
use tilewright_core::*;
use tilewright_cpu::{FORCE_ISA, Isa, Options, multiply, multiply_arg, multiply_batch};

/// What the other tests run with the variable set: prints the outcome of a product in every function.
#[test]
#[ignore = "run by the other tests"]
fn probe() {
    let mut c = [9i32];
    let mut arg = [9];
    let one = [1i32];
    let a = common::rows(&one, 1, 1);
    let (update, options) = (Update::<MinPlus<i32>>::Replace, Options::default());
    let mut batch = BatchMut::new(&mut c, Layout::row_major(1, 1), 1, 1).unwrap();
    let batched =
        multiply_batch(&mut batch, BatchRef::repeat(a, 1), BatchRef::repeat(a, 1), &update, &options);
    let untouched = c;
    let plain = multiply(common::rows_mut(&mut c, 1, 1), a, a, &update, &options);
    let with_arg = multiply_arg(
        common::rows_mut(&mut c, 1, 1),
        common::rows_mut(&mut arg, 1, 1),
        a,
        a,
        &update,
        &options,
    );
    for outcome in [batched.map(|report| report.expect("the batch is not empty")), plain, with_arg] {
        match outcome {
            Ok(report) => println!("probe: {} {}", report.isa, c[0]),
            Err(error) => println!("probe: {} {} {error}; {:?}", error.code(), untouched[0], error.hint()),
        }
    }
    // What a caller names counts for more.
    let named = Options { isa: Some(Isa::Portable), ..options };
    let report = multiply(common::rows_mut(&mut c, 1, 1), a, a, &update, &named).unwrap();
    println!("named: {}", report.isa);
}

/// The outcomes of [`probe`] with the variable set to `value`.
fn probe_with(value: Option<&str>) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "environment::probe", "--ignored", "--nocapture"]).env_remove(FORCE_ISA);
    if let Some(value) = value {
        command.env(FORCE_ISA, value);
    }
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(output.contains("named: portable"), "{output}");
    let lines: Vec<_> =
        output.lines().filter_map(|l| l.split_once("probe: ")).map(|l| l.1.to_owned()).collect();
    assert_eq!(lines.len(), 3, "{output}");
    lines
}

#[test]
fn a_supported_path_is_taken() {
    for isa in Isa::ALL.iter().filter(|isa| isa.is_supported()) {
        assert_eq!(
            probe_with(Some(isa.name())),
            [format!("{isa} 2"), format!("{isa} 2"), format!("{isa} 2")]
        );
    }
}

#[test]
fn unset_or_empty_means_the_best() {
    let best = format!("{} 2", Isa::best());
    for value in [None, Some("")] {
        assert!(probe_with(value).iter().all(|line| *line == best));
    }
}

#[test]
fn an_unknown_path_is_an_error_of_the_environment() {
    for value in ["avx9", "AVX2", " avx2", "avx2,portable"] {
        for line in probe_with(Some(value)) {
            assert!(line.starts_with("environment 9 "), "{line}");
            assert!(
                line.contains(&format!("{FORCE_ISA}={value}")) && line.contains("portable, neon, avx2"),
                "{line}"
            );
        }
    }
}

#[test]
fn a_path_that_this_processor_lacks_is_unavailable() {
    let lacking: Vec<_> = Isa::ALL.iter().filter(|isa| !isa.is_supported()).collect();
    assert!(!lacking.is_empty(), "no processor has both NEON and AVX2");
    for isa in lacking {
        for line in probe_with(Some(isa.name())) {
            assert!(line.starts_with("unavailable 9 "), "{line}");
            assert!(line.contains(isa.name()) && line.contains(Isa::best().name()), "{line}");
        }
        let mut c = [9i32];
        let one = [1i32];
        let a = common::rows(&one, 1, 1);
        let named = Options { isa: Some(*isa), ..Options::default() };
        let error = multiply::<MinPlus<i32>>(common::rows_mut(&mut c, 1, 1), a, a, &Update::Replace, &named);
        let error = error.unwrap_err();
        assert!(error.is_unavailable() && c == [9], "{error}");
    }
}
