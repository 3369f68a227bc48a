//! Matrices that come through pipes, which give their bytes once.
#![cfg(unix)]
use crate::support::{Desk, Run};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A pipe with this text in it, for one reader.
fn pipe(desk: &Desk, name: &str, text: impl Into<String>) {
    let text = text.into();
    let path = desk.file(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    std::thread::spawn(move || std::fs::write(path, text));
}

/// Runs; a command that waits for ever fails.
fn run(desk: &Desk, line: &str) -> Run {
    let mut child = desk.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("{line} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Run::of(child.wait_with_output().unwrap())
}

#[test]
fn text_through_a_pipe_takes_the_type_of_the_other_operand() {
    let desk = Desk::new();
    desk.ok("mul whole.csv whole.csv --dtype f32 -o b.npy -q");
    for (name, line) in [
        ("a.csv", "mul a.csv b.npy -o - -q"),
        ("b.csv", "mul whole.csv b.csv --accumulate b.npy --dtype f32 -o - -q"),
    ] {
        pipe(&desk, name, "1,2\n3,4\n");
        let run = run(&desk, line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.err);
    }
    pipe(&desk, "c.csv", "1,2\n3,4\n");
    assert_eq!(run(&desk, "mul c.csv b.npy -o - -q").out, "37.0,54.0\n81.0,118.0\n");
    pipe(&desk, "d.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n");
    // What is left out depends on the type, so that the text is parsed once more.
    assert_eq!(run(&desk, "mul d.mtx b.npy -s min-plus -o - -q").out, "20.0,27.0\ninf,inf\n");
}

#[test]
fn binary_files_and_text_come_through_pipes_together() {
    let desk = Desk::new();
    desk.ok("mul whole.csv whole.csv --dtype f32 -o b.npy -q");
    let bytes = std::fs::read(desk.file("b.npy")).unwrap();
    let fifo = |name: &str| {
        let (path, bytes) = (desk.file(name), bytes.clone());
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        std::thread::spawn(move || std::fs::write(path, bytes));
    };
    // Text takes the type of the other, which cannot be read again to find out.
    pipe(&desk, "a.csv", "1,0\n0,1\n");
    fifo("p.npy");
    let run = run(&desk, "mul a.csv p.npy -o - -q");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "7.0,10.0\n15.0,22.0\n"), "{}", run.err);
    // Converted where it was read.
    fifo("q.npy");
    desk.ok("mul whole.csv whole.csv --dtype f64 -o wide.npy -q");
    let run = self::run(&desk, "mul q.npy wide.npy -o - -q");
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 2), "{}", run.err);
}

#[test]
fn one_pipe_for_two_matrices_is_refused() {
    let desk = Desk::new();
    pipe(&desk, "p.csv", "1,2\n3,4\n");
    std::os::unix::fs::symlink("p.csv", desk.file("q.csv")).unwrap();
    for (line, who) in [
        ("mul p.csv p.csv", "A and B"),
        ("mul p.csv q.csv", "A and B"),
        ("mul whole.csv p.csv --accumulate p.csv", "B and C0"),
    ] {
        let run = run(&desk, line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains(&format!("{who} would both be read from the pipe")), "{}", run.err);
        assert!(run.err.contains("hint: a pipe can be read once"), "{}", run.err);
    }
}

/// 256 numbers in a row.
fn row() -> String {
    "1.5,".repeat(255) + "2.5\n"
}

const KERNEL: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");

#[test]
fn a_comparison_reads_a_pipe_once() {
    let desk = Desk::new();
    desk.put("reverse.ptx", KERNEL);
    desk.put("straight.ptx", &KERNEL.replace("shl.b32 %r4, %r1, 3", "shl.b32 %r4, %r1, 2"));
    pipe(&desk, "input.csv", row());
    let line = "explain reverse.ptx --compare straight.ptx --block 256 --arg input=input.csv --arg output=f32[256] \
                --arg factor=0.5 --format json";
    let run = run(&desk, line);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    for report in [&report, &report["compared_with"]] {
        assert_eq!(report["totals"]["global_load"]["requests"], 8, "{report}");
    }
}

#[test]
fn one_pipe_for_two_inputs_of_a_kernel_is_refused() {
    let desk = Desk::new();
    desk.put("reverse.ptx", KERNEL);
    pipe(&desk, "p.csv", row());
    pipe(&desk, "k.ptx", KERNEL);
    for (line, who) in [
        ("explain reverse.ptx --block 256 --arg input=p.csv --arg output=p.csv", "input and output"),
        ("explain k.ptx --compare ./k.ptx --block 256", "the kernel and --compare"),
    ] {
        let run = run(&desk, line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains(&format!("{who} would both be read from the pipe")), "{}", run.err);
    }
}
