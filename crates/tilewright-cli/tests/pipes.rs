//! Matrices that come through pipes, which give their bytes once.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use support::{Desk, Run};

/// A pipe with this text in it, for one reader.
fn pipe(desk: &Desk, name: &str, text: &'static str) {
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
