//! The kernels of `tests/data/features.cu`, one for each feature of the language.
#![allow(dead_code, reason = "not every test needs all of it")]

use tilewright_emulator::{Argument, Launch, Machine, Program, Report};

/// A machine with the kernels.
pub fn features() -> Machine {
    Machine::new(Program::new(include_str!("../data/features.ptx")).unwrap())
}

/// A launch of one block.
pub fn one_block(threads: u32) -> Launch {
    Launch::new([1, 1, 1], [threads, 1, 1])
}

/// The report, if there is nothing to complain about.
pub fn clean(report: Report) -> Report {
    assert!(
        report.error.is_none() && report.findings.is_empty(),
        "{:?} {:#?}",
        report.error,
        report.findings
    );
    report
}

/// Runs `kernel` with `threads` threads and an output of `count` words.
pub fn words(
    kernel: &str,
    threads: u32,
    count: usize,
    rest: impl FnOnce(&mut Machine) -> Vec<Argument>,
) -> Vec<u32> {
    let mut machine = features();
    let out = machine.allocate(4 * count as u64).unwrap();
    let mut launch = one_block(threads);
    let rest = rest(&mut machine);
    launch = launch.arg(out);
    for argument in rest {
        launch = launch.arg(argument);
    }
    clean(machine.launch(kernel, &launch).unwrap());
    machine.download(out, count).unwrap()
}
